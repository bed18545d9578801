"""How arrays of the feed reach the caller: NumPy's, or tensors of torch, pinned or on a device."""
from __future__ import annotations

from typing import Any

from .errors import UsageError


class Tensors:
    """Makes of each array what was requested, with one copy of it at most: into pinned memory, or onto the device."""

    def __init__(self, kind: str, device: Any, pin_memory: bool) -> None:
        if kind not in ("torch", "numpy"):
            raise UsageError(f"tensors: expected torch or numpy, found '{kind}'", "usage")
        if kind == "numpy" and (device is not None or pin_memory):
            raise UsageError("device, pin_memory: expected none with tensors='numpy'", "usage")
        self._kind, self._device, self._pins = kind, device, pin_memory

    def __call__(self, array: Any) -> Any:
        """The array itself, or a tensor that shares its memory, unless it is pinned or moved."""
        if self._kind == "numpy":
            return array
        import torch

        tensor = torch.from_numpy(array)
        if self._pins:
            tensor = tensor.pin_memory()  # from there a device fetches it while the caller goes on
        return tensor if self._device is None else tensor.to(self._device, non_blocking=self._pins)
