#!/usr/bin/env python3
"""Golden values of jiwer: tests/data/text/wer.json. Run from the repository root. tests/text/wer_test.cpp makes the same
pairs of texts."""
import json

import jiwer
from tokenizer_strings import Fnv, Lcg

PAIRS, BLOCK = 10000, 100
WORDS = ["a", "b", "c", "the", "then", "then,", "one", "two", "тест", "é", "e\u0301", "日本", "x-y", "'s", "\u3000", "a\tb"]
SPACES = [" "] * 9 + ["  ", "\t", "\n", " \t ", "\u00a0", "\u2003 ", "\x1c"]


def some_words(lcg, most):
    return [WORDS[lcg.pick(len(WORDS))] for _ in range(lcg.pick(most))]


def changed(lcg, words):
    out = []
    for word in words:
        kind = lcg.pick(10)
        if kind == 0:
            continue
        out.append(WORDS[lcg.pick(len(WORDS))] if kind == 1 else word)
        if kind == 2:
            out.append(WORDS[lcg.pick(len(WORDS))])
    return out


def joined(lcg, words):
    text = SPACES[lcg.pick(len(SPACES))] if lcg.pick(4) == 0 else ""
    for i, word in enumerate(words):
        text += SPACES[lcg.pick(len(SPACES))] if i > 0 else ""
        text += word
    return text + (SPACES[lcg.pick(len(SPACES))] if lcg.pick(4) == 0 else "")


def generated_pair(index):
    lcg = Lcg(index + 2_000_000)
    reference = some_words(lcg, 300 if index % 50 == 0 else 14)
    hypothesis = changed(lcg, reference) if lcg.pick(4) > 0 else some_words(lcg, 14)
    return joined(lcg, reference), joined(lcg, hypothesis)


def main():
    texts, blocks = [], []
    for start in range(0, PAIRS, BLOCK):
        pairs = [generated_pair(i) for i in range(start, start + BLOCK)]
        made, counts = Fnv(), Fnv()
        for reference, hypothesis in pairs:
            made.add_text(reference)
            made.add_text(hypothesis)
            words = jiwer.process_words(reference, hypothesis)
            characters = jiwer.process_characters(reference, hypothesis)
            errors = characters.substitutions + characters.insertions + characters.deletions
            counts.add_ids([words.hits, words.substitutions, words.insertions, words.deletions, errors,
                            characters.hits + characters.substitutions + characters.deletions])
        references, hypotheses = zip(*pairs)
        whole = jiwer.process_words(list(references), list(hypotheses))
        texts.append(made.hex())
        blocks.append({"counts": counts.hex(), "wer": whole.wer, "cer": jiwer.cer(list(references), list(hypotheses)),
                       "words": [whole.hits, whole.substitutions, whole.insertions, whole.deletions]})
    with open("tests/data/text/wer.json", "w") as out:
        json.dump({"block": BLOCK, "texts": texts, "blocks": blocks}, out, separators=(",", ":"))


if __name__ == "__main__":
    main()
