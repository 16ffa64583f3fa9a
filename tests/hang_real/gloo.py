#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gloo.py [PLAY...] [--seed N] — the jobs of plays.py, stuck and then killed; `commtrace hang` has to show who is to blame.

Without names all of them. Each is asked about twice: while it hangs and when all of it was killed."""

import argparse
import os
import random
import sys
import time

import judge
import plays
import stage


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("plays", nargs="*")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("CT_SEED", time.time_ns() % 1000000)))
    parser.add_argument("--at-a-time", type=int, default=12, help="jobs on stage (12)")
    return parser.parse_args()


def told(job, when, truth):
    """Asks, prints a line, returns what it was: right, weak or wrong."""
    play = job.play
    try:
        def ask():
            return judge.ask(job.run, rings=os.environ["COMMTRACE_RING_DIR"])

        if when == "live":
            answer, (verdict, why) = judge.watch(ask, truth)
        else:
            answer = ask()
            verdict, why = judge.judge(answer, truth, play.says, play.victims)
    except AssertionError as error:
        answer, verdict, why = None, "wrong", str(error)
    print(f"{verdict:6}{when:10}{play.name:45}{answer if verdict == 'right' else f'{answer} {why}'}", flush=True)
    if verdict == "wrong" and os.environ.get("CT_KEEP") and answer:
        (job.folder / f"answer.{when}").write_text(answer.text)
    return verdict


def perform(chosen, work):
    """Some plays at a time: (name, when, verdict) of each."""
    jobs = [stage.Job(play, work) for play in chosen]
    rows = []
    try:
        stage.wait_for_rest(jobs)
        for job in jobs:
            rows.append((job.play.name, "live", told(job, "live", job.play.live or job.play.truth)))
            if job.play.live:
                (job.folder / "looked").touch()
                while not all((job.folder / f"over.{rank}").exists() for rank in job.pids):
                    time.sleep(0.05)
    finally:
        manner = {job: random.choice(["at once", "staggered"]) for job in jobs}
        for job in jobs:
            job.kill(manner[job], by_us=random.random() < 0.5)
    for job in jobs:
        rows.append((job.play.name, manner[job], told(job, manner[job], job.play.truth)))
    return rows


def main():
    options = arguments()
    stage.enter()
    random.seed(options.seed)
    print("seed", options.seed, flush=True)
    chosen = [plays.PLAYS[name] for name in options.plays or plays.PLAYS]
    rows = []
    with stage.Folder() as work:
        for first in range(0, len(chosen), options.at_a_time):
            rows += perform(chosen[first : first + options.at_a_time], work)
    count = {verdict: sum(row[2] == verdict for row in rows) for verdict in ("right", "weak", "wrong")}
    print(", ".join(f"{n} {verdict}" for verdict, n in count.items()))
    if not options.plays:
        # One line for each figure that tests/gates.sh holds against its limit.
        print(f"METRIC hang.gloo_right_pct {100 * count['right'] / len(rows):.1f} >=100")
        print(f"METRIC hang.gloo_wrong {count['wrong']} 0")
    return count["right"] != len(rows)


if __name__ == "__main__":
    sys.exit(main())
