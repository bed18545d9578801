#!/usr/bin/env python3
"""whisper.cpp under Tutti's scheduler, by pywhispercpp: one process a device, models by whisper.cpp's names or as ggml files.

    tutti batch talks/ -o out --model base.en --engine 'python3 examples/engines/pywhispercpp_engine.py'

Needs: pip install pywhispercpp
"""
import importlib.metadata
import math
import os

import tutti_engine

ABILITIES = ["model", "language", "task", "temperature", "temperature_increment_on_fallback", "beam_size", "best_of",
             "initial_prompt", "without_timestamps"]
model, languages = None, []


def load(name, device, _compute_type, threads, _batch_size):
    global model, languages
    if not name:
        raise tutti_engine.Failure(tutti_engine.USAGE, "name a model with --model: base.en, large-v3, or a ggml file")
    from pywhispercpp.model import Model
    model = Model(name, n_threads=threads or len(os.sched_getaffinity(0)), redirect_whispercpp_logs_to=None,
                  params_sampling_strategy=1, no_context=True, print_progress=False, print_timestamps=False)
    languages = ["en"] if ".en" in os.path.basename(name) else Model.available_languages()
    return device, "as stored", languages


def parameters(language, options):
    """The parameters of whisper.cpp that a window's options come to. None: not at all."""
    return {"language": language, "translate": options.get("task") == "translate",
            "temperature": options.get("temperature", 0.0),
            "temperature_inc": options.get("temperature_increment_on_fallback", 0.2) or 0.0,
            "beam_search": {"beam_size": options.get("beam_size", 5) or 1, "patience": -1.0},
            "greedy": {"best_of": options.get("best_of", 5) or 1},
            "initial_prompt": options.get("initial_prompt") or "", "no_timestamps": options.get("without_timestamps", False)}


def transcribe(pcm, language, options):
    import numpy
    samples = numpy.pad(numpy.frombuffer(pcm, numpy.float32), (0, 8000))  # it refuses what is very short
    if not language:
        language = "en" if languages == ["en"] else model.auto_detect_language(samples)[0][0]
    found = []
    for segment in model.transcribe(samples, extract_probability=True, **parameters(language, options)):
        # Its texts come without the space before them, its times in hundredths of a second.
        found.append({"start": segment.t0 / 100, "end": segment.t1 / 100, "text": " " + segment.text,
                      "avg_logprob": math.log(segment.probability) if segment.probability > 0 else 0.0})
    return language, found


if __name__ == "__main__":
    tutti_engine.serve("pywhispercpp " + importlib.metadata.version("pywhispercpp"), ABILITIES, load, transcribe)
