#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulator of lateness_jobs.py against times that can be written down: one assertion for each kind of job."""
import sys

import lateness_jobs

QUIET = {"noise": 0.0, "transfer_noise": 0.0, "steps": 10}
MS = 1e-3
failed = []


def play(**keys):
    return lateness_jobs.make(lateness_jobs.configure(**{**QUIET, **keys}))[1]


def check(what, value, true):
    if abs(value - true) > 1e-9:
        failed.append(what)
        print(f"{what}: {value!r}, not {true!r}")


# a data parallel step: forward 10 ms, backward 20, four buckets of 0.5 one after the other, optimizer 2
check("data parallel", play(data=4)["seconds"], 10 * 34 * MS)
# overlapped, only the last bucket is not hidden
check("overlap", play(data=4, overlap=True)["seconds"], 10 * 32.5 * MS)
# every rank waits for the slow rank: its computations take 1.1 of the time, the mean of four ranks 1.025
slow = play(data=4, fault="rank:2:1.1")
check("slow rank", slow["seconds"], 10 * (32 * 1.1 + 2) * MS)
check("S", slow["s"], (32 * 1.1 + 2) / (32 * 1.025 + 2))
check("S of the slow rank", slow["s_rank"][2], slow["s"])
check("S of another rank", slow["s_rank"][1], 1.0)
# once it takes the mean, it still is the last, and the job takes what the ideal job takes
check("M_W", slow["m_w"], 1.0)
check("gain", slow["gain"], 3.2 / (32 * 1.1 + 2))
# two ranks alike: mending one alone gains nothing
two = play(data=4, fault="rank:0:1.1,rank:1:1.1")
check("gain of one of two", two["planted"][0]["gain"], 0.0)
check("gain of both", two["gain"], 3.2 / (32 * 1.1 + 2))
# 1F1B: (microbatches + stages - 1) turns of 30 ms, and the messages on the way
pipe = play(shape="1f1b", stages=4, data=1, microbatches=8, message_us=1e-6, world_sync=False)
if not 0 <= pipe["seconds"] - 10 * (11 * 30 + 2) * MS < 1e-3:
    failed.append("1f1b")
    print("1f1b:", pipe["seconds"])
# a stage twice as slow sets the pace of a forward pipeline: 8 turns of 20 ms, 3 of 10 to fill it
forward = play(shape="forward", stages=4, data=1, microbatches=8, message_us=1e-6, fault="stage:1:2:kind=forward")
if not 0 <= forward["seconds"] - 10 * (8 * 20 + 3 * 10 + 2) * MS < 1e-3:
    failed.append("forward")
    print("forward:", forward["seconds"])
# the root of a Broadcast does not wait for a late leaf, but in the Reduce it does
rooted = play(shape="rooted", ranks=4, fault="rank:3:1.5")
check("late leaf", rooted["gain"] * rooted["seconds"], 10 * 5 * MS)
sys.exit(1 if failed else 0)
