"""openai-whisper: the reference. Float32 on a CPU, one window after the other."""
from .job import BARE, Transcript


def load(job):
    import whisper

    return whisper.load_model(str(job.model), device="cpu")


def run(model, job, count):
    model.decoder.register_forward_hook(lambda _module, arguments, _output: count(arguments[0].shape[0]))
    options = {} if job.natural else BARE | {"logprob_threshold": None}
    if job.beams > 1:
        options["beam_size"] = job.beams
    for file in job.files:
        result = model.transcribe(file, temperature=0.0, fp16=False, language="en", verbose=None, **options)
        yield Transcript(file, result["text"], sum(len(segment["tokens"]) for segment in result["segments"]))
