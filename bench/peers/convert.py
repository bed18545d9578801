"""The weights of a Hugging Face folder in the form each peer reads, made once and kept in the cache."""
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
from whisper_names import openai_dims, openai_weights  # noqa: E402


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


def to_ggml(folder, target, sources):
    """Writes the q8_0 file that whisper.cpp loads, with the tools of its own sources."""
    import whisper

    openai = converted(folder, target.parent, "openai")
    staging = target.with_name(target.name + ".staging")
    staging.mkdir(exist_ok=True)
    packages = pathlib.Path(whisper.__file__).parent.parent  # the script looks for whisper/assets below it
    subprocess.run([sys.executable, sources / "models" / "convert-pt-to-ggml.py", openai, packages, staging], check=True)
    subprocess.run([whisper_cpp_program(sources, target.parent, "whisper-quantize"), staging / "ggml-model.bin",
                    staging / "q8_0.bin", "q8_0"], check=True)
    (staging / "q8_0.bin").rename(target)
    shutil.rmtree(staging)


def whisper_cpp_program(sources, cache, name):
    """A program of whisper.cpp, built from `sources` into the cache for this machine's processor."""
    build = pathlib.Path(cache) / "whisper.cpp"
    program = build / "bin" / name
    if not program.exists():
        subprocess.run(["cmake", "-S", sources, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON",
                        "-DWHISPER_BUILD_TESTS=OFF", "-DBUILD_SHARED_LIBS=OFF"], check=True, stdout=sys.stderr)
        subprocess.run(["cmake", "--build", build, "-j2", "--target", "whisper-cli", "whisper-quantize"], check=True,
                       stdout=sys.stderr)
    return program


def converted(folder, cache, kind, sources=None):
    """The path a peer loads, made of a Hugging Face folder once and kept in `cache`. `kind`: hugging-face, openai,
    ctranslate2-TYPE, ggml (with the `sources` of whisper.cpp)."""
    if kind == "hugging-face":
        return folder
    makers = {"openai": (to_openai, ".pt"), "ggml": (lambda source, target: to_ggml(source, target, sources), ".q8_0.bin")}
    for quantization in ("int8", "float32"):
        makers[f"ctranslate2-{quantization}"] = (
            lambda source, target, quantization=quantization: to_ctranslate2(source, target, quantization),
            f".{quantization}.ct2")
    make, suffix = makers[kind]
    weights = sorted(pathlib.Path(folder).glob("*.safetensors"))
    stamp = f"{pathlib.Path(folder).name}-{sum(path.stat().st_size for path in weights)}-{int(weights[0].stat().st_mtime)}"
    target = pathlib.Path(cache) / (stamp + suffix)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        make(folder, target)
    return target
