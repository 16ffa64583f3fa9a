# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: jobs, commtrace-stacks, gdb, and cores."""

import contextlib
import json
import os
import resource
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("CT_BUILD") or HERE.parents[1] / "build")
COMMTRACE = BUILD / "bin" / "commtrace"
STACKS = BUILD / "bin" / "commtrace-stacks"
PYTHON = "/usr/bin/python3"
PATIENCE_S = 60  # who waits in a test waits so long at most; nothing is right or wrong by its time


def until(true, what):
    limit = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < limit, f"not {what}"
        time.sleep(0.02)


@contextlib.contextmanager
def job(*command, **more):
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def stacks(*targets):
    """What commtrace-stacks says of them: a list of processes."""
    done = subprocess.run([STACKS, *map(str, targets)], capture_output=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
    return json.loads(done.stdout)["processes"]


def frames(thread, kind="native"):
    return [frame for frame in thread["frames"] if frame["kind"] == kind]


def functions(thread):
    return [frame["func"] for frame in frames(thread)]


def has_in_order(names, wanted):
    """One behind the other, perhaps with others between them."""
    rest = iter(names)
    return all(any(want == name for name in rest) for want in wanted)


def gdb(*arguments):
    done = subprocess.run(["gdb", "-nx", "-batch", *map(str, arguments), "-x", str(HERE / "gdb_frames.py")], capture_output=True,
                          text=True, check=False, timeout=PATIENCE_S)
    line = next((line for line in done.stdout.split("\n") if line.startswith("GDB_FRAMES ")), None)
    assert line, f"gdb: {done.stdout[-500:]} {done.stderr[-500:]}"
    return {int(tid): rows for tid, rows in json.loads(line[11:]).items()}


def perform(cases, arguments, at_a_time):
    """Each case, or those that are named: called with a folder of its own. The exit status."""
    chosen = [case for case in cases if not arguments or case.__name__ in arguments]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ct-stacks.") as name, ThreadPoolExecutor(at_a_time) as pool:
        folders = [Path(name) / case.__name__ for case in chosen]
        for folder in folders:
            folder.mkdir()
        for case, done in [(case, pool.submit(case, folder)) for case, folder in zip(chosen, folders)]:
            try:
                done.result()
                print("right", case.__name__, flush=True)
            except Exception as error:  # noqa: BLE001
                print("WRONG", case.__name__, type(error).__name__, error, flush=True)
                failed = 1
    return failed


def with_core():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def core_of(folder, command, **more):
    """Runs it in `folder` until it dies. The kernel's core, or gdb's where the kernel has it piped or put elsewhere."""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern == "core":
        subprocess.run([str(word) for word in command], cwd=folder, preexec_fn=with_core, check=False, timeout=PATIENCE_S,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
        found = [path for path in Path(folder).iterdir() if path.name.startswith("core")]
    else:
        path = Path(folder) / "core"
        subprocess.run(["gdb", "-nx", "-batch", "-ex", "run", "-ex", f"gcore {path}", "--args", *map(str, command)], cwd=folder,
                       check=False, timeout=PATIENCE_S, capture_output=True, **more)
        found = [path] if path.exists() else []
    assert found, "no core"
    return found[0]
