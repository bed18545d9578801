#!/usr/bin/env python3
"""How openai-whisper 20250625 cuts tokens into words: tests/data/text/word_split.json. Run from the repository root.

Literal texts in clear; generated texts and ids as one hash a block of 100.
"""
import json

from tokenizer_strings import Fnv, generated_ids, generated_text
from whisper.tokenizer import get_tokenizer

STRINGS, BLOCK = 3000, 100
TEXTS = [
    "", " ", " Hello, world!", " don't you've \"quoted\" (in brackets) [or] {these}", " a - b -- c... d?!", " $1,000.00 and 50%",
    " one\n two\n\nthree", " 北京欢迎你。", " こんにちは、元気ですか？はい！", " สวัสดีครับ ผมชื่อ", " ສະບາຍດີ", " မင်္ဂလာပါ", " Привет, как дела?",
    " naïve café", " 👍🏽 👨‍👩‍👧‍👦 🇩🇪!", " \ufffd\ufffd a\ufffd", " 안녕하세요 여러분", " नमस्ते, आप", "\u3000全角\u3000", " ¿Qué? ¡Sí!", " .", " . .", ".\t", "\t\t!", "a\u00a0.b",
]
LANGUAGES = [("en", False, 99, "en"), ("multilingual", True, 99, "en"), ("multilingual", True, 99, "zh"), ("multilingual", True, 99, "ja"),
             ("multilingual", True, 99, "th"), ("multilingual", True, 99, "lo"), ("multilingual", True, 99, "my"), ("large-v3", True, 100, "yue"),
             ("multilingual", True, 99, "ko")]


def add(fnv, tokenizer, ids):
    words, tokens = tokenizer.split_to_word_tokens(ids)
    for word, spelled in zip(words, tokens):
        fnv.add_text(word)
        fnv.add_ids(spelled)
    fnv.add_ids([])


def blocks(tokenizer):
    hashes = []
    for start in range(0, STRINGS, BLOCK):
        fnv = Fnv()
        for i in range(start, start + BLOCK):
            text = tokenizer.encode(generated_text(i), disallowed_special=())
            made = generated_ids(i, tokenizer.eot)
            for ids in (text + [tokenizer.eot], made + [tokenizer.eot], made):
                add(fnv, tokenizer, ids)
        hashes.append(fnv.hex())
    return hashes


def main():
    made = {"block": BLOCK, "cases": []}
    for vocabulary, multilingual, languages, language in LANGUAGES:
        tokenizer = get_tokenizer(multilingual, num_languages=languages, language=language)
        literal = []
        for text in TEXTS:
            ids = tokenizer.encode(text, disallowed_special=()) + [tokenizer.eot, tokenizer.timestamp_begin + 54]
            literal.append([ids, *tokenizer.split_to_word_tokens(ids)])
        made["cases"].append({"vocabulary": vocabulary, "language": language, "literal": literal, "generated": blocks(tokenizer)})
    with open("tests/data/text/word_split.json", "w") as out:
        json.dump(made, out, ensure_ascii=True, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
