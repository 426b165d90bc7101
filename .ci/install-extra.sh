#!/usr/bin/env bash
# Installs what `npm run test:extra` needs: schemathesis in a virtual environment under .cache/, and Chromium from apt.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.cache/extra
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r .ci/requirements-extra.txt
"$venv/bin/schemathesis" --version

if ! command -v chromium >/dev/null; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo 'Chromium is missing, and only root on Debian or Ubuntu can have it installed here; install it and run this again.' >&2
    exit 1
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
chromium --version
