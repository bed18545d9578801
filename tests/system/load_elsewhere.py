#!/usr/bin/env python3
"""Loads a model of ours in the programs it is for, and prints what they make of it, as one JSON object a line.

Usage: load_elsewhere.py transcribed FOLDER CLIP.wav  the text that transformers writes: {"text"}
       load_elsewhere.py compared FOLDER NAME.pt      the logits of transformers (FOLDER) and of openai-whisper (NAME.pt)
                                                      beside each other: {"largest", "difference"}
       load_elsewhere.py there                        ends with 0 where both programs are
"""

import json
import sys
import wave

import torch
import transformers
import whisper


def samples_of(path):
    with wave.open(path) as clip:
        assert (clip.getframerate(), clip.getnchannels(), clip.getsampwidth()) == (16000, 1, 2), path
        pcm = torch.frombuffer(bytearray(clip.readframes(clip.getnframes())), dtype=torch.int16)
    return (pcm.float() / 32768).numpy()


def transcribed(folder, clip):
    processor = transformers.WhisperProcessor.from_pretrained(folder)
    model = transformers.WhisperForConditionalGeneration.from_pretrained(folder).float().eval()
    features = processor(samples_of(clip), sampling_rate=16000, return_tensors="pt").input_features
    tokens = model.generate(features, num_beams=1, do_sample=False)
    return {"text": processor.batch_decode(tokens, skip_special_tokens=True)[0].strip()}


def compared(folder, checkpoint):
    theirs = whisper.load_model(checkpoint, device="cpu").float().eval()
    ours = transformers.WhisperForConditionalGeneration.from_pretrained(folder).float().eval()
    tokenizer = whisper.tokenizer.get_tokenizer(theirs.is_multilingual, num_languages=theirs.num_languages)
    processor = transformers.WhisperProcessor.from_pretrained(folder)
    words = tokenizer.encode(" one two three")
    assert processor.tokenizer.encode(" one two three", add_special_tokens=False) == words, "another vocabulary"
    torch.manual_seed(1)
    mel = torch.rand(1, theirs.dims.n_mels, 2 * theirs.dims.n_audio_ctx) - 0.5
    tokens = torch.tensor([[*tokenizer.sot_sequence_including_notimestamps, *words]])
    with torch.no_grad():
        one = ours(input_features=mel, decoder_input_ids=tokens).logits
        other = theirs(mel, tokens)
    return {"largest": one.abs().max().item(), "difference": (one - other).abs().max().item()}


if __name__ == "__main__":
    torch.set_num_threads(1)
    what, *names = sys.argv[1:]
    if what != "there":
        print(json.dumps({"transcribed": transcribed, "compared": compared}[what](*names)))
