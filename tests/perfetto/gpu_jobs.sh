#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs on simulated GPUs, recorded, in Perfetto's own engine: every workload, whole, and running ahead of its GPUs behind a slow
# rank until one is killed; several ranks in a process, jobs that hang, and 64 ranks. What is wrong with jobs in other ways:
# matrix.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
mkdir rings
export COMMTRACE_RING_DIR=$work/rings

# record RUN STATUS OPTION...: STATUS is how the job ends.
record() {
	local run=$1 expected=$2 status=0
	shift 2
	"$CT_BUILD/bin/commtrace" run -q --set TIMING=events -o "$run" -- "$CT_BUILD/bin/commtrace-simjob" --node-env COMMTRACE_HOST --steps 4 \
		--step-ms 10 --give-up 6 "$@" >"$run.log" 2>&1 || status=$?
	[ $status = "$expected" ] || { echo "$run: the job ended with $status: $(tail -n 3 "$run.log")" >&2; return 1; }
}

# These do nothing but hang, so the others run meanwhile.
record hung 1 --ranks 4 --workload moe --fault mismatch:rank=1,op=12,field=count &
hung=$!
record blocked 1 --ranks 4 --workload ddp --fault block-stream:rank=1,op=12 &
blocked=$!
runs=()
for workload in ddp megatron fsdp moe decode; do
	record $workload 0 --ranks 8 --nodes 2 --workload $workload
	record $workload-killed 1 --ranks 4 --workload $workload --steps 100000 --fault run-ahead:ms=20 \
		--fault slow-rank:rank=1,pct=50 --fault kill:rank=2,op=150
	runs+=($workload $workload-killed)
done
record threads 0 --ranks 8 --ranks-per-process 4 --nodes 2 --workload megatron
record aborted 1 --ranks 4 --workload moe --fault abort-completes:rank=1,op=12,ms=100
record starved 0 --ranks 4 --workload fsdp --fault starve-sm:rank=1,ms=5 --fault gpu-pause:rank=2,ms=20
record many 0 --ranks 64 --nodes 8 --workload megatron --steps 1
wait $hung
wait $blocked
"$here/check.sh" "${runs[@]}" threads aborted starved many hung blocked
