"""openai-whisper's words and their times over shared test audio -> tests/data/system/words.json.

Usage: python word_times.py DATA OUT.json   (as transcribe.py, whose weights and clips these are)
Each clip is transcribed at temperature 0 in every case of CASES; kept are the words of every segment as [word, start, end,
probability], its edges, and the subtitles in the layout of LAYOUT.
"""
import io
import json
import pathlib
import sys

import torch
import whisper
from transcribe import load
from whisper.utils import WriteSRT, WriteVTT

MIXED = "whisper-tiny.en/clips/mixed-1.wav"
CASES = {
    "words": ({}, [MIXED, "whisper-tiny.en/clips/mixed-2.wav", "formats/sonnet/p001.flac", "digits/7_jackson_32.wav"]),
    "silence": ({"hallucination_silence_threshold": 2.0}, [MIXED, "formats/sonnet/p001.flac", "speech/gb0.wav"]),
    "prefix": ({"prefix": "one two"}, [MIXED, "whisper-tiny.en/clips/string-george.wav"]),
    "no timestamps": ({"without_timestamps": True}, [MIXED, "whisper-tiny.en/clips/string-george.wav"]),
}
LAYOUT = {"max_line_width": 20, "max_line_count": 2, "highlight_words": True}


def subtitles(result, writer):
    out = io.StringIO()
    writer(".").write_result(result, file=out, **LAYOUT)
    return out.getvalue()


def kept(segment):
    words = [[w["word"], float(w["start"]), float(w["end"]), w["probability"]] for w in segment["words"]]
    return {"seek": segment["seek"], "start": float(segment["start"]), "end": float(segment["end"]), "text": segment["text"], "words": words}


def main():
    data, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    torch.set_num_threads(1)
    model = load(data / "whisper-tiny.en")
    heads = json.loads((data / "whisper-tiny.en" / "generation_config.json").read_text())["alignment_heads"]
    mask = torch.zeros(model.dims.n_text_layer, model.dims.n_text_head, dtype=torch.bool)
    for layer, head in heads:
        mask[layer, head] = True
    model.register_buffer("alignment_heads", mask.to_sparse(), persistent=False)
    clips = []
    for name, (options, paths) in CASES.items():
        for path in paths:
            result = whisper.transcribe(model, str(data / path), language="en", temperature=0.0, fp16=False, word_timestamps=True, **options)
            clip = {"path": path, "case": name, "segments": [kept(s) for s in result["segments"]]}
            if path == MIXED and name == "words":
                clip["srt"], clip["vtt"] = subtitles(result, WriteSRT), subtitles(result, WriteVTT)
            clips.append(clip)
            print(path, name, len(clip["segments"]), "segments", sum(len(s["words"]) for s in clip["segments"]), "words", flush=True)
    document = {"made_by": "tools/golden/word_times.py, openai-whisper 20250625", "clips": clips}
    out.write_text(json.dumps(document, indent=0, separators=(",", ":")).replace(",\n", ",") + "\n")


if __name__ == "__main__":
    main()
