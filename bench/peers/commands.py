"""The command lines of both sides, and what their outputs say."""
import json
import pathlib
import re
import subprocess
import sys

from convert import whisper_cpp_program

# Bare decoding at temperature 0: no second try, no previous text, no silence check. The peers get the same options.
BARE = ["--condition-on-previous-text", "False", "--compression-ratio-threshold", "None", "--logprob-threshold", "None",
        "--no-speech-threshold", "None"]


class Tutti:
    """The program that is measured. What its help does not know it cannot be asked for."""

    def __init__(self, program):
        self.program = program
        self.help = subprocess.run([program, "transcribe", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout

    def lacks(self, line):
        """The flags that `line` needs and this program does not have."""
        needed = (["--batched"] if line.mode == "batched" else []) + (["--beam-size"] if line.beams > 1 else [])
        return [flag for flag in needed if not re.search(rf"{flag}\b", self.help)]

    def command(self, model, folder, files, compute_type="auto", beams=1, batched=False, natural=False):
        words = [self.program, "transcribe", "--model", model, "--compute-type", compute_type, "--temperature", "0",
                 "--temperature-increment-on-fallback", "None", "--language", "en", "--output-format", "json",
                 "--output-dir", folder, "--json"]
        if "--beam-size" in self.help:
            words += ["--beam-size", beams] if beams > 1 else ["--beam-size", "None"]
        return words + (["--batched"] if batched else []) + ([] if natural else BARE) + list(files)

    def batch(self, model, place, files, devices):
        """A batch of its own, with a store of its own, bare and greedy as `command`."""
        return [self.program, "batch", "--model", model, "--devices", devices, "--output-dir", place / "out", "--state",
                place / "state", "--report", place / "report.json", "--output-format", "json", "--language", "en",
                "--temperature", "0", "--temperature-increment-on-fallback", "None", "--beam-size", "None", "--review",
                "False", "--yes", *BARE, *files]

    @staticmethod
    def steps(output):
        """Decoder steps, of every sequence and beam, as the peers' are counted."""
        return next(event["sequence_steps"] for event in map(json.loads, output.splitlines()) if event["event"] == "summary")

    @staticmethod
    def tokens(folder, files):
        """Ids in the transcripts, timestamps included."""
        return sum(len(segment["tokens"]) for path in files
                   for segment in json.loads((folder / f"{path.stem}.json").read_text())["segments"])


def peer_command(setting, model, folder, files, beams, tools, natural=False):
    if setting.engine == "whisper.cpp":
        threads = ["-t", "2", "-l", "en", "-bs", beams, "-bo", "1", "-nf", "-mc", "0", "-oj", "-ojf", "-np"]
        outputs = [word for path in files for word in ("-of", folder / path.stem)]
        return [whisper_cpp_program(tools, "whisper-cli"), "-m", model, *threads, *outputs, *files]
    python = tools.openvino_python if setting.engine == "openvino" else sys.executable
    return [python, pathlib.Path(__file__).with_name("peer.py"), setting.engine, "--model", model, "--out", folder,
            "--type", setting.compute_type, "--way", setting.way, "--beams", beams, *(["--natural"] if natural else []),
            *files]


def peer_counts(setting, output, folder, files):
    """{"steps", "tokens", "load_seconds"} of a peer's run; what it does not tell is None."""
    if setting.engine != "whisper.cpp":
        return json.loads(output.splitlines()[-1])
    segments = [segment for path in files
                for segment in json.loads((folder / f"{path.stem}.json").read_text())["transcription"]]
    # whisper.cpp writes no timestamp tokens that it was not asked to print: two for each segment.
    words = sum(sum(not token["text"].startswith("[_") for token in segment["tokens"]) for segment in segments)
    return {"steps": None, "tokens": words + 2 * len(segments), "load_seconds": 0.0}
