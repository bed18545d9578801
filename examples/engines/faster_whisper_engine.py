#!/usr/bin/env python3
"""faster-whisper under Tutti's scheduler: one process a device, models by faster-whisper's names or as CTranslate2 folders.

    tutti batch talks/ -o out --model tiny.en --engine 'python3 examples/engines/faster_whisper_engine.py'

Needs: pip install faster-whisper
"""
import importlib.metadata
import os

import tutti_engine

ABILITIES = ["model", "compute_type", "language", "task", "temperature", "best_of", "beam_size", "patience", "length_penalty",
             "suppress_tokens", "initial_prompt", "hotwords", "prefix", "compression_ratio_threshold", "logprob_threshold",
             "no_speech_threshold", "without_timestamps", "word_timestamps", "prepend_punctuations", "append_punctuations"]
RENAMED = {"logprob_threshold": "log_prob_threshold"}
model = None


def load(name, device, compute_type, threads, _batch_size):
    global model
    if not name:
        raise tutti_engine.Failure(tutti_engine.USAGE, "name a model with --model: tiny.en, large-v3, or a folder")
    import faster_whisper  # takes seconds: Hello comes before it
    model = faster_whisper.WhisperModel(name, device=device.partition(":")[0], compute_type=compute_type,
                                        cpu_threads=threads or len(os.sched_getaffinity(0)))
    return device, model.model.compute_type, model.supported_languages


def transcribe(pcm, language, options):
    import numpy
    words = options.get("word_timestamps", False)
    segments, info = model.transcribe(numpy.frombuffer(pcm, numpy.float32), language=language,
                                      **{RENAMED.get(name, name): value for name, value in options.items()})
    found = []
    for segment in segments:
        found.append({"start": segment.start, "end": segment.end, "text": segment.text, "temperature": segment.temperature,
                      "avg_logprob": segment.avg_logprob, "no_speech_prob": segment.no_speech_prob})
        if words:
            found[-1]["words"] = [{"word": word.word, "start": word.start, "end": word.end, "probability": word.probability}
                                  for word in segment.words]
    return info.language, found


if __name__ == "__main__":
    tutti_engine.serve("faster-whisper " + importlib.metadata.version("faster-whisper"), ABILITIES, load, transcribe)
