#!/usr/bin/env python3
"""Golden values of openai-whisper's tokenizer: tests/data/text/tokenizer.json. Run from the repository root."""
import json

from tokenizer_strings import Fnv, generated_ids, generated_text
from whisper.tokenizer import LANGUAGES, TO_LANGUAGE_CODE, get_tokenizer

STRINGS, BLOCK = 12000, 100
CODE_POINTS, CODE_POINT_BLOCK = 0x32400, 0x2000  # the planes with letters
OWN = [
    "", " ", "  ", "a", " a", "Hello, world!", " Hello, world!", "don't you've we'll I'd he's they're I'm DON'T",
    "'s's's", "it''s", " 's", "1234567890", " 3.14159", "50% of $1,000.00", "x  y   z    ", "\n\n\n a\n b", "tab\there",
    "a\u00a0b", "a \u00a0 b", "a\u3000b", "\u3000\u3000b", "naïve café", "e\u0301e\u0301", "ǅ ß ẞ ﬁ", "½ ² Ⅷ ① ٣٤٥ ४५",
    "👍🏽 👨‍👩‍👧‍👦 🇩🇪", "♪♪♪ la la ♪", "(laughs) [MUSIC] {noise} <unk>", "<|endoftext|><|en|><|0.00|>",
    "Привет, как дела?", "مرحبا كيف حالك؟", "שלום, מה שלומך?", "こんにちは、元気ですか？", "你好，你怎麼樣？", "안녕하세요",
    "नमस्ते, आप कैसे हैं?", "สวัสดีครับ", "ជំរាបសួរ", "ສະບາຍດີ", "မင်္ဂလာပါ", "བཀྲ་ཤིས་བདེ་ལེགས", "გამარჯობა", "Բարեւ ձեզ", "Γειά σου Κόσμε",
    "வணக்கம்", "నమస్కారం", "ನಮಸ್ಕಾರ", "നമസ്കാരം", "ආයුබෝවන්", "নমস্কার", "ਸਤ ਸ੍ਰੀ ਅਕਾਲ", "નમસ્તે", "ሰላም", "𐐀𐐁𐐂", "\u200b\u200d\ufeff", "\ufffd\ufffd",
    "a" * 300, "ab" * 150, " " * 100, "!" * 100, "\U0010ffff\U000e0001", "http://example.com/~user?q=1&r=2#top", "\x00\x01\x1f",
]


def every_code_point(tokenizer):
    """Each code point beside letters, figures, signs and spaces: wrong classes of characters would show."""
    blocks = []
    for start in range(0, CODE_POINTS, CODE_POINT_BLOCK):
        fnv = Fnv()
        for c in map(chr, range(start, min(start + CODE_POINT_BLOCK, CODE_POINTS))):
            if not "\ud800" <= c <= "\udfff":
                fnv.add_ids(tokenizer.encode(f"a{c}1{c}${c} {c}\n{c}{c}'s"))
        blocks.append(fnv.hex())
    return blocks


def values(tokenizer, n_vocab):
    texts = [generated_text(i) for i in range(STRINGS)]
    blocks, decoded, timed = [], [], []
    for start in range(0, STRINGS, BLOCK):
        ids, text, times = Fnv(), Fnv(), Fnv()
        for i in range(start, start + BLOCK):
            ids.add_ids(tokenizer.encode(texts[i], disallowed_special=()))
            some = generated_ids(i, n_vocab)
            text.add_text(tokenizer.decode(some))
            times.add_text(tokenizer.decode_with_timestamps(some))
        blocks.append(ids.hex())
        decoded.append(text.hex())
        timed.append(times.hex())
    return {
        "n_vocab": n_vocab, "encode": blocks, "decode": decoded, "decode_with_timestamps": timed,
        "literal": [[text, tokenizer.encode(text, disallowed_special=())] for text in OWN + texts[:150]],
        "non_speech": tokenizer.non_speech_tokens,
        "languages": [tokenizer.to_language_token(c) for c in list(LANGUAGES)[: tokenizer.num_languages]],
        "special": {name: getattr(tokenizer, name) for name in (
            "eot", "sot", "translate", "transcribe", "sot_lm", "sot_prev", "no_speech", "no_timestamps", "timestamp_begin")},
    }


def main():
    texts = Fnv()
    for i in range(STRINGS):
        texts.add_text(generated_text(i))
    golden = {
        "block": BLOCK, "texts": texts.hex(), "code_points": every_code_point(get_tokenizer(False)), "language_codes": TO_LANGUAGE_CODE,
        "en": values(get_tokenizer(False), 51864),
        "multilingual": values(get_tokenizer(True, num_languages=99), 51865),
        "large-v3": values(get_tokenizer(True, num_languages=100), 51866),
    }
    with open("tests/data/text/tokenizer.json", "w") as out:
        json.dump(golden, out, ensure_ascii=True, separators=(",", ":"))


if __name__ == "__main__":
    main()
