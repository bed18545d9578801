#!/usr/bin/env python3
"""Checks the code that nvcc generates of the kernels (*.cu): how wide their loads are, registers, stack and spills.

Usage: check_kernels.py BUILD [--machine-code]

Compiles each .cu file of BUILD/compile_commands.json once more for its first architecture, and reads the PTX and what ptxas reports.
With --machine-code it reads the disassembly of BUILD/bin/libtutti-cuda.so instead: only there can be seen how many loads are on their
way before the first is used. Of each kernel (AttendBody, NormBody, ...) the following must hold:

  * no load from global memory is narrower than four bytes;
  * no stack frame, no spills, at most 85 registers a thread (three blocks of 256 on a multiprocessor), or 128 (two) where rows share
    a window: five rows' sums are 40 of them, and four warps a scheduler issue for 2,600 cycles a round, longer than its loads take;
  * attention and whatever reads rows loads sixteen bytes at once: keys, values and rows. Eight bytes are enough of int8 windows that
    rows share, whose threads have eight numbers each;
  * in attention, all keys and values of a round are loaded before the first sum over threads waits for one; where rows share a window,
    all keys.

Needs nvcc, or for the machine code cuobjdump and nvdisasm: in $CUDA_HOME/bin (default /usr/local/cuda) or on the PATH. Without them the
check is skipped, by name.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

MOST_REGISTERS = {"AttendSharedBody": 128}
MOST_OF_OTHERS = 85
SKIPPED = 77  # tests/CMakeLists.txt knows it
# Loads of sixteen bytes that the source of a kernel asks for at the least. Attention: a round of four keys and four values (of one
# byte: two and two), twice, because the last round is code of its own. Where rows share a window: three and three.
WIDE_LOADS = {"AttendBody": 16, "AttendSharedBody": 12, "AppendBody": 2, "EmbedBody": 2, "NormBody": 4, "FinishBody": 2, "PackSumBody": 1, "PackBody": 1,
              "MergeBody": 0, "AlignBody": 0, "SelectBody": 0}
OF_ONE_BYTE = {"AttendBody": 8}
# The part of these that comes before the first sum over threads.
AHEAD = {"AttendBody": 1 / 2, "AttendSharedBody": 1 / 4}
# From global memory or, where the compiler lost track of it, from anywhere.
PTX_LOAD = re.compile(r"\bld(?!\.(?:shared|param|local|const))(?:\.\w+)*?(?:\.v(\d))?\.[bfsu](\d+)\s")
MACHINE_LOAD = re.compile(r"\b(LDG?)\.E(?:\.([\w.]+))? ")


class Missing(Exception):
    pass


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"check_kernels: {shlex.join(str(word) for word in command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def tool(name):
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    found = shutil.which(name, path=os.pathsep.join([f"{home}/bin", os.environ.get("PATH", "")]))
    if not found:
        raise Missing(f"another program: needs {name}, of the CUDA toolkit")
    return found


class Kernel:
    def __init__(self, mangled):
        name = subprocess.run(["c++filt", mangled], capture_output=True, text=True).stdout
        found = re.search(r"(\w+Body)(?:<(.*?)>)?, tutti::\w+Job", name)
        self.body = found[1] if found else mangled
        self.types = (found[2] or "").replace("tutti::", "") if found else ""
        self.loads = []  # bits of each
        self.stack = self.spilled = self.registers = 0
        self.ahead = None  # wide loads in a loop before its first shuffle
        self.wide = 64 if self.body == "AttendSharedBody" and "signed char" in self.types else 128  # bits of a wide load

    def problems(self):
        one_byte = "signed char" in self.types
        wanted = OF_ONE_BYTE.get(self.body, WIDE_LOADS.get(self.body)) if one_byte else WIDE_LOADS.get(self.body)
        narrow = [bits for bits in self.loads if bits < 32]
        if wanted is None:
            yield "no row in WIDE_LOADS: say there how many loads of sixteen bytes it has"
        elif self.loads.count(self.wide) < wanted:
            yield f"expected {wanted} loads of {self.wide // 8} bytes or more, found {self.loads.count(self.wide)}"
        if narrow:
            yield f"{len(narrow)} loads of {'/'.join(str(bits // 8) for bits in sorted(set(narrow)))} byte(s): read a Piece"
        if self.stack or self.spilled:
            yield f"{self.stack} bytes of stack, {self.spilled} spills: an array that is indexed at run time, or too many registers"
        most = MOST_REGISTERS.get(self.body, MOST_OF_OTHERS)
        if self.registers > most:
            yield f"{self.registers} registers a thread, at most {most} are allowed"
        if self.ahead is not None and self.body in AHEAD and self.ahead < wanted * AHEAD[self.body]:
            yield (f"{self.ahead} loads of {self.wide // 8} bytes before the first sum over threads, "
                   f"expected {wanted * AHEAD[self.body]:.0f}")


def compiled(command, folder):
    """{name: kernel} of a compilation, from its PTX and ptxas's report."""
    words = shlex.split(command["command"])
    source = pathlib.Path(command["file"])
    flags = [word for i, word in enumerate(words[1:], 1) if word.startswith(("-I", "-D", "-O", "-std"))]
    architecture = re.search(r"sm_(\d+\w?)|-arch=(native)", command["command"])
    architecture = "native" if not architecture or architecture[2] else f"sm_{architecture[1]}"
    report = run(words[0], *flags, f"-arch={architecture}", "-cubin", "-Xptxas", "-v", "--keep", "--keep-dir", folder,
                 "-o", folder / "kernels.cubin", source)
    kernels = {}
    for part in (folder / f"{source.stem}.ptx").read_text().split(".entry ")[1:]:
        mangled = re.match(r"\w+", part)[0]
        kernel = kernels[mangled] = Kernel(mangled)
        kernel.loads = [int(bits) * int(count or 1) for count, bits in PTX_LOAD.findall(part)]
    for mangled, text in re.findall(r"Compiling entry function '(\w+)'(.*?Used \d+ registers)", report, re.DOTALL):
        stack, stores, loads = map(int, re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+)", text).groups())
        kernel = kernels[mangled]
        kernel.stack, kernel.spilled = stack, stores + loads
        kernel.registers = int(re.search(r"Used (\d+) registers", text)[1])
    return kernels


def bits_of(modifiers):
    words = (modifiers or "").split(".")
    width = next((int(re.sub(r"\D", "", word)) for word in words if re.fullmatch(r"[US]?(8|16|64|128)", word)), 32)
    return width


def in_first_loop(lines, bits):
    """Loads of so many bits between the top of the first loop that shuffles and its first shuffle."""
    address = {int(found[1], 16): i for i, line in enumerate(lines) if (found := re.match(r"\s*/\*([0-9a-f]+)\*/", line))}
    for end, line in enumerate(lines):
        back = re.search(r"\bBRA (?:`\(.*?\)|0x([0-9a-f]+))", line)
        top = address.get(int(back[1], 16)) if back and back[1] else None
        if top is not None and top < end:
            loop = lines[top:end]
            shuffle = next((i for i, each in enumerate(loop) if "SHFL" in each), None)
            if shuffle is not None:
                return sum(bits_of(found[2]) == bits for each in loop[:shuffle] if (found := MACHINE_LOAD.search(each)))
    return 0


def disassembled(library):
    """{name: kernel} of a library, from its machine code."""
    cuobjdump, _ = tool("cuobjdump"), tool("nvdisasm")
    os.environ["PATH"] += os.pathsep + str(pathlib.Path(cuobjdump).parent)
    kernels = {}
    for mangled, registers, stack in re.findall(r"Function (\w+):\s+REG:(\d+) STACK:(\d+)", run(cuobjdump, "-res-usage", library)):
        kernel = kernels[mangled] = Kernel(mangled)
        kernel.registers, kernel.stack = int(registers), int(stack)
    for part in run(cuobjdump, "-sass", library).split("Function : ")[1:]:
        kernel = kernels[part.split()[0]]
        lines = part.splitlines()
        kernel.loads = [bits_of(modifiers) for _, modifiers in MACHINE_LOAD.findall(part)]
        kernel.spilled = len(re.findall(r"\b(?:LDL|STL)\b", part))
        kernel.ahead = in_first_loop(lines, kernel.wide)
    return kernels


def kernels_of(build, machine_code):
    commands = [each for each in json.loads((build / "compile_commands.json").read_text()) if each["file"].endswith(".cu")]
    if not commands:
        raise Missing("another program: needs nvcc and a CUDA toolkit to build the kernels")
    if machine_code:
        return disassembled(build / "bin/libtutti-cuda.so")
    found = {}
    for command in commands:
        with tempfile.TemporaryDirectory(prefix="tutti-kernels-") as folder:
            found |= compiled(command, pathlib.Path(folder))
    return found


def main():
    if len(sys.argv) < 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        kernels = kernels_of(pathlib.Path(sys.argv[1]), "--machine-code" in sys.argv[2:])
    except Missing as missing:
        print(f"Skipped\n{missing}")
        return SKIPPED
    wrong = 0
    for kernel in kernels.values():
        for problem in kernel.problems():
            wrong += 1
            print(f"{kernel.body}<{kernel.types}>: {problem}")
    print(f"{len(kernels)} kernels checked, {wrong} problems")
    return 1 if wrong or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
