#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do `commtrace hang` and `commtrace report` say the same of a run?

    same_answer.py COMMTRACE PATH...     each PATH by itself; what is no run of a job that has ended is passed over

Both read the tails of long files, and other files whole: the report has all verdicts of `hang`, word for word, and where one of
them shows what ranks wait in, the report's own verdict is HANG with its headline.
"""
import json
import subprocess
import sys


class Differ(Exception):
    """What the one says and the other does not."""


def ask(command, env=None, limit_s=120):
    """What it writes, parsed; None: it failed."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s, env=env)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return None


def leading(verdicts):
    """The first that ranks wait in: with UNKNOWN nothing is answered, and for one that died no one may wait."""
    return next((v for v in verdicts if v["code"] != "UNKNOWN" and (v["victims_count"] or v["age_ns"] is not None)), None)


def compare(hang, report):
    said = report["hang"]["verdicts"] if report["hang"] else []
    if said != hang["verdicts"]:
        raise Differ(f"the report's hang is {said}, that of hang {hang['verdicts']}")
    first, verdict = leading(hang["verdicts"]), report["verdict"]
    if not first and verdict["code"] == "HANG":
        raise Differ(f"the report says HANG, and hang answers nothing: {verdict['text']}")
    if first and (verdict["code"] != "HANG" or verdict["text"] != first["text"]):
        raise Differ(f"the report says {verdict['code']}: {verdict['text']}; hang says {first['code']}: {first['text']}")


def hold(commtrace, paths, hang, limit_s=120, env=None):
    """`hang` is what it said of these paths; Differ if their report says another thing."""
    paths = [paths] if isinstance(paths, str) else list(paths)
    report = ask([commtrace, "report", "--format=json", *paths], env, limit_s)
    if report is None:
        raise Differ("hang reads the run, and report does not")
    compare(hang, report)


def main():
    commtrace, *paths = sys.argv[1:]
    failed = 0
    for path in paths:
        hang = ask([commtrace, "hang", "--format=json", path])
        if not hang or hang["state"] == "running":
            continue
        try:
            hold(commtrace, path, hang)
        except Differ as e:
            print(f"{path}: {e}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
