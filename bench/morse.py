#!/usr/bin/env python3
"""Errors of reading Morse, by how loud the noise is, how fast and how evenly it is keyed, and what disturbs it.

Usage: bench/morse.py [--tutti build/bin/tutti] [--model "DIR FLAG..."]... [--data ../shared/data/morse] [--clips 10] [--seed 1]
                      [--speech FILE]... [--contact MINUTES] [--svg FILE] [--json FILE] [--keep DIR]

A cell is some clips of one kind, made here from the seed: other code, texts and operators than 'tutti synth morse', from which
models learn. A row is a reader: each model by 'tutti transcribe', the envelope decoder beside this file, and multimon-ng
(MORSE_CW) where it is installed; what is not there is named and left out. A figure is the share of wrong characters (edits over
the characters sent, spaces too). The best of each cell is in bold, and in the mean no cell counts more than 100. The
signal-to-noise ratio is the power of the keyed tone over that of the noise in 500 Hz. --contact adds a contact of so many
minutes, --data the recordings of others. A second table has what is no Morse: noise, a steady carrier, speech (--speech), and
as its figure the characters written a minute. Needs numpy.
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import wave

import morse_envelope
from morse_envelope import np

RATE = morse_envelope.RATE
KEYS = {text: code for code, text in morse_envelope.CODES.items() if len(text) == 1}
CALLS = ("K", "W", "N", "DL", "F", "G", "OH", "SM", "JA", "VK", "PA", "ON", "HB", "LZ", "YO", "UR")
WORDS = ("CQ", "DE", "TEST", "UR", "RST", "599", "5NN", "579", "NAME", "QTH", "RIG", "ANT", "WX", "TNX", "FB", "OM", "73", "TU", "HW",
         "PSE", "AGN", "WATTS", "DIPOLE", "HELLO", "AND", "THE", "RAIN", "HERE", "NICE", "SIGNAL", "BAND", "OPEN", "CLOUDY", "GOOD",
         "QSL", "QRM", "QSB", "VIA", "BURO", "SOTA", "PARK", "RUNNING", "TEMP", "AGE", "YRS", "HAM", "SINCE", "COPY", "SOLID")
NAMES = ("EVA", "PAUL", "KARL", "JOE", "NICK", "OTTO", "RITA", "LUC", "IAN", "YURI")
TOWNS = ("GRAZ", "BREMEN", "LEEDS", "NANTES", "TORONTO", "SOFIA", "KIEL", "UTRECHT", "DENVER", "SAPPORO")
SNRS = (20, 12, 6, 3, 0, -3, -6, -9, -12)
SPEEDS = (8, 12, 18, 25, 35, 45)


EMPTY_SECONDS = 20  # of a clip without Morse


def call(draw):
    return draw.choice(CALLS) + str(draw.randrange(10)) + "".join(draw.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
                                                                  for _ in range(draw.randint(2, 3)))


def words_of(draw, count):
    """What is sent: words, calls and figures; a part of it twice, as on the air."""
    words = []
    while len(words) < count:
        word = draw.choice((lambda: draw.choice(WORDS), lambda: draw.choice(WORDS), lambda: call(draw),
                            lambda: str(draw.randint(1, 1500))))()
        words += [word] * (2 if draw.random() < 0.3 else 1)
    return words[:count]


def contact_of(draw, seconds, wpm):
    """Overs of two stations until they take about so long: [[word]]."""
    one, two, overs, sent = call(draw), call(draw), [], 0
    while sent * 1.2 / wpm * 9 < seconds:
        here, there = (one, two) if len(overs) % 2 == 0 else (two, one)
        name, town = draw.choice(NAMES), draw.choice(TOWNS)
        text = draw.choice((
            f"{there} {there} DE {here} {here} = GM OM TNX FER CALL = UR RST {draw.choice(['599', '579', '449'])} 5NN = NAME {name} "
            f"{name} = QTH {town} {town} = HW? {there} DE {here} KN",
            f"R R {there} DE {here} = FB {name} = RIG IC7300 PWR {draw.randint(1, 40) * 5}W = ANT DIPOLE UP {draw.randint(5, 25)} M = "
            f"WX RAIN TEMP {draw.randint(0, 30)} C = BTU {there} DE {here} K",
            f"{there} DE {here} = {' '.join(words_of(draw, 14))} = {there} DE {here} K"))
        overs.append(text.split())
        sent += len(text)
    return overs


class Key:
    """A hand at a key: seconds of its dots, dashes and gaps."""

    def __init__(self, draw, wpm, jitter=0.03, weight=0.0, dash=3.0, spacing=1.0, steady=False):
        self.draw, self.unit, self.jitter, self.weight = draw, 1.2 / wpm, jitter, weight
        self.dash, self.spacing, self.steady = dash, spacing, steady

    def length(self, units, even=False):
        wobble = 0 if even else self.draw.gauss(0, self.jitter)
        return self.unit * max(units + wobble, units / 2)

    def downs(self, words):
        """[(start, end)] of the marks, and how long all takes."""
        marks, at = [], 0.0
        for number, word in enumerate(words):
            at += self.length(7 * self.spacing) if number else 0
            for place, letter in enumerate(word):
                at += self.length(3 * self.spacing) if place else 0
                for index, sign in enumerate(KEYS[letter]):
                    at += self.length(1 - self.weight, self.steady) if index else 0
                    end = at + self.length((self.dash if sign == "-" else 1) + self.weight, self.steady and sign == ".")
                    marks.append((at, end))
                    at = end
        return marks, at


def keyed(count, marks, start, hertz, edge=0.004, drift=0.0, chirp=0.0, fading=None, phase=0.0):
    """A tone of amplitude 1 through a key."""
    time = np.arange(count) / RATE
    gate = np.zeros(count)
    off = np.full(count, hertz) + drift * (time / max(time[-1], 1e-9) - 0.5)
    for begin, end in marks:
        first, last = round((start + begin) * RATE), min(round((start + end) * RATE), count)
        if last <= first:
            continue
        gate[first:last] = 1
        if chirp:
            off[first:last] += chirp * np.exp(-np.arange(last - first) / (0.015 * RATE))
    bell = np.hanning(max(3, round(2 * edge * RATE)))
    gate = np.convolve(gate, bell / bell.sum(), "same")
    if fading:
        hertz_of, decibels = fading
        gate *= 10 ** (-decibels / 20 * (0.5 + 0.5 * np.sin(2 * np.pi * hertz_of * time + phase)))
    return gate * np.sin(2 * np.pi * np.cumsum(off) / RATE + phase)


def clip_of(cell, seed, words=None, seconds=None):
    """(samples, words) of one clip of a cell."""
    draw = random.Random(seed)
    noise = np.random.default_rng(draw.randrange(1 << 32))
    wpm = cell.get("wpm", 20)
    if words is None:
        words = words_of(draw, max(2, round(cell.get("seconds", 12) * wpm / 60)))
    marks, length = Key(draw, wpm, **cell.get("hand", {})).downs(words)
    start, hertz = draw.uniform(0.3, 1.0) + cell.get("wait", 0), cell.get("hertz", draw.uniform(450, 900))
    count = round((start + length + draw.uniform(0.3, 1.0)) * RATE)
    tone = keyed(count, marks, start, hertz, drift=cell.get("drift", 0), chirp=cell.get("chirp", 0), fading=cell.get("fading"),
                 phase=draw.uniform(0, 6.28))
    for beside, decibels in cell.get("others", ()):
        other = Key(draw, draw.uniform(16, 28), jitter=0.05).downs(words_of(draw, 60))[0]
        tone += 10 ** (decibels / 20) * keyed(count, other, -draw.uniform(0, 5), hertz + beside, phase=draw.uniform(0, 6.28))
    tone += noise.normal(0, np.sqrt(0.5 / 10 ** (cell.get("snr", 10) / 10) * (RATE / 2) / 500), count)
    for at in noise.uniform(0, count, noise.poisson(cell.get("clicks", 0) * count / RATE)).astype(int):
        tone[at:at + 8] += 6 * noise.choice((-1, 1))
    if "filter" in cell:
        spectrum, line = np.fft.rfft(tone), np.fft.rfftfreq(count, 1 / RATE)
        tone = np.fft.irfft(spectrum / (1 + ((line - hertz) / (cell["filter"] / 2)) ** 8), count)
    return 0.5 * tone / np.abs(tone).max(), words


def cells():
    """{name: what it has}; in three groups: noise, speed, and what disturbs."""
    made = {f"{snr:+d} dB": {"snr": snr} for snr in SNRS}
    made |= {f"{wpm} wpm": {"wpm": wpm, "seconds": 16 if wpm < 15 else 12} for wpm in SPEEDS}
    made |= {"straight key": {"hand": {"jitter": 0.2, "weight": 0.1}},
             "bug": {"hand": {"jitter": 0.15, "dash": 4.0, "steady": True, "weight": -0.1}, "wpm": 25},
             "Farnsworth": {"hand": {"spacing": 2.2}, "wpm": 20},
             "fading 0.2 Hz": {"fading": (0.2, 20)}, "fading 1 Hz": {"fading": (1, 15)}, "fading 4 Hz": {"fading": (4, 12)},
             "drift 100 Hz": {"drift": 100}, "chirp 60 Hz": {"chirp": 60}, "clicks": {"clicks": 8},
             "filter 250 Hz, 0 dB": {"filter": 250, "snr": 0},
             "second, +150 Hz, -6 dB": {"others": ((150, -6),)}, "second, +60 Hz, -6 dB": {"others": ((60, -6),)},
             "second, -100 Hz, -3 dB": {"others": ((-100, -3),)},
             "3 s of noise before": {"wait": 3}}
    return made


def clip_without_morse(name, seed):
    """Samples of noise as wide as the recording, of noise through a filter, or of a carrier 10 dB over the noise in 500 Hz."""
    draw = random.Random(seed)
    count = EMPTY_SECONDS * RATE
    samples = np.random.default_rng(draw.randrange(1 << 32)).normal(0, 1, count)
    if name == "noise through a filter":
        line = np.fft.rfftfreq(count, 1 / RATE)
        wide, middle = 250 * 2 ** draw.uniform(0, 3), draw.uniform(500, 900)
        samples = np.fft.irfft(np.fft.rfft(samples) / (1 + ((line - middle) / (wide / 2)) ** 8), count)
    if name == "carrier":
        deviation = np.sqrt(0.5 / 10 * (RATE / 2) / 500)
        samples = deviation * samples + keyed(count, [(0, EMPTY_SECONDS)], 0, draw.uniform(450, 900))
    return 0.5 * samples / np.abs(samples).max()


def write_wav(path, samples):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.clip(samples * 32767, -32768, 32767).astype("<i2").tobytes())


def edits(reference, found):
    row = list(range(len(found) + 1))
    for i, letter in enumerate(reference, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(found, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (letter != other))
    return row[-1]


def by_tutti(options, model, files, work):
    out = pathlib.Path(tempfile.mkdtemp(dir=work))
    subprocess.run([options.tutti, "transcribe", "--model", *model, "--beam-size", "None", "--output-format", "txt", "--output-dir", out,
                    "--quiet", *files], check=True)
    return [" ".join((out / f"{file.stem}.txt").read_text().split()).upper() for file in files]


def by_multimon(file):
    samples = morse_envelope.samples_of(file)
    count = round(len(samples) * 22050 / RATE)
    samples = np.interp(np.arange(count) * RATE / 22050, np.arange(len(samples)), samples)
    read = subprocess.run(["multimon-ng", "-q", "-a", "MORSE_CW", "-t", "raw", "-"],
                          input=(samples * 20000).astype("<i2").tobytes(), capture_output=True, check=True)
    return " ".join(read.stdout.decode(errors="replace").split()).upper()


def readers_of(options, work):
    """{name: what reads a list of files}."""
    readers = {f"tutti, {pathlib.Path(model[0]).name}": lambda files, model=model: by_tutti(options, model, files, work)
               for model in options.model}
    readers["envelope"] = lambda files: [morse_envelope.decoded(morse_envelope.samples_of(file)) for file in files]
    if shutil.which("multimon-ng"):
        readers["multimon-ng"] = lambda files: [by_multimon(file) for file in files]
    else:
        print("multimon-ng: another program: it is not installed, its row is left out", file=sys.stderr)
    print("morse-audio-decoder, morseformer: another program: PyPI has no version of the first for this Python, and the second "
          "fetches its weights when it runs; their rows are left out", file=sys.stderr)
    return readers


def sets_of(options, work):
    """{cell: ([file], [text])}."""
    sets = {}
    for name, cell in cells().items():
        files, texts = [], []
        for number in range(options.clips):
            samples, words = clip_of(cell, f"{options.seed} {name} {number}")
            files.append(work / f"{name.replace(' ', '_')}-{number}.wav")
            write_wav(files[-1], samples)
            texts.append(" ".join(words))
        sets[name] = files, texts
    if options.contact:
        draw = random.Random(f"{options.seed} contact")
        parts, sent = [], []
        for number, words in enumerate(contact_of(draw, 60 * options.contact, 22)):
            cell = {"wpm": (21, 24)[number % 2], "snr": (14, 8)[number % 2], "hand": {"jitter": 0.08}, "fading": (0.15, 8),
                    "hertz": (640, 655)[number % 2]}
            parts.append(clip_of(cell, f"{options.seed} over {number}", words)[0])
            sent += words
        file = work / "contact.wav"
        write_wav(file, np.concatenate(parts))
        sets[f"contact, {sum(map(len, parts)) / RATE / 60:.1f} min"] = [file], [" ".join(sent)]
    if options.data and (options.data / "texts.json").exists():
        known = {file: facts["text"] for file, facts in json.loads((options.data / "texts.json").read_text()).items() if facts["text"]}
        sets["recordings of others"] = [options.data / file for file in known], list(known.values())
    elif options.data:
        print(f"{options.data}: another download: holds no texts.json, its cell is left out", file=sys.stderr)
    return sets


def empty_sets_of(options, work):
    """{cell: [file]} of what has no Morse."""
    sets = {}
    for name in ("noise", "noise through a filter", "carrier"):
        sets[name] = [work / f"{name.replace(' ', '_')}-{number}.wav" for number in range(options.clips)]
        for number, file in enumerate(sets[name]):
            write_wav(file, clip_without_morse(name, f"{options.seed} {name} {number}"))
    sets["speech"] = [file for file in options.speech if file.exists()]
    if not sets["speech"]:
        names = ", ".join(map(str, options.speech))
        print(f"{names}: another download: not there, the cell of speech is left out", file=sys.stderr)
        del sets["speech"]
    return sets


def invented_table(invented, names):
    lines = ["| characters a minute | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    return "\n".join(lines + [f"| {cell} | " + " | ".join(f"{row[name]:.1f}" for name in names) + " |"
                              for cell, row in invented.items()])


def table_of(rates, names):
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    mean = {name: sum(min(row[name], 100) for row in rates.values()) / len(rates) for name in names}
    for cell, row in [*rates.items(), ("mean", mean)]:
        best = min(row.values())
        lines.append(f"| {cell} | " + " | ".join(f"**{row[n]:.1f}**" if row[n] == best else f"{row[n]:.1f}" for n in names) + " |")
    return "\n".join(lines)


def svg_of(rates, names):
    """Two pictures side by side: errors by signal-to-noise ratio, and bars of all else."""
    colours = ("#1b6ca8", "#d1495b", "#2e933c", "#8d6a9f", "#b58900")
    wide, high, left, top = 430, 300, 50, 40
    others = [cell for cell in rates if cell not in {f"{snr:+d} dB" for snr in SNRS}]
    bar = 5 + 9 * len(names)
    total = max(high + 120, top + 20 + bar * len(others) + 20)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="{total}" font-family="sans-serif" font-size="11">',
           f'<rect width="1000" height="{total}" fill="white"/>',
           f'<text x="{left}" y="20" font-size="13">Wrong characters by signal-to-noise ratio (500 Hz), 20 wpm</text>']
    x = lambda snr: left + (20 - snr) / 32 * wide
    y = lambda rate: top + high - min(rate, 100) / 100 * high
    for rate in (0, 10, 25, 50, 75, 100):
        out.append(f'<line x1="{left}" x2="{left + wide}" y1="{y(rate):.0f}" y2="{y(rate):.0f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y(rate) + 4:.0f}" text-anchor="end">{rate} %</text>')
    for snr in SNRS:
        out.append(f'<text x="{x(snr):.0f}" y="{top + high + 16}" text-anchor="middle">{snr:+d} dB</text>')
    for number, name in enumerate(names):
        points = " ".join(f"{x(snr):.1f},{y(rates[f'{snr:+d} dB'][name]):.1f}" for snr in SNRS)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colours[number % 5]}" stroke-width="2"/>'
                   f'<rect x="{left}" y="{top + high + 30 + 16 * number}" width="12" height="10" fill="{colours[number % 5]}"/>'
                   f'<text x="{left + 18}" y="{top + high + 39 + 16 * number}">{name}</text>')
    out.append('<text x="700" y="20" font-size="13">... and at +10 dB; a bar is 0 to 100 %</text>')
    for place, cell in enumerate(others):
        at = top + bar * place
        out.append(f'<text x="690" y="{at + bar / 2:.0f}" text-anchor="end">{cell}</text>')
        for number, name in enumerate(names):
            out.append(f'<rect x="700" y="{at + 9 * number}" width="{2.6 * min(rates[cell][name], 100):.1f}" height="7" '
                       f'fill="{colours[number % 5]}"/>')
    return "\n".join(out) + "\n</svg>\n"


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tutti", default=str(here.parent / "build/bin/tutti"))
    parser.add_argument("--model", action="append", default=[], type=str.split,
                        help="a model to read with, and in the same word the flags it needs; may be given again")
    parser.add_argument("--data", type=pathlib.Path, default=here.parent.parent / "shared/data/morse")
    parser.add_argument("--speech", type=pathlib.Path, action="append", help="a recording of speech; may be given again")
    parser.add_argument("--clips", type=int, default=10, help="of each cell")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--contact", type=float, help="minutes")
    parser.add_argument("--svg", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the clips, which stay there")
    options = parser.parse_args()
    options.speech = options.speech or [here.parent.parent / "shared/data/speech" / name for name in ("gb0.wav", "jfk.wav")]
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = options.keep or pathlib.Path(folder)
        sets, empty = sets_of(options, work), empty_sets_of(options, work)
        readers, rates, invented = readers_of(options, pathlib.Path(folder)), {}, {}
        for name, reader in readers.items():
            found = iter(reader([file for files, _ in sets.values() for file in files] +
                                [file for files in empty.values() for file in files]))
            for cell, (_, texts) in sets.items():
                wrong = sum(edits(text, next(found)) for text in texts)
                rates.setdefault(cell, {})[name] = 100 * wrong / sum(map(len, texts))
            for cell, files in empty.items():
                written = sum(len(next(found)) for _ in files)
                minutes = sum(len(morse_envelope.samples_of(file)) for file in files) / RATE / 60
                invented.setdefault(cell, {})[name] = written / minutes
    print(table_of(rates, list(readers)) + "\n\n" + invented_table(invented, list(readers)))
    if options.svg:
        options.svg.write_text(svg_of(rates, list(readers)))
    if options.json:
        options.json.write_text(json.dumps({"wrong": rates, "invented": invented}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
