#!/usr/bin/env bash
# Fails when a C++ or CUDA source does not follow .clang-format. Usage: check_format.sh [--fix]
set -euo pipefail
cd "$(dirname "$0")/.."
folders=()
for folder in src apps tests bench python; do [[ -d $folder ]] && folders+=("$folder"); done
mode=(--dry-run -Werror)
[[ ${1:-} == --fix ]] && mode=(-i)
find "${folders[@]}" -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' | sort |
  xargs clang-format --style=file "${mode[@]}"
