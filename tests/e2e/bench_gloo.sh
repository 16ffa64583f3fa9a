#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# comm_bench over torch and Gloo, by each launcher: torchrun on one "node" and on two (a launcher each), torch.distributed.launch,
# torch.multiprocessing.spawn. All ranks are recorded, and no result is wrong. Small messages over Gloo are slower than over MPI.
. "$(dirname "$0")/../mpi/mpi.sh"
export COMMTRACE_QUIET=1 OMP_NUM_THREADS=1
program=$root/examples/comm_bench/comm_bench_torch.py
one="-b 1K -e 1K -n 4 -N 8 --ops AllReduce"
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

COMMTRACE_HOST=node0
export COMMTRACE_HOST
# shellcheck disable=SC2086
run two_nodes 4 "node0 node1" two_nodes
# shellcheck disable=SC2086
run launch 2 node0 traced 60 "$work/launch" "$python" -m torch.distributed.launch -r 1 -t 1 --use_env --master_port "$(free_port)" \
	--nproc_per_node 2 "$program" $one
# shellcheck disable=SC2086
run spawn 2 node0 traced 60 "$work/spawn" "$python" "$root/tests/e2e/spawn.py" "$program" 2 "$port" $one
expected="AllGather AllReduce AllToAll Broadcast Gather PingPong Reduce Scatter 18" \
	run all 2 node0 torchrun --master_port "$(free_port)" --nproc_per_node 2 "$program" -b 1K -e 64K -f 64 -n 4 -N 8
[ -x "$build/bin/comm_bench_mpi" ] || exit 0
# Ranks that poll on a busy machine may take as long as Gloo in one run or another.
for try in 1 2 3 4 5 6; do
	# shellcheck disable=SC2086
	mpi_traced 60 2 "$work/mpi$try" "$build/bin/comm_bench_mpi" $one >mpi.out || fail "mpi: $(cat mpi.out)"
	[ $try -gt 1 ] || continue
	"$commtrace" bench gloo=launch gloo=spawn mpi=mpi$((try - 1)) mpi=mpi$try >compared
	! grep -q '^mpi is fastest at 1 KiB$' compared || exit 0
done
fail "$(cat compared)"
