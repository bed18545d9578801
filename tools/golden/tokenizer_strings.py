"""Deterministic strings in many scripts, for golden values of text functions. tests/text/generated_text.h makes the
same strings: what one of the two does, the other must do."""

MASK = (1 << 64) - 1
RANGES = [  # Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Devanagari, Bengali, Gurmukhi, Gujarati, Tamil, Telugu,
    (0x61, 0x7A), (0xC0, 0x17F), (0x391, 0x3C9), (0x410, 0x44F), (0x531, 0x556), (0x5D0, 0x5EA), (0x620, 0x64A),
    (0x904, 0x939), (0x985, 0x9B9), (0xA05, 0xA39), (0xA85, 0xAB9), (0xB85, 0xBB9), (0xC05, 0xC39),
    # Kannada, Malayalam, Sinhala, Thai, Lao, Tibetan, Myanmar, Georgian, Hangul, Ethiopic, Khmer, Kana, CJK, Yi, Vai,
    (0xC85, 0xCB9), (0xD05, 0xD39), (0xD85, 0xDBD), (0xE01, 0xE3A), (0xE81, 0xEB9), (0xF40, 0xF6C), (0x1000, 0x103F),
    (0x10D0, 0x10FA), (0xAC00, 0xD7A3), (0x1200, 0x1248), (0x1780, 0x17B3), (0x3041, 0x30FA), (0x4E00, 0x9FA5),
    (0xA000, 0xA48C), (0xA500, 0xA60C), (0x10400, 0x1044F),  # Deseret
]
WORDS = ["the", " The", " and", "I'm", "don't", "we'LL", " HELLO", "world", "o'clock", " naïve", "München", " Привет",
         "こんにちは", " 안녕하세요", "你好", " नमस्ते", "مرحبا", " שלום", "สวัสดี", " xin chào", "Straße", " dž"]
ODD = [" ", "  ", "   ", "\n", "\n\n", " \n ", "\t", "\r\n", "\u00a0", " \u00a0", "\u3000", "\u2003", "\u0085", "\u001c",
       "'", "''", "'s", "'S", " 'd", "...", " ...", "!?", "--", "<|endoftext|>", "<|0.00|>", "½", "²", "٣", "Ⅷ", "①",
       "e\u0301", "\u0301", "\u200d", "\ufeff", "\ufffd", "\U0010ffff", "\x00", "\x7f", "_", "$5.00", "1,000", "#"]


class Lcg:
    """Knuth's MMIX generator; `pick(n)` is in [0, n)."""

    def __init__(self, seed):
        self.state = (seed * 0x9E3779B97F4A7C15 + 1) & MASK

    def pick(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & MASK
        return (self.state >> 33) % n


def part(lcg, script):
    kind = lcg.pick(10)
    if kind < 4:
        first, last = RANGES[script]
        return "".join(chr(first + lcg.pick(last - first + 1)) for _ in range(1 + lcg.pick(8)))
    if kind == 4:
        return WORDS[lcg.pick(len(WORDS))]
    if kind == 5:
        return "".join(chr(0x30 + lcg.pick(10)) for _ in range(1 + lcg.pick(6)))
    if kind == 6:
        return "".join(chr(0x1F300 + lcg.pick(0x350)) for _ in range(1 + lcg.pick(2)))
    if kind == 7:
        return chr(0x21 + lcg.pick(0xD7DF))  # any of the plane below the surrogates
    return ODD[lcg.pick(len(ODD))]


def generated_text(index):
    lcg = Lcg(index)
    text = ""
    for _ in range(1 + lcg.pick(12)):
        text += part(lcg, index % len(RANGES))
        if lcg.pick(3) == 0:
            text += " "
    return text


def generated_ids(index, n_vocab):
    lcg = Lcg(index)
    return [lcg.pick(n_vocab) for _ in range(1 + lcg.pick(20))]


class Fnv:
    """FNV-1a of 64 bits."""

    def __init__(self):
        self.value = 0xCBF29CE484222325

    def add(self, data):
        for byte in data:
            self.value = ((self.value ^ byte) * 0x100000001B3) & MASK

    def add_text(self, text):
        self.add(text.encode())
        self.add(b"\xff")  # in no UTF-8: ends a text

    def add_ids(self, ids):
        for i in list(ids) + [-1]:
            self.add((i & 0xFFFFFFFF).to_bytes(4, "little"))

    def hex(self):
        return f"{self.value:016x}"
