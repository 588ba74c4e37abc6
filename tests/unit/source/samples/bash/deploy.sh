#!/usr/bin/env bash
# Deploys the service.
set -euo pipefail
LANG=C sort /dev/null
readonly VERSION="1.4.2" CHANNEL=stable
export PATH="$PATH:/opt/bin"
declare -A TARGETS=([eu]=eu-west-1)
declare -r -i RETRIES=3
NAME=${1:-service}
hosts=(alpha beta)
hosts[2]=gamma
first=1 second=2
# That is all there is to set.

# Prints how to call this
# script.
usage() {
  local code=${1:-0}
  message="usage: deploy.sh NAME"
  cat <<EOF
$message
fake() { this is text; }
EOF
  exit "$code"
}

function build {
  inner() { echo "building $1"; }
  inner "$NAME"
}

function push_image() (
  cd /tmp
  docker push "$NAME:$VERSION"
)

log::info() { printf '%s\n' "$*"; }; log::warn() { printf '%s\n' "$*" >&2; }

retry-command ()
{
  local n
  for ((n = 0; n < RETRIES; n++)); do
    "$@" && return 0
  done
  return 1
}

if [[ -n ${DEBUG:-} ]]; then
  trace() { set -x; }
  LEVEL=debug
else
  trace() { :; }
fi

is_prod() [[ $CHANNEL == stable ]]

while getopts "hv" option; do
  case $option in
    h) usage ;;
    *) usage 1 ;;
  esac
done

alias ll='ls -l'
unset first

main() {
  build && push_image
  for region in "${!TARGETS[@]}"; do
    retry-command log::info "$region"
  done
}

main "$@"
