"""Runs openai-whisper's whole transcribe loop over shared test audio and keeps what it said.

Usage: python transcribe.py DATA OUT.json [--english MODEL]
(a virtual environment with openai-whisper==20250625, torch, safetensors)
DATA is the shared data folder; everything is computed in float32 on the CPU.

Without MODEL, tests/data/system/transcribe.json: the weights are DATA/whisper-tiny.en. Each clip is transcribed twice: at
temperature 0 alone, and with the default fallback. Up to the first window that was sampled the two say the same, which is
asserted here; fallback_segments is how many segments that is.

With MODEL, tests/data/system/real_english.json: MODEL is the CTranslate2 folder of the complete tiny.en (tools/fetch_model.py
--print), read by ctranslate2_weights.py. The clips LJ003-* of DATA/speech/lj are transcribed at temperature 0, greedily and with
five beams. `least_margin` says by how little the closest decision fell (margins.py): below 1e-4 another processor may find
another text.
"""
import argparse
import hashlib
import itertools
import json
import pathlib
import sys

import torch
import whisper
from safetensors.torch import load_file
from whisper.model import ModelDimensions, Whisper

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from ctranslate2_weights import load_ctranslate2  # noqa: E402
from margins import recorded  # noqa: E402
from whisper_names import openai_dims, openai_weights  # noqa: E402

CLIPS = [
    "whisper-tiny.en/clips/long-three-minutes.flac", "whisper-tiny.en/clips/mixed-1.wav", "whisper-tiny.en/clips/mixed-2.wav",
    "whisper-tiny.en/clips/noise.wav", "whisper-tiny.en/clips/silence.wav", "whisper-tiny.en/clips/string-george.wav",
    "whisper-tiny.en/clips/string-jackson.wav", "whisper-tiny.en/clips/string-lucas.wav",
    "whisper-tiny.en/clips/string-nicolas.wav", "whisper-tiny.en/clips/string-theo.wav",
    "whisper-tiny.en/clips/string-yweweler.wav", "speech/jfk.flac", "speech/gb0.wav", "formats/sonnet/p001.mp3",
    "formats/sonnet/p001.ogg", "formats/sonnet/p001.webm", "formats/sonnet/p001.mp4", "formats/sonnet/p001.aac",
    "formats/sonnet/p001.wav", "formats/sonnet/p001.aiff", "formats/sonnet/p001.flac",
    "formats/widths/audio-stereo-24-bit-44100Hz.wav", "digits/7_jackson_32.wav", "morse/hello-world.wav",
]


def load(folder):
    model = Whisper(ModelDimensions(**openai_dims(json.loads((folder / "config.json").read_text()))))
    state = {name: tensor.float() for name, tensor in openai_weights(load_file(folder / "model.safetensors")).items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and all("mask" in name for name in missing), (missing, unexpected)
    return model.eval()


def kept(segment):
    return {key: segment[key] for key in
            ("seek", "start", "end", "text", "tokens", "temperature", "avg_logprob", "compression_ratio", "no_speech_prob")}


def digit_clips(data):
    model = load(data / "whisper-tiny.en")
    clips = []
    for path in CLIPS:
        plain = whisper.transcribe(model, str(data / path), language="en", temperature=0.0, fp16=False)
        segments = [kept(s) for s in plain["segments"]]
        fallback = whisper.transcribe(model, str(data / path), language="en", fp16=False)
        greedy = [kept(s) for s in itertools.takewhile(lambda s: s["temperature"] == 0, fallback["segments"])]
        assert greedy == segments[: len(greedy)], path
        whole = len(greedy) == len(fallback["segments"])
        assert not whole or fallback["text"] == plain["text"], path
        clips.append({"path": path, "text": plain["text"], "segments": segments, "fallback_segments": len(greedy),
                      "fallback_whole": whole})
        print(path, len(segments), "segments,", len(greedy), "before the first sampled one", flush=True)
    return clips


def english_clips(data, model):
    for path in sorted((data / "speech/lj/wavs").glob("LJ003-*.flac")):
        clip = {"path": str(path.relative_to(data))}
        for search, options in (("greedy", {}), ("beams", {"beam_size": 5})):
            with recorded() as margins:
                result = whisper.transcribe(model, str(path), language="en", temperature=0.0, fp16=False, **options)
            clip[search] = {"text": result["text"], "tokens": [t for s in result["segments"] for t in s["tokens"]],
                            "least_margin": float(f"{margins.least:.2g}")}
        print(clip["path"], *(clip[search]["least_margin"] for search in ("greedy", "beams")), flush=True)
        yield clip


def write_english(data, folder, out):
    golden = {"made_by": "tools/golden/transcribe.py --english, openai-whisper 20250625",
              "model_sha256": hashlib.sha256((folder / "model.bin").read_bytes()).hexdigest()}
    lines = [json.dumps(clip, separators=(",", ":")) for clip in english_clips(data, load_ctranslate2(folder))]
    out.write_text(json.dumps(golden)[:-1] + ', "clips": [\n' + ",\n".join(lines) + "\n]}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--english", type=pathlib.Path, metavar="MODEL")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.english:
        write_english(options.data, options.english, options.out)
        return
    clips = digit_clips(options.data)
    options.out.write_text(json.dumps({"made_by": "tools/golden/transcribe.py, openai-whisper 20250625", "clips": clips}, indent=0))


if __name__ == "__main__":
    main()
