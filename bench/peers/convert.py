"""The weights of a Hugging Face folder in the form each peer reads, made once and kept in the cache."""
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
from stored_models import GGML_TYPE, text_tokens, write_ggml_file  # noqa: E402
from whisper_names import openai_dims, openai_weights  # noqa: E402

GGML_Q8_0, GGML_FILE_OF_Q8_0 = 8, 2007  # a tensor's type; a file's, with the version of its blocks


def to_openai(folder, target):
    """Writes the .pt file that openai-whisper loads."""
    import torch
    from safetensors.torch import load_file

    folder = pathlib.Path(folder)
    config = json.loads((folder / "config.json").read_text())
    weights = {}
    for shard in sorted(folder.glob("*.safetensors")):
        weights.update(load_file(shard))
    staging = target.with_suffix(".staging")
    torch.save({"dims": openai_dims(config), "model_state_dict": openai_weights(weights)}, staging)
    staging.rename(target)


def to_ctranslate2(folder, target, quantization):
    """Writes the folder that faster-whisper loads, in the type it is going to compute in, so that nothing is left to do."""
    staging = target.with_name(target.name + ".staging")
    shutil.rmtree(staging, ignore_errors=True)
    subprocess.run([pathlib.Path(sys.executable).with_name("ct2-transformers-converter"), "--model", folder,
                    "--output_dir", staging, "--quantization", quantization,
                    "--copy_files", "tokenizer.json", "preprocessor_config.json"], check=True)
    staging.rename(target)


@dataclasses.dataclass(frozen=True)
class Tools:
    """What converts and runs peers beside this Python. Empty: those peers take no part."""
    cache: pathlib.Path
    whisper_cpp: pathlib.Path | None = None  # its sources
    openvino_python: pathlib.Path | None = None  # a Python with openvino-genai and optimum-intel


def to_openvino(folder, target, tools):
    """Writes the folder that OpenVINO GenAI loads, its weights in int8, with optimum-intel."""
    staging = target.with_name(target.name + ".staging")
    shutil.rmtree(staging, ignore_errors=True)
    subprocess.run([tools.openvino_python.with_name("optimum-cli"), "export", "openvino", "--model", folder, "--task",
                    "automatic-speech-recognition-with-past", "--weight-format", "int8", staging], check=True, stdout=sys.stderr)
    staging.rename(target)


def q8_0(values):
    """Blocks of 32 numbers: a float16 scale, then 32 bytes."""
    import numpy

    blocks = numpy.asarray(values, numpy.float32).reshape(-1, 32)
    scales = numpy.abs(blocks).max(axis=1, keepdims=True) / 127
    steps = numpy.divide(blocks, scales, out=numpy.zeros_like(blocks), where=scales > 0)
    parts = [scales.astype(numpy.float16).view(numpy.uint8), numpy.round(steps).astype(numpy.int8).view(numpy.uint8)]
    return numpy.concatenate(parts, axis=1).tobytes()


def to_bindings(folder, target):
    """Writes the q8_0 file that pywhispercpp loads, as whisper.cpp's own tools would: matrices in q8_0, convolutions in float16."""
    import numpy
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text())
    weights = {}
    for shard in sorted(folder.glob("*.safetensors")):
        weights.update(load_file(shard))
    tensors = []
    for name, value in openai_weights(weights).items():
        if value.ndim == 2 and not name.endswith("positional_embedding"):
            kind, data = GGML_Q8_0, q8_0(value)
        elif value.ndim == 3:
            kind, data = GGML_TYPE["F16"], value.astype(numpy.float16).tobytes()
        else:
            kind, data = GGML_TYPE["F32"], value.astype(numpy.float32).tobytes()
        tensors.append((name, kind, value.shape, data))
    staging = target.with_suffix(".staging")
    write_ggml_file(staging, openai_dims(config), text_tokens(folder / "tokenizer.json"), tensors, GGML_FILE_OF_Q8_0,
                    mel_filters(config["num_mel_bins"]))
    staging.rename(target)


def mel_filters(bins):
    import numpy
    import whisper

    with numpy.load(pathlib.Path(whisper.__file__).parent / "assets/mel_filters.npz") as filters:
        return filters[f"mel_{bins}"].astype(numpy.float32).tobytes()


def to_ggml(folder, target, tools):
    """Writes the q8_0 file that whisper.cpp loads, with the tools of its own sources."""
    import whisper

    sources = tools.whisper_cpp
    openai = converted(folder, "openai", tools)
    staging = target.with_name(target.name + ".staging")
    staging.mkdir(exist_ok=True)
    packages = pathlib.Path(whisper.__file__).parent.parent  # the script looks for whisper/assets below it
    subprocess.run([sys.executable, sources / "models" / "convert-pt-to-ggml.py", openai, packages, staging], check=True)
    subprocess.run([whisper_cpp_program(tools, "whisper-quantize"), staging / "ggml-model.bin",
                    staging / "q8_0.bin", "q8_0"], check=True)
    (staging / "q8_0.bin").rename(target)
    shutil.rmtree(staging)


def whisper_cpp_program(tools, name):
    """A program of whisper.cpp, built from its sources into the cache for this machine's processor."""
    sources, build = tools.whisper_cpp, tools.cache / "whisper.cpp"
    program = build / "bin" / name
    if not program.exists():
        subprocess.run(["cmake", "-S", sources, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON",
                        "-DWHISPER_BUILD_TESTS=OFF", "-DBUILD_SHARED_LIBS=OFF"], check=True, stdout=sys.stderr)
        subprocess.run(["cmake", "--build", build, "-j2", "--target", "whisper-cli", "whisper-quantize"], check=True,
                       stdout=sys.stderr)
    return program


def converted(folder, kind, tools):
    """The path a peer loads, made of a Hugging Face folder once and kept in the cache. `kind`: hugging-face, openai,
    ctranslate2-TYPE, openvino-int8, bindings (of whisper.cpp), ggml (with its sources)."""
    if kind == "hugging-face":
        return folder
    makers = {"openai": (to_openai, ".pt"), "bindings": (to_bindings, ".bindings.bin"),
              "ggml": (lambda source, target: to_ggml(source, target, tools), ".q8_0.bin"),
              "openvino-int8": (lambda source, target: to_openvino(source, target, tools), ".int8.openvino")}
    for quantization in ("int8", "float32"):
        makers[f"ctranslate2-{quantization}"] = (
            lambda source, target, quantization=quantization: to_ctranslate2(source, target, quantization),
            f".{quantization}.ct2")
    make, suffix = makers[kind]
    weights = sorted(pathlib.Path(folder).glob("*.safetensors"))
    stamp = f"{pathlib.Path(folder).name}-{sum(path.stat().st_size for path in weights)}-{int(weights[0].stat().st_mtime)}"
    target = tools.cache / (stamp + suffix)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        make(folder, target)
    return target
