#!/usr/bin/env python3
"""One pass of a plain PyTorch DataLoader over a set: decode, to 16 kHz, Whisper's log-mel, batches of 16.

Usage: loader.py DECODER WORKERS MANIFEST.jsonl [--padded] [--limit N]
DECODER: soundfile, torchaudio or librosa. --padded: every clip to 30 s, as Hugging Face's recipes do it.
Prints {"clips", "seconds", "first_batch_seconds", "rate"}: the rate is that after the first batch, in clips a second.
"""
import argparse
import json
import pathlib
import time

RATE, WINDOW, BATCH = 16000, 30, 16


def soundfile_clip(path):
    import soundfile
    import torch

    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return torch.from_numpy(samples).mean(1), rate


def torchaudio_clip(path):
    import torchaudio

    samples, rate = torchaudio.load(path)
    return samples.mean(0), rate


def librosa_clip(path):
    import librosa
    import torch

    return torch.from_numpy(librosa.load(path, sr=RATE)[0]), RATE


DECODERS = {"soundfile": soundfile_clip, "torchaudio": torchaudio_clip, "librosa": librosa_clip}


class Clips:
    """A map-style dataset, as people write it."""

    def __init__(self, manifest, decoder, padded, limit):
        import torchaudio

        folder = manifest.parent
        self.paths = [folder / json.loads(line)["audio"] for line in manifest.read_text().splitlines()][:limit]
        self.decode, self.padded, self.resamplers = DECODERS[decoder], padded, {}
        self.mel = torchaudio.transforms.MelSpectrogram(RATE, n_fft=400, hop_length=160, n_mels=80, norm="slaney", mel_scale="slaney")

    def __len__(self):
        return len(self.paths)

    def at_model_rate(self, samples, rate):
        import torchaudio

        if rate == RATE:
            return samples
        if rate not in self.resamplers:
            self.resamplers[rate] = torchaudio.transforms.Resample(rate, RATE)
        return self.resamplers[rate](samples)

    def __getitem__(self, place):
        import torch

        samples = self.at_model_rate(*self.decode(str(self.paths[place])))
        if self.padded:
            samples = torch.nn.functional.pad(samples, (0, WINDOW * RATE - len(samples)))
        power = self.mel(samples)[:, :-1].clamp(min=1e-10).log10()
        return (torch.maximum(power, power.max() - 8) + 4) / 4


def together(mels):
    import torch

    batch = torch.zeros(len(mels), 80, max(mel.shape[1] for mel in mels))
    for row, mel in zip(batch, mels):
        row[:, :mel.shape[1]] = mel
    return batch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("decoder", choices=DECODERS)
    parser.add_argument("workers", type=int)
    parser.add_argument("manifest", type=pathlib.Path)
    parser.add_argument("--padded", action="store_true")
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    import torch

    clips = Clips(options.manifest, options.decoder, options.padded, options.limit)
    start = time.perf_counter()
    batches = torch.utils.data.DataLoader(clips, batch_size=BATCH, shuffle=True, num_workers=options.workers, collate_fn=together)
    first, count = None, 0
    for batch in batches:
        count += len(batch)
        first = first or time.perf_counter() - start
    seconds = time.perf_counter() - start
    rate = (count - min(BATCH, count)) / max(seconds - first, 1e-9)
    print(json.dumps({"clips": count, "seconds": seconds, "first_batch_seconds": first, "rate": rate}))


if __name__ == "__main__":
    main()
