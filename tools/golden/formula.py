"""Logits from nothing but a formula, the same as tests/decode/formula_logits.h computes."""
import numpy as np

MASK = (1 << 64) - 1


def mix(bits):
    bits = (bits + 0x9E3779B97F4A7C15) & MASK
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


def mix_array(bits):
    with np.errstate(over="ignore"):
        bits = bits + np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))


def formula_logits(seed, position, token, n_vocab, timestamp_begin, eot):
    """[n_vocab] float32: pseudo-random in [-6, 6), times heavy at every fifth position, the end likelier with time."""
    key = np.uint64(mix(mix(mix(seed) ^ position) ^ token))
    bits = mix_array(np.arange(n_vocab, dtype=np.uint64) ^ key)
    row = (bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24) * np.float32(12) - np.float32(6)
    if position % 5 != 0:
        row[timestamp_begin:] -= np.float32(9)
    row[eot] += np.float32((position % 64) / 8)
    return row
