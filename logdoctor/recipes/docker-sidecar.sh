#!/bin/sh
# A side-car for a container: its health is that of the vLLM inside, asked with real requests.
#
#   logdoctor recipe docker-sidecar > docker-sidecar.sh
#   sh docker-sidecar.sh nemotron 8000 https://.../logdoctor-0.1.0-py3-none-any.whl
#       the published port, and what pip installs (a wheel, or git+https:// and the repository); starts nemotron-doctor
#   docker ps                                        healthy, unhealthy, starting
#   docker logs nemotron 2>&1 | logdoctor            why

set -eu
name=${1:?which container runs vLLM?}
port=${2:?which port does it publish?}
package=${3:?a wheel of logdoctor, or the address of its repository}

exec docker run --detach --name "$name-doctor" --init --restart unless-stopped \
  --add-host host.docker.internal:host-gateway \
  --health-cmd "logdoctor probe http://host.docker.internal:$port --timeout 20s || exit 1" \
  --health-interval 60s --health-timeout 120s --health-retries 3 --health-start-period 20m \
  python:3.12-slim \
  sh -c 'pip install --no-cache-dir --root-user-action=ignore --quiet "$0" && exec sleep infinity' "$package"
