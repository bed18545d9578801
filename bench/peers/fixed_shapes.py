"""What --deterministic costs: our own command with it and without, in turn."""
import pathlib
import tempfile

from clips import seconds_of
from commands import Tutti
from contract import FIXED_SHAPES
from measured import CommandFailed, measure
from side_by_side import compared


def fixed_shape_lines(bench, line):
    """As `compared`, ours with --deterministic, the peer without: the ratio is the share of the speed that is left."""
    files, model = bench.files(line), bench.model(line, "hugging-face")
    fixed, usual = [], []
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        command = bench.tutti.command(model, out, files, beams=line.beams, batched=line.mode == "batched")
        measure(command)  # the first run on a machine tests compute types
        tokens = Tutti.tokens(out, files)
        for _ in range(bench.runs):
            fixed.append(measure([*command, "--deterministic"]))
            if Tutti.tokens(out, files) != tokens:
                raise CommandFailed(f"{Tutti.tokens(out, files)} tokens with --deterministic, {tokens} without")
            usual.append(measure(command))
    yield from compared(name_of(line), "without --deterministic", sum(map(seconds_of, files)), fixed, usual)


def name_of(line):
    return line.name.replace("transcribe/", "deterministic/")


LINES = {name_of(line): line for line in FIXED_SHAPES}
