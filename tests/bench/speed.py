#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What analyzing a run costs, held against decoding its blocks and doing nothing with them, on one thread.

Two runs of commtrace-synth, Megatron with 8 ranks on one host and 64 on eight hosts whose clocks differ, and one of two million
operations of 8 ranks. Processor time as ratios, each the median of three rounds in which all commands take turns; the wall time of two
threads as a ratio to one; and instructions per operation under valgrind --tool=callgrind: these do not depend on the machine, and a slower decoder cannot
hide in them. A stream of as many events of 11 fields is read by babeltrace2. What is to be reached, and was not yet, is in
docs/dev/PERFORMANCE.md beside what was measured.

usage: speed.py [--build DIR]; prints METRIC lines for tests/gates.sh."""
import argparse
import os
import re
import resource
import shutil
import statistics
import struct
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 3
ONE_HOST = ["--gpus-per-host", "8", "--tp", "2", "--pp", "2", "--dp", "2"]
SEVERAL = ["--hosts", "8", "--gpus-per-host", "8", "--tp", "4", "--pp", "4", "--dp", "4", "--clock-offset-ms", "5", "--clock-drift-ppm", "10"]
RUNS = [("one_host", ONE_HOST, 300), ("several_hosts", SEVERAL, 40)]  # name, options, steps
# A run of two million operations, 190 s of eight ranks. What is done after reading is bounded (the instance log keeps 16,384
# operations a rank), and tails are read twice, so that each operation of a longer run costs less.
LONG = 5200
RATIOS = {  # what / what: limit by run
    ("hang", "decoding"): {"one_host": 2.2, "several_hosts": 2.8},
    ("report", "decoding"): {"one_host": 16, "several_hosts": 18, "long": 7.5},
    ("html", "report"): {"one_host": 1.2, "several_hosts": 1.2},
    ("heatmap", "report"): {"one_host": 1.2, "several_hosts": 1.2},
    ("timeline", "report"): {"one_host": 2.7, "several_hosts": 2.3},
}
INSTRUCTIONS = {
    "decoding": {"one_host": 1420, "several_hosts": 1460},
    "hang": {"one_host": 3060, "several_hosts": 3830},
    "report": {"one_host": 15700, "several_hosts": 19000, "long": 7500},
}
TWO_THREADS = 0.65  # of the wall time of one, on the long run
BABELTRACE = 0.48  # of its events a second, operations a second of a report


def commands(build, run, out):
    commtrace = os.path.join(build, "bin", "commtrace")
    return {
        "decoding": [os.path.join(build, "tests", "hang", "decode_run"), run],
        "hang": [commtrace, "hang", "--whole", run],
        "report": [commtrace, "report", run, "--threads=1"],
        "html": [commtrace, "report", run, "--threads=1", "--force", "-o", out + ".html"],
        "heatmap": [commtrace, "heatmap", run, "--threads=1", "--force", "-o", out + ".svg"],
        "timeline": [commtrace, "timeline", run, "--threads=1", "--force", "-o", out + ".pftrace"],
    }


def make(build, run, options, steps):
    subprocess.run([os.path.join(build, "bin", "commtrace-synth"), "-o", run, "--workload", "megatron", "--steps", str(steps), *options], check=True)


def play(command, status, **streams):
    """Run it; it is to end with this exit status."""
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, **streams)
    if done.returncode != status:
        raise subprocess.CalledProcessError(done.returncode, command)


def cpu_s(command, status=0):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    play(command, status)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wall_s(command):
    begin = time.monotonic()
    play(command, 0)
    return time.monotonic() - begin


def operations(decode):
    return int(subprocess.run(decode, check=True, stdout=subprocess.PIPE).stdout.split()[0])


def count(command, out, status, *options):
    play(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, *options, *command], status, stderr=subprocess.DEVNULL)


def counted(out):
    with open(out, encoding="utf-8") as lines:
        return int(re.search(r"^(?:summary|totals): (\d+)", lines.read(), re.M)[1])


def instructions(command, ops, out, status=0):
    count(command, out, status)
    return counted(out) / ops


def with_two(command):
    return [word.replace("--threads=1", "--threads=2") for word in command]


def time_all(timed):
    """In turns: seconds of each round, by command."""
    took = {what: [] for what in timed}
    for _ in range(ROUNDS):
        for what, command in timed.items():
            took[what].append(cpu_s(command))
    return took


def tell(name, ops, took):
    print("%s: %d operations; " % (name, ops) +
          ", ".join("%s %.3f s (%.3f to %.3f)" % (what, statistics.median(t), min(t), max(t)) for what, t in took.items()))
    for (what, base), limits in RATIOS.items():
        if name in limits and what in took:
            ratio = statistics.median(a / b for a, b in zip(took[what], took[base]))
            print("METRIC speed.%s_to_%s.%s %.2f %s" % (what, base, name, ratio, limits[name]))


def measure(build, name, options, steps, folder):
    run, out = os.path.join(folder, name), os.path.join(folder, name + ".out")
    make(build, run, options, steps)
    played = commands(build, run, out)
    ops = operations(played["decoding"])
    tell(name, ops, time_all(played))
    for what, limits in INSTRUCTIONS.items():
        each = instructions(played[what], ops, out)
        print("METRIC speed.instructions.%s.%s %.0f %d" % (what, name, each, limits[name]))


CTF = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace { major = 1; minor = 8; byte_order = le; };
clock { name = mono; freq = 1000000000; };
stream { event.header := struct { integer { size = 64; align = 8; signed = false; map = clock.mono.value; } at; }; };
event { name = operation; fields := struct { %s }; };
"""


def make_ctf(folder, events):
    """As many events of 11 fields, as an operation has: six of 64 bits, five of 32."""
    os.mkdir(folder)
    fields = ["uint64_t a%d;" % i for i in range(6)] + ["uint32_t b%d;" % i for i in range(5)]
    with open(os.path.join(folder, "metadata"), "w", encoding="ascii") as metadata:
        metadata.write(CTF % " ".join(fields))
    one = struct.Struct("<Q6Q5I")
    with open(os.path.join(folder, "stream"), "wb") as stream:
        for i in range(events):
            stream.write(one.pack(1000 * i, *range(i, i + 6), *range(i % 1000, i % 1000 + 5)))


def measure_long(build, folder):
    run, out, ctf = (os.path.join(folder, name) for name in ("long", "out", "ctf"))
    make(build, run, ONE_HOST, LONG)
    played = commands(build, run, out)
    ops = operations(played["decoding"])
    make_ctf(ctf, ops)
    timed = {what: played[what] for what in ("decoding", "report")}
    timed["babeltrace2"] = ["babeltrace2", "-c", "sink.utils.dummy", ctf]
    took = time_all(timed)
    tell("long", ops, took)
    rate = statistics.median(b / a for a, b in zip(took["report"], took["babeltrace2"]))
    print("METRIC speed.report_to_babeltrace2.long %.2f >=%s" % (rate, BABELTRACE))
    two = statistics.median(wall_s(with_two(played["report"])) / wall_s(played["report"]) for _ in range(ROUNDS))
    print("METRIC speed.wall_of_two_threads.long %.2f %s" % (two, TWO_THREADS))
    each = instructions(played["report"], ops, out)
    print("METRIC speed.instructions.report.long %.0f %d" % (each, INSTRUCTIONS["report"]["long"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="commtrace-speed.")
    try:
        for name, options, steps in RUNS:
            measure(args.build, name, options, steps, folder)
        measure_long(args.build, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
