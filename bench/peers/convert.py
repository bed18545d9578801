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


def to_ctranslate2(folder, target):
    """Writes the folder that faster-whisper loads; float32 weights, quantised when loaded."""
    staging = target.with_name(target.name + ".staging")
    shutil.rmtree(staging, ignore_errors=True)
    subprocess.run([pathlib.Path(sys.executable).with_name("ct2-transformers-converter"), "--model", folder,
                    "--output_dir", staging, "--copy_files", "tokenizer.json", "preprocessor_config.json"], check=True)
    staging.rename(target)


def converted(folder, cache, kind):
    """The path a peer loads: the folder itself, or what was made of it in `cache`."""
    make, suffix = {"openai": (to_openai, ".pt"), "ctranslate2": (to_ctranslate2, ".ct2")}[kind]
    weights = sorted(pathlib.Path(folder).glob("*.safetensors"))
    stamp = f"{pathlib.Path(folder).name}-{sum(path.stat().st_size for path in weights)}-{int(weights[0].stat().st_mtime)}"
    target = pathlib.Path(cache) / (stamp + suffix)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        make(folder, target)
    return target
