"""Stages in which something is short or dies, or several programs share the card: nothing may be lost."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import load
from check_stages import compare_card
from machine import descendants, failed, figure, note, parsed
from run_stages import GREEDY, batch_words, check_outputs, rate_of, texts_of, transcribe

BYTES_OF_A_WINDOW = 12 << 20  # tiny.en in float16: cross and self keys and values of one slot


def two_workers(machine, given):
    """Two programs on one card at once: both must end well, with the words of one alone."""
    machine.need_device()
    model = machine.model if machine.model and not machine.dry else load.ROOT / "models/nano"
    language = ["--language", "en"] if model == machine.model else []
    files = [path for path, _ in machine.clips(1 if machine.dry else None)]
    words = [machine.program("tutti"), "transcribe", "--model", model, "-f", "json", "--quiet", "--device", machine.device, "--beam-size", "None",
             "--deterministic", *language]
    alone = machine.fresh("alone")
    if not machine.run([*words, "-o", alone, *files]).expect():
        return
    wanted, folders = texts_of(alone), [machine.fresh("first"), machine.fresh("second")]
    both = [machine.start([*words, "-o", folder, *files]) for folder in folders]
    for process, folder in zip(both, folders):
        if process.wait() != 0:
            failed(f"one of two ended with exit code {process.returncode}")
        other = sum(texts_of(folder).get(name) != text for name, text in wanted.items())
        figure(f"{folder.name}, other words", other, f"of {len(wanted)} clips")
        if other:
            failed(f"{other} of {len(wanted)} clips differ from those of one program alone (--deterministic)")


def kill(machine, given):
    """kill -9 of the worker while a batch runs: nothing may be lost, and the words are those of an undisturbed run."""
    machine.need_device()
    source = machine.copies("killed-in", 4 if machine.dry else 300, 1 if machine.dry else None)
    words, calm = batch_words(machine, source, "undisturbed", ["--deterministic"])
    if not machine.run(words).expect():
        return
    wanted = check_outputs("undisturbed", source, calm)
    words, out = batch_words(machine, source, "killed", ["--deterministic"])
    process, killed, least = machine.start(words), 0, 1
    while process.poll() is None:
        time.sleep(0.01)
        if killed < (1 if machine.dry else 3) and len(list((out / "out").glob("*.json"))) >= least:
            for worker in descendants(process.pid, "tutti-engine"):
                os.kill(worker, signal.SIGKILL)
                killed += 1
                least += len(wanted) // 4
    figure("workers killed", killed)
    if process.returncode != 0:
        failed(f"the batch ended with exit code {process.returncode}")
    if killed == 0:
        failed("no worker was killed: the batch was over before")
    found = check_outputs("killed", source, out, wanted)
    other = sum(found.get(name) != text for name, text in wanted.items())
    if other:
        failed(f"{other} texts differ from those of the undisturbed run (--deterministic)")


def memory(machine, given):
    """Another process holds the card's memory, and slots are asked for that do not fit: the worker must back off, with all its words."""
    machine.need_device()
    machine.need_gpu()
    model = machine.need_model()
    files = sorted(machine.copies("ladder", 160).iterdir())
    calm = transcribe(machine, "ladder-calm", files, machine.device, "float16", [*GREEDY, "--batch-size", "32"], model)
    if calm is None:
        return
    for left in (6 << 30, 2 << 30, 1 << 30):
        holder = subprocess.Popen([sys.executable, str(pathlib.Path(__file__).with_name("main.py")), "--hold", str(left)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        try:
            held = holder.stdout.readline().strip()
            note(held)
            if not held.startswith("held"):
                failed(f"the memory could not be held: {held}")
                continue
            name = f"{left >> 30} GiB left"
            found = transcribe(machine, "ladder-" + str(left >> 30), files, machine.device, "float16", [*GREEDY, "--batch-size", "1024"], model)
            if found is None:
                continue
            texts, summary = found
            back_offs = [line for line in summary["log"].splitlines() if "sequences at a time instead of" in line and not line.startswith("{")]
            other = sum(texts.get(one) != text for one, text in calm[0].items())
            figure(f"{name}, back-offs", len(back_offs))
            figure(f"{name}, other words", other, f"of {len(files)}")
            figure(f"{name}, x real time", rate_of(summary), "x")
            if len(texts) != len(files):
                failed(f"{name}: {len(files) - len(texts)} recordings have no transcript")
            if left < 1024 * BYTES_OF_A_WINDOW // 3 and not back_offs:
                note(f"{name}: no line about a back-off: see the log for what the plan allowed")
        finally:
            holder.kill()
            holder.wait()


def nvml(machine, given):
    """doctor's figures beside nvidia-smi's while a batch keeps the card busy."""
    machine.need_device()
    machine.need_gpu()
    source = machine.copies("busy", 1500)
    words, _ = batch_words(machine, source, "busy-out")
    process, differences, busiest, looks = machine.start(words), {}, 0, 0
    try:
        while process.poll() is None and looks < 20:
            looks += 1
            cards = machine.query_cards()
            doctor = machine.run([machine.program("tutti"), "doctor", "--json"])
            found = compare_card(parsed("\n".join(doctor.lines)) or {}, cards, loaded=True)
            differences = {key: max(found.get(key, 0), differences.get(key, 0)) for key in {*found, *differences}}
            busiest = max([busiest, *(float(card["utilization.gpu"]) for card in cards if card["utilization.gpu"].isdigit())])
            time.sleep(0.5)
    finally:
        process.terminate()
        process.wait()
    figure("busiest, nvidia-smi", busiest, "%")
    for key, value in sorted(differences.items()):
        figure(f"largest difference, {key}", value)
    figure("looks", looks)
    if busiest == 0:
        failed(f"the card was never seen busy in {looks} looks: see the log for how the batch ended")
