"""Deterministic English for golden values of the normaliser; tests/text/generated_english.cpp makes the same strings."""
from tokenizer_strings import Lcg

ENGLISH = """one two three five six nine ten eleven twelve thirteen nineteen twenty thirty forty ninety zero oh o hundred
thousand million billion decillion hundreds thousands millionth hundredth ones twos sixes first second third fifth
twelfth zeroth twentieth sixties nineties minus negative plus positive pound pounds euro euros dollar dollars cent cents
per percent and and and double triple point point a half the of hello colour analyse travelled favourite won't can't
let's ain't y'all wanna gotta gonna i'ma imma woulda ma'am Mr. Mrs St Dr Prof. Capt rep. jr esq he'd been she's gone
it's got they'd done don't we're Bob's I'd you'll 't I've I'm hmm uh um mm uh-huh""".split()
FIGURES = ["0", "1", "2", "7", "10", "20", "21", "100", "1000", "1,000", "12,345,678", "3.5", "3.0", "3.", ".5", "1.2.3",
           "007", "1960s", "21st", "2nd", "3 rd", "4 th", "1s", "$5", "$5.50", "$0.07", "$0.5", "£10", "€1,000", "¢7", "5¢",
           "50%", "%", "%%", "$", "$$", "1st", "٣", "٣.٥", "½", "2nd.", "a1b2", "10am", "$2 and ¢7", "£3 ¢50", "€3 and ¢5s",
           "1's", "99999999999999999999", "0.001", "1 2 3", "192.168.0.1"]
JOINTS = [" "] * 12 + ["  ", ", ", ". ", "-", " - ", "\n", "! ", "? ", " (", ") ", " [", "] ", " <", "> ", " '", "'", "é ", "", "\u00a0", "... "]


def generated_english(index):
    lcg = Lcg(index + 1_000_000)
    text = ""
    for _ in range(1 + lcg.pick(14)):
        some = FIGURES if lcg.pick(4) == 0 else ENGLISH
        text += some[lcg.pick(len(some))]
        text += JOINTS[lcg.pick(len(JOINTS))]
    return text.upper() if lcg.pick(8) == 0 else text
