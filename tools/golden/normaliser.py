#!/usr/bin/env python3
"""Golden values of openai-whisper's text normalisers: tests/data/text/normaliser.json. Run from the repository root."""
import json
import unicodedata

import regex
from normaliser_strings import generated_english
from tokenizer_strings import Fnv, generated_text
from whisper.normalizers import BasicTextNormalizer, EnglishTextNormalizer

ENGLISH, ANY, BLOCK = 12000, 6000, 100
OWN = [
    "", " ", "Hello, World!", "  two   spaces  ", "Let's go, y'all; I'ma win.", "Mr. and Mrs. Smith's dog's been gone.",
    "He'd been there, she'd gone, they'd done it.", "I won't, I can't, I don't.", "Dr. Who lived on St. James St.",
    "two hundred and twenty two", "nineteen oh one", "one oh one", "double oh seven", "triple five", "twenty first",
    "three thousandths", "one and a half million", "two and a half", "and a half", "a cat and a half", "five and  a\thalf and a half",
    "minus twenty degrees", "plus one", "negative", "the positive and the negative", "three dollars and five cents",
    "$2 and ¢7", "$0.05", "$0.5", "fifty percent", "fifty per cent", "five per person", "twenty pounds", "ten euros fifty",
    "1,234,567.89", "1960s", "the nineteen sixties", "1 st", "2 nd place", "3 rds", "point five", "three point one four",
    "one point twenty five", "192 point 168 point 0 point 1", "a hundred and one", "hundred", "hundreds of millions",
    "one hundred thousand million", "ten decillion", "twelve hundred", "zero", "oh no", "zeroth", "0 oh five", "0 hundred",
    "one one one", "1 1 1", "ones", "one", "1s", "colour analyse travelled", "[noise] hello (laughs) <unk> there", "() ((a)b) [a>b",
    "< a b", "um, uh, hmm... mm-hmm", "'tis the season ' s", "don 't", "100% of $5.00", "% $ .", "a.b.c. 1.5 .5 5.", "É è ü ß œ ø",
    "İstanbul IŞIK", "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ", "ﬁne ①② ½ ²", "e\u0301a\u0308", "नमस्ते दुनिया", "こんにちは。元気？", "ไทยภาษา", "안녕 각", "👨‍👩‍👧 🇩🇪🇫🇷 👍🏽",
    "one two three four five", "twenty twenty", "twenty ten", "forty two forty two", "ninety nine point nine nine percent",
    "three and four", "five hundred and", "four score and seven", "a million dollars", "one hundred and fifty pounds", "¢5 and £3",
    "$20 million", "£1.5 billion", "3.5 hundred", "1.2.3 million", "٣ million", "seven seconds", "second to none", "twenty thirds",
]


def is_recent(text):
    """Holds characters that `regex` knows and this Python's unicodedata does not: there the reference is at odds with
    itself from one installation to the next, so nothing is to be learned."""
    return any(unicodedata.category(c) == "Cn" and not regex.match(r"\p{Cn}", c) for c in text)


def main():
    basics = {
        "basic": BasicTextNormalizer(), "basic_plain": BasicTextNormalizer(remove_diacritics=True),
        "basic_split": BasicTextNormalizer(split_letters=True),
        "basic_plain_split": BasicTextNormalizer(remove_diacritics=True, split_letters=True),
    }
    english = EnglishTextNormalizer()

    def blocks(function, make, count, recent=()):
        out = []
        for start in range(0, count, BLOCK):
            fnv = Fnv()
            for i in range(start, start + BLOCK):
                if i not in recent:
                    fnv.add_text(function(make(i)))
            out.append(fnv.hex())
        return out

    recent = [i for i in range(ANY) if is_recent(generated_text(i))]
    every = {**basics, "english": english}
    golden = {
        "block": BLOCK,
        "texts": blocks(lambda text: text, generated_english, ENGLISH),
        "english_texts": blocks(english, generated_english, ENGLISH),
        "recent": recent,
        "any_texts": {name: blocks(function, generated_text, ANY, recent) for name, function in every.items()},
        "literal": [{"text": text, **{name: function(text) for name, function in every.items()}} for text in OWN],
        "literal_english": [[text, english(text)] for text in map(generated_english, range(200))],
    }
    with open("tests/data/text/normaliser.json", "w") as out:
        json.dump(golden, out, ensure_ascii=True, separators=(",", ":"))


if __name__ == "__main__":
    main()
