"""The extension module with what it needs around it: its programs, its log lines, the torch beside it."""
from __future__ import annotations

import importlib.util
import logging
import os
import pathlib
import re
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from . import _tutti
from .errors import MissingError, UnsupportedError

HERE = pathlib.Path(__file__).parent
PROGRAMS = HERE / "bin"
TORCH = "2.11"  # whose libtorch tutti-engine is built for
LOGGER = logging.getLogger("tutti")
LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}

__version__ = _tutti.build_id().split()[0]

_tutti.set_programs(PROGRAMS)

P = ParamSpec("P")
R = TypeVar("R")


def call(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What the module's function returns; what the library has logged meanwhile goes to the logger "tutti"."""
    try:
        return function(*args, **kwargs)
    finally:
        for level, text in _tutti.take_log():
            LOGGER.log(LEVELS.get(level, logging.INFO), "%s", text)


def check_torch() -> None:
    """The torch that tutti-engine loads; it is not imported. Raises where there is none, or another one."""
    install = f"Install it: pip install 'torch=={TORCH}.*'"
    found = importlib.util.find_spec("torch")
    if found is None or not found.submodule_search_locations:
        raise MissingError(f"torch: expected torch {TORCH} beside the package tutti, found none. {install}", "missing")
    folder = pathlib.Path(found.submodule_search_locations[0])
    version = version_of(folder)
    if not version.startswith(TORCH + "."):
        raise UnsupportedError(f"{folder}: expected torch {TORCH}, found {version}. {install}", "unsupported")
    beside = HERE.parent / "torch"  # tutti-engine's RPATH is ../../torch/lib
    if not beside.exists() or not os.path.samefile(folder, beside):
        raise MissingError(
            f"{folder}: expected torch in {HERE.parent}, beside the package tutti. "
            "Install both into one environment", "missing")


def version_of(folder: pathlib.Path) -> str:
    try:
        text = (folder / "version.py").read_text(encoding="utf-8")
    except OSError:
        return "no version.py"
    found = re.search(r"^__version__\s*=\s*['\"]([^'\"]+)", text, re.MULTILINE)
    return found[1] if found else "a version.py without a version"
