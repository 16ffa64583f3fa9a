#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mpi_hang.py [PLAY...] [--seed N] [--flavour F] — jobs on OpenMPI or MPICH that hang or crash, and are killed or end; `commtrace
hang` has to show who is to blame. Without names all of PLAYS: those of mpi_plays*.c, and examples/mpi_stencil with its faults."""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import judge

FLAVOUR = None  # openmpi or mpich
RANKS = 3
# How long a job is left alone after its last rank has marked; see stage.py.
AT_REST_S = 3.0

NOBODY = [[]]
CIRCLE = [[(code, [0, 1, 2])] for code in ("HOST_ORDER_DEADLOCK", "HOST_CALL_STALL", "UNKNOWN")]
CIRCLE += [[("UNKNOWN", [rank]) for rank in range(3)]]

# Name: what is true, who are the victims (None: not asked), and what is said besides.
PLAYS = {
    "missing": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "missing_then_killed": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "missing_at_the_end": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "missing_in_split": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "receive_without_send": ([[("P2P_UNMATCHED", [0, 1])]], [2]),
    "receive_from_a_sleeper": ([[("NEVER_ENTERED", [0])]], [1, 2]),
    "both_send_large": ([[("P2P_CYCLE", [0, 1])]], [2]),
    "both_send_small": (NOBODY, []),
    "another_tag": ([[("P2P_UNMATCHED", [0, 1])]], [2], ["another message"]),
    "another_operation": ([[("MISMATCH_OP", [1])]], None),
    "another_root": ([[("MISMATCH_ROOT", [1])]], None),
    "another_count": ([[("MISMATCH_COUNT", [1])]], None),
    "skipped": ([[("SKIPPED_OP", [1])], [("MISMATCH_OP", [1])]], None),
    "order_of_two_communicators": ([[("HOST_ORDER_DEADLOCK", [0, 1, 2])]], []),
    "pairs_in_a_circle": (CIRCLE, []),
    "segfault": ([[("DEAD_RANK", [1])]], None),
    "aborted": ([[("DEAD_RANK", [1])], [("EXITED_RANK", [1])]], None),
    "exited": ([[("EXITED_RANK", [1])]], None),
    "missing_in_fence": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "lock_that_is_kept": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "persistent_without_partner": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "one_of_several": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "circle_without_one": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "ring_of_requests": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "probe_of_a_sleeper": ([[("NEVER_ENTERED", [0])]], [1, 2]),
    # Whose message it probes for is not on record.
    "probe_without_send": ([[("UNKNOWN", [1])]], [0, 2], ["MPI_Probe"]),
    # Who else has to come stands in no record: no rank is blamed.
    "missing_in_intercomm": ([[("UNKNOWN", [0, 1])]], []),
    "missing_in_group": ([[("UNKNOWN", [0])]], []),
    "leaves_early": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "threads": ([[("NEVER_ENTERED", [1])]], [0, 2]),
    "asked": (NOBODY, []),
    # It is not enough to report that the job was ended from outside: which rank was killed, or that too little is known.
    "killed": ([[("DEAD_RANK", [1])], []], None, ['"state": "killed"']),
    "slow": (NOBODY, []),
    # Rank 2 waits for 1 and 3 in one MPI_Waitall, and what 3 sent has come: only 1 is missing.
    "stencil_hangs": ([[("NEVER_ENTERED", [1])]], [0, 2, 3]),
    "stencil_mismatch": ([[("MISMATCH_OP", [1])]], None),
    # The rank that left its residual out goes on to the next step's messages, where its neighbours are not: of one, or both.
    "stencil_skips": ([[("P2P_UNMATCHED", [0, 1, 2])], [("P2P_UNMATCHED", [0, 1])], [("P2P_UNMATCHED", [1, 2])],
                       [("HOST_ORDER_DEADLOCK", [0, 1, 2])], [("SKIPPED_OP", [1])], [("NEVER_ENTERED", [1])]], None),
}
STENCIL = {
    "stencil_hangs": ["--hang-rank", "1", "--hang-step", "3"],
    "stencil_mismatch": ["--mismatch-rank", "1", "--mismatch-step", "3", "--steps", "6"],
    "stencil_skips": ["--skip-rank", "1", "--steps", "8"],
}
SIZES = {"stencil_hangs": 4}
# These end by themselves, or by their launcher.
ENDS = ("segfault", "aborted", "exited", "another_count")

# Debian's Open MPI has no windows without a network.
MPICH_ONLY = ("missing_in_fence", "lock_that_is_kept")
# Of these jobs only rank 1 is ended, and the launcher does the rest.
TO_RANK_1 = {"asked": signal.SIGTERM, "missing_then_killed": signal.SIGKILL, "killed": signal.SIGKILL}
# Open MPI takes up to a second to end the others of a rank that is gone, and that would be a stall of 1 s.
HEALTHY = ("asked", "killed")

# As in ../mpi/mpi.sh: as root, with more ranks than cores, without a network.
LAUNCHED = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_plm_rsh_agent": "false", "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl_base_warn_component_unused": "0",
    "OMPI_MCA_orte_base_help_aggregate": "0", "OMPI_MCA_mpi_yield_when_idle": "1", "HYDRA_LAUNCHER": "fork",
}


def program(name, folder):
    if name in STENCIL:
        suffix = "" if FLAVOUR == "openmpi" else ".mpich"
        return [judge.BUILD / "bin" / f"mpi_stencil{suffix}", *STENCIL[name]]
    return [judge.BUILD / "tests" / "hang_real" / f"mpi_plays.{FLAVOUR}", name, folder]


class Job:
    def __init__(self, name, work, rings, launcher_traced):
        self.name, self.folder, self.rings = name, Path(work) / name, rings
        self.size = SIZES.get(name, RANKS)
        self.folder.mkdir()
        self.run = self.folder / "run"
        yielding = f":{judge.BUILD}/tests/mpi/mpi_yield.so" if FLAVOUR == "mpich" else ""
        preload = f"{judge.LIBRARY}{yielding}"
        environment = judge.clean_environment(
            **LAUNCHED, OMPI_MCA_orte_tmpdir_base=str(work), COMMTRACE_DIR=str(self.run), COMMTRACE_RING_DIR=rings,
            COMMTRACE_QUIET="1", COMMTRACE_HANG_AFTER="30s" if name in HEALTHY else "1s", COMMTRACE_BUDGET="off")
        if launcher_traced:
            environment["LD_PRELOAD"] = preload
        self.out = open(self.folder / "out", "w+")
        self.launcher = subprocess.Popen(
            [f"mpirun.{FLAVOUR}", "-n", str(self.size), "env", f"LD_PRELOAD={preload}", "sh", "-c",
             'echo $$ >"$0/pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"; exec "$@"', self.folder, *program(name, self.folder)],
            env=environment, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.out)

    def rests(self):
        if self.launcher.poll() is not None:
            return True
        if self.name in STENCIL:  # knows nothing of marks; its steps take microseconds
            started = [file.stat().st_mtime for file in self.folder.glob("pid.*")]
            return len(started) == self.size and time.time() > max(started) + 2
        return len(list(self.folder.glob("at.*"))) == self.size

    def wait(self):
        limit = time.monotonic() + judge.PATIENCE_S
        while not self.rests():
            assert time.monotonic() < limit, f"does not come to rest: {(self.folder / 'out').read_text()[-600:]}"
            time.sleep(0.05)
        if self.launcher.poll() is None:
            time.sleep(AT_REST_S)

    def pids(self):
        return [int(file.read_text()) for file in self.folder.glob("pid.*") if file.read_text().strip()]

    def kill(self, manner):
        """"at once": SIGKILL to all ranks; "launcher": SIGTERM to the launcher, which ends them in its own way; "orphans": SIGTERM to the
        launcher and SIGKILL before it has ended them, so that they see that it is gone; a number: that signal to rank 1 alone."""
        if self.launcher.poll() is None:
            if isinstance(manner, int):
                os.kill(int((self.folder / "pid.1").read_text()), manner)
            elif manner == "launcher":
                self.launcher.send_signal(signal.SIGTERM)
            elif manner == "orphans":
                self.launcher.send_signal(signal.SIGTERM)
                self.launcher.kill()
                self.launcher.wait()
                for pid in self.pids():
                    wait_for_end(pid)
            else:
                for pid in self.pids():
                    kill(pid)
        try:
            self.launcher.wait(20)
        except subprocess.TimeoutExpired:
            self.launcher.kill()
            self.launcher.wait()
        for pid in self.pids():
            if is_ours(pid, self.folder):
                kill(pid)
            wait_for_end(pid)
        self.out.close()


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def is_ours(pid, folder):
    """A number that has come again would be someone else's."""
    try:
        return str(folder).encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def wait_for_end(pid):
    """Whom its launcher has killed and not waited for may take a while. A number that has come again only costs time."""
    limit = time.monotonic() + 30
    while time.monotonic() < limit:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return
        except OSError:
            return
        time.sleep(0.01)


def told(job, when, truth, victims, says):
    try:
        def ask():
            return judge.ask(job.run, rings=job.rings)

        if when == "live":
            answer, (verdict, why) = judge.watch(ask, truth)
        else:
            answer = ask()
            verdict, why = judge.judge(answer, truth, says, victims)
    except AssertionError as error:
        answer, verdict, why = None, "wrong", str(error)
    print(f"{verdict:6}{when:10} {FLAVOUR} {job.name:30}{answer if verdict == 'right' else f'{answer} {why}'}", flush=True)
    return verdict


def play(name, work, rings, options):
    truth, victims, *says = PLAYS[name]
    says = says[0] if says else ()
    # Who ends by a signal leaves no word of it: its launcher only sees it, and ends the others.
    job = Job(name, work, rings, name == "segfault" or random.random() < 0.5)
    manner = TO_RANK_1.get(name) or options.manner or random.choice(["at once", "launcher", "orphans"])
    verdicts = []
    try:
        job.wait()
        if name not in ENDS:
            verdicts.append(told(job, "live", truth, None, says))
    finally:
        job.kill(manner)
    verdicts.append(told(job, "ended" if name in ENDS else str(manner), truth, victims, says))
    return verdicts


def main():
    global FLAVOUR
    parser = argparse.ArgumentParser()
    parser.add_argument("plays", nargs="*")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("CT_SEED", time.time_ns() % 1000000)))
    parser.add_argument("--flavour", choices=["openmpi", "mpich"], default=os.environ.get("CT_MPI", "openmpi"))
    parser.add_argument("--manner", choices=["at once", "launcher", "orphans"], help="how jobs are ended (drawn)")
    options = parser.parse_args()
    FLAVOUR = options.flavour
    random.seed(options.seed)
    print("seed", options.seed, flush=True)
    work = tempfile.mkdtemp(prefix="commtrace-mpi.")
    rings = tempfile.mkdtemp(prefix="commtrace-mpi.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    verdicts = []
    try:
        for name in options.plays or [name for name in PLAYS if FLAVOUR == "mpich" or name not in MPICH_ONLY]:
            verdicts += play(name, work, rings, options)
    finally:
        if os.environ.get("CT_KEEP"):
            print("kept:", work, rings)
        else:
            shutil.rmtree(work, ignore_errors=True)
            shutil.rmtree(rings, ignore_errors=True)
    count = {verdict: verdicts.count(verdict) for verdict in ("right", "weak", "wrong")}
    print(", ".join(f"{n} {verdict}" for verdict, n in count.items()))
    if not options.plays:
        # Of a rank that a launcher without the tracer ended at once nothing may be left to show by.
        print(f"METRIC hang.{FLAVOUR}_right_pct {100 * count['right'] / len(verdicts):.1f} >=90")
        print(f"METRIC hang.{FLAVOUR}_wrong {count['wrong']} 0")
        return count["wrong"] != 0  # whether enough is right, the figure shows
    return count["right"] != len(verdicts)


if __name__ == "__main__":
    sys.exit(main())
