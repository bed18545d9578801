"""The command line of a recipe or a bench: flags of its own, and behind the first -- those of the program that it starts.

    recipes/digits.py WORK --without theo -- --max-minutes 3 --resume

A bench finds this module by the path of recipes/, a recipe beside itself.
"""
import pathlib
import sys

TUTTI = pathlib.Path(__file__).resolve().parent.parent / "build/bin/tutti"


def add_program(parser):
    """The flag --tutti; where it is not named, the program of the build folder."""
    parser.add_argument("--tutti", default=str(TUTTI), help="the program that is started")


def parse_line(parser, line=None):
    """(options, flags behind --) of a command line, by default this program's. A second -- belongs to those flags."""
    words = sys.argv[1:] if line is None else list(line)
    border = words.index("--") if "--" in words else len(words)
    return parser.parse_args(words[:border]), words[border + 1:]
