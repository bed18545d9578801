#!/usr/bin/env python3
"""Small models as other programs store them, and what their weights are, into tests/data/model/stored.

Usage: stored.py [OUT]   (a virtual environment with torch, transformers, ctranslate2 and gguf 0.19)

ct2-float16/ and ct2-int8/: tests/data/model/random through CTranslate2's own converter. blocks.json: every block type of
ggml that is read here, quantised and dequantised by the gguf package. ggml-random.bin: a model of one layer whose
matrices are of all these types, and ggml-random.safetensors: its weights in float32.
"""
import json
import pathlib
import sys

import gguf
import numpy
import torch
from ctranslate2.converters.transformers import WhisperLoader
from safetensors.numpy import save_file
from safetensors.torch import load_file
from transformers import WhisperConfig, WhisperForConditionalGeneration

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from stored_models import write_ggml_file  # noqa: E402

# The blocks of 256, which the package reads and does not write: bytes of one, and where its float16 factors are.
LARGE_BLOCKS = {"Q4_K": (144, (0, 2)), "Q5_K": (176, (0, 2)), "Q6_K": (210, (208,))}
BLOCKS = [gguf.GGMLQuantizationType[name] for name in ("Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0")]


def ctranslate2_model(source, out, quantization):
    config = WhisperConfig(**json.loads((source / "config.json").read_text()), pad_token_id=0, bos_token_id=0, eos_token_id=0)
    model = WhisperForConditionalGeneration(config).eval()
    model.load_state_dict(load_file(source / "model.safetensors"), strict=False)
    model.tie_weights()
    spec = WhisperLoader().get_model_spec(model.half() if quantization == "float16" else model)
    spec.register_vocabulary([""] * config.vocab_size)
    spec.validate()
    spec.optimize(quantization)
    out.mkdir(parents=True, exist_ok=True)
    spec._serialize(out / "model.bin")


def blocks(random):
    golden = {}
    for kind in BLOCKS:
        values = random.standard_normal((1, 128)).astype(numpy.float32)
        values[0, 32:64] *= 1e-6  # scales that float16 holds as a subnormal number
        values[0, 64:96] = 0
        stored = gguf.quants.quantize(values, kind)
        read = gguf.quants.dequantize(stored, kind)
        golden[kind.name] = {"bytes": stored.tobytes().hex(), "values": [float(v) for v in read.ravel()]}
    return golden


def large_blocks(random):
    golden = {}
    for name, (size, factors) in LARGE_BLOCKS.items():
        stored = random.integers(0, 256, (1, size), dtype=numpy.uint8)
        for at in factors:
            stored[0, at:at + 2] = numpy.frombuffer(numpy.float16(random.uniform(1e-4, 1e-2)).tobytes(), numpy.uint8)
        read = gguf.quants.dequantize(stored, gguf.GGMLQuantizationType[name])
        golden[name] = {"bytes": stored.tobytes().hex(), "float32": read.astype("<f4").tobytes().hex()}
    return golden


def shapes(dims):
    n, mlp = dims["n_audio_state"], 4 * dims["n_audio_state"]
    found = {"encoder.conv1.weight": (n, dims["n_mels"], 3), "encoder.conv1.bias": (n,), "encoder.conv2.weight": (n, n, 3),
             "encoder.conv2.bias": (n,), "encoder.positional_embedding": (dims["n_audio_ctx"], n),
             "decoder.token_embedding.weight": (dims["n_vocab"], n), "decoder.positional_embedding": (dims["n_text_ctx"], n)}
    for block in ("encoder.blocks.0", "decoder.blocks.0"):
        for attention in ("attn", "cross_attn")[:1 + block.startswith("decoder")]:
            for part in ("query", "key", "value", "out"):
                found[f"{block}.{attention}.{part}.weight"] = (n, n)
                if part != "key":
                    found[f"{block}.{attention}.{part}.bias"] = (n,)
            found.update({f"{block}.{attention}_ln.{kind}": (n,) for kind in ("weight", "bias")})
        found.update({f"{block}.mlp_ln.{kind}": (n,) for kind in ("weight", "bias")})
        found.update({f"{block}.mlp.0.weight": (mlp, n), f"{block}.mlp.0.bias": (mlp,),
                      f"{block}.mlp.2.weight": (n, mlp), f"{block}.mlp.2.bias": (n,)})
    return found | {f"{norm}.{kind}": (n,) for norm in ("encoder.ln_post", "decoder.ln") for kind in ("weight", "bias")}


def ggml_model(random, out):
    dims = {"n_vocab": 40, "n_audio_ctx": 20, "n_audio_state": 32, "n_audio_head": 2, "n_audio_layer": 1, "n_text_ctx": 16,
            "n_text_state": 32, "n_text_head": 2, "n_text_layer": 1, "n_mels": 8}
    tensors, weights, turn = [], {}, 0
    for name, shape in shapes(dims).items():
        values = (random.standard_normal(shape) * 0.2).astype(numpy.float32)
        kind = gguf.GGMLQuantizationType.F32
        if len(shape) == 3:
            kind = gguf.GGMLQuantizationType.F16
        elif len(shape) == 2 and "positional" not in name:
            kind, turn = BLOCKS[turn % len(BLOCKS)], turn + 1
        stored = gguf.quants.quantize(values, kind)
        tensors.append((name, int(kind), shape, stored.tobytes()))
        weights[name] = gguf.quants.dequantize(stored, kind).reshape(shape)
    write_ggml_file(out / "ggml-random.bin", dims, [bytes([byte]) for byte in range(256)], tensors, file_type=2008)
    save_file(weights, out / "ggml-random.safetensors")


def main():
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests/data/model/stored"
    out.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(20250625)
    with torch.inference_mode():
        for quantization in ("float16", "int8"):
            ctranslate2_model(ROOT / "tests/data/model/random", out / f"ct2-{quantization}", quantization)
    (out / "blocks.json").write_text(json.dumps(blocks(random) | large_blocks(numpy.random.default_rng(256)), indent=0) + "\n")
    ggml_model(random, out)


if __name__ == "__main__":
    main()
