#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real jobs under libcommtrace, and whom the report blames.

    jobs.py [--only REGEX] [--all] [--rounds N] [--tries N] [--table]
    jobs.py --balanced N                                          N jobs in which no rank is slow: no rank is accused above low

Without --only and --all: the cases of PASSING, which are those registered as a test. The truth comes from the jobs: each rank
measures the time that it is away from its calls, and of it what it lost (mpi_jobs.c, gloo_pipeline.py); a busy machine is in
both. A rank is wrongly blamed if it is named with more than low confidence although it was away hardly longer than its
peers; that is never tried again. What a busy machine hides another try may show (--tries). Jobs on simulated GPUs and the examples
show no times: there only what was planted is true.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "hang_real"))
import judge  # noqa: E402  where the build is, and an environment without traces of other launchers
import mpi_hang  # noqa: E402  how the MPI libraries are started

BLAME = ("STRAGGLER", "STRAGGLER_HOST", "STRAGGLER_GROUP", "SLOW_STAGE", "PERIODIC_STALLS")
FINE = ("HEALTHY", "NOT_COMMUNICATION")
# A rank that was away longer than the median of the others by this share of the run is slow, planted or not.
REALLY_LATE = 0.01
TORCH = "/usr/bin/python3"

# ---- cases: name, kind of job, ranks, command, rule, and the ranks that the rule is about ----
# no one: no rank is blamed                          named: these ranks first, and no other one
# named_or_little: these, or no rank and not fine    unseen: no rank, and not fine             spared: these are not blamed
MPI = [  # name, ranks, arguments of the balanced job, what makes it slow, rule, ranks, flavours
    ("allreduce", 2, "--spin", "--slow 1", "named", [1], "openmpi mpich"),
    ("allreduce_4", 4, "", "--slow 2", "named", [2], "openmpi mpich"),
    ("nonblocking_sum", 2, "--spin", "--slow 1", "named_or_little", [1], "openmpi mpich"),
    ("nonblocking_ring", 2, "--spin", "--slow 1", "named_or_little", [1], "openmpi mpich"),
    ("nonblocking_sum_4", 4, "", "--slow 2", "named_or_little", [2], "openmpi mpich"),
    ("moving", 2, "--spin", "--slow 0", "unseen", [], "openmpi mpich"),
    ("moving_4", 4, "", "--slow 0", "unseen", [], "openmpi mpich"),
    ("wavefront", 4, "", "--slow 1", "named_or_little", [1], "openmpi mpich"),
    ("evaluation", 2, "--spin --steps 200", "--slow 1 --extra 12", "named_or_little", [1], "openmpi mpich"),
    ("evaluation_4", 4, "--steps 200", "--slow 1 --extra 12", "named_or_little", [1], "openmpi mpich"),
    ("threads", 2, "", "--slow 1", "named_or_little", [1], "openmpi"),
    ("bcast_leaf", 2, "--spin", "--slow 1", "named", [1], "openmpi mpich"),
    ("bcast_leaf_4", 4, "", "--slow 3", "named", [3], "openmpi mpich"),
    ("reduce_root", 2, "--spin", "--slow 0", "named", [0], "openmpi mpich"),
    ("reduce_root_4", 4, "", "--slow 0", "named", [0], "openmpi mpich"),
    ("windows", 2, "--spin", "--slow 1", "named", [1], "mpich"),
    ("windows_4", 4, "", "--slow 2", "named", [2], "mpich"),
    ("grid", 6, "", "--slow 2", "named", [2, 3], "openmpi mpich"),
    ("outside", 3, "", "--slow 2", "named_or_little", [2], "openmpi mpich"),
]
GLOO = [
    ("gloo_pipeline", 3, "", "--slow 1 --extra 8", "named_or_little", [1]),
    ("gloo_pipeline_not_last", 3, "", "--slow 1 --extra 8", "spared", [2]),
]
# A timing budget that leaves launches untimed; the stage computes twice as long.
SIM = [
    ("sim_pipeline", 4, "--workload megatron --tp 1 --pp 4 --dp 1 --steps 60 --step-ms 40", "--fault slow-rank:rank=1,pct=100",
     "named_or_little", [1]),
]


# The examples, in which no rank is slow: (name, kind, ranks, arguments). The line that rank 0 of the stencil writes in each step takes
# 0.3 ms here, less than a hundredth of these steps.
EXAMPLES = [(f"{flavour}.stencil{'_4' * (ranks == 4)}", flavour, ranks, ["stencil", "--steps", "60", "--rows", "2048", "--columns", "2048"])
            for flavour in ("openmpi", "mpich") for ranks in (2, 4)]
EXAMPLES += [(f"ddp{'_4' * (ranks == 4)}", "ddp", ranks, ["--steps", "60"]) for ranks in (2, 4)]


def cases():
    """{name: (kind, ranks, command, rule, ranks that it is about, what the folder is called)}"""
    table = {}
    for name, ranks, even, slow, rule, about, flavours in MPI:
        job = re.sub("_4$", "", name)
        for flavour in flavours.split():
            table[f"{flavour}.{name}.even"] = (flavour, ranks, [job, *even.split()], "nobody", [])
            table[f"{flavour}.{name}.slow"] = (flavour, ranks, [job, *even.split(), *slow.split()], rule, about)
    for name, ranks, even, slow, rule, about in GLOO:
        if name == "gloo_pipeline":
            table[f"{name}.even"] = ("gloo", ranks, even.split(), "nobody", [])
        table[f"{name}.slow"] = ("gloo", ranks, slow.split(), rule, about)
    for name, kind, ranks, arguments in EXAMPLES:
        table[f"{name}.even"] = (kind, ranks, arguments, "nobody", [])
    for name, ranks, even, slow, rule, about in SIM:
        table[f"{name}.even"] = ("sim", ranks, even.split(), "nobody", [])
        table[f"{name}.slow"] = ("sim", ranks, [*even.split(), *slow.split()], rule, about)
    return table


# Cases that hold; each is registered as a test, and so are the pipelines. The others run by name, or with --all.
PASSING = """
openmpi.allreduce_4.even openmpi.allreduce_4.slow mpich.allreduce.slow openmpi.wavefront.slow openmpi.bcast_leaf_4.slow
mpich.bcast_leaf_4.slow mpich.windows_4.slow openmpi.nonblocking_sum.slow openmpi.threads.slow openmpi.outside.slow
openmpi.reduce_root_4.slow openmpi.grid.slow openmpi.evaluation_4.slow mpich.moving_4.slow
"""


# ---- a job ----

def tells_times(kind, arguments):
    return kind not in ("sim", "ddp") and arguments[:1] != ["stencil"]


def torchrun(ranks, work, *program):
    port = subprocess.run([sys.executable, judge.ROOT / "tools" / "free_port.py"], capture_output=True, text=True, check=True)
    return [TORCH, "-m", "torch.distributed.run", "-r", "1", "-t", "1", "--log_dir", f"{work}/log", "--nproc_per_node",
            str(ranks), "--master_addr", "127.0.0.1", "--master_port", port.stdout.strip(), *program]


def command_of(kind, ranks, arguments, preload, work):
    if kind == "gloo":
        return torchrun(ranks, work, HERE / "gloo_pipeline.py", *arguments)
    if kind == "ddp":
        return torchrun(ranks, work, judge.ROOT / "examples" / "torch_ddp" / "train.py", *arguments)
    if kind == "sim":
        return [judge.BUILD / "bin" / "commtrace-simjob", "--ranks", str(ranks), *arguments]
    program = [judge.BUILD / "tests" / "accuracy" / f"mpi_jobs.{kind}", *arguments]
    if arguments[0] == "stencil":
        program = [judge.BUILD / "bin" / ("mpi_stencil" if kind == "openmpi" else f"mpi_stencil.{kind}"), *arguments[1:]]
    return [f"mpirun.{kind}", "-n", str(ranks), "env", f"LD_PRELOAD={preload}", *program]


def play(kind, ranks, arguments, work):
    """Runs a job. Returns its report, and what its ranks say: ({rank: seconds away}, {rank: seconds lost})."""
    preload = str(judge.LIBRARY) + (f":{judge.BUILD}/tests/mpi/mpi_yield.so" if kind == "mpich" else "")
    environment = judge.clean_environment(
        **mpi_hang.LAUNCHED, OMPI_MCA_orte_tmpdir_base=str(work), OMPI_MCA_osc="sm,pt2pt", COMMTRACE_DIR=f"{work}/run",
        COMMTRACE_QUIET="1", COMMTRACE_TIMING="events", COMMTRACE_BUDGET="0.05%" if kind == "sim" else "off", OMP_NUM_THREADS="1")
    if kind in ("gloo", "ddp", "sim"):
        environment["LD_PRELOAD"] = preload
    done = subprocess.run(command_of(kind, ranks, arguments, preload, work), env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=judge.PATIENCE_S, check=False)
    if done.returncode:
        raise RuntimeError(f"the job: exit {done.returncode}: {(done.stderr or done.stdout)[-600:]}")
    away, lost = {}, {}
    for line in done.stdout.splitlines():
        found = re.search(r"(away|lost) (\d+) ([0-9.]+)", line)
        if found:
            into = away if found[1] == "away" else lost
            into[int(found[2])] = into.get(int(found[2]), 0.0) + float(found[3])
    if tells_times(kind, arguments) and len(away) != ranks:
        raise RuntimeError(f"not every rank tells its times: {done.stdout[-600:]}")
    report = subprocess.run([judge.COMMTRACE, "report", "--format=json", f"{work}/run"], env=judge.clean_environment(),
                            capture_output=True, text=True, check=False)
    if report.returncode not in (0, 3):
        raise RuntimeError(f"report: exit {report.returncode}: {report.stderr[-600:]}")
    return json.loads(report.stdout), away, lost


# ---- judging ----

def really_late(away, seconds):
    """Ranks that were away longer than the others, by their own clock."""
    late = set()
    for rank, mine in away.items():
        others = statistics.median(t for r, t in away.items() if r != rank)
        if mine - others > REALLY_LATE * seconds:
            late.add(rank)
    return late


class Accusation(str):
    """What is wrong, and is not to be tried again."""


def wrong_with(report, away, lost, rule, about):
    """What is wrong with the report, "" if nothing."""
    code = report["verdict"]["code"]
    blamed = [f for f in report["findings"] if f["kind"] in BLAME]
    sure = {r for f in blamed if f["confidence"] != "low" for r in f["ranks"]}
    seconds = report["run"]["duration_ns"] / 1e9
    late = really_late(away, seconds) | ({r for r, s in lost.items() if s > 0} if rule != "unseen" else set())
    if not away:
        late = set(about)
    if rule == "spared":
        return Accusation(f"{sorted(sure & set(about))} is blamed") if sure & set(about) else ""
    if sure - late:
        return Accusation(f"{sorted(sure - late)} is blamed, and was not late: away {away}, lost {lost}")
    if rule in ("named", "named_or_little"):
        if code in FINE:
            return f"{code} although {about} was slow: lost {lost} of {seconds:.2f} s"
        if rule == "named_or_little" and not blamed:
            return ""
        if not blamed or not set(blamed[0]["ranks"]) <= late or not set(about) & set(blamed[0]["ranks"]):
            return f"{about} is not first: {[(f['kind'], f['ranks']) for f in blamed]}, {code}"
    if rule == "unseen" and code in FINE:
        return f"{code} although slowness moved: lost {lost} of {seconds:.2f} s"
    return ""


def tell(name, report, wrong, away, lost, table):
    if not table and not wrong:
        return
    said = [f"{f['kind']}{f['ranks']}:{f['confidence']} {f['time_lost_pct'] or 0:.1f}%"
            for f in report["findings"] if f["kind"] in BLAME]
    away = " ".join(f"{r}:{s:.2f}" for r, s in sorted(away.items()))
    lost = " ".join(f"{r}:{s:.2f}" for r, s in sorted(lost.items()) if s)
    seconds = report["run"]["duration_ns"] / 1e9
    print(f"{'FAIL' if wrong else 'ok  '} {name:34} {report['verdict']['code']} {' '.join(said)}   of {seconds:.2f} s "
          f"away {away}; lost {lost}   {wrong}", flush=True)


def perform(name, case, table, tries=1):
    """One job, or another one where the first is not clear; what is wrong with its report."""
    for _ in range(tries):
        wrong = perform_once(name, case, table)
        if not wrong or isinstance(wrong, Accusation):
            break
    return wrong


def perform_once(name, case, table):
    kind, ranks, arguments, rule, about = case
    work = tempfile.mkdtemp(prefix="ct-real-")
    try:
        report, away, lost = play(kind, ranks, arguments, work)
        wrong = wrong_with(report, away, lost, rule, about)
        tell(name, report, wrong, away, lost, table)
        return wrong
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        print(f"FAIL {name:34} {error}", flush=True)
        return str(error)
    finally:
        if os.environ.get("CT_KEEP"):
            print("kept:", work)
        else:
            shutil.rmtree(work, ignore_errors=True)


def possible(name):
    kind = cases()[name][0]
    return kind in ("gloo", "ddp", "sim") or (judge.BUILD / "tests" / "accuracy" / f"mpi_jobs.{kind}").exists()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="cases whose name this regular expression matches")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--tries", type=int, default=1)
    parser.add_argument("--balanced", type=int, metavar="N")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    table = {name: case for name, case in cases().items() if possible(name)}
    if args.balanced:
        even = [name for name in table if name.endswith(".even") and re.search(args.only or "", name)]
        accused = 0
        for number in range(args.balanced):
            name = even[number % len(even)]
            accused += bool(perform(f"{number + 1}. {name}", table[name], args.table))
        print(f"METRIC accuracy.real.balanced_accused {accused} 0")
        return accused != 0
    chosen = [n for n in table if (re.search(args.only, n) if args.only else args.all or n in PASSING.split())]
    if not chosen:
        parser.error("no such case")
    bad = 0
    for name in chosen:
        wrong = sum(bool(perform(name, table[name], args.table, args.tries)) for _ in range(args.rounds))
        bad += wrong != 0
        print(f"METRIC accuracy.real.{name} {wrong} 0", flush=True)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
