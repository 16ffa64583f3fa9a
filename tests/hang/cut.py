#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that are cut off or damaged beside a hang: is anyone accused for that?

    cut.py [--all] [--only REGEX]

A simulated job of four ranks is played until it hangs, and killed: its rings stay, and its segments. A made one of eight has segments
alone. Of copies of these the files of one rank are cut, emptied, overwritten with zeros, or taken away,
and asked what hangs. Right is what the whole run says; said with less confidence, or not at all, is allowed, and so is NO_TRACE of that
rank. Wrong is whoever else is named, or another reason, and above all DEAD_RANK or PARTIAL_COMPLETE of the rank whose file it is; and to
say nothing of it in missing_data.
--all plays every damage with every rank's files; otherwise those of the culprit and of one victim.
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

import jobs
import judge

CULPRIT = 1
BLOCK = b"CTBK"  # what a block begins with


def cut(share):
    def do(path):
        with open(path, "r+b") as f:
            f.truncate(int(os.path.getsize(path) * share))
    return do


def zeros(path):
    size = os.path.getsize(path)
    with open(path, "wb") as f:
        f.write(bytes(size))


def hole(path):
    """Zeros in the middle, a twentieth of it."""
    size = os.path.getsize(path)
    with open(path, "r+b") as f:
        f.seek(size // 2)
        f.write(bytes(max(size // 20, 1)))


def last_byte(path):
    with open(path, "r+b") as f:
        f.truncate(os.path.getsize(path) - 1)


def behind_a_block(path):
    """In the middle, where a copy may have ended by chance: nothing in the file shows that."""
    with open(path, "r+b") as f:
        content = f.read()
        at = content.find(BLOCK, len(content) // 2)
        if at > 0:
            f.truncate(at)


DAMAGES = {"cut at 0": cut(0), "cut at 1/4": cut(0.25), "cut at 1/2": cut(0.5), "cut at 9/10": cut(0.9), "behind a block": behind_a_block,
           "without its last byte": last_byte,
           "with a hole": hole, "of zeros": zeros, "gone": os.unlink}


def said(run, env=None):
    code, report, _, errors = jobs.hang(run, env=env)
    wrong = judge.shape(code, report)
    if wrong and not (report is None and code == 1 and errors.startswith("commtrace: ")):
        raise jobs.Failed(f"{wrong} {errors.strip()[-200:]}")
    return report


def is_accused(report, whole, rank):
    """Who is named that should not be: None or a sentence."""
    before = judge.said_of(whole)
    for v in report["verdicts"] if report else []:
        code, ranks = v["code"], set(v["ranks"])
        if code in judge.SILENT or (code == "NO_TRACE" and ranks <= {rank}):
            continue
        if code in before and ranks <= before[code]:
            continue
        # who is left of a circle, or of both ends of a message, for lack of the other one's file
        if code in ("P2P_UNMATCHED", "NEVER_ENTERED") and v["confidence"] == "low" and ranks <= set().union(*before.values()):
            continue
        return judge.show(report)
    return None


def play(name, source, files, whole, rank, counts, env=None):
    """Every damage to these files, of a rank, in a copy of the run."""
    for what, damage in DAMAGES.items():
        if damage is behind_a_block and not files[0].endswith(".seg"):
            continue
        with tempfile.TemporaryDirectory(prefix="commtrace-hang.") as dir_:
            run = os.path.join(dir_, "run")
            shutil.copytree(source, run)
            for f in files:
                damage(os.path.join(run, f))
            case = f"{name}, rank {rank}, {files[0].rpartition('.')[2]} {what}"
            report = said(run, env)
            accused = is_accused(report, whole, rank)
            if accused:
                result = "wrong"
            elif report and not report["missing_data"]:
                result, accused = "wrong", "nothing is said to be missing"
            elif report and judge.said_of(report) == judge.said_of(whole):
                result = "right"
            else:
                result = "silent"
            counts[result] += 1
            if result == "wrong" or os.environ.get("CT_SHOW"):
                print(f"{result:6} {case}: {accused or (judge.show(report) if report else 'nothing to read')}", flush=True)


def files_of(run, pid):
    return sorted(f for f in os.listdir(run) if str(pid) in re.split(r"[._-]", f))


def played(ranks, counts):
    """Rings beside segments, as a job leaves them that is killed."""
    with jobs.Job(4, ["--steps", "200"], [f"missing:rank={CULPRIT},op=12"]) as job:
        job.until_stuck()
        pids = [job.pid_of(rank) for rank in range(4)]
        job.kill("all")
        env = job.env | {"LD_PRELOAD": ""}
        subprocess.run([jobs.program("commtrace"), "collect", job.run], env=env, check=True, capture_output=True)
        whole = said(job.run, env)
        if judge.said_of(whole) != {"NEVER_ENTERED": {CULPRIT}}:
            raise jobs.Failed(f"the whole run: {judge.show(whole)}")
        for rank in ranks(4):
            mine = files_of(job.run, pids[rank])
            for kind in (".seg", ".zst"):
                play("played", job.run, [f for f in mine if f.endswith(kind)], whole, rank, counts, env)


def made(ranks, counts, only):
    """Segments alone: what is left when /dev/shm is gone."""
    for fault in (f"missing:rank={CULPRIT},op=20", f"never-ends:rank={CULPRIT},op=20", f"skip-send:rank={CULPRIT},peer=5,op=4"):
        for timing in ("events", "host"):
            name = f"made {fault} {timing}"
            if not re.search(only, name):
                continue
            with tempfile.TemporaryDirectory(prefix="commtrace-hang.") as dir_:
                run = os.path.join(dir_, "run")
                subprocess.run([jobs.program("commtrace-synth"), "-o", run, "--hosts", "2", "--gpus-per-host", "4", "--steps", "6", "--workload",
                                "megatron", "--tp", "2", "--pp", "2", "--dp", "2", "--timing", timing, "--fault", fault],
                               check=True, capture_output=True)
                whole = said(run)
                names = sorted(os.listdir(run))
                for rank in ranks(8):
                    play(name, run, [names[rank]], whole, rank, counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    counts = collections.Counter()

    def ranks(n):
        return range(n) if args.all else (0, CULPRIT)

    if re.search(args.only, "played"):
        played(ranks, counts)
    made(ranks, counts, args.only)
    n = sum(counts.values())
    print(f"{n} runs with damaged files: " + ", ".join(f"{counts[k]} {k}" for k in ("right", "silent", "wrong")))
    print(f"METRIC hang.cut.wrong {counts['wrong']} 0")
    # a test that finds everything silent would find no fault either
    return int(counts["wrong"] > 0 or counts["right"] == 0)


if __name__ == "__main__":
    sys.exit(main())
