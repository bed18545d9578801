"""The exceptions of this package. Their texts are those of the command line; `fault` is what kind of thing went wrong."""
from __future__ import annotations


class TuttiError(Exception):
    """Whatever Tutti could not do. The text names the thing, what was expected and found, and what to do."""

    def __init__(self, text: str, fault: str = "internal") -> None:
        super().__init__(text)
        self.fault = fault


class UsageError(TuttiError, ValueError):
    """An argument that cannot be intended."""


class MissingError(TuttiError, FileNotFoundError):
    """A file, model, device or program is not there."""

    def __str__(self) -> str:
        return str(self.args[0])


class CorruptError(TuttiError, ValueError):
    """A file is there, but damaged, or of another kind."""


class UnsupportedError(TuttiError, NotImplementedError):
    """Well-formed, but not something this build can do."""


class DeviceError(TuttiError, RuntimeError):
    """A device or its worker process failed, or memory, disk or a permission is in the way. The next call may work."""


class CancelledError(TuttiError):
    """The transcription was cancelled, or its model closed."""


_CLASSES: dict[str, type[TuttiError]] = {
    "usage": UsageError,
    "missing": MissingError,
    "corrupt": CorruptError,
    "unsupported": UnsupportedError,
    "refused": DeviceError,
    "exhausted": DeviceError,
    "full": DeviceError,
    "unavailable": DeviceError,
    "device": DeviceError,
    "cancelled": CancelledError,
}


def of_fault(fault: str, text: str) -> TuttiError:
    """The exception for a failure of the library; the module calls it."""
    return _CLASSES.get(fault, TuttiError)(text, fault)
