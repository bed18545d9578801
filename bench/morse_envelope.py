#!/usr/bin/env python3
"""Reads Morse by its envelope, as a person would program it in an afternoon: no network, nothing learned.

Usage: bench/morse_envelope.py FILE.wav...

The tone is the strongest line of the spectrum from 250 to 1400 Hz that comes and goes, followed where it drifts. It is mixed
down to nothing, smoothed over two thirds of a dot, and compared with a threshold between the levels of key-up and key-down
about each moment, with hysteresis. What the lengths of marks and gaps mean follows from clustering them. Prints a line a file.
Needs numpy. bench/morse.py compares it with models and programs.
"""
import sys
import wave

try:
    import numpy as np
except ImportError:
    sys.exit("numpy: this bench needs it, and this Python has none; run it by $(tools/wheel.sh --python), or install numpy")

RATE = 16000
LOW_RATE = 1000  # of the envelope
CODES = {".-": "A", "-...": "B", "-.-.": "C", "-..": "D", ".": "E", "..-.": "F", "--.": "G", "....": "H", "..": "I", ".---": "J",
         "-.-": "K", ".-..": "L", "--": "M", "-.": "N", "---": "O", ".--.": "P", "--.-": "Q", ".-.": "R", "...": "S", "-": "T",
         "..-": "U", "...-": "V", ".--": "W", "-..-": "X", "-.--": "Y", "--..": "Z", "-----": "0", ".----": "1", "..---": "2",
         "...--": "3", "....-": "4", ".....": "5", "-....": "6", "--...": "7", "---..": "8", "----.": "9", "..--..": "?",
         "-..-.": "/", ".-.-.-": ".", "--..--": ",", "-...-": "=", ".-.-.": "AR", "...-.-": "SK", "-.--.": "KN", "-...-.-": "BK",
         ".-...": "AS"}


def samples_of(path):
    """Mono at 16 kHz."""
    with wave.open(str(path)) as file:
        rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
        if width not in (1, 2):
            sys.exit(f"{path}: expected 8 or 16 bits a sample, found {8 * width}")
        bits = np.frombuffer(file.readframes(file.getnframes()), "u1" if width == 1 else "<i2").astype(float)
        pcm = (bits - 128 if width == 1 else bits).reshape(-1, channels).mean(1) / 2 ** (8 * width - 1)
    if rate == RATE:
        return pcm
    spectrum = np.fft.rfft(pcm)
    count = round(len(pcm) * RATE / rate)
    size = count // 2 + 1
    return np.fft.irfft(np.pad(spectrum, (0, max(0, size - len(spectrum))))[:size], count) * count / max(1, len(pcm))


def spectrogram(pcm, size, hop):
    if len(pcm) < size:
        pcm = np.pad(pcm, (0, size - len(pcm)))
    frames = np.lib.stride_tricks.sliding_window_view(pcm, size)[::hop]
    return np.abs(np.fft.rfft(frames * np.hanning(size), axis=1)) ** 2


def tone_of(pcm):
    """The line that is strongest where it is down, and comes and goes."""
    power = spectrogram(pcm, 1024, 256)
    hertz = np.arange(power.shape[1]) * RATE / 1024
    high, low = np.percentile(power, 90, axis=0), np.percentile(power, 20, axis=0)
    mean = power.mean(0)
    score = np.where((hertz > 250) & (hertz < 1400), mean + high, 0) * (high / np.maximum(low, 1e-12) > 3)
    if not score.any():
        score = np.where((hertz > 250) & (hertz < 1400), mean, 0)
    return hertz[int(score.argmax())]


def followed(pcm, tone):
    """The tone's frequency at each quarter of a second, by the best path through half-second spectra."""
    size, hop = 8192, 4000
    power = spectrogram(np.pad(pcm, size // 2), size, hop)
    first, last = round((tone - 100) * size / RATE), round((tone + 100) * size / RATE)
    scores = np.log(power[:, max(first, 1):last] + 1e-9)
    scores -= np.median(scores)
    steps = np.arange(-3, 4)
    best, back = scores[0], []
    for row in scores[1:]:
        padded = np.pad(best, 3, constant_values=-1e9)
        moves = np.stack([padded[3 + s:3 + s + len(best)] - 0.5 * abs(s) for s in steps])
        back.append(moves.argmax(0) - 3)
        best = moves.max(0) + row
    at, path = int(best.argmax()), []
    for moved in reversed(back):
        path.append(at)
        at = min(max(at + int(moved[at]), 0), len(best) - 1)
    path.append(at)
    hertz = (np.array(path[::-1]) + max(first, 1)) * RATE / size
    times = np.arange(len(hertz)) * hop
    return np.interp(np.arange(len(pcm)), times, np.convolve(np.pad(hertz, 1, mode="edge"), np.ones(3) / 3, "valid"))


def envelope(pcm, hertz, seconds):
    """How strong the tone is, a value a millisecond, smoothed twice over so many seconds."""
    base = pcm * np.exp(-2j * np.pi * np.cumsum(hertz) / RATE)
    step = RATE // LOW_RATE
    base = base[:len(base) // step * step].reshape(-1, step).mean(1)
    width = max(2, round(seconds * LOW_RATE))
    return np.abs(np.convolve(base, np.ones(width) / width, "same"))


def running(values, share, seconds):
    """A percentile of what is about each moment."""
    step = LOW_RATE // 10
    reach = round(seconds * 10)
    coarse = [np.percentile(values[max(0, i - reach) * step:(i + reach + 1) * step], share)
              for i in range((len(values) + step - 1) // step)]
    return np.interp(np.arange(len(values)), np.arange(len(coarse)) * step + step / 2, coarse)


def runs_of(level):
    """[(is_down, milliseconds)], by a threshold with hysteresis."""
    high, low = running(level, 95, 1.5), running(level, 15, 1.5)
    high = np.maximum(high, 0.1 * np.percentile(level, 97))
    low = np.minimum(low, high / 2)
    on, off = low + 0.55 * (high - low), low + 0.42 * (high - low)
    runs, is_down = [], False
    for value, rises, falls in zip(level, on, off):
        is_down = value > (falls if is_down else rises)
        if runs and runs[-1][0] == is_down:
            runs[-1][1] += 1
        else:
            runs.append([is_down, 1])
    return runs


def without_glitches(runs, shortest):
    """Shorter ones become part of what is about them."""
    clean = []
    for is_down, length in runs:
        if clean and (length < shortest or clean[-1][0] == is_down):
            clean[-1][1] += length
        else:
            clean.append([is_down, length])
    return clean


def misfit(runs, dot):
    """How far marks are from one and three dots, and gaps from one or anything that parts letters, in the mean."""
    marks = np.log(np.array([length for is_down, length in runs if is_down] or [1.0]) / dot)
    gaps = np.log(np.array([length for is_down, length in runs if not is_down] or [1.0]) / dot)
    of_marks = np.minimum(abs(marks), abs(marks - np.log(3)))
    of_gaps = np.where(gaps > np.log(3), 0.1, np.minimum(abs(gaps), abs(gaps - np.log(3))))
    return np.minimum(np.concatenate([of_marks, of_gaps]), 1).mean()


def borders(runs, dot):
    """Milliseconds that part dots from dashes, and gaps within letters from those between letters and between words."""
    marks = np.log([length for is_down, length in runs if is_down] or [dot])
    short, long = np.log(dot), np.log(3 * dot)
    for _ in range(20):
        is_long = marks > (short + long) / 2
        if is_long.sum() > 1 and (~is_long).sum() > 1:
            short, long = marks[~is_long].mean(), marks[is_long].mean()
    if long - short < np.log(1.7):
        short, long = np.log(dot), np.log(3 * dot)
    between = np.array(sorted(length for is_down, length in runs if not is_down and length > 2 * dot))
    word = 5 * dot
    if len(between) > 1:
        between = np.minimum(between, 3.5 * np.median(between))  # what is longer is a pause
        steps = between[1:] / between[:-1]
        widest = int(steps.argmax())
        if steps[widest] > 1.4:
            word = np.sqrt(between[widest] * between[widest + 1])
        else:
            word = max(word, 1.5 * between[0])
    return np.exp((short + long) / 2), 2 * dot, word


def text_of(runs, dash, letter, word):
    text, code = "", ""
    for is_down, length in runs:
        if is_down:
            code += "-" if length > dash else "."
        elif length > letter:
            text += CODES.get(code, "*" if code else "")
            code = ""
            if length > word and text and not text.endswith(" "):
                text += " "
    return (text + CODES.get(code, "*" if code else "")).strip()


def decoded(pcm):
    if len(pcm) < RATE // 4 or not np.any(pcm):
        return ""
    hertz = followed(pcm, tone_of(pcm))
    best = None
    for dot in np.geomspace(26, 150, 13):
        runs = without_glitches(runs_of(envelope(pcm, hertz, 0.66 * dot / 1000)), 0.45 * dot)
        cost = misfit(runs[1:-1], dot) if len(runs) > 4 else 1
        if best is None or cost < best[0]:
            best = cost, dot, runs
    _, dot, runs = best
    return text_of(runs, *borders(runs[1:-1] if len(runs) > 4 else runs, dot))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for path in sys.argv[1:]:
        print(f"{path}: {decoded(samples_of(path))}" if len(sys.argv) > 2 else decoded(samples_of(path)))


if __name__ == "__main__":
    main()
