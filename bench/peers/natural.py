"""Real words: OpenAI's complete tiny.en on recordings with known text, one compute type beside the same one."""
import json
import pathlib
import subprocess
import tempfile

from clips import seconds_of
from commands import Tutti, peer_command, peer_counts
from convert import converted
from measured import CommandFailed, measure
from side_by_side import compared, row

FETCH_MODEL = pathlib.Path(__file__).parents[2] / "tools/fetch_model.py"


def spoken(data):
    """{recording: text} of the clips of the shared LJSpeech set whose texts are true."""
    folder = data / "speech/lj"
    rows = [line.split("|") for line in (folder / "metadata.csv").read_text().splitlines()]
    return {folder / "wavs" / f"{row[0]}.flac": row[-1] for row in rows if row[0].startswith("LJ003-")}


def fetched_model():
    """The complete tiny.en as CTranslate2 stores it, which tools/fetch_model.py has fetched."""
    fetched = pathlib.Path(subprocess.run([FETCH_MODEL, "--print"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip())
    if not (fetched / "model.bin").exists():
        raise CommandFailed(f"the complete tiny.en is not in {fetched}: run tools/fetch_model.py")
    return fetched


def real_model(bench):
    """The complete tiny.en as a Hugging Face folder, of which every peer's own form is made."""
    fetched = fetched_model()
    folder = bench.cache / "real-tiny.en"
    if not folder.exists():
        measure([bench.tutti.program, "convert", fetched, "-o", folder])
    return folder


def error_rate(texts, folder):
    """Word error rate in percent over all recordings, by openai-whisper's normaliser of English."""
    import jiwer
    from whisper.normalizers import EnglishTextNormalizer

    normalize = EnglishTextNormalizer()
    found = [json.loads((folder / f"{path.stem}.json").read_text())["text"] for path in texts]
    return 100 * jiwer.wer([normalize(text) for text in texts.values()], [normalize(text) for text in found])


def natural_lines(bench, name, compute_type, setting):
    texts, source = spoken(bench.options.data), real_model(bench)
    files = list(texts)
    model = converted(source, setting.form, bench.tools)
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = pathlib.Path(folder, "ours"), pathlib.Path(folder, "theirs")
        our_runs, peer_runs = [], []
        measure(bench.tutti.command(source, ours, files[:1], compute_type, natural=True))  # the first run tests compute types
        for _ in range(bench.runs):
            our_runs.append(measure(bench.tutti.command(source, ours, files, compute_type, natural=True)))
            peer_runs.append(measure(peer_command(setting, model, theirs, files, 1, bench.tools, natural=True)))
        yield from compared(name, setting.name, sum(map(seconds_of, files)), our_runs, peer_runs)
        counts = peer_counts(setting, peer_runs[-1].output, theirs, files)
        yield row(f"{name}/tokens", "tokens", Tutti.tokens(ours, files), setting.name, counts["tokens"])
        if counts["steps"] is not None:
            yield row(f"{name}/decoder-steps", "steps", Tutti.steps(our_runs[-1].output), setting.name, counts["steps"])
        yield row(f"{name}/wer", "%", error_rate(texts, ours), setting.name, error_rate(texts, theirs))
