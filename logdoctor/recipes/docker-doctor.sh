#!/bin/sh
# A plug-in for the docker command: docker doctor nemotron.
#
#   mkdir -p ~/.docker/cli-plugins
#   logdoctor recipe docker-doctor > ~/.docker/cli-plugins/docker-doctor
#   chmod +x ~/.docker/cli-plugins/docker-doctor
#   docker doctor nemotron                           all options of logdoctor may follow
#   docker doctor nemotron --format markdown

if [ "${1:-}" = docker-cli-plugin-metadata ]; then
  version=$(logdoctor --version 2> /dev/null)
  printf '{"SchemaVersion": "0.1.0", "Vendor": "logdoctor", "Version": "%s", ' "${version#logdoctor }"
  printf '"ShortDescription": "Say whether the vLLM in a container is up, why not, and what to type"}\n'
  exit
fi

# docker passes its own options before the name of the plug-in; those that choose the daemon matter here.
while [ $# -gt 0 ] && [ "$1" != doctor ]; do
  case $1 in
    -H | --host) export DOCKER_HOST="$2" && shift ;;
    --host=*) export DOCKER_HOST="${1#*=}" ;;
    -c | --context) export DOCKER_CONTEXT="$2" && shift ;;
    --context=*) export DOCKER_CONTEXT="${1#*=}" ;;
    --config) export DOCKER_CONFIG="$2" && shift ;;
    --config=*) export DOCKER_CONFIG="${1#*=}" ;;
  esac
  shift
done
[ $# -eq 0 ] || shift

case ${1:-} in
  "" | -h | --help)
    printf 'Usage:  docker doctor CONTAINER [OPTIONS]\n\n'
    printf 'Say whether the vLLM in a container is up, why not, and what to type.\n'
    printf 'The options are those of logdoctor: logdoctor --help lists them.\n'
    [ -n "${1:-}" ]
    exit
    ;;
esac

name=$1
shift
exec logdoctor --container "$name" "$@"
