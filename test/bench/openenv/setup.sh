#!/usr/bin/env bash
# Makes the virtual environment of the OpenEnv reference server (about 450 MB, in .cache/, ignored by git).
# With it, `npm run bench` measures the reference in the same run; without it, it quotes a figure measured before.
set -euo pipefail
cd "$(dirname "$0")/../../.."
venv=.cache/openenv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r test/bench/openenv/requirements.txt
"$venv/bin/python" -c 'import importlib.metadata as m; print("openenv", m.version("openenv"), "uvicorn", m.version("uvicorn"))'
