#!/usr/bin/env python3
"""Writes a Hugging Face Whisper folder in the forms other programs keep models in. Nothing but Python is needed.

Usage: stored_models.py openai|ctranslate2|ggml FOLDER OUT

OUT is a file (OpenAI's .pt, whisper.cpp's ggml-*.bin) or a folder (CTranslate2's). float16 weights stay bit for bit what
they are; ggml wants vectors and positions in float32. Nothing is quantised. Tests make their models with this.
"""
import collections
import json
import math
import mmap
import pathlib
import pickle
import shutil
import struct
import sys
import types
import zipfile

from whisper_names import openai_dims, openai_weights

ELEMENT_SIZE = {"F32": 4, "F16": 2}
GGML_TYPE = {"F32": 0, "F16": 1}
CTRANSLATE2_TYPE = {"F32": 0, "I8": 1, "I16": 2, "F16": 4}

Tensor = collections.namedtuple("Tensor", "type shape data")


def read_safetensors(path):
    with open(path, "rb") as file:
        memory = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    begin = 8 + struct.unpack("<Q", memory[:8])[0]
    header = json.loads(bytes(memory[8:begin]))
    header.pop("__metadata__", None)
    return {name: Tensor(entry["dtype"], tuple(entry["shape"]), memory[begin:][slice(*entry["data_offsets"])])
            for name, entry in header.items()}


def as_float32(tensor):
    if tensor.type == "F32":
        return tensor
    values = struct.unpack(f"<{math.prod(tensor.shape)}e", tensor.data)
    return Tensor("F32", tensor.shape, struct.pack(f"<{len(values)}f", *values))


# OpenAI's .pt: a zip archive with a pickle, and one member per tensor.

def stand_in_for_torch():
    """The names that the pickle mentions, as torch would have them; nothing of it is ever called."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    for name in ("HalfStorage", "FloatStorage"):
        setattr(torch, name, type(name, (), {"__module__": "torch"}))
    utils._rebuild_tensor_v2 = types.FunctionType((lambda: None).__code__, {}, "_rebuild_tensor_v2")
    utils._rebuild_tensor_v2.__module__ = "torch._utils"
    utils._rebuild_tensor_v2.__qualname__ = "_rebuild_tensor_v2"
    torch._utils = utils
    sys.modules.update({"torch": torch, "torch._utils": utils})
    return torch


Storage = collections.namedtuple("Storage", "kind key count")


class StoredTensor:
    def __init__(self, rebuild, storage, shape):
        self.rebuild, self.storage, self.shape = rebuild, storage, shape

    def __reduce__(self):
        strides = [math.prod(self.shape[i + 1:]) for i in range(len(self.shape))]
        return self.rebuild, (self.storage, 0, self.shape, tuple(strides), False, collections.OrderedDict())


class TorchPickler(pickle.Pickler):
    def persistent_id(self, obj):
        return ("storage", obj.kind, obj.key, "cpu", obj.count) if isinstance(obj, Storage) else None


def write_openai(path, config, weights):
    torch = stand_in_for_torch()
    kinds = {"F16": torch.HalfStorage, "F32": torch.FloatStorage}
    state = collections.OrderedDict()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for index, (name, tensor) in enumerate(weights.items()):
            storage = Storage(kinds[tensor.type], str(index), math.prod(tensor.shape))
            state[name] = StoredTensor(torch._utils._rebuild_tensor_v2, storage, tensor.shape)
            archive.writestr(f"{path.stem}/data/{index}", bytes(tensor.data))
        with archive.open(f"{path.stem}/data.pkl", "w") as file:
            TorchPickler(file, protocol=2).dump({"dims": openai_dims(config), "model_state_dict": state})
        archive.writestr(f"{path.stem}/version", "3\n")


# CTranslate2: variables in the order of their names, then aliases.

def ctranslate2_name(name):
    for old, new in [("blocks.", "layer_"), ("conv1.", "conv1/"), ("conv2.", "conv2/"), ("ln_post.", "layer_norm."),
                     ("decoder.ln.", "decoder.layer_norm."), ("cross_attn_ln.", "attention.layer_norm."),
                     ("attn_ln.", "self_attention.layer_norm."), ("mlp_ln.", "ffn.layer_norm."),
                     ("cross_attn.out.", "attention.linear_2."), ("attn.out.", "self_attention.linear_1."),
                     ("cross_attn.query.", "attention.linear_0."), ("mlp.0.", "ffn.linear_0."),
                     ("mlp.2.", "ffn.linear_1."), ("positional_embedding", "position_encodings.encodings"),
                     ("token_embedding", "embeddings")]:
        name = name.replace(old, new)
    if "layer_norm" in name:
        name = name.replace("weight", "gamma").replace("bias", "beta")
    return name.replace(".", "/")


def stacked(parts):
    return Tensor(parts[0].type, (sum(part.shape[0] for part in parts), *parts[0].shape[1:]),
                  b"".join(bytes(part.data) for part in parts))


def ctranslate2_variables(config, weights):
    weights, variables = dict(weights), {}
    for key in [name for name in weights if name.endswith("attn.key.weight")]:
        stem = key.removesuffix("key.weight")
        for kind in ("weight", "bias"):
            value = weights.pop(f"{stem}value.{kind}")
            keys = weights.pop(key) if kind == "weight" else Tensor(value.type, value.shape, bytes(len(value.data)))
            fused = ctranslate2_name(stem.replace("cross_attn.", "attention.linear_1.").replace("attn.", "self_attention.linear_0."))
            queries = [] if "cross_attn" in stem else [weights.pop(f"{stem}query.{kind}")]
            variables[fused + kind] = stacked([*queries, keys, value])
    variables.update({ctranslate2_name(name): tensor for name, tensor in weights.items()})
    for side in ("encoder", "decoder"):
        variables[f"{side}/num_heads"] = Tensor("I16", (), struct.pack("<h", config[f"{side}_attention_heads"]))
    for name, value in {"activation": 3, "pre_norm": 1, "scale_embeddings": 0, "start_from_zero_embedding": 0}.items():
        variables[f"decoder/{name}"] = Tensor("I8", (), struct.pack("b", value))
    return variables


def write_ctranslate2(folder, config, weights, source):
    def text(value):
        return struct.pack("<H", len(value) + 1) + value.encode() + b"\0"

    folder.mkdir()
    variables = ctranslate2_variables(config, weights)
    with open(folder / "model.bin", "wb") as file:
        file.write(struct.pack("<I", 6) + text("WhisperSpec") + struct.pack("<II", 3, len(variables)))
        for name, tensor in sorted(variables.items()):
            file.write(text(name) + struct.pack(f"<B{len(tensor.shape)}I", len(tensor.shape), *tensor.shape))
            file.write(struct.pack("<BI", CTRANSLATE2_TYPE[tensor.type], len(tensor.data)) + bytes(tensor.data))
        file.write(struct.pack("<I", 1) + text("decoder/projection/weight") + text("decoder/embeddings/weight"))
    heads = json.loads((source / "generation_config.json").read_text()).get("alignment_heads")
    (folder / "config.json").write_text(json.dumps({"alignment_heads": heads}))
    shutil.copy(source / "tokenizer.json", folder)


# whisper.cpp: numbers, mel filters, tokens, tensors.

def byte_level():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


def text_tokens(tokenizer):
    vocabulary = json.loads(tokenizer.read_text())["model"]["vocab"]
    vocabulary.pop("<|endoftext|>", None)
    table = byte_level()
    return [bytes(table[c] for c in token) for token, _ in sorted(vocabulary.items(), key=lambda item: item[1])]


def write_ggml_file(path, dims, tokens, tensors, file_type=1, filters=None):
    """tensors: (name, ggml's number of the type, shape, data). Only whisper.cpp reads the filters: without any they are zeros."""
    order = ["n_vocab", "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer", "n_text_ctx", "n_text_state",
             "n_text_head", "n_text_layer", "n_mels"]
    with open(path, "wb") as file:
        file.write(struct.pack("<12i", 0x67676d6c, *[dims[name] for name in order], file_type))
        file.write(struct.pack("<2i", dims["n_mels"], 201) + (filters or bytes(4 * dims["n_mels"] * 201)))
        file.write(struct.pack("<i", len(tokens)) + b"".join(struct.pack("<i", len(token)) + token for token in tokens))
        for name, kind, shape, data in tensors:
            shape = [*shape, 1] if name in ("encoder.conv1.bias", "encoder.conv2.bias") else shape
            file.write(struct.pack(f"<3i{len(shape)}i", len(shape), len(name), kind, *reversed(shape)))
            file.write(name.encode() + bytes(data))


def write_ggml(path, config, weights, source):
    tensors = []
    for name, tensor in weights.items():
        if len(tensor.shape) < 2 or name.endswith("positional_embedding"):
            tensor = as_float32(tensor)
        tensors.append((name, GGML_TYPE[tensor.type], tensor.shape, tensor.data))
    write_ggml_file(path, openai_dims(config), text_tokens(source / "tokenizer.json"), tensors)


def main():
    kind, folder, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    config = json.loads((folder / "config.json").read_text())
    weights = openai_weights(read_safetensors(folder / "model.safetensors"))
    if kind == "openai":
        write_openai(out, config, weights)
    elif kind == "ctranslate2":
        write_ctranslate2(out, config, weights, folder)
    else:
        write_ggml(out, config, weights, folder)


if __name__ == "__main__":
    main()
