#!/usr/bin/env bash
# Runs every check and measurement that needs a GPU, within minutes: see gpu_day/main.py, or gpu_day.sh --help.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
exec python3 "$here/gpu_day/main.py" "$@"
