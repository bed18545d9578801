"""Models for measuring that decode to the same number of tokens on every side, whatever the audio.

A checkpoint of the wanted dimensions *recites*: its decoder's position table stands for `TOKENS` tokens, one for each
position (a timestamp, words, the timestamp of the window's end), and then end-of-text, so strongly that neither the audio
nor rounding to int8 changes the most probable token. So every engine runs with its ordinary options and its ordinary end,
greedy or with beams, and decodes the same tokens in every window; nothing has to be cut off or suppressed on one side only.
All other weights are the real ones where there are any, else drawn from one seed. Speed does not depend on values: the
arithmetic is that of any model of these dimensions.
"""
import json
import pathlib
import re
import shutil

TOKENS = 100  # a window, the two timestamps included; end-of-text comes on top
SEED = 20250625

# d_model, layers of the encoder, of the decoder, heads. All have 80 mel bands and the English-only vocabulary; of the two largest
# the real ones have 128 bands and two tokens more, which costs nothing that can be measured.
DIMENSIONS = {"tiny": (384, 4, 4, 6), "base": (512, 6, 6, 8), "small": (768, 12, 12, 12), "medium": (1024, 24, 24, 16),
              "large-v3": (1280, 32, 32, 20), "turbo": (1280, 32, 4, 20)}

EOT, TIMESTAMP_BEGIN, LAST_TIMESTAMP = 50256, 50363, 51863  # of the English-only vocabulary
LOUD = 400.0  # length of a position's vector; everything else that reaches the last layer stays far below


def recital(folder, torch):
    """The token to give at every position of the text context."""
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    words = sorted(number for word, number in vocabulary.items() if re.fullmatch("Ġ[a-z]{3,}", word))
    chosen = torch.randperm(len(words), generator=torch.Generator().manual_seed(SEED))[:TOKENS - 2]
    tokens = [TIMESTAMP_BEGIN] + [words[at] for at in chosen] + [LAST_TIMESTAMP]
    return tokens + [EOT] * (448 - len(tokens))


def shapes(width, layers, decoder_layers):
    """Every weight of a Hugging Face Whisper of these dimensions: name -> shape."""
    found = {"encoder.conv1.weight": (width, 80, 3), "encoder.conv1.bias": (width,),
             "encoder.conv2.weight": (width, width, 3), "encoder.conv2.bias": (width,),
             "encoder.embed_positions.weight": (1500, width)}
    for side in ("encoder", "decoder"):
        for layer in range(layers if side == "encoder" else decoder_layers):
            prefix = f"{side}.layers.{layer}"
            for attention in ("self_attn", "encoder_attn")[:1 if side == "encoder" else 2]:
                for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    found[f"{prefix}.{attention}.{part}.weight"] = (width, width)
                    if part != "k_proj":
                        found[f"{prefix}.{attention}.{part}.bias"] = (width,)
                found[f"{prefix}.{attention}_layer_norm.weight"] = (width,)
                found[f"{prefix}.{attention}_layer_norm.bias"] = (width,)
            found |= {f"{prefix}.fc1.weight": (4 * width, width), f"{prefix}.fc1.bias": (4 * width,),
                      f"{prefix}.fc2.weight": (width, 4 * width), f"{prefix}.fc2.bias": (width,),
                      f"{prefix}.final_layer_norm.weight": (width,), f"{prefix}.final_layer_norm.bias": (width,)}
        found |= {f"{side}.layer_norm.weight": (width,), f"{side}.layer_norm.bias": (width,)}
    return {f"model.{name}": shape for name, shape in found.items()}


def random_weights(width, layers, decoder_layers, torch):
    generator = torch.Generator().manual_seed(SEED)
    weights = {}
    for name, shape in shapes(width, layers, decoder_layers).items():
        if "layer_norm" in name:
            weights[name] = torch.full(shape, float(name.endswith("weight")))
        else:
            weights[name] = torch.randn(shape, generator=generator) * 0.02
    return weights


def recite(weights, tokens, width, torch):
    """Makes `weights` decode to `tokens`: the tables of tokens and positions and the last norm become ours."""
    generator = torch.Generator().manual_seed(SEED + 1)
    table = torch.randn((51864, width), generator=generator) * 0.02
    directions = torch.nn.functional.normalize(table[tokens], dim=1)
    weights["model.decoder.embed_tokens.weight"] = table
    weights["model.decoder.embed_positions.weight"] = LOUD * directions
    weights["model.decoder.layer_norm.weight"] = torch.full((width,), 4.0)
    weights["model.decoder.layer_norm.bias"] = torch.zeros(width)


def write_config(source, target, width, layers, decoder_layers, heads):
    config = json.loads((source / "config.json").read_text())
    config |= {"d_model": width, "encoder_layers": layers, "decoder_layers": decoder_layers, "encoder_attention_heads": heads,
               "decoder_attention_heads": heads, "encoder_ffn_dim": 4 * width, "decoder_ffn_dim": 4 * width}
    (target / "config.json").write_text(json.dumps(config, indent=1))
    generation = json.loads((source / "generation_config.json").read_text())
    generation.pop("alignment_heads", None)  # they belong to the weights they were found in
    (target / "generation_config.json").write_text(json.dumps(generation, indent=1))
    for name in ("tokenizer.json", "preprocessor_config.json"):
        shutil.copyfile(source / name, target / name)


def reciting_model(size, source, cache):
    """The Hugging Face folder of a reciting model, made once. `source`: a folder of tiny.en, whose tokenizer and settings
    serve every size, and whose weights serve tiny."""
    target = pathlib.Path(cache) / f"reciting-{size}.en-{TOKENS}"
    if target.exists():
        return target
    import torch
    from safetensors.torch import load_file, save_file

    width, layers, decoder_layers, heads = DIMENSIONS[size]
    staging = target.with_name(target.name + ".staging")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    write_config(source, staging, width, layers, decoder_layers, heads)
    if size == "tiny":
        weights = {name: value.float() for name, value in load_file(source / "model.safetensors").items()}
        weights.pop("proj_out.weight", None)  # tied to the table of tokens
    else:
        weights = random_weights(width, layers, decoder_layers, torch)
    recite(weights, recital(source, torch), width, torch)
    save_file({name: value.half().contiguous() for name, value in weights.items()}, staging / "model.safetensors",
              metadata={"format": "pt"})
    staging.rename(target)
    return target
