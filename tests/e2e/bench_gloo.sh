#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# comm_bench over torch and Gloo, by each launcher: torchrun on one "node" and on two (a launcher each), torch.distributed.launch,
# torch.multiprocessing.spawn. All ranks are recorded, and no result is wrong. A run in which a rank comes late to each operation is
# slower than one in which none does; of Gloo and MPI, which a busy machine may make equal, nothing is said that the programs deny.
. "$(dirname "$0")/../mpi/mpi.sh"
export COMMTRACE_QUIET=1 OMP_NUM_THREADS=1
program=$root/examples/comm_bench/comm_bench_torch.py
one="-b 1K -e 1K -n 4 -N 12 --ops AllReduce"
port=$("$python" "$root/tools/free_port.py")

# free_port: another one; torch's default may be another job's.
free_port() {
	"$python" "$root/tools/free_port.py"
}

# run NAME RANKS HOSTS COMMAND...
run() {
	local name=$1 ranks=$2 hosts=$3 said
	shift 3
	COMMTRACE_JOB=$name "$@" >"$name.out" 2>"$name.err" || fail "$name: exit $?: $(tail -n 20 "$name.err")"
	said=$(info_json "$name" | "$python" -c '
import json, sys
run = json.load(sys.stdin)["run"]
print(run["ranks_seen"], *sorted(run["hosts"]))')
	[ "$said" = "$ranks $hosts" ] || fail "$name: recorded: $said"
	"$commtrace" bench "$name" --json >"$name.json" || fail "$name: bench: exit $?"
	said=$("$python" - "$name.json" "$name.out" <<-'PYTHON'
		import json, sys
		rows = [line.split() for line in open(sys.argv[2]) if line.split()[-1:] == ["0"]]
		wrong = [line for line in open(sys.argv[2]) if "float" in line and line.split()[-1] != "0"]
		print(*sorted({row["op"] for row in json.load(open(sys.argv[1]))["rows"]}), len(rows), *wrong)
	PYTHON
	)
	printf '%-10s %s\n' "$name" "$said"
	[ "$said" = "${expected:-AllReduce 1}" ] || fail "$name: $said: $(cat "$name.out")"
}

torchrun() {
	traced 60 "$work/$name" "$python" -m torch.distributed.run -r 1 -t 1 "$@"
}

two_nodes() {
	local at="--nnodes 2 --nproc_per_node 2 --rdzv_backend c10d --rdzv_endpoint 127.0.0.1:$port --rdzv_id bench"
	# shellcheck disable=SC2086
	COMMTRACE_HOST=node0 torchrun $at "$program" $one &
	# shellcheck disable=SC2086
	COMMTRACE_HOST=node1 torchrun $at "$program" $one || return 1
	wait $!
}

# by_spawn NAME PORT: it only waits, so that it may run beside the others.
by_spawn() {
	# shellcheck disable=SC2086
	run "$1" 2 node0 traced 60 "$work/$1" "$python" "$root/tests/e2e/spawn.py" "$program" 2 "$2" $one
}

COMMTRACE_HOST=node0
export COMMTRACE_HOST
CT_LATE_MS=200 by_spawn late "$(free_port)" &
late=$!
# shellcheck disable=SC2086
run two_nodes 4 "node0 node1" two_nodes
# shellcheck disable=SC2086
run launch 2 node0 traced 60 "$work/launch" "$python" -m torch.distributed.launch -r 1 -t 1 --use_env --master_port "$(free_port)" \
	--nproc_per_node 2 "$program" $one
by_spawn spawn "$port"
expected="AllGather AllReduce AllToAll Broadcast Gather PingPong Reduce Scatter 18" \
	run all 2 node0 torchrun --master_port "$(free_port)" --nproc_per_node 2 "$program" -b 1K -e 64K -f 64 -n 4 -N 8
wait $late || exit 1
"$commtrace" bench in_time=spawn late=late >compared
grep -q '^in_time is fastest at 1 KiB$' compared || fail "200 ms are not seen: $(cat compared spawn.out late.out)"

[ -x "$build/bin/comm_bench_mpi" ] || exit 0
for name in mpi1 mpi2; do
	# shellcheck disable=SC2086
	mpi_traced 60 2 "$work/$name" "$build/bin/comm_bench_mpi" $one >$name.out || fail "$name: $(cat $name.out)"
done
"$commtrace" bench gloo=launch gloo=spawn mpi=mpi1 mpi=mpi2 >compared
said=$(grep -E '^(gloo|mpi) is fastest at 1 KiB$|^no significant difference between (gloo and mpi|mpi and gloo) at 1 KiB$' compared) ||
	fail "not compared: $(cat compared)"
# own_us NAME NAME: of an iteration, by the programs themselves, squared
own_us() {
	awk '$3 == "float" { us = (us ? us : 1) * $6 } END { print us }' "$1.out" "$2.out"
}
truth=$(awk -v gloo="$(own_us launch spawn)" -v mpi="$(own_us mpi1 mpi2)" 'BEGIN { print gloo < mpi ? "gloo" : "mpi" }')
echo "$said; the programs: $truth"
case $said in
no* | "$truth is"*) ;;
*) fail "$said: $(cat ./*.out)" ;;
esac
