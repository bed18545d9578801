#!/usr/bin/env python3
"""One whole command of a peer: loads its model, transcribes every file, writes OUT/<stem>.txt.

Usage: peer.py ENGINE TYPE MODEL OUT FILE...     ENGINE: openai-whisper, faster-whisper, transformers
Greedy and without fallback, conditioned on previous text where the engine can. Prints {"steps": N}: the decoder steps it
took, counted where the decoder is called, the end-of-text step of every window included.
"""
import json
import os
import pathlib
import sys


def openai_whisper(model_path, compute_type, files):
    import whisper

    model = whisper.load_model(str(model_path), device="cpu")
    steps = 0

    def count(_module, arguments, _output):
        nonlocal steps
        steps += arguments[0].shape[0]

    model.decoder.register_forward_hook(count)
    for file in files:
        result = model.transcribe(file, temperature=0.0, fp16=False, language="en", verbose=None)
        yield file, result["text"]
    yield None, steps


class CountingModel:
    """A CTranslate2 model that counts what it generates."""

    def __init__(self, model):
        self.model, self.steps = model, 0

    def __getattr__(self, name):
        return getattr(self.model, name)

    def generate(self, *arguments, **options):
        results = self.model.generate(*arguments, **options)
        self.steps += sum(len(result.sequences_ids[0]) + 1 for result in results)
        return results


def faster_whisper(model_path, compute_type, files):
    from faster_whisper import WhisperModel

    model = WhisperModel(str(model_path), device="cpu", compute_type=compute_type, cpu_threads=os.cpu_count())
    model.model = CountingModel(model.model)
    for file in files:
        segments, _ = model.transcribe(file, beam_size=1, temperature=0.0, language="en", vad_filter=False)
        yield file, "".join(segment.text for segment in segments)
    yield None, model.model.steps


def transformers(model_path, compute_type, files, batch=8):
    """Its fastest way: independent windows of 30 s, eight at once."""
    import torch
    import transformers
    from transformers.utils import logging
    from whisper.audio import load_audio

    logging.set_verbosity_error()
    model = transformers.WhisperForConditionalGeneration.from_pretrained(model_path, dtype=getattr(torch, compute_type))
    model.eval()
    processor = transformers.WhisperProcessor.from_pretrained(model_path)
    steps = 0

    def count(_module, _arguments, options, output):
        nonlocal steps
        steps += output[0].shape[0]

    model.model.decoder.register_forward_hook(count, with_kwargs=True)
    for file in files:
        audio = load_audio(file)
        windows = [audio[at:at + 480000] for at in range(0, len(audio), 480000)]
        text = []
        for at in range(0, len(windows), batch):
            features = processor.feature_extractor(windows[at:at + batch], sampling_rate=16000, return_tensors="pt")
            with torch.inference_mode():
                ids = model.generate(features.input_features.to(model.dtype), num_beams=1, do_sample=False)
            text += processor.batch_decode(ids, skip_special_tokens=True)
        yield file, " ".join(text)
    yield None, steps


def main():
    engine, compute_type, model, out = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    out.mkdir(parents=True, exist_ok=True)
    engines = {"openai-whisper": openai_whisper, "faster-whisper": faster_whisper, "transformers": transformers}
    for file, result in engines[engine](model, compute_type, sys.argv[5:]):
        if file is None:
            print(json.dumps({"steps": result}))
        else:
            (out / (pathlib.Path(file).stem + ".txt")).write_text(result.strip() + "\n")


if __name__ == "__main__":
    main()
