#!/usr/bin/env python3
"""Fails when a module under src/ includes a module it may not see, or a module above the torch line includes torch, or
when two headers define a type of the same name in the same namespace: a program that links both gets either's functions.
A public header (src/public/tutti) includes public headers, plain data and base alone.

Also when a library does what belongs to its program: a message below cli that has a flag in it ("--batch-size": base/field_names.h
writes names as their reader knows them), a source below cli that reads /proc/self/exe (base/program_paths.h), or one above the torch
line, where any program may link it, that prints, handles signals or changes the environment. The variables that Tutti's libraries
read have their names in base/environment.h, and in metrics/recording_request.h what `tutti profile` shares with a run.

Usage: check_layers.py [ROOT]. The layers are those of the table in docs/layers.md; a module may include itself and whatever its row
names.
"""
import collections
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "layers.md"
ROW = re.compile(r"^\| ([a-z]+) \|.*\| ([^|]*) \|$")


def rows_of(page):
    """The table of the page, which cmake/layers.cmake reads, too: {module: what it may include} above the torch line and below."""
    above, light, heavy = [], {}, {}
    part = light
    for line in page.splitlines():
        if line.startswith("| **torch line** |"):
            part = heavy
        found = ROW.match(line)
        if not found or found[1] == "module":
            continue
        names, text = [], found[2].strip()
        if text.startswith("all of the above"):
            left_out = text.removeprefix("all of the above").removeprefix(" but ").replace(",", "").split()
            names = [name for name in above if name not in left_out]
        elif text != "–":
            left_out, names = [], text.split()
        else:
            left_out = []
        for name in [*left_out, *names]:
            if name not in above:
                sys.exit(f"docs/layers.md: the row of '{found[1]}' names '{name}', which is no module above it")
        part[found[1]] = set(names)
        above.append(found[1])
    return light, heavy


LIGHT, HEAVY = rows_of(PAGE.read_text())  # above the torch line: no tensor, no CUDA context; below: torch, ATen, c10, CUDA
# The public headers, src/public/tutti, and the module that has what each declares: a module that may include
# that one may include the header.
PUBLIC = {"audio": "public", "feed": "feed", "recording": "audio", "profile": "public", "whisper_model": "public"}
# What they may include beside each other and base: the data that a caller fills in or gets. These include base and each other alone.
PLAIN = {
    "audio/audio_choice.h", "audio/augment/augmentation.h", "audio/augment/effects.h", "audio/vad/vad_options.h", "diarize/diarize_options.h",
    "feed/batch.h", "feed/buffers.h", "feed/options.h", "feed/timed_text.h", "flow/queue_limits.h", "flow/report.h", "flow/stage_clock.h",
    "link/decoding_options.h",
    "metrics/histogram.h", "metrics/phase_times.h", "metrics/work_span.h",
    "transcribe/speech_options.h", "transcribe/spoken_language.h", "transcript/long_form_options.h", "transcript/transcript.h",
}
ALLOWED = {**LIGHT, **HEAVY}
TORCH = re.compile(r'^\s*#\s*include\s+[<"](torch|ATen|c10|caffe2|cuda)', re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/', re.MULTILINE)
HEADER = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


SPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:class|struct|enum class) (\w+)(?: final)?\s*(?::(?!:)[^{;]*)?\{", re.MULTILINE)


def types_defined_twice(src):
    headers = collections.defaultdict(list)
    for path in sorted(src.rglob("*.h")):
        text = path.read_text()
        space = (SPACE.findall(text) or [""])[0]
        for name in TYPE.findall(text):
            headers[f"{space}::{name}"].append(str(path))
    return [f"{name} is defined in {' and '.join(paths)}" for name, paths in sorted(headers.items()) if len(paths) > 1]


def violations(src):
    for path in sorted(path for path in src.rglob("*") if path.suffix in {".h", ".cpp", ".cu", ".cuh"}):
        module = path.relative_to(src).parts[0]
        if module not in ALLOWED:
            yield f"{path}: module '{module}' has no row (docs/layers.md)"
            continue
        text = path.read_text()
        if module in LIGHT and TORCH.search(text):
            yield f"{path}: '{module}' is above the torch line and includes torch"
        for seen in INCLUDE.findall(re.sub(r'"public/tutti/\w+\.h"', "", text)):
            if seen != module and seen not in ALLOWED[module]:
                yield f"{path}: '{module}' may not include '{seen}'"
        for header in re.findall(r'"public/tutti/(\w+)\.h"', text):
            if module not in ("public", PUBLIC.get(header)) and PUBLIC.get(header) not in ALLOWED[module]:
                yield f"{path}: '{module}' may not include 'public/tutti/{header}.h', which '{PUBLIC.get(header)}' implements"


def public_violations(src):
    """What a public header, or plain data, includes that is neither."""
    headers = {f"public/tutti/{name}.h" for name in PUBLIC}
    found = {path.relative_to(src).as_posix() for path in (src / "public" / "tutti").glob("*")}
    yield from (f"{src / name}: is no public header that tools/check_layers.py knows" for name in sorted(found - headers))
    for name in sorted(found | {name for name in PLAIN if (src / name).exists()}):
        for header in HEADER.findall((src / name).read_text()):
            if not header.startswith("base/") and header not in PLAIN and not (name in headers and header in headers):
                kind = "public header" if name in headers else "header of plain data"
                yield f"{src / name}: a {kind} includes '{header}', which is neither a public header, nor plain data, nor base"


# Comments, and string literals: those that follow each other are one.
TOKEN = re.compile(r'//[^\n]*|/\*(?:.|\n)*?\*/|(?:"(?:\\.|[^"\\\n])*"\s*)+')
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z_-]*[a-z](?![\w-])")
# The command line of a program that the reader is to run, between quotes, or the end of one; a variable of CSS.
COMMAND_LINE = re.compile(r"'tutti [^']*|`tutti [^`]*|nsys export [^']*|^\" --[^']*'|var\(--\w+\)")
ARGUMENTS = re.compile(r'^"(?:--fd|--names|--model|--device|--compute-type|--threads)"$')  # of the engine's commands
# Files whose flags are words of a command line and in no message of a library: the arguments of the engine's commands, those of
# programs that are started, the help of flags, and values that stored files have.
COMMAND_LINES = {
    "src/model/convert/command.cpp", "src/train/command.cpp", "src/worker/command.cpp", "src/worker/fault_injection.cpp",
    "src/worker/limits.cpp", "src/link/speech_command.cpp", "src/device/telemetry/smi_source.cpp", "src/traces/traced_device.cpp",
    "src/transcribe/run.cpp", "src/transcribe/batch/batch_tuning.cpp", "src/serve/server.cpp",
    "src/prepare/preparation_recording.cpp",
    "src/link/query_engine.cpp", "src/link/training_processes.cpp", "src/planning/quote.cpp", "src/doctor/gpu_checks.cpp",
    "src/transcribe/live/live_source.cpp", "src/transcribe/features/features_run.cpp", "src/profile/command/command_proof.cpp",
    "src/profile/command/training_command.cpp",
}
# What reads flags and writes their help; the flags of other trainers, and what each becomes.
OF_FLAGS = ("src/settings/", "src/recipe/trainers/")
HELP = re.compile(r"src/recipe/\w+_(fields|recipe|text)\.h$")


# base/process has what a program's main calls; the log's first sink prints.
PROCESS = re.compile(r"std::(?:cout|cerr|clog|puts|printf)\b|std::f(?:printf|puts|putc)\(std(?:out|err)|std::fprintf\((?:stdout|stderr)|\bsigaction\(|std::signal\(|sigprocmask\(|::(?:set|unset|put)env\(")
VARIABLE = re.compile(r'(?:variable|getenv|xdg_folder)\(\s*"(TUTTI_\w+)"|= "(TUTTI_\w+)"')
VARIABLES = {"src/base/environment.h", "src/metrics/recording_request.cpp"}


def own_of_programs(root):
    """What a library leaves to its program, in the modules below cli."""
    for path in sorted(path for path in (root / "src").rglob("*") if path.suffix in {".h", ".cpp"}):
        name = path.relative_to(root).as_posix()
        if name.startswith("src/cli/"):
            continue
        text = path.read_text()
        module = name.split("/")[1]
        for found in PROCESS.findall(text) if module in LIGHT and not name.startswith("src/base/process/") else []:
            yield f"{path}: '{found}' is its program's to do"
        for found in VARIABLE.findall(text) if name not in VARIABLES else []:
            yield f"{path}: the name of '{''.join(found)}' belongs into base/environment.h"
        for found in TOKEN.findall(text):
            if found.startswith("/"):
                continue
            message = re.sub(r'"\s*"', "", found)
            if "/proc/self/exe" in message:
                yield f"{path}: reads /proc/self/exe, which in another program is no tutti (base/program_paths.h)"
            if name in COMMAND_LINES or name.startswith(OF_FLAGS) or HELP.search(name):
                continue
            for flag in [] if ARGUMENTS.search(message.strip()) else FLAG.findall(COMMAND_LINE.sub("", message)):
                yield f"{path}: '{flag}' is in a message of a library (base/field_names.h)"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = [*violations(root / "src"), *public_violations(root / "src"), *own_of_programs(root), *types_defined_twice(root / "src")]
    print("\n".join(found) or "layers hold")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
