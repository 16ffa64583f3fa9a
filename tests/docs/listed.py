#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command line of every page is executed: by docs.commands (```console blocks of its pages), by another test or not at all, as
a row of elsewhere.txt says with its reason, or here: `commtrace ...` in a sentence, with a synthetic run for RUN. A mention of a
command with options only, or a synopsis, is compared with the help: its options exist.

usage: listed.py PAGE...: the pages of docs.commands; CT_BUILD is the build tree. It prints how many command lines there are, and fails for
each one that nothing executes or that fails, and for rows of elsewhere.txt that name no command line or no test."""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ["CT_BUILD"]
TABLE = os.path.join(ROOT, "tests", "docs", "elsewhere.txt")
PROGRAM = r"(?:[A-Z_]+=\S* )*(?:commtrace|commtrace-synth|commtrace-simjob|mpirun\S*|torchrun|srun|cmake|ctest|apt-get|mpicc|tools/\S+|tests/\S+[.](?:sh|py)) "
RUNS = """RUN run run1 run2 run3 run4 DIR DIR1 BASE base1 base2 base3 new hung commtrace-JOBID before before1 before2 before3 after scratch/run1
        host1/run host2/run""".split()
HERE = re.compile(r"commtrace (?:report|hang|info|dump|heatmap|timeline|diagnose|collect|diff|partial)\b|cmake --install build --component ")


def command_lines(page):
    """(line number, language of the block or None, text) of each."""
    fence, block, start = None, [], 0
    with open(os.path.join(ROOT, page), encoding="utf-8") as lines:
        text = lines.read().splitlines()
    for n, line in enumerate(text, 1):
        if line.startswith("```"):
            if fence is not None and (fence in ("sh", "console") or (not fence and block and re.match(PROGRAM, block[0]))):
                yield start, fence, "\n".join(block)
            fence, block, start = (line[3:], [], n) if fence is None else (None, [], 0)
        elif fence is not None:
            block.append(line)
        else:
            for span in re.findall(r"`([^`]+)`", line):
                if re.match(PROGRAM + r"\S", span):
                    yield n, None, span.replace("\\|", "|")


def rows():
    """[page or *, beginning of the text, test or why none, uses] of the table."""
    with open(TABLE, encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") + [0] for line in lines if line.strip() and not line.startswith("#")]


def declared():
    """The names of all tests, also of those that this machine cannot execute."""
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "tests/*CMakeLists.txt", "tests/*.cmake"], check=True, stdout=subprocess.PIPE, text=True)
    names = set()
    for file in files.stdout.split():
        with open(os.path.join(ROOT, file), encoding="utf-8") as text:
            names.update(re.findall(r"_test\(NAME ([a-z0-9_.]+)", text.read()))
    return names


def run(command, folder):
    return subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PATH": os.path.join(BUILD, "bin") + ":" + os.environ["PATH"]})


def execute(span, folder):
    """None, or what is wrong with a command line of a sentence."""
    span = span.replace("cmake --install build", "cmake --install %s --prefix installed" % BUILD).replace("--window=55s..", "--window=55ms..")
    got = run("rm -rf *.html *.svg *.png *.csv *.pftrace *.json *.jsonl part3 results; mkdir results; " + re.sub(r"[.]{3}| DIR2", "", span), folder)
    return None if got.returncode in (0, 3) else "exit %d: %s" % (got.returncode, got.stdout.strip()[-200:])


def is_mention(span):
    """Has it no argument but options, or is it a synopsis?"""
    return not any(re.match(r"[^-\s]", word) for word in span.split()[2:]) or "[" in span


def missing_options(span, folder):
    """None, or the options of a mention that the help has not."""
    words = span.split()
    if not words[0] == "commtrace" or words[1] == "COMMAND":
        return None
    got = run("commtrace %s --help" % words[1], folder)
    missing = [option for option in re.findall(r"--[a-z-]+", span) if option not in got.stdout]
    return "exit %d, no %s" % (got.returncode, missing) if got.returncode or missing else None


def packages_differ():
    """The packages that only one of README and tools/steps.sh installs. A compiler brings libc6-dev."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as page, open(os.path.join(ROOT, "tools", "steps.sh"), encoding="utf-8") as steps:
        listed = re.findall(r"apt-get install --no-install-recommends ((?:.*\\\n)*.*)", page.read())
        listed = " ".join(re.sub(r"#.*|\\\n", "", packages) for packages in listed).split()
        needed = re.search(r'BUILD_PACKAGES="([^"]*)"', steps.read())[1].split()
    return sorted(set(listed) ^ (set(needed) - {"libc6-dev"}))


def main():
    pages = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    tests = set(re.findall(r": (\S+)$", subprocess.run(["ctest", "--test-dir", BUILD, "-N"], stdout=subprocess.PIPE, text=True).stdout, re.M))
    tests |= {name + flavour for name in declared() for flavour in ("", "_openmpi", "_mpich")}
    table, wrong = rows(), []
    counts = {"by docs.commands": 0, "here": 0, "by other tests": 0, "not executed": 0, "mentions": 0}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(BUILD, "bin", "commtrace-synth"), "-o", os.path.join(folder, "RUN"), "--gpus-per-host", "8", "--workload", "megatron",
                        "--tp", "2", "--steps", "12", "--fault", "slow-rank:rank=1,ms=5"], check=True, stdout=subprocess.DEVNULL)
        for name in RUNS[1:]:
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            os.symlink(os.path.join(folder, "RUN"), os.path.join(folder, name))
        for page in pages:
            for n, fence, text in command_lines(page):
                why = None
                row = next((row for row in table if row[0] in (page, "*") and text.startswith(row[1])), None)
                if fence == "console" and page in sys.argv[1:]:
                    counts["by docs.commands"] += sum(line.startswith("$ ") for line in text.splitlines())
                elif row:
                    row[3] += 1
                    counts["not executed" if row[2].startswith("not executed: ") else "by other tests"] += 1
                elif is_mention(text) and "\n" not in text:
                    counts["mentions"] += 1
                    why = missing_options(text, folder)
                elif fence is None and HERE.match(text):
                    counts["here"] += 1
                    why = execute(text, folder)
                else:
                    why = "no test executes it"
                if why:
                    wrong.append("%s:%d: %s: %s" % (page, n, text.splitlines()[0], why))
    wrong += ["elsewhere.txt: no page has: %s: %s" % (row[0], row[1]) for row in table if not row[3]]
    wrong += ["elsewhere.txt: no test %s: %s" % (row[2], row[1]) for row in table if not row[2].startswith("not executed: ") and row[2] not in tests]
    wrong += ["README.md and tools/steps.sh differ: " + name for name in packages_differ()]
    print("command lines: " + ", ".join("%d %s" % (n, what) for what, n in counts.items()))
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
