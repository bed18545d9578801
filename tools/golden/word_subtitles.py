#!/usr/bin/env python3
"""Subtitles that openai-whisper 20250625 makes of its own words over a shared clip -> tests/data/system/words.json.

Usage: word_subtitles.py DATA UTILS [OUTPUT]. DATA is the shared data folder, whose expected.json has the words; UTILS is
whisper/utils.py of the installed reference, which needs no weights and is loaded by itself.
"""
import importlib.util
import io
import json
import pathlib
import sys

OUTPUT = pathlib.Path(__file__).parents[2] / "tests/data/system/words.json"
CLIP = "whisper-tiny.en/clips/mixed-1.wav"
LAYOUT = {"max_line_width": 20, "max_line_count": 2, "highlight_words": True}


def load(path):
    spec = importlib.util.spec_from_file_location("whisper_utils", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(writer, result):
    out = io.StringIO()
    writer(".").write_result(result, file=out, **LAYOUT)
    return out.getvalue()


def main():
    data, utils = pathlib.Path(sys.argv[1]), load(sys.argv[2])
    output = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else OUTPUT
    clips = json.loads((data / "whisper-tiny.en/expected.json").read_text())["clips"]
    clip = next(clip for clip in clips if clip["path"] == CLIP)
    made = {"made_by": "tools/golden/word_subtitles.py, openai-whisper 20250625", "path": CLIP, "srt": written(utils.WriteSRT, clip), "vtt": written(utils.WriteVTT, clip)}
    output.write_text(json.dumps(made, indent=0) + "\n")


if __name__ == "__main__":
    main()
