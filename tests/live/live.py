# SPDX-License-Identifier: Apache-2.0
"""What the tests of the live readers share: a job on simulated GPUs with a ring directory of its own, readers beside it."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(os.environ.get("CT_ROOT", pathlib.Path(__file__).resolve().parents[2]))
BIN = pathlib.Path(os.environ.get("CT_BUILD", ROOT / "build")) / "bin"


def check(is_right, what):
    if not is_right:
        raise AssertionError(what)


def wait_for(what, asked, seconds=60):
    """The first true answer. What takes longer never comes, also on a busy machine."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = asked()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError("did not come: " + what)


class Job:
    """A simulated job that is recorded into `run`."""

    def __init__(self, folder, *options, flush="500ms", **settings):
        self.run = folder / "run"
        self.rings = folder / "rings"
        self.rings.mkdir(exist_ok=True)
        self.log = open(folder / "job.log", "w+")
        self.env = dict(os.environ, COMMTRACE_RING_DIR=str(self.rings), COMMTRACE_FLUSH=flush, COMMTRACE_QUIET="1",
                        COMMTRACE_TIMING="events", COMMTRACE_BUDGET="off", **settings)
        self.readers = []  # to be killed with it
        self.process = subprocess.Popen(
            [BIN / "commtrace", "run", "-q", "-o", self.run, "--", BIN / "commtrace-simjob", *options],
            env=self.env, stdout=self.log, stderr=subprocess.STDOUT)

    def wait(self, code=0):
        got = self.process.wait(120)
        self.log.seek(0)
        check(got == code, f"the job ended with {got}:\n" + self.log.read()[-2000:])

    def kill(self):
        for reader in self.readers:
            reader.kill()
            reader.wait()
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        self.log.close()


@contextlib.contextmanager
def job(*options, **more):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ct-live-", dir=os.environ.get("TMPDIR", "/tmp")))
    running = Job(folder, *options, **more)
    try:
        yield running
    finally:
        running.kill()
        shutil.rmtree(folder, ignore_errors=True)


def run(*command, code=0, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **more)
    check(done.returncode == code, f"{command} ended with {done.returncode}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done


def commtrace(running, *words, code=0):
    return run(BIN / "commtrace", *words, code=code, env=running.env).stdout


def report(running):
    return json.loads(commtrace(running, "report", running.run, "--json"))


def main(tests):
    wanted = sys.argv[1:]
    for test in tests:
        if wanted and test.__name__ not in wanted:
            continue
        begin = time.monotonic()
        test()
        print(f"ok {test.__name__} {time.monotonic() - begin:.1f} s", flush=True)
