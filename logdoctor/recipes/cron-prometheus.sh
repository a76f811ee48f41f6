#!/bin/sh
# Metrics for Prometheus: cron writes what node exporter's textfile collector reads, one file a container.
#
#   logdoctor recipe cron-prometheus | sudo tee /usr/local/bin/logdoctor-metrics
#   sudo chmod +x /usr/local/bin/logdoctor-metrics
#   echo '*/5 * * * * root /usr/local/bin/logdoctor-metrics nemotron' | sudo tee /etc/cron.d/logdoctor

set -u
PATH=$PATH:/usr/local/bin
directory=${TEXTFILE_DIRECTORY:-/var/lib/node_exporter/textfile_collector}
failed=0

for name in "$@"; do
  logdoctor --container "$name" --format prometheus --output "$directory/logdoctor-$name.prom"
  # 1 and 3 are answers and stand in the metrics; only 2 means that there is none, and cron sends its message.
  [ $? -ne 2 ] || failed=1
done
exit $failed
