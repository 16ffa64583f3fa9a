#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much longer the report of 1024 ranks takes to be ready than that of one rank that did next to nothing, in the same browser:
METRIC browser.load_1024_to_empty RATIO LIMIT. From the begin of the navigation to the page's mark `ready`; medians of several
loads, by turns. Needs build/bin; --bin DIR for another directory.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from webdriver import Browser  # noqa: E402

LIMIT = 5
READY = "return performance.getEntriesByName('ready')[0]?.startTime"


def ratio(browser, large, empty, loads):
    """Of the two pages' medians (files' URLs); one load of each before, that does not count."""
    times = {large: [], empty: []}
    for _ in range(loads + 1):
        for url, taken in times.items():
            browser.open(url, READY)
            taken.append(browser.run(READY))
    return statistics.median(times[large][1:]) / statistics.median(times[empty][1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin", type=pathlib.Path)
    parser.add_argument("--loads", default=15, type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        urls = []
        for name, hosts, gpus, steps in (("large", 128, 8, 20), ("empty", 1, 1, 1)):
            run = pathlib.Path(folder, name)
            subprocess.run([options.bin / "commtrace-synth", "-o", run, "--hosts", str(hosts), "--gpus-per-host", str(gpus),
                            "--steps", str(steps)], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([options.bin / "commtrace", "report", run, "-o", f"{run}.html"], check=True)
            urls.append(pathlib.Path(f"{run}.html").as_uri())
        with Browser(folder) as browser:
            print(f"METRIC browser.load_1024_to_empty {ratio(browser, *urls, options.loads):.2f} {LIMIT}")


if __name__ == "__main__":
    main()
