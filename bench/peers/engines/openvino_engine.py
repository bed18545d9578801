"""OpenVINO GenAI: its Whisper pipeline over the weights that optimum-intel stored, one file after the other."""
from .job import Transcript
from .sound import load_sound


def load(job):
    import openvino_genai

    return openvino_genai.WhisperPipeline(str(job.model), "CPU")


def run(pipeline, job, count):
    config = pipeline.get_generation_config()
    config.return_timestamps, config.num_beams = True, job.beams
    for file in job.files:
        result = pipeline.generate(load_sound(file), config)
        steps = result.perf_metrics.get_num_generated_tokens()  # of all beams, without the times
        count(steps)
        yield Transcript(file, result.texts[0], steps // job.beams + 2 * len(result.chunks or []))
