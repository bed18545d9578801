"""What fits on which device and how long a batch takes, before it is begun: `tutti plan` for Python."""
from __future__ import annotations

import dataclasses
import json
import math
import os
import subprocess
import tempfile
from collections.abc import Iterable
from typing import Any

from .errors import DeviceError, UsageError
from .native import PROGRAMS


@dataclasses.dataclass(frozen=True)
class Plan:
    """What `tutti plan --json` finds. `expected` and the other times are None where no speed or length is known."""

    devices: list[dict[str, Any]]  # id, name, memory_bytes, speed_x
    recommended: str | None  # the command to type; None: the model fits nowhere
    problems: list[str]
    expected: float | None  # seconds of the batch; in four of five cases from `least` to `most`
    least: float | None
    most: float | None
    cost: float | None  # where all devices have prices
    found: dict[str, Any] = dataclasses.field(repr=False)  # all of it, as the command prints it


def plan(
    recordings: Iterable[float] | str | os.PathLike[str] | None = None,
    *,
    model: str = "medium",
    devices: str | None = None,
    gpus: str | None = None,
    compute_type: str = "default",
    beam_size: int = 1,
    ram: str | None = None,
) -> Plan:
    """Plans a batch of recordings, or only what fits where there are none.

    Args:
      recordings: Their lengths in seconds, an array or any iterable; or what `tutti batch` takes: a folder, a list.
      model: A name or a folder.
      devices: "auto", "cuda:0,cpu:8"; None: this machine's. gpus: GPUs by their figures, "24GB:60x,16GB:40x", instead.
      ram: Memory of the machine, "64GB"; None: what is available here.
    """
    words = ["plan", "--json", "--model", model, "--compute-type", compute_type, "--beams", str(beam_size)]
    for flag, value in (("--devices", devices), ("--gpus", gpus), ("--ram", ram)):
        if value is not None:
            words += [flag, value]
    with tempfile.TemporaryDirectory(prefix="tutti-plan-") as folder:
        if isinstance(recordings, (str, os.PathLike)):
            words.append(os.fspath(recordings))
        elif recordings is not None:
            words += ["--durations", _written(recordings, folder)]
        done = subprocess.run([PROGRAMS / "tutti", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unexplained = f"tutti plan ended with status {done.returncode}"
        text = done.stderr.strip().removeprefix("tutti: ").removeprefix("error: ") or unexplained
        raise UsageError(text, "usage") if done.returncode == 2 else DeviceError(text, "unavailable")
    found = json.loads(done.stdout)
    time = found.get("time", {})
    return Plan(devices=found["devices"], recommended=found.get("recommended"), problems=found["problems"],
                expected=time.get("expected_s"), least=time.get("least_s"), most=time.get("most_s"),
                cost=found.get("cost"), found=found)


def _written(seconds: Iterable[float], folder: str) -> str:
    path = os.path.join(folder, "durations.json")
    lengths = [float(one) for one in seconds]
    for number, length in enumerate(lengths):
        if not 0 <= length < math.inf:
            raise UsageError(f"recordings[{number}]: expected a length in seconds, found {length}", "usage")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(lengths, file)
    return path
