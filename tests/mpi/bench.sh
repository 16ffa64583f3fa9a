#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# comm_bench over MPI: no result is wrong, and `commtrace bench` says of each operation and size what the program measured itself.
# Runs of one library do not differ. (That Gloo does is in tests/e2e/bench_gloo.sh.)
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

# compared NAME: 0, 1: not the same times, which a busy machine may make of bursts whose first iteration waits for the other rank, or 2
compared() {
	"$commtrace" bench "$1" --json >"$1.json" || fail "bench: exit $?"
	"$python" - "$1.json" "$1.out" <<-'PYTHON'
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
		            print(f"{op}: bus factor {factor}: {row}")
		            sys.exit(2)
		rows = list(rows)
		ratios.sort()
		middle = ratios[len(ratios) // 2]
		print(f"{len(ratios)} rows, the recorded time over the program's: median {middle:.3f}")
		if wrong or rows or len(ratios) != 30:
		    print(f"{wrong} wrong, {rows} left")
		    sys.exit(2)
		# the recorded time lacks the first iteration, and what the program does around the loop
		sys.exit(not 0.8 < middle < 1.1)
	PYTHON
}

for try in 1 2 3 4; do
	code=0
	bench all$try -N 10
	compared all$try || code=$?
	[ $code = 1 ] || break
done
[ $code = 0 ] || fail "the program and the analysis differ"

# As long as it is asked to, beside a load.
for try in 1 2 3 4; do
	bench soak$try --soak 2 -N 1 --under-load --ops all_reduce -e 1K -n 3
	bursts=$("$commtrace" bench soak$try --json | "$python" -c 'import json, sys
print(*(len(row["bursts_ns"]) for row in json.load(sys.stdin)["rows"]))') || bursts=0
	[ "$bursts" -lt 2 ] || break
done
[ "$bursts" -ge 2 ] || fail "soak: bursts of one size: $bursts"

# Interleaved, so that a machine that others use as well is the same for both.
few="--ops AllReduce,pingpong"
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

# It also starts the program itself. Results on stdout are its own.
# shellcheck disable=SC2086
timeout -k 5 240 "$commtrace" bench base=base1 new=fresh --json -- "mpirun.$flavour" -n 2 "$program" -b 1K -e 256K -f 16 -n 10 $few >fresh.json 2>fresh.err ||
	fail "bench -- PROGRAM: exit $?: $(cat fresh.err)"
[ "$("$python" -c 'import json; print(*sorted({row["series"] for row in json.load(open("fresh.json"))["rows"]}))')" = "base new" ] ||
	fail "bench -- PROGRAM: $(cat fresh.json)"
