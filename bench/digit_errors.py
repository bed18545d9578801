#!/usr/bin/env python3
"""Word error rate of every compute type on 500 strings of the spoken digits that recipes/nano.py holds out.

Usage: bench/digit_errors.py [--tutti build/bin/tutti] [--digits ../shared/data/digits] [--model ../shared/data/whisper-tiny.en] [TYPE...]

Prints a line per type: its name and what 'tutti wer --by-line --normalizer basic' says.
"""
import argparse
import importlib.util
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def nano():
    spec = importlib.util.spec_from_file_location("nano", HERE.parent / "recipes" / "nano.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutti", default="build/bin/tutti")
    parser.add_argument("--digits", type=pathlib.Path, default="../shared/data/digits")
    parser.add_argument("--model", default="../shared/data/whisper-tiny.en")
    parser.add_argument("types", nargs="*", default=["float32", "bfloat16", "int8"])
    asked = parser.parse_args()
    recipe = nano()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        voices = recipe.recordings(asked.digits, recipe.is_held_out)
        strings = list(recipe.write_strings(work, "held-out", recipe.HELD_OUT, voices, recipe.SEED + 1, True))
        (work / "said.txt").write_text("".join(line["text"] + "\n" for line in strings))
        for name in asked.types:
            out = work / name
            subprocess.run([asked.tutti, "transcribe", "--model", asked.model, "--compute-type", name, "--language", "en",
                            "--temperature", "0", "-f", "txt", "-o", out, *(work / line["audio"] for line in strings)],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            heard = [(out / pathlib.Path(line["audio"]).with_suffix(".txt").name).read_text() for line in strings]
            (work / "heard.txt").write_text("".join(" ".join(text.split()) + "\n" for text in heard))
            found = subprocess.run([asked.tutti, "wer", "--by-line", "--normalizer", "basic", "--json", "--ref",
                                    work / "said.txt", "--hyp", work / "heard.txt"], check=True, capture_output=True)
            print(name, found.stdout.decode().strip(), flush=True)


if __name__ == "__main__":
    main()
