#!/usr/bin/env python3
"""Runs the commands in the `console` blocks of the tree's pages and compares what they print with what the blocks show.

Usage: check_console.py ROOT BIN [PAGE...]. BIN holds tutti and tutti-engine; without pages every Markdown file of the tree is read.

A block begins with ```console. In it "$ COMMAND" is run, and the lines below, up to the next command, are what it prints to standard
output and standard error. In these lines
  * "…" alone stands for any lines, also none, and within a line for any text, also none;
  * "~3.1" stands for any number: times, speeds and sizes that differ between runs and machines;
  * any number of spaces stands for any other, because columns are as wide as their numbers.
A command with "…" in it is shown and not run. Where one fails, "$ echo $?" comes next and shows its exit code.

"```console needs=model" is skipped, by name, where that is missing: model and clips are of the test data (shared/data/README.md),
tiny.en is what tools/fetch_model.py fetched; what
this script does not know, such as needs=amx, is nowhere, and its block is never run. A block with "$ " in any other fence is refused.

The blocks of a page run one after the other in one shell, in a new folder that holds samples/, recipes/, models/ and tests/data/ as in
the tree, talks/ (the digits of samples/ and broken.wav) and, with the test data, clips/ and lecture.flac.
"""
import dataclasses
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from shared_data import shared_data

SECONDS_A_PAGE = 240
NUMBER = r"[+-]?\d[\d.,:]*"
PARTS = re.compile(r"(…|~\d[\d.,:]*|\s+)")
FENCE = re.compile(r"^```(.*)$")


@dataclasses.dataclass
class Command:
    line: int
    text: str
    expected: list


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    line: int
    needs: list
    commands: list


class Refused(Exception):
    pass


def commands_in(page, first, lines):
    found = []
    for at, line in enumerate(lines, first):
        goes_on = found and not found[-1].expected and found[-1].text.endswith("\\")
        if line.startswith("$ "):
            found.append(Command(at, line[2:], []))
        elif goes_on:
            found[-1].text += "\n" + line
        elif found:
            found[-1].expected.append(line)
        elif line.strip():
            raise Refused(f"{page}:{at}: a console block begins with a command, '$ …'")
    return found


def blocks_of(page, name):
    """The console blocks of a page, in their order."""
    found, start, info = [], None, ""
    lines = page.read_text().splitlines()
    for at, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if not fence:
            continue
        if start is None:
            start, info = at, fence[1].strip()
            continue
        inside = lines[start:at - 1]
        if info.split(" ")[0] == "console":
            needs = [word for option in info.split(" ")[1:] if option.startswith("needs=") for word in option[6:].split(",")]
            found.append(Block(name, start, needs, commands_in(name, start + 1, inside)))
        elif any(each.startswith("$ ") for each in inside):
            raise Refused(f"{name}:{start}: commands with what they print are a ```console block (tools/check_console.py)")
        start = None
    return found


def pattern_of(line):
    """One line as a regular expression."""
    def part(text):
        if text == "…":
            return ".*"
        if re.fullmatch(r"~\d[\d.,:]*", text):
            return NUMBER
        return r"[ \t]+" if text.isspace() else re.escape(text)
    return r"[ \t]*" + "".join(part(each) for each in PARTS.split(line.strip()) if each) + r"[ \t]*\n"


def matches(expected, printed):
    expected = list(expected)
    while expected and not expected[-1].strip():
        expected.pop()
    pattern = "".join("(?:.*\n)*?" if line.strip() == "…" else pattern_of(line) for line in expected)
    if printed and not printed.endswith("\n"):
        printed += "\n"
    return re.fullmatch(pattern, printed) is not None


class Workplace:
    """A folder as the examples suppose it, and the environment of their commands."""

    def __init__(self, root, programs, folder):
        self.folder = folder
        digits = shared_data() / "whisper-tiny.en"
        for name in ("samples", "recipes", "models", "tests/data"):
            if (root / name).is_dir():
                shutil.copytree(root / name, folder / name)
        talks = folder / "talks"
        talks.mkdir()
        for sample in sorted((root / "samples").glob("*.*")):
            if not sample.name.startswith(("morse", "jfk", "LJ003")) and sample.suffix != ".md":
                shutil.copy(sample, talks)
        (talks / "broken.wav").write_text("this was a recording once\n")
        self.here = set()
        if (digits / "clips").is_dir():
            (folder / "clips").symlink_to(digits / "clips")
            (folder / "lecture.flac").symlink_to(digits / "clips/long-eight-minutes.flac")
            self.here.add("clips")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("TUTTI_", "XDG_", "HF_"))}
        self.environment |= {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder / ".home"), "TMPDIR": str(folder / ".tmp"),
                             "XDG_RUNTIME_DIR": str(folder / ".run"), "HF_HUB_OFFLINE": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC",
                             "COLUMNS": "140", "CUDA_VISIBLE_DEVICES": ""}
        for name in (".home", ".tmp", ".run"):
            (folder / name).mkdir(mode=0o700)
        fetch = pathlib.Path(__file__).parent / "fetch_model.py"
        fetched = subprocess.run([fetch, "--print"], capture_output=True, text=True).stdout.strip()
        if pathlib.Path(fetched, "model.bin").is_file():
            (folder / ".home/.cache/tutti").mkdir(parents=True)
            (folder / ".home/.cache/tutti/fetched").symlink_to(pathlib.Path(fetched).parent)
            self.here.add("tiny.en")
        if (digits / "model.safetensors").is_file() or (digits / "config.json").is_file():
            self.environment["TUTTI_MODEL"] = str(digits)
            self.here.add("model")

    def missing(self, block):
        return [need for need in block.needs if need not in self.here]

    def run(self, commands):
        """What each command prints, and its exit status; none where it was not reached."""
        script = "exec 2>&1 </dev/null\nls() { command ls -C \"$@\"; }\ns=0\n"
        for number, command in enumerate(commands):
            script += f"printf '\\001%s\\n' {number}\n(exit $s)\n{command.text}\ns=$?\nprintf '\\002%s\\n' $s\n"
        try:
            done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                  timeout=SECONDS_A_PAGE, check=False).stdout
        except subprocess.TimeoutExpired as late:
            done = late.stdout or b""
        ends = {}
        for part in done.decode(errors="replace").split("\001")[1:]:
            number, _, rest = part.partition("\n")
            printed, mark, status = rest.partition("\002")
            if mark:
                ends[int(number)] = (printed, int(status.split("\n")[0]))
        return ends


def complaint(command, page, expected, printed):
    diff = difflib.unified_diff([line.rstrip() for line in expected], printed.splitlines(), "shown", "printed", lineterm="", n=1)
    return f"{page}:{command.line}: $ {command.text}\n" + "\n".join("    " + line for line in diff)


def failures_of(commands, ends, page):
    for number, command in enumerate(commands):
        if number not in ends:
            yield f"{page}:{command.line}: $ {command.text}\n    did not end"
            return
        printed, status = ends[number]
        if not matches(command.expected, printed):
            yield complaint(command, page, command.expected, printed)
        is_expected = number + 1 < len(commands) and commands[number + 1].text.strip() == "echo $?"
        if status != 0 and not is_expected:
            yield f"{page}:{command.line}: $ {command.text}\n    exit code {status}, and no '$ echo $?' follows"


def check_page(page, name, root, programs):
    """Failures, blocks that were run, and lines about those that were not."""
    blocks = blocks_of(page, name)
    if not blocks:
        return [], 0, []
    with tempfile.TemporaryDirectory(prefix="tutti-console-") as folder:
        place = Workplace(root, programs, pathlib.Path(folder).resolve())
        skipped = [f"skipped: {name}:{block.line}: needs {', '.join(place.missing(block))}" for block in blocks if place.missing(block)]
        run = [block for block in blocks if not place.missing(block)]
        commands = [command for block in run for command in block.commands if "…" not in command.text]
        return list(failures_of(commands, place.run(commands), name)), len(run), skipped


def pages_of(root):
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "*.md"], capture_output=True, text=True, check=False).stdout.split()
    return [root / name for name in listed] or sorted(root.glob("*.md")) + sorted(root.glob("docs/*.md"))


def main():
    if len(sys.argv) < 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    root, programs = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    pages = [pathlib.Path(page).resolve() for page in sys.argv[3:]] or pages_of(root)
    wrong, checked = 0, 0
    for page in pages:
        name = page.relative_to(root) if page.is_relative_to(root) else page
        try:
            failures, run, skipped = check_page(page, name, root, programs)
        except Refused as refused:
            failures, run, skipped = [str(refused)], 0, []
        checked += run
        wrong += len(failures)
        for line in skipped + failures:
            print(line)
    print(f"{checked} blocks run, {wrong} commands print something else")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
