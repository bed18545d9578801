#!/usr/bin/env python3
"""Has a shared library need one version of glibc's symbols in place of another, which older systems do not have.

Usage: replace_version.py LIBRARY VERSION OTHER      (tools/tarball.sh)

OTHER must be needed as well. The symbols of VERSION must then come from another library, one without versions. Only for 64-bit
little-endian ELF: of the one Vernaux of VERSION (elf.h: vna_hash, vna_flags, vna_other, vna_name, vna_next) hash and name change.
"""
import pathlib
import struct
import sys

SHT_GNU_VERNEED = 0x6FFFFFFE


def version_section(data):
    """Where the needed versions begin, and their names."""
    begin, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    table = [struct.unpack_from("<IIQQQQI", data, begin + size * at) for at in range(count)]
    need = next(section for section in table if section[1] == SHT_GNU_VERNEED)
    return need[4], table[need[6]][4]


def needed(data):
    """Offset and name of every version that is needed."""
    need, names = version_section(data)
    while True:
        _, _, _, first, following = struct.unpack_from("<HHIII", data, need)
        at = need + first
        while True:
            _, _, _, name, after = struct.unpack_from("<IHHII", data, at)
            yield at, bytes(data[names + name:data.index(0, names + name)]).decode()
            if not after:
                break
            at += after
        if not following:
            return
        need += following


def main():
    path, version, other = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
    data = bytearray(path.read_bytes())
    found = [at for at, name in needed(data) if name == version]
    others = [at for at, name in needed(data) if name == other]
    if len(found) != 1 or not others:
        sys.exit(f"replace_version: {path}: expected to need {version} once and {other}, found {len(found)} and {len(others)}")
    for field in (0, 8):  # hash and name
        data[found[0] + field:found[0] + field + 4] = data[others[0] + field:others[0] + field + 4]
    path.write_bytes(data)


if __name__ == "__main__":
    main()
