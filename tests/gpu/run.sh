#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What only a machine with an NVIDIA GPU and PyTorch can show, as one table. Everything is built before, elsewhere if need
# be: the machine needs no compiler and no network, only $CT_BUILD/lib/libcommtrace.so and $CT_BUILD/bin/{commtrace,gpu_probe}.
#
#   tests/gpu/run.sh [--quick] [--simulated] [--parts LIST] [-o DIR]
#
#   --quick      fewer and shorter rounds
#   --simulated  on tools/sim and on CPUs: shows that this script works, measures nothing
#   --parts LIST comma-separated, of: hardware driver clocks one_rank two_ranks key semantics training launched
#   -o DIR       where logs and traces are left (a new folder)
#
# A row: NAME VALUE UNIT VERDICT. `ok` and `FAIL` are of what must hold, `-` is of what is only measured, and `n/a` says
# what could not be done. Exit 0: nothing failed; 1: something did; 2: there is no GPU.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${CT_BUILD:-$root/build}
probe=$build/bin/gpu_probe
commtrace=$build/bin/commtrace
preload=$build/lib/libcommtrace.so
rounds=3 ops=2000 steps=50 seconds=20 simulated= out=
parts="hardware driver clocks one_rank two_ranks key semantics training launched"
while [ $# -gt 0 ]; do
	case $1 in
	--quick) rounds=1 ops=300 steps=10 seconds=2 ;;
	--simulated) simulated=1 ;;
	--parts) parts=${2//,/ }; shift ;;
	-o) out=${2:?"run.sh: -o needs a folder"}; shift ;;
	*) sed -n '3,15s/^# \?//p' "$0" >&2; exit 2 ;;
	esac
	shift
done
for file in "$probe" "$commtrace" "$preload"; do
	[ -e "$file" ] || { echo "run.sh: $file is missing: build it first (CT_BUILD names the build tree)" >&2; exit 2; }
done
out=$(mkdir -p "${out:-$(mktemp -d)}" && cd "${out:-$_}" && pwd) || exit 2
failed=0 nth=0

python=$(for p in python3 /usr/bin/python3; do
	"$p" -c 'import importlib.util as u; exit(not u.find_spec("torch"))' 2>/dev/null && echo "$p" && break
done)
if [ "$simulated" ]; then
	export LD_LIBRARY_PATH=$build/lib/sim
	nccl=libnccl.so.2
else
	nvidia-smi -L >"$out/gpu.txt" 2>&1 || { echo "run.sh: there is no NVIDIA GPU here (nvidia-smi fails)" >&2; exit 2; }
	nccl=${NCCL_LIBRARY:-$("$python" - <<'PY' 2>/dev/null
import glob, importlib.util as u
for folder in u.find_spec("nvidia.nccl").submodule_search_locations:
    print(*glob.glob(folder + "/lib/libnccl.so.2"))
PY
	)}
	nccl=${nccl:-libnccl.so.2}
fi
# Ranks that share a GPU: NCCL refuses them on one host, and no transport but sockets is left to them.
export NCCL_IB_DISABLE=1 NCCL_SOCKET_IFNAME=lo NCCL_NET=Socket NCCL_NVLS_ENABLE=0 NCCL_MNNVL_ENABLE=0 NCCL_MAX_NCHANNELS=2

row() {
	printf '%-44s %14s %-6s %s\n' "$1" "$2" "$3" "${4:--}" | tee -a "$out/table.txt"
	[ "${4:--}" != FAIL ] || failed=1
}

# figure FILE NAME: its value, the least of all rounds
figure() { grep -ho "figure $2 [0-9.e+-]*" "$1"* 2>/dev/null | awk '{ print $3 }' | sort -g | head -1; }
checksum() { grep -ho 'checksum=[0-9a-f]*' "$1"* 2>/dev/null | sort -u | tr '\n' ' '; }
ratio() { awk -v a="${1:-0}" -v b="${2:-0}" 'BEGIN { if (a > 0 && b > 0) printf "%.3f\n", a / b; else print "n/a" }'; }

# traced DIR MODE COMMAND...: bare when MODE is `bare`
traced() {
	local dir=$1 mode=$2
	shift 2
	case $mode in
	bare) "$@" ;;
	plugin) COMMTRACE_DIR=$dir COMMTRACE_QUIET=1 COMMTRACE_TIMING=plugin NCCL_PROFILER_PLUGIN=$preload LD_PRELOAD=$preload "$@" ;;
	*) COMMTRACE_DIR=$dir COMMTRACE_QUIET=1 COMMTRACE_TIMING=$mode LD_PRELOAD=$preload "$@" ;;
	esac
}

# ranks N LOG COMMAND...: as RANK 0 .. N-1; 0 if all of them did well
ranks() {
	local n=$1 log=$2 rank bad=0 pids=()
	shift 2
	nth=$((nth + 1))
	for ((rank = 0; rank < n; rank++)); do
		RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$n MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 20000 + nth)) \
			COMMTRACE_JOB=gpu-$nth NCCL_HOSTID=rank$rank timeout 120 "$@" >"$log.$rank" 2>"$log.err.$rank" &
		pids+=($!)
	done
	for rank in "${pids[@]}"; do wait "$rank" || bad=1; done
	return $bad
}

one_probe() { exec "$probe" nccl "$nccl" "$RANK" "$WORLD_SIZE" "$@"; }
export -f one_probe
export probe nccl

# probe_job NAME MODE N HOW OPS: figures into $out/NAME.MODE.*
probe_job() {
	local log=$out/$1.$2
	rm -f "$out/id"
	traced "$log.trace" "$2" ranks "$3" "$log" bash -c "one_probe $out/id $5 $4"
}

# Data-moving calls of all ranks in a trace.
recorded() { "$commtrace" dump --format=jsonl "$1" 2>/dev/null | grep -c '"op"'; }

hardware() {
	if [ "$simulated" ]; then
		row hardware simulated - -
		return
	fi
	nvidia-smi --query-gpu=name,driver_version,memory.total,pcie.link.gen.max,pcie.link.width.max --format=csv >>"$out/gpu.txt" 2>&1
	row "$(nvidia-smi --query-gpu=name --format=csv,noheader | tr ' ' '_')" "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader)" driver
	row torch "$("$python" -c 'import torch; print(torch.__version__)')" -
}

driver() {
	timeout 120 "$probe" driver >"$out/driver" 2>"$out/driver.err" || { row driver - - FAIL; return; }
	while read -r _ name value unit; do row "driver.$name" "$value" "$unit"; done <"$out/driver"
}

clocks() {
	timeout 120 "$probe" clock "$seconds" >"$out/clock" 2>"$out/clock.err" || { row clocks - - FAIL; return; }
	while read -r _ name value unit; do row "clock.$name" "$value" "$unit"; done <"$out/clock"
}

# Each mode in turn, so that a busy moment hits all of them.
calls() {
	local n=$1 round mode ok
	for ((round = 0; round < rounds; round++)); do
		for mode in bare off host events plugin; do
			probe_job "calls$n.$round" "$mode" "$n" plain "$ops" || touch "$out/calls$n.$mode.bad"
		done
	done
	for mode in bare off host events plugin; do
		ok=ok
		[ ! -e "$out/calls$n.$mode.bad" ] || ok=FAIL
		[ "$(cat "$out"/calls"$n".*."$mode".? | grep -ho 'checksum=.*' | sort -u)" = "$(cat "$out"/calls"$n".*.bare.? | grep -ho 'checksum=.*' | sort -u)" ] || ok=FAIL
		cat "$out"/calls"$n".*."$mode".0 >"$out/calls$n-$mode"
		row "nccl.$n-ranks.$mode.call" "$(figure "$out/calls$n-$mode" call)" us "$ok"
		row "nccl.$n-ranks.$mode.latency" "$(figure "$out/calls$n-$mode" latency)" us "$ok"
		[ $mode = bare ] || row "nccl.$n-ranks.$mode.latency/bare" \
			"$(ratio "$(figure "$out/calls$n-$mode" latency)" "$(figure "$out/calls$n-bare" latency)")" ratio "$ok"
	done
	"$commtrace" info --whole "$out/calls$n.0.events.trace" >"$out/calls$n.info" 2>&1
	row "nccl.$n-ranks.events.span_error" "$(sed -n 's/^timing.*±\([0-9.]*[a-z]*\) per span.*/\1/p' "$out/calls$n.info")" -
	ok=ok
	[ "$(recorded "$out/calls$n.0.events.trace")" = $((n * (2 * ops + 6))) ] || ok=FAIL
	row "nccl.$n-ranks.ops" "$(recorded "$out/calls$n.0.events.trace")" ops $ok
	row "nccl.$n-ranks.losses" "$(awk '/^losses/ { getline; print $1 == "none" ? "none" : $2 "," $3 }' "$out/calls$n.info")" -
}

one_rank() { calls 1; }
two_ranks() { calls 2; }

# The communicator's key is the hash that NCCL itself prints.
key() {
	local printed known
	NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT probe_job key events 2 plain 10
	printed=$(cat "$out"/key.events.* 2>/dev/null | grep -ao 'commId 0x[0-9a-f]*' | head -1 | sed 's/commId 0x//')
	known=$("$commtrace" info "$out/key.events.trace" 2>/dev/null | awk '/^comm .*backend/ { getline; print $1 }')
	[ "$printed" ] || { row nccl.comm_key "$known" - n/a; return; }
	row nccl.comm_key "$known" - "$([ "$(printf %016x "0x$printed")" = "$known" ] && echo ok || echo FAIL)"
}

semantics() {
	local how ok twice
	for how in group nonblocking split; do
		ok=ok twice=1
		[ $how != group ] || twice=2
		probe_job "$how" bare 2 $how 100 || ok=FAIL
		probe_job "$how" events 2 $how 100 || ok=FAIL
		[ "$(checksum "$out/$how.bare.")" = "$(checksum "$out/$how.events.")" ] || ok=FAIL
		[ "$(recorded "$out/$how.events.trace")" = $((2 * 206 * twice)) ] || ok=FAIL
		row "nccl.$how.ops" "$(recorded "$out/$how.events.trace")" ops "$ok"
	done
}

# train NAME MODE N ARGS...
train() {
	local log=$out/$1.$2 mode=$2 n=$3
	shift 3
	traced "$log.trace" "$mode" ranks "$n" "$log" "$python" "$root/tests/gpu/train.py" "$@"
}

# compare NAME FIGURE MODES ARGS...: in turn; results must be the same
compare() {
	local name=$1 what=$2 modes=$3 round mode ok
	shift 3
	for ((round = 0; round < rounds; round++)); do
		for mode in $modes; do
			train "$name.$round" "$mode" 2 "$@" --steps "$steps" || touch "$out/$name.$mode.bad"
		done
	done
	for mode in $modes; do
		ok=ok
		[ ! -e "$out/$name.$mode.bad" ] || ok=FAIL
		cat "$out/$name".?."$mode".0 >"$out/$name-$mode" 2>/dev/null
		[ "$(checksum "$out/$name-$mode")" = "$(checksum "$out/$name-bare")" ] || ok=FAIL
		row "torch.$name.$mode" "$(figure "$out/$name-$mode" "$what")" ms "$ok"
		[ "$mode" = bare ] || row "torch.$name.$mode/bare" \
			"$(ratio "$(figure "$out/$name-$mode" "$what")" "$(figure "$out/$name-bare" "$what")")" ratio "$ok"
	done
}

training() {
	[ "$python" ] || { row torch - - n/a; return; }
	if [ "$simulated" ]; then
		compare ddp ddp_step "bare auto" ddp
		return
	fi
	compare ddp ddp_step "bare auto" ddp
	train ddp.profiler bare 2 ddp --steps "$steps" --profiler
	row torch.ddp.torch_profiler/bare "$(ratio "$(figure "$out/ddp.profiler.bare.0" ddp_step)" "$(figure "$out/ddp-bare" ddp_step)")" ratio
	compare graph graph_step "bare auto" graph
	row torch.graph.ops "$(recorded "$out/graph.0.auto.trace")" ops
	compare nonblocking nonblocking_step "bare auto" nonblocking
	for connections in 1 8; do
		export CUDA_DEVICE_MAX_CONNECTIONS=$connections
		compare overlap-$connections overlap_both "bare off events host plugin auto" overlap
		row torch.overlap-$connections.products "$(figure "$out/overlap-$connections-bare" overlap_products)" ms
		row torch.overlap-$connections.all_reduce "$(figure "$out/overlap-$connections-bare" overlap_all_reduce)" ms
	done
	unset CUDA_DEVICE_MAX_CONNECTIONS
}

# Under torchrun, which is the ranks' parent; and Gloo.
launched() {
	[ "$python" ] || return
	local mode ok=ok
	for mode in bare auto; do
		traced "$out/torchrun.$mode.trace" $mode timeout 180 "$python" -m torch.distributed.run -r 1 -t 1 --nproc_per_node=2 \
			--master_port $((20000 + $$ % 20000)) "$root/tests/gpu/train.py" ddp --steps 10 >"$out/torchrun.$mode" 2>"$out/torchrun.$mode.err" || ok=FAIL
	done
	[ "$(checksum "$out/torchrun.bare")" = "$(checksum "$out/torchrun.auto")" ] || ok=FAIL
	row torchrun.ops "$(recorded "$out/torchrun.auto.trace")" ops "$ok"
	[ ! "$simulated" ] || return
	ok=ok
	for mode in bare auto; do
		traced "$out/gloo.$mode.trace" $mode timeout 180 "$python" -m torch.distributed.run -r 1 -t 1 --nproc_per_node=2 \
			--master_port $((20001 + $$ % 20000)) "$root/examples/torch_ddp/train.py" --steps 5 --collectives >"$out/gloo.$mode" 2>"$out/gloo.$mode.err" || ok=FAIL
	done
	[ "$(checksum "$out/gloo.bare")" = "$(checksum "$out/gloo.auto")" ] || ok=FAIL
	row gloo.ops "$(recorded "$out/gloo.auto.trace")" ops "$ok"
}

row name value unit verdict
for part in $parts; do
	[ "$(type -t "$part")" = function ] || { echo "run.sh: no part $part" >&2; exit 2; }
	$part
done
echo "logs and traces: $out"
exit $failed
