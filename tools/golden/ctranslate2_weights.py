"""Reads a CTranslate2 Whisper folder into openai-whisper's network, without any code of Tutti or CTranslate2.

The format is that of ctranslate2's python/ctranslate2/specs/model_spec.py, binary version 6: the spec's name and revision, the
variables (name, shape, type, bytes), then aliases. Only float16 and float32 weights are read.
"""
import struct
import types

import numpy
import torch
from whisper.model import ModelDimensions, Whisper

TYPES = [numpy.float32, numpy.int8, numpy.int16, numpy.int32, numpy.float16]
HEAD_WIDTH = 64  # in every published Whisper
LAYERS = [  # our part of a layer's name, OpenAI's part
    ("self_attention/layer_norm", "attn_ln"), ("self_attention/linear_1", "attn.out"),
    ("attention/layer_norm", "cross_attn_ln"), ("attention/linear_0", "cross_attn.query"),
    ("attention/linear_2", "cross_attn.out"), ("ffn/layer_norm", "mlp_ln"), ("ffn/linear_0", "mlp.0"), ("ffn/linear_1", "mlp.2"),
]
FUSED = [  # rows stacked in one matrix
    ("self_attention/linear_0", ("attn.query", "attn.key", "attn.value")),
    ("attention/linear_1", ("cross_attn.key", "cross_attn.value")),
]


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        [value] = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def bytes(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def text(self):
        return self.bytes(self.number("H"))[:-1].decode()

    def variable(self):
        name = self.text()
        shape = [self.number("I") for _ in range(self.number("B"))]
        kind = TYPES[self.number("B")]
        return name, numpy.frombuffer(self.bytes(self.number("I")), kind).reshape(shape)


def read_variables(path):
    reader = Reader(path.read_bytes())
    version, spec, _revision = reader.number("I"), reader.text(), reader.number("I")
    assert (version, spec) == (6, "WhisperSpec"), (version, spec)
    return dict(reader.variable() for _ in range(reader.number("I")))


def take(variables, name):
    return torch.from_numpy(variables.pop(name).astype(numpy.float32))


def take_pair(variables, source, target):
    """Weight and bias of a layer; a norm calls them gamma and beta."""
    names = ("gamma", "beta") if source.endswith("layer_norm") else ("weight", "bias")
    return {f"{target}.{kind}": take(variables, f"{source}/{name}") for name, kind in zip(names, ("weight", "bias"))}


def take_layer(variables, source, target):
    state = {}
    for ours, theirs in LAYERS:
        if any(name.startswith(f"{source}/{ours}/") for name in variables):
            state |= take_pair(variables, f"{source}/{ours}", f"{target}.{theirs}")
    for ours, parts in FUSED:
        if f"{source}/{ours}/weight" not in variables:
            continue
        for kind in ("weight", "bias"):
            for part, value in zip(parts, take(variables, f"{source}/{ours}/{kind}").chunk(len(parts))):
                state[f"{target}.{part}.{kind}"] = value
        for part in parts:
            if part.endswith(".key"):  # Whisper's keys have no bias; a fused layer holds zeros for it
                assert not state.pop(f"{target}.{part}.bias").any()
    return state


def layer_count(variables, side):
    return sum(name.startswith(f"{side}/layer_") and name.endswith("/ffn/linear_0/weight") for name in variables)


def load_ctranslate2(folder):
    """The network in float32, in eval mode."""
    variables = read_variables(folder / "model.bin")
    layers = {side: layer_count(variables, side) for side in ("encoder", "decoder")}
    state = {"decoder.token_embedding.weight": take(variables, "decoder/embeddings/weight")}
    for conv in ("conv1", "conv2"):
        state |= take_pair(variables, f"encoder/{conv}", f"encoder.{conv}")
    for side, norm in (("encoder", "ln_post"), ("decoder", "ln")):
        state[f"{side}.positional_embedding"] = take(variables, f"{side}/position_encodings/encodings")
        state |= take_pair(variables, f"{side}/layer_norm", f"{side}.{norm}")
        for index in range(layers[side]):
            state |= take_layer(variables, f"{side}/layer_{index}", f"{side}.blocks.{index}")
    left = [name for name, value in variables.items() if value.ndim > 0]
    assert not left, left
    shapes = {name: types.SimpleNamespace(rows=value.shape[0], columns=value.shape[1])
              for name, value in state.items() if value.ndim > 1}
    audio, text = shapes["encoder.positional_embedding"], shapes["decoder.positional_embedding"]
    model = Whisper(ModelDimensions(
        n_mels=shapes["encoder.conv1.weight"].columns, n_audio_ctx=audio.rows, n_audio_state=audio.columns,
        n_audio_head=audio.columns // HEAD_WIDTH, n_audio_layer=layers["encoder"],
        n_vocab=shapes["decoder.token_embedding.weight"].rows, n_text_ctx=text.rows, n_text_state=text.columns,
        n_text_head=text.columns // HEAD_WIDTH, n_text_layer=layers["decoder"]))
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and all("mask" in name for name in missing), (missing, unexpected)
    return model.eval()
