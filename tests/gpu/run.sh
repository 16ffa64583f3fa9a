#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What only a machine with an NVIDIA GPU and PyTorch can show, as one table. Everything is built before, elsewhere if need
# be: the machine needs no compiler and no network, only $CT_BUILD/lib/libcommtrace.so and $CT_BUILD/bin/{commtrace,gpu_probe}.
#
#   tests/gpu/run.sh [--quick] [--simulated] [--script N | --parts LIST] [-o DIR]
#
#   --script N   1, 2 or 3: its parts, 9 minutes at most; without, all parts of all scripts
#   --parts LIST comma-separated, see the table below
#   --quick      fewer and shorter rounds
#   --simulated  on tools/sim and on CPUs: shows that this script works, measures nothing
#   --minutes N  how long `long` trains, 1.5 by default (alone, with --parts long: as long as one likes)
#   -o DIR       where logs, traces and table.txt are left (a new folder)
#
# A row: NAME VALUE UNIT VERDICT ASSUMPTION. `ok` and `FAIL` are of what must hold, `-` is of what is only measured, and `n/a` of
# what could not be done; the assumption is the row of docs/VERIFIED.md that this speaks for or against. A part that fails, or takes
# longer than it may, stops no other. Exit 0: nothing failed; 1: something did; 2: there is no GPU.
set -u

# PART SCRIPT SECONDS: in the order of what they show; a script's seconds add up to 540 at most.
table='
hardware  1  10
driver    1  20
queues    1  60
buffer    1  20
clocks    1  40
exits     1 110
resets    1  70
one_rank  1  90
key       1  40
two_ranks 2 120
semantics 2  60
captures  2  90
replays   2  60
overlap   2 190
profiler  3  80
sanitizer 3  50
reach     3  50
training  3 130
launched  3  60
long      3 150
'

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${CT_BUILD:-$root/build}
probe=$build/bin/gpu_probe
commtrace=$build/bin/commtrace
preload=$build/lib/libcommtrace.so
rounds=2 ops=1000 steps=20 seconds=15 times=200 minutes=1.5 quick= simulated= out= parts= one=
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=--quick rounds=1 ops=300 steps=5 seconds=2 times=3 minutes=0.05 ;;
	--simulated) simulated=--simulated ;;
	--script) parts=$(awk -v n="${2:?}" '$2 == n { print $1 }' <<<"$table"); shift ;;
	--parts) parts=${2//,/ }; shift ;;
	--minutes) minutes=${2:?}; shift ;;
	--one) one=$2; shift ;;
	-o) out=${2:?"run.sh: -o needs a folder"}; shift ;;
	*) sed -n '3,20s/^# \?//p' "$0" >&2; exit 2 ;;
	esac
	shift
done
parts=${parts:-$(awk '{ print $1 }' <<<"$table")}
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

# row NAME VALUE UNIT [VERDICT [ASSUMPTION]]
row() {
	printf '%-44s %14s %-8s %-5s %s\n' "$1" "${2:-n/a}" "$3" "${4:--}" "${5:-}" | tee -a "$out/table.txt"
	[ "${4:--}" != FAIL ] || failed=1
}

# verdict CONDITION: of awk, over the figures that follow as a, b, c; n/a if one of them is not there
verdict() {
	[ -n "${2:-}" ] || { echo n/a; return; }
	awk -v a="$2" -v b="${3:-0}" -v c="${4:-0}" "BEGIN { print ($1) ? \"ok\" : \"FAIL\" }"
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
			COMMTRACE_JOB=gpu-$nth NCCL_HOSTID=rank$rank timeout --foreground "${limit:-120}" "$@" >"$log.$rank" 2>"$log.err.$rank" &
		pids+=($!)
	done
	for rank in "${pids[@]}"; do wait "$rank" || bad=1; done
	return $bad
}

# one_probe WHAT ID_FILE OPS [HOW], as a rank
one_probe() { exec "$probe" "$1" "$nccl" "$RANK" "$WORLD_SIZE" "${@:2}"; }
export -f one_probe
export probe nccl

# probe_job NAME MODE N HOW OPS: figures into $out/NAME.MODE.*
probe_job() {
	local log=$out/$1.$2
	rm -f "$out/id"
	traced "$log.trace" "$2" ranks "$3" "$log" bash -c "one_probe nccl $out/id $5 $4"
}

# life_job NAME MODE N WHAT TIMES: likewise
life_job() {
	local log=$out/$1.$2
	rm -f "$out/id"
	traced "$log.trace" "$2" ranks "$3" "$log" bash -c "one_probe $4 $out/id $5"
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

# print_figures PREFIX FILE
print_figures() {
	while read -r _ name value unit; do row "$1.$name" "$value" "$unit"; done <"$2"
}

driver() {
	local f=$out/driver
	"$probe" driver >"$f" 2>"$f.err" || { row driver "$(tail -1 "$f.err")" - FAIL; return; }
	print_figures driver "$f"
	row driver.record_takes_microseconds "$(figure "$f" event_record)" ns "$(verdict 'a < 3000' "$(figure "$f" event_record)")" record-cost
	row driver.record_busy/idle "$(ratio "$(figure "$f" event_record_busy)" "$(figure "$f" event_record)")" ratio \
		"$(verdict 'a < 5 * b' "$(figure "$f" event_record_busy)" "$(figure "$f" event_record)")" record-cost
	row driver.capture_question "$(figure "$f" stream_is_capturing)" ns "$(verdict 'a < 1000' "$(figure "$f" stream_is_capturing)")" capture-question
	row driver.stamps "$(figure "$f" stamp)" ns "$(verdict 'a >= 1 && a <= 1024' "$(figure "$f" stamp)")" stamps
	row driver.elapsed_in_one_order "$(figure "$f" elapsed_forwards)" ms \
		"$(verdict 'a > 0.5 && b <= 0' "$(figure "$f" elapsed_forwards)" "$(figure "$f" elapsed_backwards)")" elapsed-order
}

queues() {
	local n f timed untimed
	for n in 1 8 32; do
		f=$out/queues.$n
		CUDA_DEVICE_MAX_CONNECTIONS=$n "$probe" queues >"$f" 2>"$f.err" || { row queues.$n "$(tail -1 "$f.err")" - FAIL; continue; }
		timed=$(figure "$f" timed_beside) untimed=$(figure "$f" untimed_beside)
		print_figures queues.$n "$f"
		row queues.$n.timed_events_serialise "$timed" streams "$(verdict 'a <= b' "$timed" "$n")" queues
		row queues.$n.untimed_ones_do_not "$untimed" streams "$(verdict 'a > b || b == 32' "$untimed" "$n")" untimed-events
	done
	row queues.as_many_as_connections "$(figure "$out/queues.8" timed_beside)" streams \
		"$(verdict 'a == 8' "$(figure "$out/queues.8" timed_beside)")" queues
}

buffer() {
	local f=$out/buffer
	SIM_PUSH_BUFFER=1024 "$probe" buffer >"$f" 2>"$f.err" || { row buffer "$(tail -1 "$f.err")" - FAIL; return; }
	# four times what the tracer takes of it
	row buffer.events_until_full "$(figure "$f" events_until_full)" events "$(verdict 'a >= 1000' "$(figure "$f" events_until_full)")" push-buffer
}

clocks() {
	local load f drift
	for load in "" loaded; do
		f=$out/${load:-idle}-clock
		"$probe" clock "$seconds" $load >"$f" 2>"$f.err" || { row "clock$load" "$(tail -1 "$f.err")" - FAIL; continue; }
		print_figures "clock$load" "$f"
		drift=$(figure "$f" gpu_drift)
		row "clock$load.anchor" "$(figure "$f" anchor_error)" us "$(verdict 'a < 10' "$(figure "$f" anchor_error)")" anchor
		row "clock$load.drift" "$drift" ppm "$(verdict 'a < 100 && a > -100' "$drift")" drift
	done
}

# Recording starts before CUDA, and the process ends without waiting for the GPU: none crashes, each ends with all its calls.
exits() {
	local i bad=0 lost=0 n
	for ((i = 0; i < times && SECONDS < 75; i++)); do
		rm -rf "$out/exit.events.trace"
		life_job exit events 1 exit 1000 || bad=$((bad + 1))
		n=$(recorded "$out/exit.events.trace")
		[ "$n" = 1000 ] || lost=$((lost + 1))
	done
	row exit.crashed $bad "of_$i" "$(verdict 'a == 0' $bad)" exit-order
	row exit.without_all_calls $lost "of_$i" "$(verdict 'a == 0' $lost)" exit-order
	[ "$quick" ] || life_job exit-long events 1 exit 100000 || row exit.long - - FAIL exit-order
}

resets() {
	local ok=ok n=20 f=$out/context
	"$probe" context >"$f" 2>"$f.err" && ok=$(verdict 'a == 1' "$(figure "$f" context_is_another)") || ok=FAIL
	row resets.context_is_another "$(figure "$f" context_is_another)" - "$ok" context-id
	ok=ok
	[ ! "$quick" ] || n=3
	life_job reset bare 1 reset $n || { row resets "$(tail -1 "$out/reset.bare.err.0")" - n/a resets; return; }
	life_job reset events 1 reset $n || ok=FAIL
	row resets.survived $n resets $ok resets
	row resets.calls "$(recorded "$out/reset.events.trace")" ops "$(verdict 'a == b' "$(recorded "$out/reset.events.trace")" $((n * 100)))" resets
}

# span_error FILE: of what `info` says; nothing if no operation was timed
span_error() { sed -n 's/^timing.*± *\([0-9.]*\) *\([a-z]*\) per span.*/\1\2/p' "$1"; }

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
	row "nccl.$n-ranks.events.span_error" "$(span_error "$out/calls$n.info")" -
	# NCCL reports no kernels of a rank that is alone
	if [ "$n" -gt 1 ]; then
		"$commtrace" info --whole "$out/calls$n.0.plugin.trace" >"$out/calls$n.plugin.info" 2>&1
		row "nccl.$n-ranks.plugin.span_error" "$(span_error "$out/calls$n.plugin.info")" - \
			"$([ "$(span_error "$out/calls$n.plugin.info")" ] && echo ok || echo FAIL)" kernel-times
	fi
	ok=ok
	[ "$(recorded "$out/calls$n.0.events.trace")" = $((n * (2 * ops + 6))) ] || ok=FAIL
	row "nccl.$n-ranks.ops" "$(recorded "$out/calls$n.0.events.trace")" ops $ok "$([ "$n" = 1 ] || echo shared-gpu)"
	row "nccl.$n-ranks.losses" "$(awk '/^dropped/ { getline; print $1 == "none" ? "none" : $4 $6 }' "$out/calls$n.info")" -
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
	row nccl.comm_key "$known" - "$([ "$(printf %016x "0x$printed")" = "$known" ] && echo ok || echo FAIL)" comm-key
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

# As many captures in each of the three modes, with eager calls between them; under the tracer none is spoilt.
captures() {
	local mode ok n=1000
	[ ! "$quick" ] || n=20
	for mode in bare events plugin; do
		ok=ok
		life_job capture $mode 2 capture $n || ok=FAIL
		[ "$(checksum "$out/capture.$mode.")" = "$(checksum "$out/capture.bare.")" ] || ok=FAIL
		row captures.$mode "$(figure "$out/capture.$mode.0" captures)" captures $ok capture-question
	done
}

# A graph of eight all-reduces; and what asking for the channels of kernels would cost it (a plugin of the tests that asks, and one
# that does not). Over sockets a captured plan has a host node anyway, for NCCL's proxy: between ranks that share a GPU no difference
# says nothing.
replays() {
	local mode plugin=$build/tests/sim/sim_profiler_v5.so with without
	for mode in bare events plugin; do
		life_job replay $mode 2 replay 1 || row replay.$mode - - FAIL host-nodes
		row replay.$mode "$(figure "$out/replay.$mode.0" replay)" us
	done
	row replay.plugin/bare "$(ratio "$(figure "$out/replay.plugin.0" replay)" "$(figure "$out/replay.bare.0" replay)")" ratio \
		"$(verdict 'a < 1.25 * b || c' "$(figure "$out/replay.plugin.0" replay)" "$(figure "$out/replay.bare.0" replay)" ${simulated:+1})" host-nodes
	[ -e "$plugin" ] || { row replay.channels - - n/a host-nodes; return; }
	export NCCL_PROFILER_PLUGIN=$plugin PROFILER_LOG=/dev/null
	PROFILER_MASK=0xfff life_job channels bare 2 replay 1; with=$(figure "$out/channels.bare.0" replay)
	PROFILER_MASK=0xfbf life_job no-channels bare 2 replay 1; without=$(figure "$out/no-channels.bare.0" replay)
	unset NCCL_PROFILER_PLUGIN PROFILER_LOG
	row replay.with_channels "$with" us
	row replay.without_channels "$without" us
	row replay.channels_cost "$(ratio "$with" "$without")" ratio - host-nodes
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

# needs_torch NAME: 1 and a row that says so where there is none, or no GPU for it
needs_torch() {
	[ "$python" ] && [ ! "$simulated" ] && return
	row "$1" "$([ "$python" ] && echo "needs a GPU" || echo "no PyTorch")" - n/a
	return 1
}

training() {
	[ "$python" ] || { row torch "no PyTorch" - n/a; return; }
	local rounds=1
	compare ddp ddp_step "bare auto" ddp
	[ ! "$simulated" ] || return
	compare graph graph_step "bare auto plugin" graph
	row torch.graph.ops "$(recorded "$out/graph.0.auto.trace")" ops
	compare nonblocking nonblocking_step "bare auto" nonblocking
}

# A product beside an all-reduce, and twelve more streams that compute.
overlap() {
	needs_torch overlap || return
	local connections mode bare both rounds=1
	for connections in 1 8; do
		export CUDA_DEVICE_MAX_CONNECTIONS=$connections
		compare overlap-$connections overlap_both "bare events host auto" overlap
		bare=$(figure "$out/overlap-$connections-bare" overlap_both)
		for mode in host auto; do
			both=$(figure "$out/overlap-$connections-$mode" overlap_both)
			row overlap-$connections.$mode "$both" ms "$(verdict 'a <= 1.02 * b' "$both" "$bare")" "$([ $mode = host ] && echo untimed-events || echo queues)"
		done
		both=$(figure "$out/overlap-$connections-events" overlap_both)
		[ $connections != 1 ] || row overlap-1.events_cost "$(ratio "$both" "$bare")" ratio "$(verdict 'a > 1.02 * b' "$both" "$bare")" untimed-events
	done
	unset CUDA_DEVICE_MAX_CONNECTIONS
	compare overlap-streams overlap_both "bare events host auto" overlap --streams 12
	row overlap-streams.auto "$(figure "$out/overlap-streams-auto" overlap_both)" ms \
		"$(verdict 'a <= 1.02 * b' "$(figure "$out/overlap-streams-auto" overlap_both)" "$(figure "$out/overlap-streams-bare" overlap_both)")" queues
}

# torch.profiler begins and ends five times beside the tracer; CUPTI is torn down each time.
profiler() {
	needs_torch profiler || return
	local mode ok
	for mode in bare auto; do
		ok=ok
		TEARDOWN_CUPTI=1 train profiler "$mode" 2 ddp --steps "$steps" --profiler 5 || ok=FAIL
		[ "$(checksum "$out/profiler.$mode.")" = "$(checksum "$out/profiler.bare.")" ] || ok=FAIL
		row profiler.$mode "$(figure "$out/profiler.$mode.0" ddp_step)" ms $ok
	done
}

sanitizer() {
	local tool status
	tool=$(type -P compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)
	[ "$tool" ] && [ ! "$simulated" ] || { row sanitizer "no compute-sanitizer" - n/a; return; }
	rm -f "$out/id"
	traced "$out/sanitizer.trace" events timeout --foreground 45 "$tool" --error-exitcode 9 --target-processes all \
		"$probe" nccl "$nccl" 0 1 "$out/id" 20 plain >"$out/sanitizer" 2>&1
	status=$?
	row sanitizer.memcheck $status status "$([ $status = 0 ] && grep -q 'ERROR SUMMARY: 0 errors' "$out/sanitizer" && echo ok || echo FAIL)"
}

# Programs that reach NCCL by other ways than PyTorch: each is recorded, or says what it lacks.
reach() {
	local way n
	for way in ctypes cupy jax; do
		[ "$python" ] || python=$(type -P python3)
		rm -rf "$out/reach.$way.trace"
		traced "$out/reach.$way.trace" events timeout --foreground 40 "$python" "$root/tests/gpu/reach.py" $way "$nccl" >"$out/reach.$way" 2>"$out/reach.$way.err"
		case $? in
		0) n=$(recorded "$out/reach.$way.trace")
			row reach.$way "$n" ops "$(verdict 'a > 0' "$n")" ;;
		77) row reach.$way "$(tail -1 "$out/reach.$way")" - n/a ;;
		*) row reach.$way "$(tail -1 "$out/reach.$way.err")" - FAIL ;;
		esac
	done
}

# Minutes of training: nothing grows, nothing is lost, steps stay as long as they were.
long() {
	[ "$python" ] || { row long "no PyTorch" - n/a; return; }
	local f=$out/long.auto.0 limit=$((${minutes%.*} * 60 + 60))
	train long auto 2 ddp --minutes $minutes || row long - - FAIL
	row long.steps "$(figure "$f" ddp_steps)" steps
	row long.late_steps/early_steps "$(ratio "$(figure "$f" ddp_late_step)" "$(figure "$f" ddp_early_step)")" ratio
	row long.grown "$(figure "$f" ddp_grown)" MB "$(verdict 'a < 64' "$(figure "$f" ddp_grown)")"
	row long.losses "$("$commtrace" info --whole "$out/long.auto.trace" 2>/dev/null | awk '/^dropped/ { getline; print $1 == "none" ? "none" : $4 $6 }')" -
}

# Under torchrun, which is the ranks' parent; and Gloo.
launched() {
	[ "$python" ] || { row launched "no PyTorch" - n/a; return; }
	local mode ok=ok
	for mode in bare auto; do
		traced "$out/torchrun.$mode.trace" $mode timeout --foreground 45 "$python" -m torch.distributed.run -r 1 -t 1 --nproc_per_node=2 \
			--master_port $((20000 + $$ % 20000)) "$root/tests/gpu/train.py" ddp --steps 10 >"$out/torchrun.$mode" 2>"$out/torchrun.$mode.err" || ok=FAIL
	done
	[ "$(checksum "$out/torchrun.bare")" = "$(checksum "$out/torchrun.auto")" ] || ok=FAIL
	row torchrun.ops "$(recorded "$out/torchrun.auto.trace")" ops "$ok"
	[ ! "$simulated" ] || return
	ok=ok
	for mode in bare auto; do
		traced "$out/gloo.$mode.trace" $mode timeout --foreground 45 "$python" -m torch.distributed.run -r 1 -t 1 --nproc_per_node=2 \
			--master_port $((20001 + $$ % 20000)) "$root/examples/torch_ddp/train.py" --steps 5 --collectives >"$out/gloo.$mode" 2>"$out/gloo.$mode.err" || ok=FAIL
	done
	[ "$(checksum "$out/gloo.bare")" = "$(checksum "$out/gloo.auto")" ] || ok=FAIL
	row gloo.ops "$(recorded "$out/gloo.auto.trace")" ops "$ok"
}

if [ "$one" ]; then
	$one
	exit $failed
fi
row name value unit verdict assumption
for part in $parts; do
	limit=${CT_PART_SECONDS:-$(awk -v part="$part" '$1 == part { print $3 }' <<<"$table")}
	[ "$limit" ] || { echo "run.sh: no part $part" >&2; exit 2; }
	[ "$part" != long ] || limit=$(awk -v s="$limit" -v m="$minutes" 'BEGIN { print int(s > m * 60 + 60 ? s : m * 60 + 60) }')
	timeout -k 5 "$limit" "$0" $quick $simulated --minutes "$minutes" -o "$out" --one "$part"
	status=$?
	[ $status != 124 ] && [ $status != 137 ] || row "$part.longer_than" "$limit" s FAIL
	[ $status = 0 ] || failed=1
done
echo "logs and traces: $out"
exit $failed
