#!/usr/bin/env bash
# What tools/tarball.sh and tools/deb.sh have in common: the installed programs, and the libraries that they need.
#
# Usage: staged.sh install BUILD TREE     the component "tutti" of BUILD below TREE, stripped; no libraries
#        staged.sh libraries PROGRAM...   the files of the shared libraries that the programs need, but for glibc's
#        staged.sh version BUILD          "0.1.0", as `tutti --version` has it
set -euo pipefail
shopt -s inherit_errexit

case $1 in
  install)
    rm -rf "$3"
    cmake --install "$2" --prefix "$3" --component tutti --strip >/dev/null
    ;;
  libraries)
    shift
    ldd "$@" | awk '$2 == "=>" && $3 ~ "^/" { print $3 } $3 == "not" { print "staged: " $1 " is not found" > "/dev/stderr"; lost = 1 }
                    END { exit lost }' | sort -u | grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|libutil|ld-linux-x86-64)\.so'
    ;;
  version) "$2/bin/tutti" --version | awk '$1 == "tutti" { print $2 }' ;;
  *) echo "staged: unknown word '$1'" >&2; exit 2 ;;
esac
