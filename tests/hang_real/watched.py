#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""watched.py [PLAY...] [--faults N --healthy N] — `commtrace run --on-verdict` beside jobs under torchrun and Open MPI that hang, crash,
recover or are healthy: what fires, for which rank, and what is left of it when all processes are killed 2 s after the verdict.

With --faults and --healthy, for tests/gates.sh: so many jobs that hang or crash and are killed, and so many healthy ones."""

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import judge
import mpi_hang

HERE = Path(__file__).resolve().parent
EVENT = 'cat >"$EVENTS/$COMMTRACE_EVENT.json"'
BLAMED = 1
STACKS = judge.BUILD / "bin" / "commtrace-stacks"


def free_port():
    return subprocess.run([sys.executable, judge.ROOT / "tools" / "free_port.py"], capture_output=True, text=True,
                          check=True).stdout.strip()


class Endless:
    """A command that no other one on the machine is like, of a test that runs at the same time."""
    numbers = itertools.count()

    def __init__(self):
        self.command = f"sleep 7654.{os.getpid():08}{next(self.numbers):02}"

    def left(self):
        """Those that still run."""
        return subprocess.run(["pgrep", "-f", self.command], capture_output=True, text=True, check=False).stdout


class Job:
    def __init__(self, folder, program, command=EVENT, options=(), run=None, **more):
        self.folder, self.run, self.said = Path(folder), Path(run or Path(folder) / "run"), Path(folder) / "said"
        for name in ("", "events", "rings"):
            (self.folder / name).mkdir()
        (self.folder / "termination").touch()
        self.environment = judge.clean_environment(
            EVENTS=str(self.folder / "events"), COMMTRACE_RING_DIR=str(self.folder / "rings"), COMMTRACE_BUDGET="off",
            OMP_NUM_THREADS="1", TORCHELASTIC_ERROR_FILE=str(self.folder / "error.json"), TMPDIR=str(self.folder),
            **mpi_hang.LAUNCHED, **more)
        with open(self.said, "w") as said:
            self.process = subprocess.Popen(
                [judge.COMMTRACE, "run", "-o", self.run, "--interval=1", f"--termination-log={self.folder}/termination",
                 *options, "--on-verdict", command, "--", *program],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True)

    def text(self):
        return self.said.read_text()

    def events(self):
        files = (self.folder / "events").glob("*.json")
        return {file.stem: json.loads(file.read_text()) for file in files if file.stat().st_size}

    def until(self, true, what, said=None):
        limit = time.monotonic() + judge.PATIENCE_S
        while not true():
            ended = self.process.poll() is not None and not true()
            assert not ended and time.monotonic() < limit, f"not {what}: {(said or self.text)()[-1500:]}"
            time.sleep(0.1)

    def end(self):
        self.process.wait(timeout=judge.PATIENCE_S)
        return self.process.returncode

    def kill(self):
        """As a scheduler that kills the cgroup: whatever has this job's rings in its environment, at once."""
        mark = f"COMMTRACE_RING_DIR={self.folder}/rings".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                pass
        self.process.wait()


def torchrun(play, folder):
    return [sys.executable, "-m", "torch.distributed.run", "-r", "1", "-t", "1", "--log_dir", folder / "log",
            "--nproc_per_node", "3", "--master_addr", "127.0.0.1", "--master_port", free_port(), "--monitor_interval", "0.5",
            HERE / "watched_job.py", play, folder]


def mpirun(play, folder):
    return ["mpirun.openmpi", "-x", "LD_PRELOAD", "-x", "COMMTRACE_DIR", "-x", "COMMTRACE_RING_DIR", "-n", "3",
            judge.BUILD / "tests" / "hang_real" / "mpi_plays.openmpi", play, folder]


def blames(event):
    first = event["hang"]["verdicts"][0]
    assert first["ranks"] == [BLAMED], f"blames {first['ranks']}: {first['text']}"
    assert first["confidence"] in ("medium", "high"), first["confidence"]
    return first


def check_bundle(job):
    """One whole tar, from which the same follows. Returns the names in it."""
    bundles = list(job.run.glob("verdict-*.tar"))
    assert len(bundles) == 1, f"bundles: {bundles}: {job.text()}"
    out = job.folder / "unpacked"
    with tarfile.open(bundles[0]) as tar:
        names = tar.getnames()
        tar.extractall(out)
    assert {"verdict.json", "verdict.txt", "environment.txt"} <= set(names), names
    blames(json.loads((out / "verdict.json").read_text()))
    again = subprocess.run([judge.COMMTRACE, "hang", "--json", out / "run"], capture_output=True, check=False,
                           env=judge.clean_environment(COMMTRACE_RING_DIR=str(job.folder / "none")))
    found = json.loads(again.stdout)
    # hang alone waits 30 s before it calls a running job stalled
    if found["state"] == "running" and not found["verdicts"]:
        assert again.returncode == 0 and found["not_stalled"], again
        assert BLAMED not in {op["rank"] for op in found["not_stalled"]}, again
    else:
        assert again.returncode == 3, again
        assert [verdict["ranks"] for verdict in found["verdicts"]] == [[BLAMED]], again.stdout
    return names


def check_stacks(job):
    """The rank at fault sleeps in its own code, and its stack says so; its threads paused for a moment."""
    out = job.folder / "unpacked"
    process, = json.loads((out / "stacks.json").read_text())["processes"]
    main, = (thread for thread in process["threads"] if thread["main"])
    frames = [(frame["func"], Path(frame["file"]).name) for frame in main["frames"] if frame["kind"] == "python"]
    assert process["rank"] == BLAMED and ("main", "watched_job.py") in frames, frames
    assert main["paused_ns"] and "main (" in (out / "stacks.txt").read_text(), main


def killed_after(job, kind, seconds=2):
    """Waits for the verdict on stderr, kills everything, and judges what is left."""
    job.until(lambda: "(confidence " in job.text(), "judged")
    time.sleep(seconds)
    job.kill()
    check_bundle(job)
    message = json.loads((job.folder / "error.json").read_text())["message"]
    assert message["extraInfo"]["timestamp"].isdigit() and f"rank {BLAMED} " in message["message"], message
    assert f"rank {BLAMED} " in (job.folder / "termination").read_text()
    event = job.events()[kind]
    assert event["event"] == kind and event["schema"] == "commtrace.event/1", event
    return blames(event)["code"]


def hang_torchrun(folder):
    """Its ranks have waited 360 times, so that less than the default of 30 s is a stall, if the machine is not busy."""
    job = Job(folder, torchrun("hang", folder), options=("--attach",))
    code = killed_after(job, "hang")
    if STACKS.exists():
        check_stacks(job)
    run = job.events()["hang"]["hang"]["run"]
    assert run["hang_after_ns"] == 30e9 and (run["stalled_after_ns"] < 30e9 or run["cpu_wait_ns"] > 5e8), run
    return code


def hang_mpirun(folder):
    return killed_after(Job(folder, mpirun("missing", folder), options=["--set", "HANG_AFTER=1s"]), "hang")


def crashed(job):
    assert job.end() not in (0, 125), job.text()
    assert "report.html" in check_bundle(job)
    return blames(job.events()["crash"])["code"]


def crash_torchrun(folder):
    return crashed(Job(folder, torchrun("crash", folder)))


def crash_mpirun(folder):
    return crashed(Job(folder, mpirun("segfault", folder)))


def recover(folder):
    job = Job(folder, torchrun("recover", folder))
    job.until(lambda: "hang" in job.events(), "judged")
    (folder / "go").touch()
    assert job.end() == 0, job.text()
    assert set(job.events()) == {"hang", "resolved"}, job.events().keys()
    assert not (folder / "error.json").exists(), "the reason was not taken back"
    assert not (folder / "termination").read_text(), "the reason was not taken back"


def healthy(folder):
    job = Job(folder, torchrun("healthy", folder))
    job.until(lambda: list(job.run.glob("*.seg")), "recorded")
    rules = subprocess.Popen([judge.COMMTRACE, "watch", job.run, "--interval=1", "--alert-window=5"], env=job.environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    code = job.end()
    rules.terminate()
    said = rules.communicate()[0]
    assert code == 0, job.text()
    # on a slow machine it may have seen the end
    assert not [line for line in said.splitlines() if " ended No hang: " not in line], said
    left = list(job.run.glob("verdict-*"))
    assert not job.events() and not left and not (folder / "error.json").exists(), f"{left} {job.text()}"


def compile_first(folder):
    """Before the first operation rank 1 sleeps until a program of its has ended, for longer than a stall."""
    job = Job(folder, torchrun("compile", folder), options=["--set", "HANG_AFTER=2s"])
    assert job.end() == 0, job.text()
    assert not job.events() and not list(job.run.glob("verdict-*")), job.text()


def command_hangs(folder):
    """The command is ended with what it started, and an error file that is there stays."""
    endless = Endless()
    job = Job(folder, torchrun("crash", folder), command=f"{endless.command} & {endless.command}", options=["--command-limit=1"])
    (folder / "error.json").write_text("its own")
    job.end()
    assert "was killed after 1 s" in job.text(), job.text()
    left = endless.left()
    assert not left, f"left: {left}"
    assert (folder / "error.json").read_text() == "its own"


def nowhere_to_write(folder):
    """The run is read-only when the verdict comes: that is said, the command runs, and the job goes on. Needs root."""
    job = Job(folder, torchrun("recover", folder))
    job.until(lambda: (folder / "pid.0").exists(), "started")
    subprocess.run(["mount", "--bind", job.run, job.run], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", job.run], check=True)
    try:
        job.until(lambda: "hang" in job.events(), "judged")
        assert "the verdict is not written" in job.text() and "no evidence bundle" in job.text(), job.text()
    finally:
        subprocess.run(["umount", "-l", job.run], check=True)
    (folder / "go").touch()
    assert job.end() == 0, job.text()


PLAYS = [hang_torchrun, hang_mpirun, crash_torchrun, crash_mpirun, recover, healthy, compile_first, command_hangs]


def perform(name, act, folder):
    try:
        print(f"right {name}: {act(folder) or ''}", flush=True)
        return True
    except (AssertionError, KeyError, OSError, subprocess.SubprocessError, tarfile.TarError) as error:
        print(f"wrong {name}: {type(error).__name__} {error}", flush=True)
        return False


def fault(i, folder):
    """Of the gate: each is killed 2 s after its verdict."""
    program, kind, more = [(torchrun("hang", folder), "hang", []),
                           (mpirun("missing", folder), "hang", ["--set", "HANG_AFTER=1s"]),
                           (torchrun("crash", folder), "crash", []), (mpirun("segfault", folder), "crash", [])][i % 4]
    return killed_after(Job(folder, program, options=more), kind)


def rounds(options, work):
    with ThreadPoolExecutor(options.at_a_time) as pool:
        faults = list(pool.map(lambda i: perform(f"fault {i}", lambda at: fault(i, at), work / f"fault{i}"),
                               range(options.faults)))
        quiet = list(pool.map(lambda i: perform(f"healthy {i}", healthy, work / f"healthy{i}"), range(options.healthy)))
    print(f"METRIC hang.verdict_right {sum(faults)} >={options.faults}")
    print(f"METRIC hang.verdict_healthy_fired {len(quiet) - sum(quiet)} 0")
    return all(faults + quiet)


def main():
    judge.with_torch()
    parser = argparse.ArgumentParser()
    parser.add_argument("plays", nargs="*")
    parser.add_argument("--faults", type=int, default=0)
    parser.add_argument("--healthy", type=int, default=0)
    parser.add_argument("--at-a-time", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ct-watched.") as name:
        work = Path(name)
        if options.faults or options.healthy:
            return not rounds(options, work)
        chosen = [play for play in [*PLAYS, nowhere_to_write]
                  if play.__name__ in (options.plays or [p.__name__ for p in PLAYS])]
        with ThreadPoolExecutor(4) as pool:
            done = list(pool.map(lambda play: perform(play.__name__, play, work / play.__name__), chosen))
    return not all(done)


if __name__ == "__main__":
    sys.exit(main())
