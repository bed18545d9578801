"""A line of the contract, measured: the best peer found, both sides run in turn, medians taken."""
import json
import pathlib
import statistics
import tempfile

from clips import part, seconds_of, short_clips, ten_minutes
from commands import Tutti, peer_command, peer_counts
from contract import CANDIDATES, MEMORY_BESIDE
from convert import Tools, converted
from measured import CommandFailed, measure
from reciting import reciting_model

GIVE_UP = 1.25  # a candidate that needs this many times the best one's seconds has lost
SAME_WORK = 0.08  # by how much the tokens of the two sides may differ


def row(what, unit, tutti, peer, peer_value, less_is_better=True):
    ratio = peer_value / tutti if less_is_better else tutti / peer_value
    return {"what": what, "unit": unit, "tutti": tutti, "peer": peer, "peer_value": peer_value, "ratio": ratio}


class Bench:
    def __init__(self, options, tutti):
        self.options, self.tutti = options, tutti
        self.cache = options.cache
        self.tools = Tools(options.cache, options.whisper_cpp, options.openvino_python)
        self.audio = self.cache / "audio"
        self.audio.mkdir(parents=True, exist_ok=True)
        self.runs = 1 if options.quick else options.runs
        self.choices = self.cache / "choices.json"

    # --- what is measured on

    def files(self, line):
        clips = self.options.data / "whisper-tiny.en" / "clips"
        whole = ten_minutes([clips / "long-eight-minutes.flac", self.options.data / "speech" / "gb0.wav"], self.audio)
        if line.mode == "short40":
            return short_clips(whole, self.audio)[:8 if self.options.quick else None]
        return [part(whole, 0, 120, self.audio / "two-minutes.flac")] if self.options.quick else [whole]

    def excerpt(self, line):
        """What the peers are chosen on: enough to fill a batch."""
        files = self.files(line)
        if line.mode == "short40":
            return files[:8]
        return [part(files[0], 0, 240 if line.mode == "batched" else 60, self.audio / f"{line.mode}-excerpt.flac")]

    def model(self, line, form):
        folder = reciting_model(line.size, self.options.data / "whisper-tiny.en", self.cache)
        return converted(folder, form, self.tools)

    # --- one run of each side

    def run_ours(self, line, files, folder):
        found = measure(self.tutti.command(self.model(line, "hugging-face"), folder, files, beams=line.beams,
                                           batched=line.mode == "batched"))
        return found, Tutti.tokens(folder, files)

    def run_peer(self, line, setting, files, folder, within=None):
        model = self.model(line, setting.form)
        folder.mkdir(exist_ok=True)
        found = measure(peer_command(setting, model, folder, files, line.beams, self.tools), within)
        return found, peer_counts(setting, found.output, folder, files) if found else None

    # --- the best peer

    def that_are_here(self, settings):
        absent = {engine for engine, there in (("whisper.cpp", self.options.whisper_cpp), ("openvino", self.options.openvino_python))
                  if not there}
        return [setting for setting in settings if setting.engine not in absent]

    def candidates(self, line):
        return self.that_are_here(CANDIDATES[line.mode])

    def remembered(self):
        return json.loads(self.choices.read_text()) if self.choices.exists() else {}

    def best_peer(self, line):
        candidates = self.candidates(line)
        if self.options.quick:
            return candidates[0]
        key = f"{line.name} of {', '.join(setting.name for setting in candidates)}"
        if key not in self.remembered() or self.options.screen:
            chosen = self.screen(line, candidates)
            self.choices.write_text(json.dumps(self.remembered() | {key: chosen.name}, indent=1))
        return next(setting for setting in candidates if setting.name == self.remembered()[key])

    def screen(self, line, candidates):
        """Runs every candidate on the excerpt; what counts is the time behind the loading, which the excerpt exaggerates."""
        files, best, shortest = self.excerpt(line), None, None
        for setting in candidates:
            with tempfile.TemporaryDirectory() as folder:
                self.model(line, setting.form)  # made now, not while the clock runs
                # Importing Python's libraries takes some of them many seconds, which the limit leaves room for.
                within = None if shortest is None else GIVE_UP * shortest + 15
                try:
                    found, counts = self.run_peer(line, setting, files, pathlib.Path(folder), within)
                except CommandFailed as error:
                    print(f"  {line.name}: {setting.name} cannot take part: {error}", flush=True)
                    continue
            seconds = found and found.seconds - counts["load_seconds"]
            print(f"  {line.name}: {setting.name} " + (f"{seconds:.1f} s" if found else "slower"), flush=True)
            if found and (shortest is None or seconds < shortest):
                best, shortest = setting, seconds
        if best is None:
            raise CommandFailed(f"no peer could run {line.name}")
        return best

    # --- the comparison

    def lines(self, line):
        missing = self.tutti.lacks(line)
        if missing:
            raise CommandFailed(f"tutti transcribe has no {', '.join(missing)}")
        setting, files = self.best_peer(line), self.files(line)
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = pathlib.Path(folder, "ours"), pathlib.Path(folder, "theirs")
            self.run_ours(line, self.excerpt(line), ours)  # the first run on a machine tests compute types
            our_runs, peer_runs = [], []
            for _ in range(self.runs):
                found, tokens = self.run_ours(line, files, ours)
                our_runs.append(found)
                found, counts = self.run_peer(line, setting, files, theirs)
                peer_runs.append(found)
            yield from compared(line.name, setting.name, sum(map(seconds_of, files)), our_runs, peer_runs)
            yield from self.memory_lines(line, setting, our_runs, theirs)
        yield row(f"{line.name}/tokens", "tokens", tokens, setting.name, counts["tokens"])
        if counts["steps"] is not None:  # neither whisper.cpp nor its bindings report them
            yield row(f"{line.name}/decoder-steps", "steps", Tutti.steps(our_runs[-1].output), setting.name, counts["steps"])
        if abs(tokens - counts["tokens"]) > SAME_WORK * max(tokens, counts["tokens"]):
            raise CommandFailed(f"{tokens} tokens of ours against {counts['tokens']}: not the same work")

    def memory_lines(self, line, fastest, our_runs, folder):
        """Peak memory beside those of MEMORY_BESIDE that were not the fastest, each run once."""
        for setting in self.that_are_here(MEMORY_BESIDE[line.mode]):
            if setting == fastest or self.options.quick:
                continue
            found, _ = self.run_peer(line, setting, self.files(line), folder)
            yield row(f"{line.name}/peak-memory/{setting.engine}", "MiB", max(run.peak_mib for run in our_runs), setting.name,
                      found.peak_mib)


def compared(name, peer, audio_seconds, our_runs, peer_runs):
    def median(runs, field):
        return statistics.median(getattr(run, field) for run in runs)

    yield row(name, "x real time", audio_seconds / median(our_runs, "seconds"), peer,
              audio_seconds / median(peer_runs, "seconds"), less_is_better=False)
    yield row(f"{name}/cpu", "cpu seconds", median(our_runs, "cpu_seconds"), peer, median(peer_runs, "cpu_seconds"))
    yield row(f"{name}/peak-memory", "MiB", max(run.peak_mib for run in our_runs), peer,
              max(run.peak_mib for run in peer_runs))
