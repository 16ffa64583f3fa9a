#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""commtrace top beside running jobs: its table and JSON, and its screen on a pseudo terminal of any size, which it restores on every end."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from live import BIN, check, commtrace, job, main, report, run, wait_for


class Terminal:
    """commtrace top on a terminal of `rows` and `columns`."""

    def __init__(self, running, rows, columns, *options):
        self.main, self.other = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.other)
        self.seen = b""
        self.process = subprocess.Popen([BIN / "commtrace", "top", "--interval=1", *options, running.run], stdin=self.other,
                                        stdout=self.other, stderr=self.other, env=running.env | {"TERM": "xterm"}, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

        running.readers.append(self.process)

    def resize(self, rows, columns):
        fcntl.ioctl(self.other, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.3):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.main], [], [], 0.05)[0]:
                self.seen += os.read(self.main, 65536)

    def has(self, text):
        """Was it drawn since the last press()? Between words of a line there may be movements of the cursor."""
        self.read()
        plain = re.sub(rb"\x1b(\[[0-9;?]*[A-Za-z]|\([A-Z0-9]|[=>78])", b" ", self.seen)
        return text.encode() in plain

    def press(self, keys):
        self.seen = b""
        os.write(self.main, keys.encode())

    def end(self, with_signal=None, code=0):
        if with_signal:
            self.process.send_signal(with_signal)
        deadline = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read(0.1)
        self.read(0.1)
        check(self.process.poll() == code, f"ended with {self.process.poll()}, not {code}: {self.seen[-500:]}")
        check(b"\x1b[?1049l" in self.seen, "the screen is not restored")
        check(termios.tcgetattr(self.other) == self.before, "the terminal's modes are not restored")
        os.close(self.main)
        os.close(self.other)


def a_job_that_hangs():
    with job("--ranks=4", "--steps=100", "--step-ms=5", "--fault=missing:rank=3,op=120", "--give-up=20",
             COMMTRACE_HANG_AFTER="7s") as running:
        def table():
            return json.loads(commtrace(running, "top", running.run, "--json", "--stall-after=1"))

        wait_for("a recording", lambda: running.run.exists() and list(running.run.glob("*.seg")))
        told = wait_for("stalled ranks", lambda: (lambda t: sum(r["state"] == "stalled" for r in t["ranks"]) == 3 and t)(table()))
        states = {row["rank"]: row["state"] for row in told["ranks"]}
        check(states == {0: "stalled", 1: "stalled", 2: "stalled", 3: "not_entered"}, f"{states}")
        limits = [json.loads(commtrace(running, "top", running.run, "--json"))["stalled_after_s"], told["stalled_after_s"]]
        check(limits == [7, 1], f"{limits}")
        row = told["ranks"][0]
        check(row["in_flight"]["op"] in ("AllReduce", "Broadcast") and row["in_flight"]["age_s"] > 1, f"{row}")
        check(told["ranks"][3]["behind"] > 0 and told["ranks"][0]["behind"] == 0, f"{told['ranks']}")
        text = commtrace(running, "top", running.run, "--once", "--stall-after=1", "--sort=age").splitlines()
        check("3 stalled" in text[0] and text[1].split()[:4] == ["RANK", "HOST", "STATE", "AGE"], f"{text}")
        check(text[2].split()[2] == "stalled" and text[5].split()[:3][2] == "not_entered", f"{text}")
        check("commtrace hang" in text[-1], f"{text}")
        only = commtrace(running, "top", running.run, "--once", "--stall-after=1", "--filter=not_entered").splitlines()
        check(only[2].split()[0] == "3" and len(only) == 4, f"{only}")

        # a screen of its own
        shown = Terminal(running, 24, 120, "--stall-after=1")
        wait_for("the table", lambda: shown.has("stalled") and shown.has("not_entered"))
        shown.press("j\n")
        wait_for("communicators of a rank", lambda: shown.has("COMMUNICATOR"))
        shown.press("/not_entered\n")
        wait_for("the filter", lambda: shown.has("filter: not_entered"))
        shown.press("\x1b")
        shown.press(" ")
        wait_for("frozen", lambda: shown.has("frozen"))
        shown.press("sSrf")
        for rows, columns in ((3, 10), (1, 1), (2, 300), (60, 20), (24, 80)):
            shown.resize(rows, columns)
            shown.read(0.25)
            check(shown.process.poll() is None, f"ended at {rows} x {columns}")
        shown.press("q")
        shown.end()
        for ends, code in ((signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGHUP, 128 + signal.SIGHUP)):
            shown = Terminal(running, 5, 40)
            wait_for("the table", lambda: shown.has("RANK"))
            shown.end(ends, code)
        huge = Terminal(running, 60000, 60000)
        wait_for("the size", lambda: huge.has("60000 rows and 60000 columns is too large"))
        check(huge.process.wait(30) == 1, "no screen is a failure")
        shown = Terminal(running, 5, 40)
        wait_for("the table", lambda: shown.has("RANK"))
        shown.press("\x03")
        shown.end(code=128 + signal.SIGINT)
        running.process.terminate()
        running.process.wait(60)


def figures_of_a_whole_run():
    with job("--ranks=4", "--steps=200", "--step-ms=5") as running:
        running.wait()
        told = {rank["rank"]: rank for rank in report(running)["ranks"]}
        shown = json.loads(commtrace(running, "top", running.run, "--json"))
        check(shown["ended"] and len(shown["ranks"]) == 4, f"{shown}")
        for row in shown["ranks"]:
            rank, seconds = told[row["rank"]], row["ops"] / row["ops_per_s"]
            check(row["state"] == "ended" and row["ops"] == rank["ops"] and row["bytes"] == rank["bytes"], f"{row} {rank}")
            for ratio, ns in (("wait_ratio", "wait_ns"), ("exposed_ratio", "exposed_ns")):
                check(rank[ns] is not None, f"the job is long enough: {rank}")
                check(abs(row[ratio] * seconds * 1e9 - rank[ns]) <= 0.02 * rank[ns], f"{row} {rank}")
    run(BIN / "commtrace", "top", "/nonexistent", "--once", code=1)
    run(BIN / "commtrace", "top", code=2, env={k: v for k, v in os.environ.items() if k != "COMMTRACE_DIR"})
    run(BIN / "commtrace", "top", ".", "--sort=nothing", code=2)


if __name__ == "__main__":
    main([a_job_that_hangs, figures_of_a_whole_run])
    sys.exit(0)
