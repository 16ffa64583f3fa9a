#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# comm_bench over the simulated NCCL with one thread for all GPUs, one thread for each, and one process for each on two "nodes" by a
# launcher each: no result is wrong, and `commtrace bench` says what the simulator's model of the links is asked to take.
. "$(dirname "$0")/e2e.sh"
export COMMTRACE_QUIET=1
program=$e2e/comm_bench_nccl
sizes="-b 4K -e 1M -f 16 -n 10 -N 8"

# launcher NODE FIRST: two of four ranks, each a process, under a host name of their own
launcher() {
	local pids=() rank
	for rank in $2 $(($2 + 1)); do
		# shellcheck disable=SC2086
		COMMTRACE_HOST=$1 RANK=$rank WORLD_SIZE=4 LOCAL_RANK=$rank traced 60 "$work/processes" "$program" $sizes --id-file "$work/id" &
		pids+=($!)
	done
	for rank in "${pids[@]}"; do
		wait "$rank" || return 1
	done
}

# shellcheck disable=SC2086
traced 60 "$work/thread" "$program" $sizes -g 4 >thread.out || fail "one thread: exit $?"
# shellcheck disable=SC2086
traced 60 "$work/threads" "$program" $sizes -t 4 >threads.out || fail "one thread for each: exit $?"
COMMTRACE_JOB=bench launcher node0 0 >processes.out &
COMMTRACE_JOB=bench launcher node1 2 || fail "the second launcher: exit $?"
wait $! || fail "the first launcher: exit $?"
[ ! -e id ] || fail "the id file is left"

for mode in thread threads processes; do
	"$commtrace" bench $mode --json >$mode.json || fail "$mode: bench: exit $?"
	"$python" - $mode.json $mode.out <<-'PYTHON' || fail "$mode: $(cat $mode.out)"
		import json, sys
		wrong = sum(int(line.split()[8]) for line in open(sys.argv[2]) if line[0] != "#")
		rows = json.load(open(sys.argv[1]))["rows"]
		# tools/sim/nccl/model.c: 8 us, 0.5 us a hop, 200 GB/s within 2 %; ends up to 3 us apart delay the next operation
		wire = {"AllReduce": 1.5, "AllGather": 0.75, "ReduceScatter": 0.75, "Broadcast": 1, "Reduce": 1}
		for row in rows:
		    assert row["ranks"] == 4 and row["backend"] == "nccl", row
		    if row["op"] in wire:
		        model = 8000 + 3 * 500 + wire[row["op"]] * row["bytes"] / 200
		        # on a busy machine operations come late now and then, in one burst at least they do not
		        if not 0.95 * model - row["err_ns"] < min(row["bursts_ns"]) < 1.05 * model + 3000 + row["err_ns"]:
		            sys.exit(f"{row}: the model says {model} ns")
		kinds = sorted({(row["op"], row["bytes"]) for row in rows})
		ops = sorted(set(op for op, _ in kinds))
		print(f"{sys.argv[1]}: {len(kinds)} rows of {' '.join(ops)}")
		sys.exit(wrong or len(kinds) != 27 or len(ops) != 9)
	PYTHON
done
hosts=$(info_json processes | "$python" -c 'import json, sys; print(*json.load(sys.stdin)["run"]["hosts"])')
[ "$hosts" = "node0 node1" ] || fail "hosts: $hosts"
