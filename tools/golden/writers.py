#!/usr/bin/env python3
"""What openai-whisper 20250625 writes for awkward transcripts -> tests/data/transcript/writers.json.

Usage: writers.py [OUTPUT]. Needs openai-whisper. Every case has the result as Python's json.dump writes it, the writer options,
and what each writer made of it (null where the reference itself fails); the layout grid has CRC-32 sums instead of texts.
"""
import io
import itertools
import json
import pathlib
import random
import struct
import sys
import zlib

from whisper.utils import WriteJSON, WriteSRT, WriteTSV, WriteTXT, WriteVTT

WRITERS = {"txt": WriteTXT, "vtt": WriteVTT, "srt": WriteSRT, "tsv": WriteTSV, "json": WriteJSON}
OUTPUT = pathlib.Path(__file__).parents[2] / "tests/data/transcript/writers.json"


def write(format, result, options):
    out = io.StringIO()
    try:
        WRITERS[format](".").write_result(result, file=out, **options)
    except KeyError:  # the subtitle writers where the first segment has "words" and another has none
        return None
    return out.getvalue()


def segment(id, start, end, text, words=None, **other):
    made = {"id": id, "seek": 0, "start": start, "end": end, "text": text, "tokens": [50364, 1000 + id, 50414], "temperature": 0.0,
            "avg_logprob": -0.25, "compression_ratio": 1.125, "no_speech_prob": 0.015625, **other}
    if words is not None:
        made["words"] = words
    return made


def cleared(id, start, end):
    return segment(id, start, end, "", words=[], tokens=[])


def result(segments, language="en"):
    return {"text": "".join(s["text"] for s in segments), "segments": segments, "language": language}


def texts():
    odd = [
        " Plain words.", " a --> b ---> c -->", "\ttabs\tinside\t", " line\nfeeds\r\nand\rreturns\n", " \"quotes\" \\ and / slashes",
        " \u00fcml\u00e4ut \u65e5\u672c\u8a9e \u0440\u0443\u0441\u0441\u043a\u0438\u0439 \u0639\u0631\u0628\u064a", " \U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U00010348",
        "\u00a0\u2003 odd spaces \u3000\u2028\x1f\x85", "\u200b not a space \u200b", " \x00\x01\x07\x08\x0b\x0c\x1b\x7f\x80\x9f ",
        " e\u0301 combining \ufeff \ufffd \uffff", "   ", "-->", " <b>tags</b> & entities",
    ]
    return result([segment(i, 1.5 * i, 1.5 * i + 1.25, text) for i, text in enumerate(odd)], "de")


def times():
    odd = [0.0, 0.0004, 0.0005, 0.0015, 0.0025, 0.9995, 1.0005, 59.9994, 59.9995, 59.9999, 60.0, 61.001, 3599.9995, 3600.0, 3661.5, 86399.999,
           359999.9994, 360000.0, 1e6 + 0.1, 0.1 + 0.2, 29.98, 30.000000000000004]
    return result([segment(i, at, at + 0.02 * i, f" at {at}") for i, at in enumerate(odd)])


def numbers():
    odd = [0.0, -0.0, 1.0, 1e-5, 1e-4, 0.00012345, 1e15, 1e16, 123456789012345680.0, 1.5e-7, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 1 / 3,
           -2 / 3, 100.0, 1e22, 1e23, float("nan"), float("inf"), float("-inf")]
    return result([segment(i, 0.0, 1.0, " n", avg_logprob=at, no_speech_prob=at, compression_ratio=at, temperature=at, seek=3000 * i)
                   for i, at in enumerate(odd)])


def word(text, start, end):
    return {"word": text, "start": round(start, 2), "end": round(end, 2), "probability": 0.5 + start / 1000}


def spoken(seed, vocabulary, segments=6):
    """Segments with word times: gaps now and then long, a cleared segment in the middle."""
    rng = random.Random(seed)
    at, made = rng.random(), []
    for i in range(segments):
        words, start = [], at
        for _ in range(rng.randint(1, 14)):
            at += rng.choice([0, 0, 0.1, 0.4, 3.01])
            end = at + rng.choice([0.08, 0.2, 0.5])
            words.append(word(rng.choice(vocabulary), at, end))
            at = end
        made.append(segment(i, round(start, 2), round(at, 2), "".join(w["word"] for w in words), words))
        if i == segments // 2:
            made[-1].update(text="", tokens=[], words=[])
    return result(made)


ENGLISH = [" the", " quick", " brown", " fox", " jumps,", " over", " a", " lazy", " dog.", " Incomprehensibilities", " --> ", "-", "'s"]
JAPANESE = ["\u65e5", "\u672c\u8a9e", "\u3067\u3059", "\u3002", "\U0001f600", "\u306f\u306a\u3059"]
ODD = [" a\n", "\n b", "c\nd", " ", "", "\u3000e\u3000", " f\n\n", "\n"]


def case(name, made, options=None):
    options = options or {}
    return {"name": name, "options": options, **{format: write(format, made, options) for format in WRITERS}}


def cases():
    yield case("no segments", result([]))
    yield case("awkward texts", texts())
    yield case("awkward times", times())
    yield case("awkward numbers", numbers())
    yield case("a cleared segment in the middle", result([segment(0, 0.0, 2.0, " one"), cleared(1, 2.0, 2.0), segment(2, 2.0, 4.5, " two")]))
    yield case("only cleared segments", result([cleared(0, 0.0, 30.0), cleared(1, 30.0, 41.2)]))
    yield case("a cleared segment first", result([cleared(0, 0.0, 30.0), segment(1, 30.0, 41.2, " late")]))
    yield case("words", spoken(1, ENGLISH))
    yield case("words, highlighted", spoken(2, ENGLISH, 2), {"highlight_words": True})
    yield case("words, narrow", spoken(3, ENGLISH, 3), {"max_line_width": 16, "max_line_count": 2})
    yield case("odd words, highlighted", spoken(4, ODD, 3), {"highlight_words": True})


def grid():
    """Every combination of the layout options over three vocabularies, as sums."""
    for name, vocabulary in {"english": ENGLISH, "japanese": JAPANESE, "odd": ODD + ENGLISH}.items():
        made = spoken(name, vocabulary, 8)
        sums = []
        for width, count, words, highlight in itertools.product([None, 1, 12, 20, 42], [None, 1, 2, 3], [None, 1, 3, 7], [False, True]):
            options = {"max_line_width": width, "max_line_count": count, "max_words_per_line": words, "highlight_words": highlight}
            text = write("srt", made, options) + write("vtt", made, options)
            sums.append([width, count, words, highlight, zlib.crc32(text.encode())])
        yield {"name": name, "json": write("json", made, {}), "sums": sums}


def floats():
    """Doubles of every size, as bits and as Python writes them."""
    rng = random.Random(7)
    values = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(150)]
    values += [round(rng.random() * 10 ** rng.randint(-7, 18), rng.randint(0, 9)) for _ in range(150)]
    return [[struct.unpack("<Q", struct.pack("<d", v))[0], json.dumps(v)] for v in values]


def main():
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT
    made = {"made_by": "tools/golden/writers.py, openai-whisper 20250625", "cases": list(cases()), "grid": list(grid()), "floats": floats()}
    output.write_text(json.dumps(made, ensure_ascii=True, indent=0, separators=(",", ":")) + "\n")
    print(f"{output}: {output.stat().st_size} bytes, {len(made['cases'])} cases, {sum(len(g['sums']) for g in made['grid'])} layouts")


if __name__ == "__main__":
    main()
