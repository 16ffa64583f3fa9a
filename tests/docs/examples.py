#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/reference/FINDINGS.md and docs/reference/HANG.md are what the program prints.

Each row of examples.txt names a section and the commands that make its example. The block below the section's heading has the headline
of each, which begins as the row says, and its EVIDENCE, without that its advice; a blank line between two. Measured numbers differ.

usage: examples.py [--accept]: replaces the blocks by what the program prints; CT_BUILD is the build tree."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

from commands import BUILD, ROOT, comparable

TABLE = os.path.join(ROOT, "tests", "docs", "examples.txt")
EVIDENCE = ("cause", "evidence", "note", "when")  # what an example shows beside its headline
BLOCK = re.compile(r"```\n(.*?)\n```\n", re.S)
SECTION = r"^(##+ %s\n.*?)(?=^##|\Z)"


def rows():
    with open(TABLE, encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines if line.strip() and not line.startswith("#")]


def example(said, begins):
    """The lines of an example, or None."""
    lines = said.splitlines()
    at = next((n for n, line in enumerate(lines) if line.startswith(begins)), None)
    if at is None:
        return None
    shown, key = [lines[at]], None
    for line in lines[at + 1:]:
        if not line.startswith("  "):
            break
        key = line.split()[0] if line[2] != " " else key
        if key in EVIDENCE or (key == "do" and len(shown) == 1):
            shown.append(line)
        elif key == "do" and shown[-1].split()[0] == "do":
            shown.append(line)
    return "\n".join(shown)


def printed(row):
    """The example of a row, as the program prints it."""
    with tempfile.TemporaryDirectory() as folder:
        got = subprocess.run(["bash", "-c", "synth() { commtrace-synth -o run \"$@\" >/dev/null; }\n" + row[3]], cwd=folder, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env={**os.environ, "PATH": os.path.join(BUILD, "bin") + ":" + os.environ["PATH"],
                                  "COMMTRACE_RING_DIR": folder,
                                  "COMMTRACE_HOST": "node1"})
        return example(got.stdout, row[2]) or "nothing begins with %r:\n%s" % (row[2], got.stdout)


def sections(text):
    """The headings that need an example."""
    return re.findall(r"^### (.*)$", text, re.M)


def main():
    table = rows()
    made = [row for row in table if row[2]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        blocks = {}  # by page and heading
        for row, text in zip(made, pool.map(printed, made)):
            blocks.setdefault((row[0], row[1]), []).append(text)
    wrong = []
    for page in sorted({row[0] for row in table}):
        path = os.path.join(ROOT, page)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        known = {row[1] for row in table if row[0] == page}
        wrong += ["%s: no row for section %s" % (page, heading) for heading in sections(text) if heading not in known]
        for (of, heading), lines in blocks.items():
            if of != page:
                continue
            section = re.search(SECTION % re.escape(heading), text, re.S | re.M)
            block = section and BLOCK.search(section[1])
            wanted = "\n\n".join(lines)
            if not block:
                wrong.append("%s: no example in section %s:\n%s" % (page, heading, wanted))
            elif [comparable(line) for line in block[1].splitlines()] != [comparable(line) for line in wanted.splitlines()]:
                if "--accept" in sys.argv:
                    text = text.replace(section[1], section[1].replace(block[0], "```\n%s\n```\n" % wanted))
                else:
                    wrong.append("%s: section %s has\n%s\nand the program prints\n%s" % (page, heading, block[1], wanted))
        if "--accept" in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    print("%d examples, none of %d" % (len(made), len(table) - len(made)))
    if wrong:
        sys.exit("\n\n".join(wrong))


if __name__ == "__main__":
    main()
