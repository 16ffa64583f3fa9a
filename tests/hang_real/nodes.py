#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nodes.py [PLAY...] — a job of two nodes, each with a `commtrace run --on-verdict` of its own: the one on the node of the rank that is named runs
the command, once; and a node that sees only its own ranks says so and accuses no rank of the other one. Both nodes are this machine, with
directories of their own for rings (COMMTRACE_HOST). And plays of one node that need no torch."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import judge
import watched

# Two ranks of four on each node; one does nothing for a long time after its first operation.
RANKS = """for rank in {ranks}; do
	pace=0; [ $rank != {idle} ] || pace=60000000
	RANK=$rank WORLD_SIZE=4 "{job}" --rank $rank --size 4 --store {store} --mode collectives --timeout-s 3600 --ops 5 --pace-us $pace &
	echo $! >{folder}/pid.$rank
done
for rank in {ranks}; do wait $(cat {folder}/pid.$rank) || status=1; done
exit ${{status:-0}}"""
# With what it says, so that a second one is seen.
ONCE = 'cat >"$EVENTS/$COMMTRACE_EVENT.$$.json"'


class Nodes:
    def __init__(self, folder, idle, shared=True, more=()):
        (folder / "store").mkdir(parents=True)
        self.all = []
        for k in (0, 1):
            script = RANKS.format(ranks=f"{2 * k} {2 * k + 1}", idle=idle, job=os.environ["CT_GLOO_JOB"], store=folder / "store", folder=folder)
            self.all.append(watched.Job(folder / f"node{k}", ["bash", "-c", script], ONCE, ["--job=pair", "--set", "HANG_AFTER=1s", *more],
                                        folder / "run" if shared else None, COMMTRACE_HOST=f"node{k}", COMMTRACE_QUIET="1"))

    def __enter__(self):
        return self.all

    def __exit__(self, *_):
        for job in self.all:
            job.kill()


def acts(folder, idle, node):
    """Only this node acts, once, and what it says is right. Until the other one may take over, the watcher here has to judge, too, which takes
    seconds on a busy machine."""
    with Nodes(folder, idle, more=["--takeover-after=20"]) as nodes:
        nodes[node].until(nodes[node].events, "judged")
        time.sleep(25)  # so that the other one would have taken over
        events = [list(job.events().values()) for job in nodes]
        assert len(events[node]) == 1 and not events[1 - node], events
        event = events[node][0]
        assert event["event"] == "hang" and event["hosts"] == [f"node{node}"], event
        assert event["hang"]["verdicts"][0]["ranks"] == [idle], event["hang"]["verdicts"]
        assert "ranks: what the others do" not in nodes[node].text(), nodes[node].text()
        assert len(list((folder / "run").glob("verdict-*.tar"))) == 1


def taken_over(folder):
    """The watcher on the node of the rank at fault is gone: the other one acts, once, when it has waited. It removes what a watcher that was
    killed long ago left, and leaves what one may be writing."""
    (folder / "run").mkdir(parents=True)
    for name, age in (("verdict-0-X-1-at-2.json.part.7.7", 3600), ("verdict-0-X-1-at-2.tar.part.7", 3600), ("verdict-0-X-1-at-3.tar.part.8", 0)):
        (folder / "run" / name).touch()
        os.utime(folder / "run" / name, (time.time() - age, time.time() - age))
    with Nodes(folder, 2, more=["--takeover-after=3"]) as nodes:
        nodes[1].until(lambda: all((folder / f"pid.{rank}").exists() for rank in range(4)), "started")
        watcher, = (int(word) for word in Path(f"/proc/{nodes[1].process.pid}/task/{nodes[1].process.pid}/children").read_text().split()
                    if Path(f"/proc/{word}/cmdline").read_bytes() == Path(f"/proc/{nodes[1].process.pid}/cmdline").read_bytes())
        os.kill(watcher, signal.SIGKILL)
        nodes[0].until(nodes[0].events, "judged")
        time.sleep(3)
        event, = nodes[0].events().values()
        assert event["event"] == "hang" and event["hang"]["verdicts"][0]["ranks"] == [2] and event["hosts"] == ["node1"], event
        assert "the host of the rank at fault has not acted" in nodes[0].text() and not nodes[1].events(), nodes[0].text()
        assert [path.name for path in (folder / "run").glob("*.part.*")] == ["verdict-0-X-1-at-3.tar.part.8"]


def on_the_first_node(folder):
    acts(folder, 1, 0)


def on_the_second_node(folder):
    acts(folder, 2, 1)


def of_its_own_ranks_alone(folder):
    """Without a directory that both see: while ranks of the other node may be at fault no rank is named. One that dies is, by its own node, which
    says what it cannot see."""
    with Nodes(folder, 2, shared=False) as nodes:
        for job in nodes:
            job.until(lambda job=job: subprocess.run([judge.COMMTRACE, "hang", job.run], env=job.environment, capture_output=True,
                                                     check=False).returncode == 3, "waiting")
        time.sleep(3)
        assert not nodes[0].events() and not nodes[1].events(), (nodes[0].events(), nodes[1].events())
        os.kill(int((folder / "pid.2").read_text()), signal.SIGSEGV)
        nodes[1].until(nodes[1].events, "judged")
        time.sleep(2)
        (event,) = nodes[1].events().values()
        assert event["event"] == "crash" and event["text"].startswith("Crash: rank 2 (node1) died: signal 11"), event["text"]
        assert not nodes[0].events(), nodes[0].events()
        assert "2 of 4 ranks: what the others do is unknown here" in nodes[1].text(), nodes[1].text()


def simulated(folder):
    """One launcher of all simulated GPUs on the first node, a rank of the second node is missing: the watcher there acts."""
    folder.mkdir(parents=True)
    job = [judge.BUILD / "bin" / "commtrace-simjob", "--ranks=4", "--nodes=2", "--node-env=COMMTRACE_HOST", "--steps=20", "--step-ms=5",
           "--give-up=600", "--fault=missing:rank=3,op=40"]
    options = ["--job=pair", "--set", "HANG_AFTER=1s", "--set", "TIMING=events"]
    first = watched.Job(folder / "node0", job, ONCE, options, folder / "run", COMMTRACE_HOST="node0")
    second = watched.Job(folder / "node1", ["sleep", "3600"], ONCE, options, folder / "run", COMMTRACE_HOST="node1")
    try:
        second.until(second.events, "judged")
        time.sleep(3)
        events = list(second.events().values())
        assert len(events) == 1 and not first.events(), (events, first.events())
        assert events[0]["hang"]["verdicts"][0]["ranks"] == [3] and events[0]["hosts"] == ["node1"], events[0]["hosts"]
    finally:
        first.kill()
        second.kill()


def worker_of(job, rank):
    """The simulated GPU's process."""
    mark = f"COMMTRACE_RING_DIR={job.folder}/rings".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0") and f",{rank}\0".encode() in (entry / "cmdline").read_bytes():
                return int(entry.name)
        except OSError:
            pass
    raise AssertionError(f"no process of rank {rank}")


def straggler(folder):
    """One of four simulated GPUs is much slower than a rank that waits for a core: an alert that names it, and no verdict. While the alert's
    command still runs, another rank stops, and that is reported."""
    job = watched.Job(folder, [judge.BUILD / "bin" / "commtrace-simjob", "--ranks=4", "--step-ms=20", "--steps=100000", "--give-up=600",
                       "--fault=slow-rank:rank=2,ms=200"], options=["--set", "TIMING=events", "--set", "HANG_AFTER=1s"])
    job.until(lambda: list(job.run.glob("*.seg")), "recorded")
    endless = watched.Endless()
    with open(folder / "watch", "w") as out:
        watch = subprocess.Popen(
            [judge.COMMTRACE, "watch", job.run, "--interval=1", "--alert-window=6", "--command-limit=600", "--on-alert",
             f"{watched.EVENT}; {endless.command}"],
            env=judge.clean_environment(EVENTS=str(folder / "events"), COMMTRACE_RING_DIR=str(folder / "rings")),
            stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    said = (folder / "watch").read_text
    try:
        job.until(lambda: "straggler" in job.events(), "judged", said)
        event = job.events()["straggler"]
        assert " straggler Straggler: rank 2 " in said() and event["ranks"] == [2], said()
        assert event["value"] > event["limit"] == 5, event
        os.kill(worker_of(job, 1), signal.SIGSTOP)
        job.until(lambda: " hang Hang: rank 1 " in said(), "reported beside the command", said)
        watch.terminate()
        assert watch.wait(judge.PATIENCE_S) == 3, said()
        left = endless.left()
        assert "--on-alert was killed: commtrace is to end" in said() and not left, f"{said()} left: {left}"
    finally:
        watch.kill()
        job.kill()


def asked_to_end(folder):
    """A scheduler asks `run` to end while the command outlives the job: both end at once, with the job's status."""
    (folder / "store").mkdir(parents=True)
    script = f"""for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 "{os.environ["CT_GLOO_JOB"]}" --rank $rank --size 2 --store {folder}/store --ops 5 --pace-us $((rank * 60000000)) &
	pids="$pids $!"
done
until [ -e {folder}/started ]; do sleep 0.1; done
kill -9 $pids; wait; touch {folder}/ended; exit 5"""
    endless = watched.Endless()
    job = watched.Job(folder / "job", ["bash", "-c", script], f"touch {folder}/started; {endless.command} & {endless.command}",
                      ["--set", "HANG_AFTER=1s", "--command-limit=600"])
    job.until((folder / "ended").exists, "ended")
    time.sleep(0.5)
    job.process.terminate()
    assert job.end() == 5, job.text()
    assert "Hang: rank 1 " in job.text() and "--on-verdict was killed: commtrace is to end" in job.text(), job.text()
    left = endless.left()
    assert not left, f"left: {left}"
    parts = [*job.run.glob("*part*"), *job.run.glob("*rings*")]
    assert not parts, f"left: {parts}"


def out_of_sight(folder):
    """A watcher that sees the rings and not the processes, as one on another host sees the files alone: a rank that others wait for may be at
    work, so it is not named before --busy-after."""
    job = watched.Job(folder, [judge.BUILD / "bin" / "commtrace-simjob", "--ranks=4", "--steps=20", "--step-ms=5", "--give-up=600",
                               "--fault=missing:rank=3,op=40"], options=["--set", "HANG_AFTER=1s", "--set", "TIMING=events"])
    try:
        job.until(lambda: list(job.run.glob("*.seg")), "recorded")
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", judge.COMMTRACE, "watch", job.run, "--interval=1", "--first",
                               "--busy-after=10"], env=job.environment, capture_output=True, text=True, timeout=judge.PATIENCE_S, check=False)
        waiting = re.search(r" hang Hang: rank 3 .* 3 ranks waiting ([0-9.]+) s", done.stdout)
        assert done.returncode == 3 and waiting and float(waiting.group(1)) >= 10, f"{done}"
    finally:
        job.kill()


def watch_files(job, *options):
    """commtrace watch that sees neither the processes nor the rings, as on a login node."""
    environment = {**job.environment, "COMMTRACE_RING_DIR": str(job.folder / "none"), "TMPDIR": str(job.folder / "none")}
    return subprocess.Popen(["unshare", "--pid", "--fork", "--mount-proc", judge.COMMTRACE, "watch", job.run, "--interval=1", *options],
                            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def on_a_login_node(folder):
    """It watches the files until the job has ended, and reports nothing of a healthy one."""
    job = watched.Job(folder, [judge.BUILD / "bin" / "commtrace-simjob", "--ranks=4", "--steps=500", "--step-ms=60"], options=["--set", "TIMING=events"])
    try:
        job.until(lambda: list(job.run.glob("*.seg")), "recorded")
        began = time.monotonic()
        watch = watch_files(job)
        assert job.end() == 0, job.text()
        assert watch.poll() is None and time.monotonic() - began > 20, f"it has ended before the job: {watch.communicate()[0]}"
        said = watch.communicate(timeout=judge.PATIENCE_S)[0].splitlines()
        assert watch.returncode == 0 and len(said) == 2, f"{watch.returncode}: {said}"
        assert "no process of the job is on this host: it is judged by its files" in said[0], said
        assert re.search(r" ended No hang: all 4 ranks exited cleanly", said[1]), said
    finally:
        job.kill()


def hang_on_a_login_node(folder):
    """It names the rank that others wait for after --busy-after; killed ranks write no more, so that it ends."""
    job = watched.Job(folder, [judge.BUILD / "bin" / "commtrace-simjob", "--ranks=4", "--steps=200", "--step-ms=60", "--give-up=600",
                               "--fault=missing:rank=3,op=400"], options=["--set", "TIMING=events"])
    try:
        job.until(lambda: list(job.run.glob("*.seg")), "recorded")
        watch = watch_files(job, "--busy-after=40", "--first")
        said = watch.communicate(timeout=judge.PATIENCE_S)[0]
        waiting = re.search(r" hang Hang: rank 3 .* 3 ranks waiting ([0-9.]+) s", said)
        assert watch.returncode == 3 and waiting and float(waiting.group(1)) >= 40, f"{watch.returncode}: {said}"
        watch = watch_files(job)
    finally:
        job.kill()
    assert "no process of the job" in watch.communicate(timeout=judge.PATIENCE_S)[0] and watch.returncode == 3


PLAYS = [on_the_first_node, on_the_second_node, taken_over, of_its_own_ranks_alone, simulated, straggler, asked_to_end]
if subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True, check=False).returncode == 0:
    PLAYS += [out_of_sight, on_a_login_node, hang_on_a_login_node]


def main():
    chosen = [play for play in PLAYS if play.__name__ in (sys.argv[1:] or [p.__name__ for p in PLAYS])]
    with tempfile.TemporaryDirectory(prefix="ct-nodes.") as name, ThreadPoolExecutor(len(PLAYS)) as pool:
        done = list(pool.map(lambda play: watched.perform(play.__name__, play, Path(name) / play.__name__), chosen))
    return not all(done)


if __name__ == "__main__":
    sys.exit(main())
