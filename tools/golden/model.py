#!/usr/bin/env python3
"""Golden values of the Whisper network, from openai-whisper in float32 on the CPU, into tests/data/model.

Usage: model.py WHISPER_TINY_EN_FOLDER [OUT]

Writes random/ (a model of two layers with random weights and a window of its own length, as a Hugging Face folder and as
OpenAI's .pt, with everything the reference computes from it) and tiny.en.safetensors (one clip's log-mel, and slices and
sums of what the real tiny.en makes of it).
"""
import json
import pathlib
import sys

import torch
import whisper
from safetensors.torch import load_file, save_file
from whisper.model import ModelDimensions, Whisper

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from whisper_names import hugging_face_name, openai_dims, openai_weights  # noqa: E402


def hugging_face_config(dims):
    return {"model_type": "whisper", "d_model": dims.n_audio_state, "num_mel_bins": dims.n_mels,
            "encoder_layers": dims.n_audio_layer, "encoder_attention_heads": dims.n_audio_head,
            "encoder_ffn_dim": 4 * dims.n_audio_state, "decoder_layers": dims.n_text_layer,
            "decoder_attention_heads": dims.n_text_head, "decoder_ffn_dim": 4 * dims.n_text_state,
            "vocab_size": dims.n_vocab, "max_source_positions": dims.n_audio_ctx,
            "max_target_positions": dims.n_text_ctx, "activation_function": "gelu"}


def random_model(out):
    torch.manual_seed(20250625)
    dims = ModelDimensions(n_mels=8, n_audio_ctx=30, n_audio_state=24, n_audio_head=2, n_audio_layer=2, n_vocab=120,
                           n_text_ctx=20, n_text_state=24, n_text_head=3, n_text_layer=2)
    model = Whisper(dims).eval()
    for parameter in model.parameters():  # large enough that every part of the network shows in the logits
        parameter.data.add_(torch.randn_like(parameter) * 0.1)
    model = model.half().float()  # so that the float16 .pt holds the same numbers
    state = {name: value.contiguous() for name, value in model.state_dict().items()}
    out.mkdir(parents=True, exist_ok=True)
    save_file({hugging_face_name(name): value for name, value in state.items()}, out / "model.safetensors")
    (out / "config.json").write_text(json.dumps(hugging_face_config(dims), indent=1) + "\n")
    half = {name: value.half() for name, value in state.items()}
    torch.save({"dims": vars(dims), "model_state_dict": half}, out / "random.pt")

    mel = torch.randn(dims.n_mels, 2 * dims.n_audio_ctx)
    tokens = torch.randint(0, dims.n_vocab, (2, dims.n_text_ctx))
    encoded = model.encoder(torch.stack([mel, mel.flip(1)]))
    logits = model.decoder(tokens, encoded)
    golden = {"mel": mel, "tokens": tokens.int(), "encoded": encoded, "logits": logits}
    save_file({name: value.contiguous() for name, value in golden.items()}, out / "golden.safetensors")


def real_model(folder, out):
    weights = {name: value.float() for name, value in openai_weights(load_file(folder / "model.safetensors")).items()}
    model = Whisper(ModelDimensions(**openai_dims(json.loads((folder / "config.json").read_text())))).eval()
    model.load_state_dict(weights)
    frames = 480  # all of the clip's speech that is needed; the rest of the window is this mel's floor
    mel = whisper.log_mel_spectrogram(whisper.pad_or_trim(whisper.load_audio(str(folder / "clips/string-theo.wav"))))
    mel = mel[:, :frames].half()
    floor = mel.min()
    window = torch.full((80, 3000), floor.item())
    window[:, :frames] = mel.float()

    # <|startoftranscript|> <|0.00|>, and what the reference then says.
    tokens = [50257, 50363]
    encoded = model.encoder(window[None])
    for _ in range(14):
        logits = model.decoder(torch.tensor([tokens]), encoded)[0]
        tokens.append(int(logits[-1].argmax()))
    logits = model.decoder(torch.tensor([tokens]), encoded)[0]
    golden = {"mel": mel, "floor": floor[None], "tokens": torch.tensor(tokens, dtype=torch.int32),
              "encoded_head": encoded[0, :8, :32], "encoded_tail": encoded[0, -8:, -32:],
              "encoded_sums": torch.stack([encoded.double().sum(), encoded.double().abs().sum()]),
              "logits_head": logits[:, :64], "logits_tail": logits[:, -64:],
              "logits_sums": torch.stack([logits.double().sum(1), logits.double().abs().sum(1)], 1)}
    save_file({name: value.contiguous() for name, value in golden.items()}, out / "tiny.en.safetensors")


def main():
    out = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2] / "tests/data/model")
    with torch.inference_mode():
        random_model(out / "random")
        real_model(pathlib.Path(sys.argv[1]), out)


if __name__ == "__main__":
    main()
