#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the call site of a Python call costs, as a ratio to a clock read of the same process: from a function of the program, and
through 20 frames of a library that are passed over. A clock read takes 20 to 60 ns; COMMTRACE_STACKS=auto allows 1000 ns.

usage: site_cost.py [WALKER.so]; prints METRIC lines for tests/gates.sh, for every interpreter of the machine the worst."""
import ctypes
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WALKER = os.path.join(HERE, "..", "..", "build", "tests", "python", "python_walker.so")
CODE = """
def passed(n, do):
    return passed(n - 1, do) if n else do()
"""


def child(path):
    walker = ctypes.CDLL(path)
    walker.walker_site_ns.restype = walker.walker_clock_ns.restype = ctypes.c_double
    if walker.walker_start(b"on") != 0 or not walker.walker_site():
        sys.exit("no call site")
    scope = {}
    exec(compile(CODE, "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", "exec"), scope)
    passed = scope["passed"]

    def step():
        return walker.walker_site_ns()

    def native():
        walker.walker_start(b"native")
        return walker.walker_site_ns()

    def inner():
        return step()

    clock = walker.walker_clock_ns()
    print(clock, inner(), passed(20, step), native())


def main():
    if len(sys.argv) > 2:
        return child(sys.argv[1])
    walker = sys.argv[1] if len(sys.argv) > 1 else WALKER
    worst = [0, 0, 0]
    for python in subprocess.run([os.path.join(HERE, "interpreters.sh")], stdout=subprocess.PIPE, check=True).stdout.decode().split():
        runs = []
        for _ in range(3):
            out = subprocess.run([python, __file__, walker, "child"], stdout=subprocess.PIPE, check=True).stdout
            runs.append([float(word) for word in out.split()])
        clock, near, far, native = [statistics.median(column) for column in zip(*runs)]
        print("%s: %.0f ns, through 20 frames %.0f ns, native %.1f ns; clock %.1f ns" % (python, near, far, native, clock))
        worst = [max(a, b / clock) for a, b in zip(worst, (near, far, native))]
    print("METRIC overhead.python_site_per_clock %.2f 3" % worst[0])
    print("METRIC overhead.python_site_20_frames_per_clock %.2f 6" % worst[1])
    print("METRIC overhead.native_site_per_clock %.2f 0.5" % worst[2])


main()
