#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types what pages of docs/ tell a user to type, in one shell and in their order, and holds what comes out against the pages.

In a ```console block a line `$ COMMAND` is executed; `# exit N` behind it is its exit status, else 0. The lines below it begin
lines of its output, in this order: a page leaves out the rest of a line where times and sizes differ from run to run. `...` stands
for lines that it leaves out.

usage: commands.py PAGE..., below docs/; CT_BUILD is the build tree. Needs torch for the examples."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ["CT_BUILD"]
PATIENCE_S = 180  # what a page says to wait is meant for a machine that does nothing else


def commands(page):
    """(line number, command, exit status, lines of output) of each command of a page."""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as lines:
        inside = False
        found = []
        for n, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("```"):
                inside = line == "```console"
            elif inside and line.startswith("$ "):
                status = re.search(r"  # exit (\d+)$", line)
                found.append((n, line[2:status.start() if status else None], int(status[1]) if status else 0, []))
            elif inside:
                found[-1][3].append(line)
    return found


def differs(expected, said):
    """The first expected line that the output has not, or None."""
    at = 0
    for line in expected:
        if line.strip() == "...":
            continue
        at = next((i + 1 for i in range(at, len(said)) if said[i].lstrip().startswith(line.lstrip())), None)
        if at is None:
            return line
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


def main():
    folder = tempfile.mkdtemp()
    programs = os.path.join(folder, ".bin")
    os.makedirs(programs)
    os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
    os.symlink(os.path.join(BUILD, "bin", "commtrace"), os.path.join(programs, "commtrace"))
    os.symlink(sys.executable, os.path.join(programs, "python3"))
    with open(os.path.join(programs, "torchrun"), "w", encoding="utf-8") as script:
        script.write('#!/bin/sh\nexec "%s" -m torch.distributed.run --master_port %s "$@"\n' % (sys.executable, subprocess.run(
            [sys.executable, os.path.join(ROOT, "tools", "free_port.py")], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()))
    os.chmod(script.name, 0o755)
    for name in [name for name in os.environ if name.startswith("COMMTRACE")]:
        del os.environ[name]
    shell = Shell(folder, programs + ":" + os.environ["PATH"])
    done = 0
    try:
        for page in sys.argv[1:]:
            waited = False
            for n, command, status, expected in commands(page):
                until = time.monotonic() + (PATIENCE_S if waited else 0)
                while True:
                    got, said = shell.run(command)
                    missing = differs(expected, said)
                    if (got == status and missing is None) or time.monotonic() >= until:
                        break
                    time.sleep(2)
                where = "docs/%s:%d: %s" % (page, n, command)
                if got != status or missing is not None:
                    print("\n".join(said))
                    sys.exit("%s: exit %d, not %d" % (where, got, status) if got != status else
                             "%s: its output has no line that begins with: %s" % (where, missing))
                waited = command.startswith("sleep ")
                done += 1
    finally:
        shell.end()
        shutil.rmtree(folder, ignore_errors=True)
    if not done:
        sys.exit("no commands in " + " ".join(sys.argv[1:]))
    print("%d commands of %s do what the pages say" % (done, " ".join(sys.argv[1:])))


main()
