"""Speech synthesis beside its peers: training steps beside PyTorch's with the alignment in the training thread and beside Matcha-TTS's
own, clips prepared beside Python's usual libraries, and speech beside Piper's with its voice joe."""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import wave

from measured import CommandFailed, measure
from side_by_side import row

NAMES = ["tts/step", "tts/step-matcha", "tts/prepare", "tts/say", "tts/say-warm"]
HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
TEXTS = PROJECT / "recipes/voice/test_texts.txt"
SENTENCES = 12
BATCH, STEPS = 16, 16
EPOCH = 20  # steps over the teacher's clips. The second one counts, whose shapes have all been there, as the peer's one has been
MINUTES = 20  # of the teacher's speech


def teacher(bench):
    """A folder of clips by flite's slt in LJSpeech's layout, made once."""
    folder = bench.audio / f"teacher-{MINUTES}"
    if not (folder / "complete").exists():
        measure(["rm", "-rf", folder])
        measure([bench.tutti.program, "synth", "voice", "--minutes", MINUTES, "--out", folder])
        (folder / "complete").touch()
    return folder


def prepare(bench, out):
    return measure([bench.tutti.program, "prepare", "tts", "--data", teacher(bench), "--out", out])


def seconds_of_wav(file):
    with wave.open(str(file)) as audio:
        return audio.getnframes() / audio.getframerate()


def mean_shape(bench, folder):
    """Symbols and frames of a clip, on average: those that the peer's batches have."""
    rows = [line.split("|") for line in (teacher(bench) / "metadata.csv").read_text().splitlines()]
    seconds = statistics.mean(seconds_of_wav(teacher(bench) / "wavs" / f"{row[0]}.wav") for row in rows)
    times = folder / "x.json"
    text = " ".join(row[-1] for row in rows[:10])
    measure([bench.tutti.program, "say", "--voice", PROJECT / "models/voice", "--times", times, "-o", folder / "x.wav", text])
    return round(len(json.loads(times.read_text())["symbols"]) / 10), round(seconds * 80)


def step_lines(bench, name, peer, python, script):
    if not python:
        raise CommandFailed("Matcha-TTS is not installed (--matcha-python)")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        prepare(bench, folder / "set")
        shape = mean_shape(bench, folder)
        ours, theirs = [], []
        for run in range(bench.runs):
            out = folder / f"out{run}"
            measure([bench.tutti.program, "train", "tts", "--train-data", folder / "set", "--out", out, "--batch-size", BATCH,
                     "--max-steps", 2 * EPOCH, "--precision", "float32", "--log-steps", 1, "--save-steps", 0, "--eval-steps", 0])
            lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
            ours.append(statistics.mean([line["seconds"] for line in lines if "loss" in line][EPOCH:]))
            steps = measure([python, HERE / script, BATCH, *shape, STEPS])
            theirs.append(json.loads(steps.output.splitlines()[-1])["seconds"])
    yield row(name, "steps/s", 1 / statistics.median(ours), peer, 1 / statistics.median(theirs), less_is_better=False)


def prepare_lines(bench):
    clips = len((teacher(bench) / "metadata.csv").read_text().splitlines())
    words = subprocess.run([PROJECT / "tools/fetch_dictionary.py", "--print"], check=True, capture_output=True, text=True).stdout.strip()
    ours, theirs = [], []
    for _ in range(bench.runs):
        with tempfile.TemporaryDirectory() as folder:
            ours.append(clips / prepare(bench, pathlib.Path(folder, "set")).seconds)
        peer = measure([sys.executable, HERE / "voice_prepare.py", teacher(bench), pathlib.Path(words, "cmudict.dict")])
        theirs.append(json.loads(peer.output.splitlines()[-1])["rate"])
    yield row("tts/prepare", "clips/s", statistics.median(ours), "librosa and torch, a process a core", statistics.median(theirs),
              less_is_better=False)


def our_speech(bench, folder, sentences):
    """Seconds that a command took, and seconds of audio."""
    text = " ".join(TEXTS.read_text().splitlines()[:sentences])
    took = measure([bench.tutti.program, "say", "--voice", PROJECT / "models/voice", "-o", folder / "ours.wav", text])
    return took.seconds, seconds_of_wav(folder / "ours.wav")


def piper_speech(bench, folder, *runs):
    if not bench.options.piper_python:
        raise CommandFailed("Piper is not installed (--piper-python)")
    texts = "\n".join(TEXTS.read_text().splitlines()[:SENTENCES])
    file = folder / "texts"
    file.write_text(texts + "\n")
    return measure(["sh", "-c", 'exec "$0" "$@" < ' + str(file), bench.options.piper_python, HERE / "piper_say.py",
                    folder / "piper.wav", *runs])


def say_lines(bench, warm):
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for _ in range(bench.runs):
            took, audio = our_speech(bench, folder, SENTENCES)
            if warm:  # twice the sentences less once: without the command's start
                more_took, more_audio = our_speech(bench, folder, 2 * SENTENCES)
                took, audio = more_took - took, more_audio - audio
                theirs.append(json.loads(piper_speech(bench, folder, 3).output.splitlines()[-1])["speed"])
            else:
                peer = piper_speech(bench, folder).seconds
                theirs.append(seconds_of_wav(folder / "piper.wav") / peer)
            ours.append(audio / took)
    yield row("tts/say-warm" if warm else "tts/say", "x real time", statistics.median(ours), "Piper, joe", statistics.median(theirs),
              less_is_better=False)


def speaking_lines(bench, name):
    python, matcha = sys.executable, bench.options.matcha_python
    return {"tts/step": lambda b: step_lines(b, name, "PyTorch eager, float32", python, "voice_step.py"),
            "tts/step-matcha": lambda b: step_lines(b, name, "Matcha-TTS's code", matcha, "matcha_step.py"),
            "tts/prepare": prepare_lines, "tts/say": lambda b: say_lines(b, False),
            "tts/say-warm": lambda b: say_lines(b, True)}[name](bench)
