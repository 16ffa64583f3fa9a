# SPDX-License-Identifier: Apache-2.0
"""strays.py WAY: what is on record in WAY/dump of what strays.c does in both ranks."""
import collections
import json
import sys

way = sys.argv[1]
ops = [json.loads(line) for line in open(f"{way}/dump")]
failures = 0


def must(what, is_so, *seen):
    global failures
    if not is_so:
        print(f"{way}: {what}:", *seen)
        failures += 1


if way == "crowd":
    # rank -> how many barriers of which communicator
    barriers = [collections.Counter(op["comm"] for op in ops if op["op"] == "Barrier" and op["rank"] == rank) for rank in (0, 1)]
    must("two communicators, known by the same keys to both", barriers[0] == barriers[1], barriers)
    must("10 barriers of one, 20 of the other", sorted(barriers[0].values()) == [10, 20], barriers)
else:
    sums = collections.Counter((op["rank"], op["state"]) for op in ops if op["op"] == "AllReduce")
    n = 10 if way == "freed" else 20
    must(f"{n} all-reduces each", sums == {(0, "finished"): n, (1, "finished"): n}, sums)
    left = [(op["rank"], op["call"], op["state"], op["result"]) for op in ops if op["op"] in ("Send", "Recv")]
    calls = {"freed": [], "error": ["MPI_Send"], "signal": ["MPI_Recv"]}[way]
    must("what was left is an error", left == [(0, call, "error", -1) for call in calls], left)
print(f"{way}: {len(ops)} ops")
sys.exit(failures > 0)
