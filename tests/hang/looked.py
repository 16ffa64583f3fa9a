#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An operation that ends everywhere but on one rank is that rank's; not so where no one had looked at its GPU of late.

    looked.py

CUDA may keep whoever asks it waiting. That is put into what the killed rank left: `looked_ns` of its ring (docs/dev/TRACE_FORMAT.md).
"""
import os
import struct
import sys

import jobs
import judge

HANG_AFTER_S = 4
BEAT_AT, LOOKED_AT = 64, 224
TRIES = 3


def word(path, at, value=None):
    with open(path, "r+b") as f:
        f.seek(at)
        if value is None:
            return struct.unpack("<Q", f.read(8))[0]
        f.write(struct.pack("<Q", value))
        return value


def play():
    """[what is said where it was looked at to the end, for so long that the rest is no stall, and not for longer than that]; None: the
    job was killed too late for the second."""
    with jobs.Job(4, ["--workload", "ddp", "--step-ms", "5", "--steps", "40"], ["never-ends:rank=1,op=60"],
                  hang_after=f"{HANG_AFTER_S}s") as job:
        job.until_stuck(HANG_AFTER_S + 1)
        job.kill("all")
        pid = job.pid_of(1)
        [ring] = [os.path.join(job.rings, n) for n in os.listdir(job.rings) if n.endswith(f".{pid}.ring")]
        until = word(ring, BEAT_AT)
        reports = [job.hang()[1]]
        age_s = max((v["age_ns"] or 0) / 1e9 for v in reports[0]["verdicts"]) if reports[0]["verdicts"] else 0
        if age_s > 2 * HANG_AFTER_S - 0.5:
            return None
        for back_s in (HANG_AFTER_S - 0.3, age_s - 0.3):
            word(ring, LOOKED_AT, until - int(back_s * 1e9))
            reports.append(job.hang()[1])
        return reports


def main():
    for _ in range(TRIES):
        reports = play()
        if reports:
            break
    else:
        print("the job was killed too late each time")
        return 1
    said = [judge.show(r) for r in reports]
    codes = [[v["code"] for v in r["verdicts"]] for r in reports]
    blind = ["did not answer" in str(r["missing_data"]) for r in reports]
    good = [judge.judge(reports[0], "PARTIAL_COMPLETE 1") == "right", codes[1] in ([], ["UNKNOWN"]), codes[2] == ["UNKNOWN"] and blind == [False, False, True]]
    for what, ok, words in zip(("looked at to the end", "not of late", "not since it began"), good, said):
        print(f"{'right' if ok else 'wrong'} {what:20} {words}")
    print(f"METRIC hang.looked.wrong {good.count(False)} 0")
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
