#!/usr/bin/env bash
# Fails when a C++ or CUDA source does not follow .clang-format; --fix formats in place instead. Without a file or folder,
# all sources of the tree count. Usage: check_format.sh [--fix] [FILE | FOLDER]...
set -euo pipefail
mode=(--dry-run -Werror)
[[ ${1:-} == --fix ]] && mode=(-i) && shift
[[ ${1:-} == -* ]] && echo "check_format: unknown option '$1'; known: --fix, before the files" >&2 && exit 2
if (($# == 0)); then
  cd "$(dirname "$0")/.."
  for folder in src apps tests bench python; do [[ -d $folder ]] && set -- "$@" "$folder"; done
fi
# find fails for a name that is not there; a file of another kind has nothing to format.
find "$@" -type f '(' -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' ')' -print0 | sort -z |
  xargs -0 -r clang-format --style=file "${mode[@]}"
