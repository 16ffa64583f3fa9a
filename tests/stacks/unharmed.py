#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unharmed.py [CASE...] [--gate] — what is looked at goes on as before: looked at again and again, by a program that is killed at random
moments, with 500 threads, stopped, replaced by another program, forking. Damaged cores and stacks give an answer, and none takes long.

With --gate, for tests/gates.sh: how long threads are paused."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import stage

STEADY = stage.BUILD / "tests" / "stacks" / "steady"
CROOKED = stage.BUILD / "tests" / "stacks" / "crooked"
STACK_JOB = stage.BUILD / "tests" / "interpose" / "stack_job"
LIMIT_NS = 10_000_000
draw = random.Random()


def steady(threads=0):
    return stage.job(STEADY, threads)


def ends_well(process):
    """It says whether it was disturbed, and all of its threads go on."""
    process.stdin.close()
    status = process.wait(timeout=stage.PATIENCE_S)
    process.stdin = None
    assert status == 0, f"disturbed: {status}"


def looked_at(_):
    with steady() as process:
        process.stdout.readline()
        for _ in range(10):
            seen, = stage.stacks(process.pid)
            assert not seen["error"] and len(seen["threads"]) == 7, seen
        reasons = [t["not_paused"] for t in seen["threads"] if t["not_paused"]]
        assert len(reasons) == 3 and all("EINTR" in reason for reason in reasons), reasons
        names = {name for t in seen["threads"] for name in stage.functions(t)}
        assert {"in_epoll", "in_recv", "in_sigwait", "asleep", "on_a_lock", "computes", "main"} <= names, names
        assert not any(t["cut"] for t in seen["threads"]), seen
        ends_well(process)


def killed(_):
    """Whenever the tool is killed, nothing stays stopped."""
    with steady(60) as process:
        process.stdout.readline()
        begin = time.monotonic()
        stage.stacks(process.pid)
        whole = time.monotonic() - begin
        for _ in range(25):
            tool = subprocess.Popen([stage.STACKS, str(process.pid)], stdout=subprocess.DEVNULL)
            time.sleep(draw.uniform(0, whole))
            tool.send_signal(signal.SIGKILL)
            tool.wait()
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            text = (task / "status").read_text()
            assert "TracerPid:\t0\n" in text and "(tracing stop)" not in text and "(stopped)" not in text, text
        ends_well(process)


def five_hundred(_):
    with steady(500) as process:
        process.stdout.readline()
        seen, = stage.stacks(process.pid)
        assert len(seen["threads"]) == 507 and sum("asleep" in stage.functions(t) for t in seen["threads"]) == 501, len(seen["threads"])
        said = subprocess.run([stage.COMMTRACE, "stacks", str(process.pid)], capture_output=True, text=True, check=True).stdout
        assert "more with this stack" in said and said.count("\n") < 120, said
        ends_well(process)


def stopped(_):
    """A process that a user has stopped stays stopped."""
    with steady() as process:
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        stage.until(lambda: stage.state(process.pid) == "T", "stopped")
        seen, = stage.stacks(process.pid)
        assert seen["threads"][0]["state"] == "stopped" and "main" in stage.functions(seen["threads"][0]), seen["threads"][0]
        assert stage.state(process.pid) == "T"
        process.send_signal(signal.SIGCONT)
        stage.until(lambda: stage.state(process.pid) != "T", "continued")


def changing(_):
    """Programs that are replaced, fork, and end while they are looked at."""
    loop = "import os, subprocess\nwhile True: subprocess.run(['/bin/true'])"
    with stage.job(stage.PYTHON, "-c", loop) as forks, \
            stage.job("bash", "-c", "f() { exec bash -c \"$(declare -f f); f\"; }; f") as replaces:
        for _ in range(8):
            for pid in (forks.pid, replaces.pid, draw.choice(children(forks.pid) or [forks.pid])):
                stage.stacks(pid)
        assert forks.poll() is None and replaces.poll() is None


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def refusals(_):
    """Each with its reason."""
    def error_of(target):
        process, = stage.stacks(target)
        assert not process["threads"], process
        return process["error"]

    assert error_of(4194304 + 7) == "there is no such process"
    with stage.job("sleep", "100") as process:
        process.kill()
        stage.until(lambda: stage.state(process.pid) == "Z", "dead")
        assert "zombie" in error_of(process.pid)
    with stage.job("strace", "-f", "-o", "/dev/null", STEADY) as process:
        process.stdout.readline()
        assert "(strace) traces it" in error_of(children(process.pid)[0])
    if os.geteuid() == 0:
        with stage.job(STEADY) as process:
            process.stdout.readline()
            os.chmod(stage.STACKS.parent, 0o755)
            done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", stage.STACKS, str(process.pid)],
                                  capture_output=True, check=False)
            if done.stdout:  # its folder may be closed to other users
                assert "another user" in json.loads(done.stdout)["processes"][0]["error"], done.stdout
    for path, why in (("/bin/true", "not a core"), ("/etc/passwd", "not a core"), ("/dev/null", "not a file"), ("/nowhere/core", "No such file")):
        assert why in error_of(path), (path, error_of(path))


def damaged(folder):
    """Cores that are cut off or have wrong bytes, anywhere: an answer, and soon."""
    whole = stage.core_of(folder, [STACK_JOB, "crashes"]).read_bytes()
    path = folder / "damaged"
    heads = whole.find(b"CORE\0\0\0")
    for i in range(200):
        data = bytearray(whole if i % 2 else whole[:draw.choice((draw.randrange(4096), draw.randrange(len(whole))))])
        for _ in range(draw.choice((0, 1, 30)) if i % 2 == 0 else 40):
            if data:
                data[draw.randrange(min(len(data), heads + 8192))] = draw.choice((0, 1, 0x7f, 0xff, draw.randrange(256)))
        path.write_bytes(data)
        stage.stacks(path)


def crooked(folder):
    """Stacks that were overwritten, that are endless, or that are not where stacks are; code that is none. What is known, and no more."""
    for way, wanted, cut in (("overwritten", ["waits", "overwrites"], True), ("deep", ["waits"] + 200 * ["recurses"], True),
                             ("aside", ["waits", "on_another_stack"], None)):
        with stage.job(CROOKED, way) as process:
            process.stdout.readline()
            stage.until(lambda: stage.functions(stage.stacks(process.pid)[0]["threads"][0])[1:2] == ["nanosleep"], "asleep")  # noqa: B023
            main, = stage.stacks(process.pid)[0]["threads"]
            assert stage.has_in_order(stage.functions(main), wanted), (way, stage.functions(main))
            assert cut is None or main["cut"] == cut, main
    path = stage.core_of(folder, [CROOKED, "nowhere"])
    first, = stage.stacks(path)[0]["threads"]
    assert first["frames"][0]["pc"] == 0 and stage.functions(first)[1:3] == ["goes_nowhere", "main"], first


CASES = [looked_at, killed, five_hundred, stopped, changing, refusals, damaged, crooked]


def gate():
    """Of a Python with threads and torch where there is one: the longest and the usual time that a thread is paused."""
    code = ("import threading, time\n"
            "def deep(n):\n    return deep(n - 1) if n else time.sleep(3600)\n"
            "[threading.Thread(target=deep, args=(60,), daemon=True).start() for _ in range(30)]\n"
            "print('ready', flush=True)\nwhile True: sum(range(1000))")
    with stage.job(stage.PYTHON, "-c", code) as process:
        process.stdout.readline()
        times = sorted(t["paused_ns"] for _ in range(20) for t in stage.stacks(process.pid)[0]["threads"] if t["paused_ns"])
    print(f"stops {len(times)}, median {times[len(times) // 2] / 1e6:.2f} ms, 99 % {times[len(times) * 99 // 100] / 1e6:.2f} ms")
    print(f"METRIC stacks.pause_ms {times[-1] / 1e6:.2f} {LIMIT_NS / 1e6:.0f}")


def main():
    if "--gate" in sys.argv:
        return gate()
    seed = int(os.environ.get("CT_SEED", time.time_ns() % 1000000))
    print("seed", seed, flush=True)
    draw.seed(seed)
    return stage.perform(CASES, sys.argv[1:], at_a_time=2)


if __name__ == "__main__":
    sys.exit(main())
