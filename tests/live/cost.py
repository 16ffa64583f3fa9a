#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does commtrace-metrics cost the job anything? Pairs of one simulated job, with and without it beside, in random order: the ratio of the median
step times. Then the figures beside a torchrun job. Prints METRIC lines for gates.sh."""
import argparse
import math
import random
import statistics
import sys

import metrics
from live import job, report


def step_ns(with_reader, steps):
    with job("--ranks=4", f"--steps={steps}", "--step-ms=20", flush="2s") as running:
        reader = metrics.Reader(running, "--interval=2", "--listen=127.0.0.1:0", running.run) if with_reader else None
        running.wait()
        if reader:
            reader.end()
        return report(running)["steps"]["time_p50_ns"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--pairs", type=int, default=20)
    arguments.add_argument("--steps", type=int, default=300)
    options = arguments.parse_args()
    logs = []
    for n in range(options.pairs):
        order = [True, False]
        random.shuffle(order)
        took = {with_reader: step_ns(with_reader, options.steps) for with_reader in order}
        logs.append(math.log(took[True] / took[False]))
        print(f"pair {n}: {took[True] / took[False]:.4f}", file=sys.stderr, flush=True)
    half = 2.1 * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
    mean = statistics.mean(logs)
    print(f"# step-time ratio {math.exp(mean):.4f}, 95 % interval {math.exp(mean - half):.4f} to {math.exp(mean + half):.4f}")
    print(f"METRIC live.step_ratio_low {math.exp(mean - half):.4f} 1")
    print(f"METRIC live.step_ratio_high {math.exp(mean + half):.4f} >=1")
    print(f"METRIC live.step_ratio_width {math.exp(half) - math.exp(-half):.4f} 0.01")
    if len(sys.argv) == 1:
        metrics.beside_torchrun()
        print("METRIC live.torchrun_differences 0 0")


main()
