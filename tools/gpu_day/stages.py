"""The stages. Each one prints what it found as JSON lines (machine.figure, failed, note) and is a process of its own."""
import load
from check_stages import environment, kernels, ncu, parity, plain_check, sanitizer, speed_beams, speed_large, speed_small
from fault_stages import kill, memory, nvml, two_workers
from run_stages import batch, losses, real_model, recite, training


def load_stage(machine, given):
    load.unpack(machine, given.load or sorted(load.ROOT.glob("gpu-load-*")))


# Name, what it does, its longest seconds on a GPU and in a dry run; in the order that a run of minutes should have.
STAGES = {
    "load": (load_stage, 60, 60),
    "environment": (environment, 45, 30),
    "step": (plain_check("step", 20), 120, 40),
    "parity": (parity, 60, 60),
    "selection": (plain_check("selection", 20), 60, 40),
    "worker": (plain_check("worker"), 60, 60),
    "speed-large": (speed_large, 150, 60),
    "speed-beams": (speed_beams, 75, 60),
    "recite": (recite, 150, 60),
    "kernels": (kernels, 60, 10),
    "real-model": (real_model, 120, 60),
    "batch": (batch, 60, 60),
    "training": (training, 90, 120),
    "losses": (losses, 60, 120),
    "memory": (memory, 75, 30),
    "two-workers": (two_workers, 45, 60),
    "kill": (kill, 75, 60),
    "nvml": (nvml, 40, 30),
    "speed-small": (speed_small, 60, 30),
    "sanitizer": (sanitizer, 60, 30),
    "ncu": (ncu, 60, 30),
}
