# SPDX-License-Identifier: Apache-2.0
"""Jobs over torch's Gloo backend that come to a stop, and what is true of each.

Each play is what one rank does, a function of a Part. `truth` is for judge.py. A rank marks that it is about to do the
last thing that it will do (Part.mark), or ends."""

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

PLAYS = {}


class Play:
    def __init__(self, act, truth, size, victims, says, executed, live):
        self.act, self.name = act, act.__name__
        self.truth, self.size, self.victims, self.says = truth, size, victims, says
        self.executed = executed  # its ranks are programs of their own: nothing lies at the same address
        self.live = live  # what is true while it runs, where that is something else


def play(*truth, size=4, victims=None, says=(), executed=False, live=None):
    """truth: ways, each a list of (code, ranks). No way at all: no rank is to blame."""

    def add(act):
        PLAYS[act.__name__] = Play(act, list(truth) or [[]], size, victims, says, executed, live)
        return act

    return add


class Part:
    """One rank of a play."""

    def __init__(self, name, rank, folder):
        global torch, dist
        import torch
        import torch.distributed as dist

        self.rank, self.size, self.folder = rank, PLAYS[name].size, Path(folder)
        self.name = name

    def run(self):
        torch.set_num_threads(1)
        PLAYS[self.name].act(self)

    def begin(self):
        dist.init_process_group("gloo", init_method=f"file://{self.folder}/store", rank=self.rank,
                                world_size=self.size, timeout=timedelta(hours=1))
        for _ in range(3):
            self.sum()

    def sum(self, count=16, group=None):
        dist.all_reduce(torch.ones(count), group=group)

    def mark(self):
        (self.folder / f"at.{self.rank}").touch()

    def rest(self):
        self.mark()
        while True:
            time.sleep(3600)

    def last(self, call, *arguments, **options):
        """The call that does not come back, or fails; then nothing more happens here."""
        self.mark()
        try:
            call(*arguments, **options)
        except RuntimeError:
            pass
        self.rest()


# ---- someone does not come ----------------------------------------------------------------------------------------


@play([("NEVER_ENTERED", [2])], victims=[0, 1, 3])
def missing(p):
    p.begin()
    if p.rank == 2:
        p.rest()
    p.last(p.sum)


@play([("NEVER_ENTERED", [2]), ("NEVER_ENTERED", [3])], [("NEVER_ENTERED", [2, 3])], victims=[0, 1])
def two_missing(p):
    p.begin()
    if p.rank >= 2:
        p.rest()
    p.last(p.sum)


@play([("NEVER_ENTERED", [0])], victims=[1, 2], size=3)
def missing_where_others_run_ahead(p):
    """Rank 0 is the root of nothing here, and 1 and 2 have asked for three operations more."""
    p.begin()
    if p.rank == 0:
        p.rest()
    works = [dist.all_reduce(torch.ones(8), async_op=True) for _ in range(3)]
    p.last(works[0].wait)


@play([("NEVER_ENTERED", [1])], victims=[0, 2, 3])
def cascade(p):
    """Rows and columns: 0 waits for 1 in its row, 2 for 0 and 3 for 1 in their columns."""
    p.begin()
    groups = {members: dist.new_group(members) for members in [(0, 1), (2, 3), (0, 2), (1, 3)]}
    for members, group in groups.items():
        if p.rank in members:
            p.sum(group=group)
    if p.rank == 1:
        p.rest()
    members = {0: (0, 1), 2: (0, 2), 3: (1, 3)}[p.rank]
    p.last(p.sum, group=groups[members])


@play([("NEVER_ENTERED", [3])], victims=[0, 1, 2])
def second_group_without_one(p):
    """Every rank makes another communicator, and rank 3 does not."""
    p.begin()
    if p.rank == 3:
        p.rest()
    p.last(dist.new_group)


@play([("NO_TRACE", [3])], [("NEVER_ENTERED", [3])])
def first_group_without_one(p):
    """Rank 3 never calls Gloo, and so there is nothing of it."""
    if p.rank == 3:
        p.rest()
    p.mark()
    p.begin()


@play([("HOST_ORDER_DEADLOCK", [0, 1, 2, 3])], [("NEVER_ENTERED", [2])], [("MISMATCH_OP", [2])])
def group_instead_of_sum(p):
    """Rank 2 makes a communicator where the others reduce."""
    p.begin()
    if p.rank == 2:
        p.last(dist.new_group)
    p.last(p.sum)


# ---- someone is no more -------------------------------------------------------------------------------------------


@play([("DEAD_RANK", [1])], victims=[0, 2, 3])
def dead(p):
    """Gloo reports it to the others, which stay."""
    p.begin()
    if p.rank == 1:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    p.last(p.sum)


@play([("NEVER_ENTERED", [1])])
def missing_then_killed(p):
    """Someone kills the rank that all wait for, when they have waited for long."""
    p.begin()
    if p.rank == 1:
        time.sleep(8)  # of a job that runs less than 5 s is no stall
        subprocess.run(["kill", "-9", str(os.getpid())], check=False)
    p.last(p.sum)


@play([("DEAD_RANK", [1])])
def dead_and_nobody_stays(p):
    """Gloo reports it to the others, which end by the exception."""
    p.begin()
    if p.rank == 1:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGSEGV)
    p.sum()


@play([("EXITED_RANK", [3])], victims=[0, 1, 2])
def exited(p):
    """Uneven inputs: rank 3 has one batch less, and is done."""
    p.begin()
    if p.rank == 3:
        time.sleep(0.2)
        sys.exit(0)
    p.last(p.sum)


@play([("EXITED_RANK", [3])], victims=[0, 1, 2], says=("exit status 0 by _exit", "find out what ended rank 3"))
def exited_at_once(p):
    p.begin()
    if p.rank == 3:
        time.sleep(0.2)
        os._exit(0)
    p.last(p.sum)


@play([("EXITED_RANK", [3])], victims=[0, 1, 2])
def fewer_steps(p):
    """Rank 3 has a batch less, takes leave, and exits cleanly; Gloo reports it to the others, which have died of it before that."""
    p.begin()
    if p.rank == 3:
        dist.destroy_process_group()
        time.sleep(1)
        sys.exit(0)
    p.sum()


@play([("DEAD_RANK", [3]), ("NEVER_ENTERED", [1])])
def two_hangs(p):
    """Two pairs of which neither knows of the other."""
    p.begin()
    pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    p.sum(group=pairs[p.rank // 2])
    if p.rank == 1:
        p.rest()
    if p.rank == 3:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    p.last(p.sum, group=pairs[p.rank // 2])


# ---- someone does something else ----------------------------------------------------------------------------------


@play([("MISMATCH_OP", [2])], victims=[0, 1, 3])
def another_operation(p):
    p.begin()
    p.last(dist.barrier if p.rank == 2 else p.sum)


@play([("MISMATCH_COUNT", [2])])
def another_count(p):
    """Gloo ends the process that gets more than it asked for: a victim is dead, and the guilty lives."""
    p.begin()
    p.last(p.sum, 4000 if p.rank == 2 else 16)


@play([("MISMATCH_ROOT", [3])])
def another_root(p):
    p.begin()
    p.mark()
    dist.broadcast(torch.ones(1 << 20), 3 if p.rank == 3 else 0)
    p.last(dist.barrier)


# No one has called anything after the operation in which all of them hang: what follows there is not known to anyone.
@play([("SKIPPED_OP", [1])], [("MISMATCH_OP", [1])], victims=[0, 2, 3])
def skipped(p):
    p.begin()
    for step in range(3):
        dist.broadcast(torch.ones(8), 0)
        if p.rank != 1 or step < 1:
            if step == 1:
                p.mark()
            p.sum()
        elif step == 1:
            p.mark()
        dist.all_gather([torch.ones(4) for _ in range(p.size)], torch.ones(4))
    p.rest()


@play([("EXTRA_OP", [0])], [("MISMATCH_OP", [0])], victims=[1, 2, 3])
def extra(p):
    p.begin()
    for step in range(3):
        dist.broadcast(torch.ones(8), 0)
        if step == 1:
            p.mark()
            if p.rank == 0:
                dist.barrier()
        p.sum()
        dist.all_gather([torch.ones(4) for _ in range(p.size)], torch.ones(4))
    p.rest()


@play([("MISMATCH_OP", [3])], victims=[0, 1, 2], says=("either rank 3 skipped AllReduce, or it called Broadcast once too often",))
def skipped_where_two_alternate(p):
    """Rank 3 is the root, and does not wait for the others: it comes one operation further than they do."""
    p.begin()
    for step in range(4):
        if step == 2:
            p.mark()
        if p.rank != 3 or step != 2:
            p.sum()
        dist.broadcast(torch.ones(8), 3)
    p.rest()


@play([("HOST_ORDER_DEADLOCK", [0, 1])], victims=[], size=2)
def order_of_two_groups(p):
    p.begin()
    groups = [dist.new_group([0, 1]), dist.new_group([0, 1])]
    for group in groups:
        p.sum(group=group)
    p.last(p.sum, group=groups[p.rank])


@play([("HOST_ORDER_DEADLOCK", [0, 1])], victims=[2, 3])
def order_of_two_groups_and_a_world_that_waits(p):
    p.begin()
    groups = [dist.new_group([0, 1]), dist.new_group([0, 1])]
    if p.rank < 2:
        p.last(p.sum, group=groups[p.rank])
    p.last(p.sum)


# ---- messages ------------------------------------------------------------------------------------------------------


@play([("P2P_UNMATCHED", [0, 1])], victims=[2, 3])
def receive_without_send(p):
    """Rank 0 went on to a collective of all without having sent."""
    p.begin()
    if p.rank == 1:
        p.last(dist.recv, torch.ones(8), 0)
    time.sleep(0.3)  # what was waited for first is what is reported
    p.last(p.sum)


@play([("NEVER_ENTERED", [0])], victims=[1], size=2)
def receive_from_a_sleeper(p):
    p.begin()
    if p.rank == 0:
        p.rest()
    p.last(dist.recv, torch.ones(8), 0)


@play([("P2P_CYCLE", [0, 1])], size=2, victims=[])
def both_send_first(p):
    p.begin()
    p.last(dist.send, torch.ones(1 << 20), 1 - p.rank)


@play([("P2P_UNMATCHED", [0, 1, 2])], [("P2P_CYCLE", [0, 1, 2])], size=3, victims=[])
def all_receive_first(p):
    p.begin()
    p.last(dist.recv, torch.ones(8), (p.rank + 1) % 3)


# ---- what has happened to others -----------------------------------------------------------------------------------


def save_checkpoint(p):
    dist.barrier()


def finalize(p):
    dist.barrier()


@play([("EXTRA_OP", [0])], [("NEVER_ENTERED", [1, 2])], [("NEVER_ENTERED", [1]), ("NEVER_ENTERED", [2])], size=3,
      says=("save_checkpoint", "finalize"), executed=True)
def barrier_of_rank_0_only(p):
    """Hidden by pairing: rank 0's barrier of the checkpoint meets the others' barrier at the end, and rank 0 is alone in its
    own. What is reported has to lead to the operation before the one that hangs."""
    p.begin()
    if p.rank == 0:
        save_checkpoint(p)
    p.mark()
    finalize(p)
    p.rest()


@play([("MISMATCH_OP", [3])], [("EXITED_RANK", [3])])
def uneven_inputs(p):
    """Rank 3 has a batch less, leaves the loop and waits for the others at its end."""
    p.begin()
    for batch in range(4 if p.rank == 3 else 5):
        if batch == 4:
            p.mark()
        p.sum(1000)
    p.mark()
    dist.barrier()
    p.rest()


def generate(p, tokens):
    for _ in range(tokens):
        dist.all_gather([torch.ones(64) for _ in range(p.size)], torch.ones(64))


def teacher_forward(p):
    p.mark()
    dist.broadcast(torch.ones(1 << 20), 0)


@play([("MISMATCH_OP", [2])], says=("generate", "teacher_forward"))
def one_leaves_generation(p):
    p.begin()
    generate(p, 3)
    if p.rank != 2:
        p.mark()
        generate(p, 2)
    teacher_forward(p)
    p.rest()


@play(live=[[("NEVER_ENTERED", [0])]])
def rank_0_works_alone(p):
    """It takes its time and does arrive: a look meanwhile reports who is awaited, a later one nothing."""
    p.begin()
    p.mark()
    if p.rank == 0:
        a = torch.rand(64, 64)
        while not (p.folder / "looked").exists():
            torch.linalg.eigvals(a)
    p.sum()
    (p.folder / f"over.{p.rank}").touch()
    while True:
        p.sum()
        time.sleep(0.02)


@play()
def rotating_pauses(p):
    """Each in turn is late by less than what is called a stall."""
    p.begin()
    for step in range(1 << 30):
        if step == 3:
            p.mark()
        if step % p.size == p.rank:
            time.sleep(0.4)
        p.sum()


@play()
def one_is_slow(p):
    p.begin()
    for step in range(1 << 30):
        if step == 3:
            p.mark()
        if p.rank == 1:
            time.sleep(0.3)
        p.sum()


@play()
def nobody_communicates(p):
    """All compute for longer than what is called a stall."""
    p.begin()
    p.rest()


@play([("HOST_ORDER_DEADLOCK", [0, 1, 2])], [("HOST_CALL_STALL", [0, 1, 2])], [("UNKNOWN", [0, 1, 2])],
      [("UNKNOWN", [0]), ("UNKNOWN", [1]), ("UNKNOWN", [2])], size=3)
def pairs_connect_in_a_circle(p):
    """Each pair makes its communicator when it first needs it, and each rank begins with another one. Whom a rank waits for
    inside of connectFullMesh is not on record, only how many they are: the circle itself is unknown."""
    p.begin()
    store = dist.FileStore(str(p.folder / "pairs"), -1)
    other = (p.rank + 1) % 3
    pair = sorted((p.rank, other))
    p.last(dist.ProcessGroupGloo, dist.PrefixStore(f"pair{pair}", store), pair.index(p.rank), 2, timedelta(hours=1))
