"""`python -m tutti ARGUMENTS`, and the script `tutti`: the command line, in place of this process."""
from __future__ import annotations

import os
import sys

from .native import PROGRAMS


def main() -> None:
    program = str(PROGRAMS / "tutti")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
