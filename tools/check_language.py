#!/usr/bin/env python3
"""Fails when a module uses more words outside the field's language (docs/glossary.md) than its allowance.

Usage: check_language.py [ROOT] [--list MODULE] [--lower]

Counts, for each module (src/NAME, tests/NAME, apps, bench, tools, docs):
  dialect   words that have a standard term, in identifiers, comments, string literals, test names and docs
  further   words that have another meaning in the field, such as "room" or "place", in identifiers and comments
  names     test names over 60 characters
  small     source files under 25 lines of src and apps
  sentences sentences over 35 words, and lines over 140 columns outside tables and code blocks, in docs and README.md
tools/language_allowance.json holds the count that each module may have. --lower writes the counts that fell into it; a count
never rises. --list prints each finding of a module with its file and line.
"""
import argparse
import collections
import json
import pathlib
import re
import sys

ALLOWANCE = "tools/language_allowance.json"
SMALL_FILE, TEST_NAME, SENTENCE, DOC_LINE = 25, 60, 35, 140
CODE = {".h", ".cpp", ".cu", ".cuh"}

# The left column of docs/glossary.md.
DIALECT = set("""
heard hears unheard told tells untold said unsaid says judge judges judged judging unjudged judgement verdict verdicts wish wishes wished
trouble troubles befall befalls befallen befell warmth brothers stranger strangers meant sought anew lacking amid therefore whoever
nobody somebody anybody keeper keepers tend tended untended absolve absolves absolved converse greeted fruitful patiently
""".split())
FURTHER = set("""
room rooms house floor desk desks book books ask asks asked pace place places life lives company brother letter letters lies stands
""".split())
# Plain English in a comment, but no name for an action of a program.
NO_NAMES = set("tell tells telling asking sound".split())
# A sound of a language is a phoneme in these; elsewhere the standard term is audio.
PHONEMES = ("src/text/", "tests/text/")
PHRASES = ("let go", "lets go", "give back", "gives back", "hand back", "hands back", "take up", "takes up", "take away", "takes away")

# Files that quote the words, or whose words are data.
EXEMPT_FILES = {"docs/glossary.md", "tools/check_language.py", "tools/renames.tsv"}
EXEMPT_FOLDERS = ("tests/data/", "tools/golden/", "src/train/peers/gloo_names/")
# Names that users, files and other programs know: keys of JSON, columns of SQLite, exit texts of other projects. They stay.
# Dead letters are what SQS calls them (docs/glossary.md). `tell` is libsndfile's own, `.letter` the field of a one-letter flag.
KEPT = re.compile(r"\.letter\b|sf_count_t tell|write, tell|CURLOPT_NOBODY\b|tell\(self\)|\b(cancel_wished|not_heard|untended|judge_seconds|text_to_say|in place|room acoustics|room impulse|room_share|room_seconds|echo of a room|dead[ _-]letters?\w*)\b|\"judge\"")

TOKEN = re.compile(r'R"(?P<tag>\w*)\((?:.|\n)*?\)(?P=tag)"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'')
NAME = re.compile(r"\b[A-Za-z_]\w*\b")
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*\w+,\s*(\w+)", re.MULTILINE)


def words_of_name(name):
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def words_of_prose(text):
    return re.findall(r"[a-z]+", KEPT.sub(" ", text).lower())


class Findings:
    """(kind, line, text) of one module, by file."""

    def __init__(self):
        self.rows = []

    def add(self, kind, path, line, text):
        self.rows.append((kind, str(path), line, text))

    def add_words(self, path, line, words, text, further=True):
        for word in words:
            if word in DIALECT:
                self.add("dialect", path, line, f"{word}: {text}")
            elif further and word in FURTHER:
                self.add("further", path, line, f"{word}: {text}")

    def add_phrases(self, path, line, text):
        lower = " ".join(text.lower().split())
        for phrase in PHRASES:
            for _ in range(lower.count(phrase)):
                self.add("dialect", path, line, f"{phrase}: {text.strip()[:80]}")

    def add_names(self, path, line, words, identifier):
        together = " ".join(words)
        no_names = NO_NAMES - {"sound"} if path.startswith(PHONEMES) else NO_NAMES
        for found in [w for w in words if w in no_names] + [p for p in PHRASES if f" {p} " in f" {together} "]:
            self.add("dialect", path, line, f"{found}: {identifier}")

    def counts(self):
        return dict(sorted(collections.Counter(row[0] for row in self.rows).items()))


def read_code(findings, path, name):
    text = path.read_text(errors="replace")
    for match in TOKEN.finditer(text):
        token, line = match.group(0), text.count("\n", 0, match.start()) + 1
        findings.add_words(name, line, words_of_prose(token), token.strip()[:80], further=token.startswith(("//", "/*")))
        findings.add_phrases(name, line, token)
    code = TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    for number, line in enumerate(code.splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        for identifier in NAME.findall(KEPT.sub(" ", line)):
            words = words_of_name(identifier)
            findings.add_words(name, number, words, identifier)
            findings.add_names(name, number, words, identifier)
    if name.startswith("tests/"):
        for match in TEST.finditer(text):
            if len(match.group(1)) > TEST_NAME:
                findings.add("names", name, text.count("\n", 0, match.start()) + 1, match.group(1))
    elif name.startswith(("src/", "apps/")) and sum(1 for line in text.splitlines() if line.strip()) < SMALL_FILE:
        findings.add("small", name, 1, "under 25 lines")


def read_page(findings, path, name):
    text = path.read_text(errors="replace")
    plain = re.sub(r"```.*?```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)
    for number, line in enumerate(plain.splitlines(), 1):
        findings.add_words(name, number, words_of_prose(line), line.strip()[:80], further=False)
        findings.add_phrases(name, number, line)
        if len(line) > DOC_LINE and not line.startswith("|"):
            findings.add("sentences", name, number, f"line of {len(line)} columns")
    prose = " ".join(line for line in plain.splitlines() if not line.startswith(("|", "#")))
    for sentence in re.split(r"(?<=[.!?:])\s", prose):
        if len(sentence.split()) > SENTENCE:
            findings.add("sentences", name, 0, f"{len(sentence.split())} words: {' '.join(sentence.split()[:8])} ...")


def read_script(findings, path, name):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        findings.add_words(name, number, words_of_prose(line), line.strip()[:80], further=False)


def module_of(name):
    parts = name.split("/")
    if len(parts) == 1:
        return "docs"
    return "/".join(parts[:2]) if parts[0] in ("src", "tests") and len(parts) > 2 else parts[0]


def scan(root):
    modules = collections.defaultdict(Findings)
    paths = [root / "README.md"]
    for top in ("src", "apps", "tests", "bench", "tools", "docs"):
        paths += sorted((root / top).rglob("*"))
    for path in paths:
        name = path.relative_to(root).as_posix()
        if not path.is_file() or name in EXEMPT_FILES or name.startswith(EXEMPT_FOLDERS):
            continue
        findings = modules[module_of(name)]
        if path.suffix in CODE:
            read_code(findings, path, name)
        elif path.suffix == ".md":
            read_page(findings, path, name)
        elif path.suffix in (".py", ".sh"):
            read_script(findings, path, name)
    return modules


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=".", type=pathlib.Path)
    parser.add_argument("--list", metavar="MODULE", help="print each finding of this module, such as src/base")
    parser.add_argument("--lower", action="store_true", help=f"write the counts that fell into {ALLOWANCE}")
    options = parser.parse_args()
    modules = scan(options.root)
    if options.list:
        if options.list not in modules:
            parser.error(f"no module '{options.list}'; there are: {' '.join(sorted(modules))}")
        for kind, path, line, text in modules[options.list].rows:
            print(f"{path}:{line}: {kind}: {text}")
        return 0
    file = options.root / ALLOWANCE
    allowed = json.loads(file.read_text()) if file.exists() else None
    counts = {module: found.counts() for module, found in sorted(modules.items()) if found.counts()}
    if options.lower:
        if allowed is not None:
            counts = {m: {k: min(n, allowed.get(m, {}).get(k, 0)) for k, n in kinds.items()} for m, kinds in counts.items()}
        counts = {m: {k: n for k, n in kinds.items() if n} for m, kinds in counts.items()}
        rows = ",\n".join(f"  {json.dumps(m)}: {json.dumps(kinds)}" for m, kinds in counts.items() if kinds)
        file.write_text("{\n" + rows + "\n}\n")
        return 0
    above = [(m, k, n, (allowed or {}).get(m, {}).get(k, 0)) for m, kinds in counts.items() for k, n in kinds.items()
             if n > (allowed or {}).get(m, {}).get(k, 0)]
    for module, kind, count, limit in above:
        print(f"{module}: {count} findings of kind '{kind}', {limit} are allowed; see docs/glossary.md and "
              f"'tools/check_language.py --list {module}'")
    totals = collections.Counter()
    for kinds in counts.values():
        totals.update(kinds)
    print("in all: " + ", ".join(f"{kind} {n}" for kind, n in sorted(totals.items())))
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main())
