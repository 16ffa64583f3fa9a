#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rank that someone has stopped (SIGSTOP), live and after the launcher has ended the job: it is the last to go, and did not die first.

    stopped.py

While it is there, the verdict says that it is stopped. Where no one saw how it ended, it is dead or stopped: its heartbeats stop, and
that is what is said.
"""
import os
import signal
import sys

import jobs
import judge

RANK = 2
TRUTH = f"NEVER_ENTERED {RANK} | NO_TRACE {RANK}"


def main():
    bad = 0
    for how in ("launcher", "all"):
        with jobs.Job(4, ["--workload", "ddp", "--step-ms", "5", "--steps", "1000000"]) as job:
            job.until_steps(3)
            pid = job.workers()[RANK]
            os.kill(pid, signal.SIGSTOP)
            job.until_stuck(7)
            said = [("while it runs", job.hang())]
            job.kill(how)
            said.append((f"killed: {how}", job.hang()))
        for when, (code, report, _, errors) in said:
            problem = judge.shape(code, report)
            truth = TRUTH + (f" | DEAD_RANK {RANK}" if when == "killed: all" else "")
            result = "wrong" if problem else judge.judge(report, truth)
            # a process that is there can be looked at
            if when == "while it runs" and result == "right" and not (
                    " is stopped" in report["verdicts"][0]["text"] and f"kill -CONT {pid}" in (report["verdicts"][0]["command"] or "")):
                result, problem = "wrong", f"does not say that it is stopped: {report['verdicts'][0]['text']}"
            print(f"{result:6} {when:16} {problem or judge.show(report)} {errors if problem else ''}", flush=True)
            bad += result == "wrong"
    print(f"METRIC hang.stopped.wrong {bad} 0")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
