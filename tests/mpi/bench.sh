#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# comm_bench over MPI: no result is wrong, and `commtrace bench` says of each operation and size what the program measured itself.
# Runs of one library do not differ; when its messages are much larger, they do.
. "$(dirname "$0")/mpi.sh"
suffix=
[ "$flavour" = openmpi ] || suffix=.mpich
program=$build/bin/comm_bench_mpi$suffix
export COMMTRACE_QUIET=1

# bench NAME OPTION...: recorded as NAME, with what it printed as NAME.out
bench() {
	local name=$1
	shift
	mpi_traced 60 2 "$work/$name" "$program" -b 1K -e 256K -f 16 -n 10 "$@" >"$name.out" 2>&1 || fail "$name: exit $?: $(cat "$name.out")"
}

bench all -N 10
"$commtrace" bench all --json >all.json || fail "bench: exit $?"
"$python" - all.json all.out <<-'PYTHON' || fail "the program and the analysis differ"
	import json, re, sys
	names = dict(zip("all_reduce broadcast reduce all_gather reduce_scatter alltoall gather scatter sendrecv pingpong".split(),
		"AllReduce Broadcast Reduce AllGather ReduceScatter AllToAll Gather Scatter SendRecv PingPong".split()))
	rows = {(row["op"], row["bytes"]): row for row in json.load(open(sys.argv[1]))["rows"]}
	ratios, op, wrong = [], None, 0
	for line in open(sys.argv[2]):
	    head = re.match(r"# (\w+), 2 ranks", line)
	    op = names[head[1]] if head else op
	    if line[0] != "#":
	        size, count, dtype, redop, root, us, algbw, busbw, bad = line.split()
	        row, wrong = rows.pop((op, int(size))), wrong + int(bad)
	        ratios.append(row["ns"] / (1e3 * float(us)))
	        assert row["ranks"] == 2 and row["backend"] == "mpi" and len(row["bursts_ns"]) == 10, row
	        factor = float(busbw) / float(algbw) if float(algbw) > 1 else 0
	        if factor and op != "AllReduce" and not 0.95 < row["busbw_Bps"] / row["algbw_Bps"] / factor < 1.05:
	            sys.exit(f"{op}: bus factor {factor}: {row}")
	rows = list(rows)
	ratios.sort()
	middle = ratios[len(ratios) // 2]
	print(f"{len(ratios)} rows, the recorded time over the program's: median {middle:.3f}")
	# the recorded time lacks the first iteration, and what the program does around the loop
	sys.exit(f"{wrong} wrong, {rows} left, {middle}" if wrong or rows or len(ratios) != 30 or not 0.8 < middle < 1.1 else 0)
PYTHON

# Interleaved, so that a machine that others use as well is the same for both.
few="--ops all_reduce,pingpong"
for try in 1 2; do
	for name in base same; do
		# shellcheck disable=SC2086
		bench $name$try $few
	done
done
"$commtrace" bench base=base1 same=same1 base=base2 same=same2 >same.txt
! grep -q ' is fastest ' same.txt || fail "equal runs differ: $(cat same.txt)"
grep -q 'no significant difference between base and same at all sizes' same.txt || fail "nothing said: $(cat same.txt)"
"$commtrace" bench base=base1 same=same1 --json | "$python" -c '
import json, sys
print(len(json.load(sys.stdin)["rows"]), "rows of two series")'
