#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rank that does not come is blamed; not so where the whole host has just stood still: who was late may be late for that.

    busy_host.py

What keeps processors away is played by stopping all of the job's processes for a while.
"""
import sys
import time

import jobs
import judge

OPTIONS = ["--workload", "ddp", "--step-ms", "5", "--steps", "40"]
FAULT = "missing:rank=2,op=60"
STOPPED_S = 2.5


def judged(stopped):
    """(what is said of the same job, whether the answer shows that the host was busy)"""
    with jobs.Job(4, OPTIONS, [FAULT]) as job:
        job.until_stuck()
        if stopped:
            job.suspend(STOPPED_S)
            time.sleep(0.5)
        job.kill("all")
        code, report, _, errors = job.hang()
    problem = judge.shape(code, report)
    if problem:
        raise jobs.Failed(f"{problem} {errors.strip()[-200:]}")
    return report, any("so busy" in missing["text"] for missing in report["missing_data"])


def main():
    bad = 0
    for stopped in (False, True):
        report, is_busy = judged(stopped)
        result = judge.judge(report, "NEVER_ENTERED 2")
        # other things may keep the machine busy as well
        ok = is_busy and result == "silent" if stopped else result == "right" or (is_busy and result == "silent")
        print(f"{'right' if ok else 'wrong'} {'host stood still' if stopped else 'host went on':17} {judge.show(report)} {report['missing_data']}")
        bad += not ok
    print(f"METRIC hang.busy_host.wrong {bad} 0")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
