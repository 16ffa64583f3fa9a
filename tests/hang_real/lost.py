#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lost.py [PLAY...] — jobs of plays.py that hang, of which a part of the files is gone: all of one rank, each rank once; or all rings, while
the job still hangs. Whoever is blamed is to blame, or is the one of whom there is nothing; and what is missing is said."""

import os
import random
import sys
import time

import judge
import plays
import stage

PLAYS = ["missing", "another_operation", "order_of_two_groups_and_a_world_that_waits", "receive_without_send"]


def files_of(job, rank):
    """Segments in the run, and the ring wherever it is: their names have the process in it."""
    pid = f".{job.pids[rank]}."
    for folder in (job.run, os.environ["COMMTRACE_RING_DIR"]):
        for name in os.listdir(folder):
            if pid in name:
                yield os.path.join(folder, name)


def judge_without(job, rank):
    """right | weak | wrong, without the files of that rank."""
    answer = judge.ask(job.run, rings=os.environ["COMMTRACE_RING_DIR"])
    guilty = {r for way in job.play.truth for _, ranks in way for r in ranks}
    for verdict in answer.said["verdicts"]:
        true = any((verdict["code"], sorted(verdict["ranks"])) in way for way in job.play.truth)
        # What is known of the others only can be identified, but not with the same certainty.
        if verdict["code"] == "NO_TRACE" and verdict["ranks"] == [rank]:
            continue
        if true and verdict["confidence"] != "high":
            continue
        if verdict["code"] == "UNKNOWN" or set(verdict["ranks"]) <= guilty and verdict["confidence"] != "high":
            continue
        return "wrong", f"{verdict['code']} {verdict['ranks']} {verdict['confidence']} without rank {rank}", answer
    if not answer.verdicts:
        return "weak", "blames nobody", answer
    if str(rank) not in str(answer.said["missing_data"]):
        return "wrong", f"does not say that there is nothing of rank {rank}", answer
    return "right", "", answer


def one_rank_gone(job):
    verdicts = []
    for rank in job.pids:
        kept = {path: open(path, "rb").read() for path in files_of(job, rank)}
        assert kept, f"nothing of rank {rank}"
        for path in kept:
            os.unlink(path)
        verdict, why, answer = judge_without(job, rank)
        print(f"{verdict:6}{job.play.name} without rank {rank}: {answer} {why}", flush=True)
        verdicts.append(verdict)
        for path, content in kept.items():
            with open(path, "wb") as file:
                file.write(content)
    return verdicts


def rings_gone(job, when):
    def ask():
        return judge.ask(job.run, rings=os.environ["COMMTRACE_RING_DIR"])

    if when == "live":
        answer, (verdict, why) = judge.watch(ask, job.play.truth)
    else:
        answer = ask()
        verdict, why = judge.judge(answer, job.play.truth)
    if verdict == "right" and not answer.said["missing_data"]:
        verdict, why = "wrong", "does not say that the rings are gone"
    print(f"{verdict:6}{job.play.name} without rings, {when}: {answer} {why}", flush=True)
    return verdict


def main():
    stage.enter()
    seed = int(os.environ.get("CT_SEED", time.time_ns() % 1000000))
    random.seed(seed)
    print("seed", seed, flush=True)
    verdicts = []
    with stage.Folder() as work:
        chosen = [plays.PLAYS[name] for name in sys.argv[1:] or PLAYS]
        whole = [stage.Job(play, work) for play in chosen]
        # 10 s is the default; what is in segments is as old as that at most.
        ringless = [stage.Job(play, work, f"{play.name}-ringless", {"COMMTRACE_FLUSH": "2s"}) for play in chosen]
        try:
            stage.wait_for_rest(whole + ringless)
            time.sleep(3)
            for job in ringless:
                for rank in job.pids:
                    for path in files_of(job, rank):
                        if path.endswith(".ring"):
                            os.unlink(path)
            verdicts += [rings_gone(job, "live") for job in ringless]
        finally:
            for job in whole + ringless:
                job.kill("at once")
        verdicts += [rings_gone(job, "killed") for job in ringless]
        for job in whole:
            verdicts += one_rank_gone(job)
    count = {verdict: verdicts.count(verdict) for verdict in ("right", "weak", "wrong")}
    print(", ".join(f"{n} {verdict}" for verdict, n in count.items()))
    if not sys.argv[1:]:
        print(f"METRIC hang.lost_files_wrong {count['wrong']} 0")
    return count["wrong"] != 0 or count["weak"] > len(verdicts) // 4


if __name__ == "__main__":
    sys.exit(main())
