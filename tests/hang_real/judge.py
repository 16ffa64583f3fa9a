# SPDX-License-Identifier: Apache-2.0
"""What `commtrace hang` says of a run, held against what is true: used by every test of this folder.

A truth is a list of ways to say it, each a pair (code, ranks); [] is "no rank is to blame". An answer is

    right   its verdicts are one of the ways
    weak    it blames no rank although someone is to blame, or not all of them: not enough evidence
    wrong   anything else: it blames someone who has done nothing, or for something else
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "hang"))
import accusations  # noqa: E402  the rule that all judges of hangs share
import same_answer  # noqa: E402  the report's answer is held against that of hang

ROOT = Path(os.environ.get("CT_ROOT") or Path(__file__).resolve().parents[2])
BUILD = Path(os.environ.get("CT_BUILD") or ROOT / "build")
LIBRARY = BUILD / "lib" / "libcommtrace.so"
COMMTRACE = BUILD / "bin" / "commtrace"

# Who waits in a test waits so long at most; nothing is right or wrong by its time.
PATIENCE_S = 120


def clean_environment(**more):
    """The environment without anything of a launcher, and without the tracer."""
    ours = ("COMMTRACE", "RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_", "SLURM_", "OMPI_", "PMI", "LD_PRELOAD")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    return {**kept, **more}


def with_torch():
    """This program again under a Python that has torch, if this one has none."""
    if not importlib.util.find_spec("torch"):
        assert sys.executable != "/usr/bin/python3", "no Python with torch"
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])


class Answer:
    def __init__(self, status, said, text):
        self.status, self.said, self.text = status, said, text
        self.verdicts = [(v["code"], sorted(v["ranks"])) for v in said["verdicts"]]
        self.state = said.get("state")

    def __str__(self):
        return f"{self.state} {self.verdicts or 'nobody'} exit {self.status}"


def ask(*runs, rings=None):
    """commtrace hang RUNS: an Answer; AssertionError where the command itself is at fault. `rings`: where the job had its rings,
    if not in /dev/shm."""
    where = {"COMMTRACE_RING_DIR": str(rings)} if rings else {}
    asked = subprocess.run([COMMTRACE, "hang", "--format=json", *runs], env=clean_environment(**where), text=True,
                           capture_output=True, timeout=PATIENCE_S, check=False)
    assert asked.returncode in (0, 3), f"commtrace hang: exit {asked.returncode}: {asked.stderr or asked.stdout}"
    answer = Answer(asked.returncode, json.loads(asked.stdout), asked.stdout)
    is_3 = bool(answer.verdicts) or answer.state == "killed"
    assert (asked.returncode == 3) == is_3, f"exit {asked.returncode}: {asked.stdout}"
    # of a job that goes on the report would be of a later moment
    if answer.state != "running":
        try:
            same_answer.hold(COMMTRACE, runs, answer.said, PATIENCE_S, clean_environment(**where))
        except same_answer.Differ as error:
            raise AssertionError(f"hang and report differ: {error}") from error
    return answer


def judge(answer, ways, says=(), victims=None):
    """("right" | "weak" | "wrong", why)."""
    ways = [[(code, sorted(ranks)) for code, ranks in way] for way in ways]
    if sorted(answer.verdicts) in [sorted(way) for way in ways]:
        missing = [words for words in says if words not in answer.text]
        if missing:
            return "wrong", f"does not say {missing}"
        if victims is not None:
            found = sorted({v for verdict in answer.said["verdicts"] for v in verdict["victims"]})
            if found != sorted(victims):
                return "wrong", f"victims {found}, not {sorted(victims)}"
        return "right", ""
    told = accusations.accused(answer.said)
    pairs = [{(code, rank) for code, ranks in way for rank in ranks} for way in ways]
    if any(way and told <= way for way in pairs):
        return "weak", "not all" if told else "blames nobody"
    return "wrong", f"not {' or '.join(map(str, ways))}"


def watch(ask_once, ways):
    """Of a job that hangs for good: the answer as soon as it is right, or wrong, or nothing new comes. What is stalled is what takes
    much longer than usual, and on a busy machine everything does at first."""
    limit = time.monotonic() + 40
    while True:
        answer = ask_once()
        verdict = judge(answer, ways)
        if verdict[0] != "weak" or time.monotonic() > limit:
            return answer, verdict
        time.sleep(2)
