# SPDX-License-Identifier: Apache-2.0
"""Simulated jobs under the preload that are played until no one gets on any more, and then killed.

The truth is the fault that was planted, and the journal: counters of each rank's calls that the job itself keeps
(tools/sim/job/journal.h). Nothing here looks at what was recorded.
"""
import json
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import same_answer

LANES, LANE_BYTES, FIRST_LANE = 16, 64, 64
ENTRY_BYTES, LANE_ENTRIES, HEAD_BYTES = 16, 1 << 16, 4096
RANK_BYTES = HEAD_BYTES + LANES * LANE_ENTRIES * ENTRY_BYTES

# How long no one may have got on before a job counts as stuck: beyond COMMTRACE_HANG_AFTER, and, on a busy machine, beyond
# many times the longest pause of the job itself.
QUIET_S, PAUSES, QUIET_MOST_S = 2.5, 25, 15
# Ten times as late as its processes came to run is what `hang` asks for; the latest heartbeat may show more.
HELD_AGAINST = 12
LIMIT_S = 120


class Failed(Exception):
    """The job did not do what it was to do: nothing is known of the answer."""


def build_dir():
    here = os.path.dirname(os.path.abspath(__file__))
    return os.environ.get("CT_BUILD") or os.path.join(here, "..", "..", "build")


def program(name):
    return os.path.join(build_dir(), "bin", name)


class Journal:
    """How many calls each rank has entered and returned from, read while it runs."""

    def __init__(self, path, ranks):
        self.path, self.ranks, self.map = path, ranks, None

    def counts(self):
        """[(entered, returned) of each rank], None before all are there."""
        if self.map is None:
            try:
                with open(self.path, "rb") as f:
                    if os.fstat(f.fileno()).st_size < RANK_BYTES * self.ranks:
                        return None
                    self.map = mmap.mmap(f.fileno(), RANK_BYTES * self.ranks, prot=mmap.PROT_READ)
            except OSError:
                return None
        out = []
        for rank in range(self.ranks):
            entered = returned = 0
            for lane in range(LANES):
                e, r = struct.unpack_from("<QQ", self.map, rank * RANK_BYTES + FIRST_LANE + lane * LANE_BYTES)
                entered, returned = entered + e, returned + r
            out.append((entered, returned))
        return out


class Job:
    """One job. `with Job(...) as job: job.until_stuck(); job.kill("all"); job.run` is its run."""

    def __init__(self, ranks, options=(), faults=(), timing="events", hang_after="1s", on_death="wait", env=None,
                 preload_launcher=True):
        self.ranks = ranks
        self.dir = tempfile.mkdtemp(prefix="commtrace-hang.")
        shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else self.dir
        self.rings = tempfile.mkdtemp(prefix="commtrace-hang.", dir=shm)
        self.run = os.path.join(self.dir, "run")
        self.journal = Journal(os.path.join(self.dir, "journal"), ranks)
        self.command = [program("commtrace-simjob"), "--ranks", str(ranks), "--journal", self.journal.path,
                        "--result", os.path.join(self.dir, "result.json"), "--on-death", on_death, "--give-up", "100000"]
        self.command += list(options)
        for fault in faults:
            self.command += ["--fault", fault]
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("COMMTRACE", "SLURM_", "OMPI_", "PMI"))
                    and k not in ("LD_PRELOAD", "RANK", "WORLD_SIZE")}
        self.env.update(COMMTRACE_DIR=self.run, COMMTRACE_RING_DIR=self.rings, COMMTRACE_HANG_AFTER=hang_after,
                        COMMTRACE_TIMING=timing, COMMTRACE_BUDGET="off", COMMTRACE_RING_MB="1",
                        COMMTRACE_QUIET="1", LC_ALL="C")
        self.env.update(env or {})
        self.env["LD_PRELOAD"] = os.path.join(build_dir(), "lib", "libcommtrace.so")
        self.longest_pause_s = 0.0
        self.process = None

    def __enter__(self):
        with open(os.path.join(self.dir, "out"), "wb") as out, open(os.path.join(self.dir, "err"), "wb") as err:
            self.process = subprocess.Popen(self.command, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            start_new_session=True)
        return self

    def __exit__(self, *unused):
        self.kill("all")
        if os.environ.get("CT_KEEP"):
            print(f"kept: {self.dir} {self.rings}", flush=True)
            return
        shutil.rmtree(self.dir, ignore_errors=True)
        shutil.rmtree(self.rings, ignore_errors=True)

    def errors(self):
        with open(os.path.join(self.dir, "err"), errors="replace") as f:
            return f.read().strip()

    def workers(self):
        """Processes of the job that live, in the order of their ranks."""
        pids = []
        for task in os.listdir(f"/proc/{self.process.pid}/task") if self.process.poll() is None else []:
            try:
                with open(f"/proc/{self.process.pid}/task/{task}/children") as f:
                    pids += [int(p) for p in f.read().split()]
            except OSError:
                pass
        return sorted(pids)

    def is_over(self):
        return self.process.poll() is not None

    def until_steps(self, steps):
        """Until rank 0 has written so many steps."""
        limit = time.monotonic() + LIMIT_S
        while time.monotonic() < limit and not self.is_over():
            with open(os.path.join(self.dir, "out"), "rb") as f:
                if f.read().count(b"\n") >= steps:
                    return
            time.sleep(0.02)
        raise Failed(f"{steps} steps never came: {self.errors()}")

    def until_stuck(self, quiet_s=QUIET_S):
        """Until no one has entered or left a call for long, or the job has ended."""
        limit, since, before, overslept = time.monotonic() + LIMIT_S, time.monotonic(), None, 0.0
        while not self.is_over():
            now, counts = time.monotonic(), self.journal.counts()
            if now > limit:
                raise Failed("the job got on for too long")
            if counts != before:
                if before and sum(e for e, _ in before) > 0:
                    self.longest_pause_s = max(self.longest_pause_s, now - since)
                before, since = counts, now
            wanted = max(quiet_s, min(PAUSES * max(self.longest_pause_s, overslept), QUIET_MOST_S))
            if counts and any(e for e, _ in counts) and now - since > wanted:
                # what stood still for less than this says nothing on a host that let processes wait for a processor
                needed = min(HELD_AGAINST * self.late_s(), QUIET_MOST_S)
                if now - since > needed:
                    return
            time.sleep(0.05)
            overslept = max(overslept * 0.99, time.monotonic() - now - 0.05)

    def late_s(self):
        """How late of late its processes came to run, as they say themselves."""
        said = hang(self.run, env=self.env | {"LD_PRELOAD": ""})[1] if os.path.isdir(self.run) else None
        return (said["run"]["cpu_wait_ns"] or 0) / 1e9 if said else 0.0

    def all_have_recorded(self):
        """Whether something of every rank is there: who is killed before that has left nothing to be judged."""
        counts = self.journal.counts()
        return self.is_over() or bool(counts) and all(returned for _, returned in counts)

    def until_over(self):
        try:
            self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired as e:
            raise Failed("the job does not end") from e

    def kill(self, how, rng=random):
        """all: everything at once. launcher: it is asked to end, and ends the others. staggered: SIGTERM one after the other, then
        SIGKILL, the launcher last, as a scheduler does it. kills: SIGKILL one after the other."""
        pids = self.workers()
        if how == "launcher":
            self.signal(self.process.pid, signal.SIGTERM)
            self.until_over()
            return
        if how in ("staggered", "kills"):
            rng.shuffle(pids)
            for pid in pids:
                self.signal(pid, signal.SIGTERM if how == "staggered" else signal.SIGKILL)
                time.sleep(rng.uniform(0, 0.04))
            for pid in pids:
                self.signal(pid, signal.SIGKILL)
            self.signal(self.process.pid, signal.SIGTERM)
            self.until_over()
            return
        if not self.is_over():
            self.signal(self.process.pid, signal.SIGSTOP)
            pids = self.workers()
            self.signal(self.process.pid, signal.SIGKILL)
        for pid in pids:
            self.signal(pid, signal.SIGKILL)
        self.process.wait()
        limit = time.monotonic() + 20
        while any(self.lives(pid) for pid in pids) and time.monotonic() < limit:
            time.sleep(0.01)

    def suspend(self, seconds):
        """No one gets a processor for so long."""
        pids = self.workers()
        for pid in pids:
            self.signal(pid, signal.SIGSTOP)
        time.sleep(seconds)
        for pid in pids:
            self.signal(pid, signal.SIGCONT)

    @staticmethod
    def lives(pid):
        """No rank waits for the children of a launcher that was killed at once: a dead one may stay in the list."""
        try:
            with open(f"/proc/{pid}/stat") as f:
                words = f.read().rpartition(")")[2].split()
                # its first thread may be gone before the others
                return words[0] not in "ZX" or int(words[17]) > 1
        except OSError:
            return False

    def hang(self, *options):
        """What `commtrace hang` says of it now."""
        if not os.path.isdir(self.run):
            raise Failed(f"nothing was recorded: {self.errors()[-300:]}")
        return hang(self.run, *options, env=self.env | {"LD_PRELOAD": ""})

    @staticmethod
    def signal(pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass

    def pid_of(self, rank):
        with open(self.journal.path, "rb") as f:
            f.seek(rank * RANK_BYTES + 24)
            return struct.unpack("<i", f.read(4))[0]

    def drop(self, ranks):
        """Takes away what these ranks left: their segments and their rings."""
        pids = {self.pid_of(rank): rank for rank in ranks}
        gone = 0
        for folder in (self.run, self.rings):
            for base, _, names in os.walk(folder):
                for name in names:
                    words = name.replace("-", ".").replace("_", ".").split(".")
                    if any(str(pid) in words for pid in pids):
                        os.unlink(os.path.join(base, name))
                        gone += 1
        if gone < len(pids):
            raise Failed(f"only {gone} files of ranks {ranks} were found")


def hang(paths, *options, limit_s=120, env=None):
    """What `commtrace hang` says of a run: (exit code, parsed JSON, seconds, text of stderr)."""
    begin = time.monotonic()
    command = [program("commtrace"), "hang", *([paths] if isinstance(paths, str) else paths), "--format=json", *options]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s, env=env)
    except subprocess.TimeoutExpired as e:
        raise Failed(f"no answer in {limit_s} s") from e
    try:
        said = json.loads(done.stdout)
    except ValueError:
        said = None
    seconds = time.monotonic() - begin
    # of a job that goes on the report would be of a later moment
    if said and said["state"] != "running":
        try:
            same_answer.hold(program("commtrace"), paths, said, limit_s, env)
        except same_answer.Differ as e:
            raise Failed(f"hang and report differ: {e}") from e
    return done.returncode, said, seconds, done.stderr.decode(errors="replace")
