"""Real words: tiny's real weights on recordings with known text, one compute type beside the same one."""
import json
import pathlib
import re
import tempfile

from clips import seconds_of
from commands import Tutti, peer_command, peer_counts
from convert import converted
from measured import measure
from side_by_side import compared, row


def words(text):
    return re.sub(r"[^a-z0-9 ]", " ", text.lower().replace("\n", " ")).split()


def error_rate(texts, files, folder):
    """Word error rate in percent over all files that have a text."""
    import jiwer

    known = [path for path in files if texts.get(path.name, {}).get("text")]
    said = [json.loads((folder / f"{path.stem}.json").read_text())["text"] for path in known]
    return 100 * jiwer.wer([texts[path.name]["text"] for path in known], [" ".join(words(text)) for text in said])


def natural_lines(bench, name, compute_type, setting):
    source = bench.options.data / "whisper-tiny.en"
    clips = source / "clips"
    files = sorted([*clips.glob("long-*.flac"), *clips.glob("mixed-*.wav")])
    model = converted(source, bench.cache, setting.form)
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = pathlib.Path(folder, "ours"), pathlib.Path(folder, "theirs")
        our_runs, peer_runs = [], []
        for _ in range(bench.runs):
            our_runs.append(measure(bench.tutti.command(source, ours, files, compute_type, natural=True)))
            peer_runs.append(measure(peer_command(setting, model, theirs, files, beams=1, natural=True)))
        yield from compared(name, setting.name, sum(map(seconds_of, files)), our_runs, peer_runs)
        counts = peer_counts(setting, peer_runs[-1].output, theirs, files)
        yield row(f"{name}/tokens", "tokens", Tutti.tokens(ours, files), setting.name, counts["tokens"])
        yield row(f"{name}/decoder-steps", "steps", Tutti.steps(our_runs[-1].output), setting.name, counts["steps"])
        texts = json.loads((clips / "texts.json").read_text())
        wer, peer_wer = error_rate(texts, files, ours), error_rate(texts, files, theirs)
        yield {**row(f"{name}/wer", "%", wer or 1, setting.name, peer_wer), "tutti": wer,
               "ratio": peer_wer / wer if wer else None}
