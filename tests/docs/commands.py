#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes the commands of pages, in one shell and in their order, and compares the output with the pages.

In a ```console block a line `$ COMMAND` is executed; `# exit N` behind it is its exit status, else 0. The lines below it are its
output. Measured numbers, process ids and the name of the host may differ. `...` on a line of its own leaves out lines, at the end
of a line the rest of it. A command that an earlier page has executed in the same words is not executed again.

usage: commands.py PAGE...; CT_BUILD is the build tree. Needs torch for the examples."""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ["CT_BUILD"]
PATIENCE_S = 180  # what a page says to wait is meant for a machine that does nothing else


def commands(page):
    """(line number, command, exit status, lines of output) of each command of a page."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as lines:
        inside = False
        found = []
        for n, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("```"):
                inside = line == "```console"
            elif inside and found and found[-1][1].endswith("\\"):
                found[-1] = (found[-1][0], found[-1][1] + "\n" + line, *found[-1][2:])
            elif inside and line.startswith("$ "):
                status = re.search(r"  # exit (\d+)$", line)
                found.append((n, line[2:status.start() if status else None], int(status[1]) if status else 0, []))
            elif inside:
                found[-1][3].append(line)
    return found


MEASURED = r"\d[\d,]*(?:\.\d+)?(?= ?(?:±|%|[nuµm]?s\b|[kKMGT]i?B|ops|rec))|(?<=± )\d[\d.]*|(?<=#)\d+|(?<=pid )\d+|(?<=stacks )\d+|\b[0-9a-f]{16}\b"


def comparable(line):
    """The line without what differs from run to run."""
    line = re.sub(r"\b%s\b" % re.escape(socket.gethostname()), "vm", line)
    line = re.sub(r"/[^\s:()]*/(?=[\w.]+:\d)", "", line)  # of a source file
    return re.sub(r"\s+", " ", re.sub(MEASURED, "0", line)).strip()


def differs(expected, said):
    """The first expected line that the output lacks at its position, or None."""
    said = [comparable(line) for line in said if line.strip()]
    at, may_skip = 0, False
    for line in expected:
        if not line.strip() or line.strip() == "...":
            may_skip |= bool(line.strip())
            continue
        rest = said[at:] if may_skip else said[at:at + 1]
        wanted = comparable(line.removesuffix("..."))
        found = next((i for i, text in enumerate(rest) if text == wanted or (line.endswith("...") and text.startswith(wanted))), None)
        if found is None:
            return line
        at, may_skip = at + found + 1, False
    return None


class Shell:
    """A bash with jobs, which outlives its commands."""

    def __init__(self, folder, path):
        self.out = os.path.join(folder, ".out")
        self.shell = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
                                      env={**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", "COMMTRACE_RING_DIR": os.path.join(folder, ".rings")})
        self.tell("set -m; mkdir .rings")

    def tell(self, line):
        self.shell.stdin.write(line + "\n")
        self.shell.stdin.flush()

    def run(self, command):
        self.tell("{ %s\n} >.out 2>&1 </dev/null; echo $?" % command)
        status = int(self.shell.stdout.readline())
        with open(self.out, encoding="utf-8") as said:
            return status, said.read().splitlines()

    def end(self):
        self.tell("for job in $(jobs -p); do kill -KILL -- -$job; done; exit")
        self.shell.wait()


def programs(folder):
    """What the pages take for installed, on a PATH of its own."""
    bin_ = os.path.join(folder, ".bin")
    os.makedirs(bin_)
    for name in os.listdir(os.path.join(BUILD, "bin")):
        if name.startswith("commtrace"):
            os.symlink(os.path.join(BUILD, "bin", name), os.path.join(bin_, name))
    os.symlink(sys.executable, os.path.join(bin_, "python3"))
    # the pages say that PyTorch 1.13 needs these options
    old = subprocess.run([sys.executable, "-c", "import torch; print(torch.__version__)"], check=True, stdout=subprocess.PIPE, text=True)
    options = "-r 1 -t 1" if old.stdout.startswith("1.") else ""
    with open(os.path.join(bin_, "torchrun"), "w", encoding="utf-8") as script:
        script.write('#!/bin/sh\nexec "%s" -m torch.distributed.run --master_port "$("%s" "%s")" %s "$@"\n' % (
            sys.executable, sys.executable, os.path.join(ROOT, "tools", "free_port.py"), options))
    os.chmod(script.name, 0o755)
    return bin_


def execute(shell, command, status, expected, patience_s):
    """Executes the command, again until it does what the page says or patience_s have passed: (status, output)."""
    until = time.monotonic() + patience_s
    while True:
        got, said = shell.run(command)
        if (got == status and differs(expected, said) is None) or time.monotonic() >= until:
            return got, said
        time.sleep(2)


def main():
    folder = tempfile.mkdtemp()
    os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
    os.symlink(os.path.join(ROOT, "examples", "torch_ddp", "train.py"), os.path.join(folder, "train.py"))
    for name in [name for name in os.environ if name.startswith("COMMTRACE")]:
        del os.environ[name]
    shell = Shell(folder, programs(folder) + ":" + os.environ["PATH"])
    executed = {}  # by command, what earlier pages got, in order
    done = 0
    try:
        for page in sys.argv[1:]:
            waited = False
            here = []
            for n, command, status, expected in commands(page):
                if executed.get(command):
                    got, said = executed[command].pop(0)
                else:
                    got, said = execute(shell, command, status, expected, PATIENCE_S if waited else 0)
                    here.append((command, (got, said)))
                missing = differs(expected, said)
                where = "%s:%d: %s" % (page, n, command)
                if got != status or missing is not None:
                    print("\n".join(said))
                    sys.exit("%s: exit %d, not %d" % (where, got, status) if got != status else
                             "%s: its output does not go on with: %s" % (where, missing))
                waited = command.startswith("sleep ")
                done += 1
            for command, result in here:
                executed.setdefault(command, []).append(result)
    finally:
        shell.end()
        shutil.rmtree(folder, ignore_errors=True)
    if not done:
        sys.exit("no commands in " + " ".join(sys.argv[1:]))
    print("%d commands of %s do what the pages say" % (done, " ".join(sys.argv[1:])))


if __name__ == "__main__":
    main()
