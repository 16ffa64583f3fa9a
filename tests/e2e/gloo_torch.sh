#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch over Gloo, three ranks: what each rank noted of its calls (gloo_torch.py) is what is on record of them, in the
# whole job and in each subgroup: operation, elements, bytes, when they were asked for and by which thread. Then a rank is
# killed: the exceptions that the others get are those without the preload, and what was left by them is on record as failed.
. "$(dirname "$0")/e2e.sh"
export OMP_NUM_THREADS=1 COMMTRACE_QUIET=1

job() { # WAY
	local d=$work/$1 rank port pids=()
	mkdir -p "$d"
	port=$("$python" "$root/tools/free_port.py")
	for rank in 0 1 2; do
		(
			export RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port
			export COMMTRACE_DIR=$d/run
			[ "$1" = plain ] || export LD_PRELOAD=$library
			echo "$BASHPID" >"$d/pid-$rank"
			exec "$python" "$root/tests/e2e/gloo_torch.py" "$d" >"$d/out.$rank" 2>"$d/err.$rank" </dev/null
		) &
		pids+=($!)
	done
	for rank in 0 1 2; do
		local status=0
		wait "${pids[rank]}" 2>/dev/null || status=$?
		[ $status = $((rank == 2 ? 137 : 0)) ] || fail "$1: rank $rank: exit $status: $(tail -n 5 "$d/err.$rank")"
	done
}

job plain
job traced
for rank in 0 1 2; do
	same "output of rank $rank" plain/out.$rank traced/out.$rank
done
"$commtrace" dump --format=jsonl traced/run >dump || fail "dump: exit $?"
"$commtrace" report --format=json traced/run >report || fail "report: exit $?"
"$python" - <<'PY' || fail "what was recorded is not what was done"
import collections, json
ranks = {c["comm"]: c["ranks"] for c in json.load(open("report"))["comms"]}
assert sorted(map(tuple, ranks.values())) == [(0, 1), (0, 1), (0, 1, 2), (0, 2), (1, 2)], ranks
ops = [json.loads(line) for line in open("dump")]
reported = 0
for rank in range(3):
    plain, mine = (json.load(open(f"{way}/rank-{rank}.json")) for way in ("plain", "traced"))
    errors = mine["errors"]
    assert plain["errors"] == errors and all(kind for _, kind, _ in errors), (plain["errors"], errors)
    own = [o for o in ops if o["rank"] == rank]

    # By communicator, in order; a group that was made twice is two, in the order in which they were made.
    calls, recorded = collections.defaultdict(list), collections.defaultdict(list)
    for members, number, *call in mine["calls"]:
        calls[tuple(members), number].append(call)
    made = {}
    for o in sorted((o for o in own if o["seq"] is not None), key=lambda o: o["seq"]):
        recorded[o["comm"]].append(o)
    for (members, number), expected in calls.items():
        comms = [c for c in recorded if tuple(ranks[c]) == members]
        fits = []
        for comm in comms:
            found = [o for o in recorded[comm]][:len(expected)]
            fits.append(all(
                (o["op"], o["count"], o["bytes"], o["submit_tid"]) == (op, count, size_bytes, tid)
                and before <= o["submit_ns"] <= after <= o["return_ns"] + 10**9 and o["submit_ns"] <= o["enter_ns"]
                and o["state"] == "finished"
                for o, (op, count, size_bytes, before, after, tid) in zip(found, expected)) and len(found) == len(expected))
        # (the times show the two groups of the same members apart)
        assert fits.count(True) == 1, (rank, members, fits, expected[:2], [recorded[c][:2] for c in comms])
        reported += len(expected)

    # What DistributedDataParallel and the sparse tensor did in between, in the whole job.
    world = next(c for c in recorded if len(ranks[c]) == 3)
    rest = recorded[world][len(calls[(0, 1, 2), 0]):]
    reduced = sum(o["bytes"] for o in rest if o["op"] == "AllReduce" and o["state"] == "finished")
    assert reduced == mine["ddp_bytes"] > 0, (reduced, mine["ddp_bytes"])
    n, before, after = mine["sparse"]
    varying = [o for o in rest if o["call"] == "gloo::allgatherv"]
    assert varying and all(before <= o["submit_ns"] <= o["enter_ns"] <= o["return_ns"] <= after for o in varying), varying
    assert any(o["count"] == n and o["bytes"] == 4 * n for o in varying), (n, varying)

    # What failed, in order; nothing else did. torch's barrier waits for the work before it, and if that has failed and is still
    # in its queue, it fails with the same exception and Gloo is never asked.
    failed = [o["op"] for o in sorted(own, key=lambda o: o["enter_ns"]) if o["state"] == "error"]
    thrown = [what for what, _, _ in errors]
    assert failed == thrown or failed + ["Barrier"] == thrown, (rank, failed, errors)
    assert all(o["result"] == -1 or o["op"] in ("Send", "Recv") for o in own if o["state"] == "error")
    assert not [o for o in own if o["state"] not in ("finished", "error")], rank
    print(f"rank {rank}: {len(own)} ops, {len(errors)} exceptions")
print(reported, "calls as noted")
PY
