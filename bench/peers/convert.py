"""The weights of a Hugging Face folder in the form each peer reads, made once and kept in the cache."""
import json
import pathlib
import shutil
import subprocess
import sys

RENAMED = [  # Hugging Face's name -> OpenAI's, in this order
    ("model.", ""),
    ("layers.", "blocks."),
    ("encoder_attn_layer_norm", "cross_attn_ln"),
    ("self_attn_layer_norm", "attn_ln"),
    ("final_layer_norm", "mlp_ln"),
    ("encoder_attn", "cross_attn"),
    ("self_attn", "attn"),
    ("q_proj", "query"),
    ("k_proj", "key"),
    ("v_proj", "value"),
    ("out_proj", "out"),
    ("fc1", "mlp.0"),
    ("fc2", "mlp.2"),
    ("encoder.layer_norm", "encoder.ln_post"),
    ("decoder.layer_norm", "decoder.ln"),
    ("embed_tokens", "token_embedding"),
    ("embed_positions.weight", "positional_embedding"),
]


def openai_name(name):
    for old, new in RENAMED:
        name = name.replace(old, new)
    return name


def to_openai(folder, target):
    """Writes the .pt file that openai-whisper loads."""
    import torch
    from safetensors.torch import load_file

    folder = pathlib.Path(folder)
    config = json.loads((folder / "config.json").read_text())
    dims = {
        "n_mels": config["num_mel_bins"], "n_vocab": config["vocab_size"],
        "n_audio_ctx": config["max_source_positions"], "n_audio_state": config["d_model"],
        "n_audio_head": config["encoder_attention_heads"], "n_audio_layer": config["encoder_layers"],
        "n_text_ctx": config["max_target_positions"], "n_text_state": config["d_model"],
        "n_text_head": config["decoder_attention_heads"], "n_text_layer": config["decoder_layers"],
    }
    weights = {}
    for shard in sorted(folder.glob("*.safetensors")):
        weights.update(load_file(shard))
    weights.pop("proj_out.weight", None)  # tied to the token embedding
    staging = target.with_suffix(".staging")
    torch.save({"dims": dims, "model_state_dict": {openai_name(name): value for name, value in weights.items()}}, staging)
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
