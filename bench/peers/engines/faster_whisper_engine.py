"""faster-whisper. Ways: "sequential"; "workers:N", files side by side in N threads that share the cores; "batched:N", its
batched pipeline over the speech that its VAD finds in a file; "joined:N", many short files put behind one another and given
to the batched pipeline with a clip for each, the only way it has to batch over files.
"""
import concurrent.futures
import os

from .job import BARE, Transcript


class CountingModel:
    """A CTranslate2 model that counts the steps it takes."""

    def __init__(self, model, count):
        self.model, self.count = model, count

    def __getattr__(self, name):
        return getattr(self.model, name)

    def generate(self, *arguments, **options):
        results = self.model.generate(*arguments, **options)
        for result in results:
            self.count((len(result.sequences_ids[0]) + 1) * options.get("beam_size", 1))
        return results


def size_of(way):
    return int(way.partition(":")[2] or 1)


def load(job):
    from faster_whisper import WhisperModel

    workers = size_of(job.way) if job.way.startswith("workers") else 1
    return WhisperModel(str(job.model), device="cpu", compute_type=job.compute_type, num_workers=workers,
                        cpu_threads=os.cpu_count() // workers)


def transcript(file, segments):
    segments = list(segments)
    return Transcript(file, "".join(segment.text for segment in segments), sum(len(s.tokens) for s in segments))


def joined(pipeline, job, options):
    """One transcription of all files at once; the start of a window gives the file of its segments."""
    import numpy
    from faster_whisper.audio import decode_audio

    sounds = [decode_audio(file, sampling_rate=16000) for file in job.files]
    ends = numpy.cumsum([len(sound) / 16000 for sound in sounds])
    starts = ends - [len(sound) / 16000 for sound in sounds]
    clips = [{"start": start, "end": end} for start, end in zip(starts, ends)]
    sounds.append(numpy.zeros(16000, numpy.float32))  # clips are rounded to samples, and may not outlast the recording
    segments, _ = pipeline.transcribe(numpy.concatenate(sounds), clip_timestamps=clips, batch_size=size_of(job.way),
                                      **options)
    found = [[] for _ in job.files]
    for segment in segments:
        found[int(numpy.searchsorted(ends, segment.seek / 100 + 0.02, side="right"))].append(segment)
    return [transcript(file, its) for file, its in zip(job.files, found)]


def run(model, job, count):
    from faster_whisper import BatchedInferencePipeline

    model.model = CountingModel(model.model, count)
    options = {"beam_size": job.beams, "temperature": 0.0, "language": "en"}
    if not job.natural:
        options |= BARE | {"log_prob_threshold": None}
    if job.way.startswith("joined"):
        yield from joined(BatchedInferencePipeline(model), job, options | {"without_timestamps": False})
        return
    if job.way.startswith("batched"):
        options |= {"batch_size": size_of(job.way), "without_timestamps": False}
        model = BatchedInferencePipeline(model)

    def one(file):
        return transcript(file, model.transcribe(file, **options)[0])

    threads = size_of(job.way) if job.way.startswith("workers") else 1
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        yield from pool.map(one, job.files)
