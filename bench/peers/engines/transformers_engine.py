"""transformers at its fastest: independent windows of 30 s of all files, N at once ("batched:N")."""
import numpy

from .job import Transcript


def load(job):
    import torch
    import transformers
    from transformers.utils import logging

    logging.set_verbosity_error()
    kinds = transformers.WhisperForConditionalGeneration, transformers.WhisperProcessor
    model = kinds[0].from_pretrained(job.model, dtype=getattr(torch, job.compute_type)).eval()
    return model, kinds[1].from_pretrained(job.model)


def run(loaded, job, count):
    import torch
    from whisper.audio import load_audio

    model, processor = loaded
    model.model.decoder.register_forward_hook(lambda _module, _arguments, _options, output: count(output[0].shape[0]),
                                              with_kwargs=True)
    batch = int(job.way.partition(":")[2] or 1)
    windows = []
    for file in job.files:
        sound = load_audio(file)
        windows += [(file, sound[at:at + 480000]) for at in range(0, len(sound), 480000)]
    transcripts = {file: Transcript(file, "", 0) for file in job.files}
    for at in range(0, len(windows), batch):
        sounds = [sound for _, sound in windows[at:at + batch]]
        features = processor.feature_extractor(sounds, sampling_rate=16000, return_tensors="pt").input_features
        with torch.inference_mode():
            ids = model.generate(features.to(model.dtype), num_beams=job.beams, do_sample=False, return_timestamps=True)
        for (file, _), row, text in zip(windows[at:at + batch], ids, processor.batch_decode(ids, skip_special_tokens=True)):
            transcripts[file].text += " " + text
            transcripts[file].tokens += int(numpy.count_nonzero((row < 50256) | (row > 50362)))
    yield from transcripts.values()
