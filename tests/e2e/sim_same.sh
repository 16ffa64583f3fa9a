#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The simulated job with and without the preload: same output, same result file, same exit code, for every workload and
# with everything that can be made to go wrong; and no call that CUDA or NCCL would refuse, of ours either.
. "$(dirname "$0")/e2e.sh"
simjob=$build/bin/commtrace-simjob
workloads="ddp megatron fsdp moe decode"
# Faults that a job survives, faults that end it, faults that it hangs in.
lives="slow-rank:rank=1,pct=30 slow-host:host=1,ms=5 slow-link:src=0,dst=1,factor=0.5 late-host:rank=1,ms=5
	pause:rank=1,every=2,ms=20 rotating:every=2,ms=20 starve-sm:rank=1,ms=5 run-ahead:ms=10 gpu-pause:rank=1,ms=20
	driver-lock:rank=1,s=0.3 slow-write:rank=1,s=0.3"
ends="kill:rank=1,op=12 exit:rank=1,op=12,code=4 async-error:rank=1,op=12 abort-completes:rank=1,op=12,ms=100
	abort-completes:rank=1,op=12,ms=100,after=200"
hangs="missing:rank=1,op=12 mismatch:rank=1,op=12,field=count block-stream:rank=1,op=12 order-inversion:ranks=0+1
	skip-init:rank=1 skip-send:rank=1,peer=0,op=2 host-inversion:ranks=0+1 host-stall:rank=1,call=init unbatched-p2p:ranks=0+1
	skip:rank=1,op=12 extra:rank=1,op=12"

# job NAME WORKLOAD FAULT: both runs; their outputs in NAME.{plain,traced}.
job() {
	local name=$1 workload=$2 fault=$3 how out
	for how in plain traced; do
		out=$work/$name.$how
		mkdir "$out"
		(
			cd "$out"
			preload=
			[ $how = plain ] || preload=$library
			status=0
			# shellcheck disable=SC2086
			env COMMTRACE_QUIET=1 COMMTRACE_DIR="$out/run" LD_PRELOAD="$preload" timeout -k 5 480 "$simjob" --ranks 4 \
				--nodes 2 --workload "$workload" --steps 4 --step-ms 10 --give-up 6 ${fault:+--fault $fault} \
				--result result.json >stdout 2>stderr || status=$?
			echo $status >status
		)
	done
}

# compare NAME
compare() {
	local name=$1 file
	# a fault that cannot happen in this workload is refused; all can in moe
	if [ "${name#*.moe.}" = "$name" ] &&
		[ "$(cat "$work/$name.plain/status" "$work/$name.traced/status")" = $'2\n2' ]; then
		return 0
	fi
	for file in status stdout result.json; do
		same "$name: $file" "$work/$name.plain/$file" "$work/$name.traced/$file"
	done
	# who speaks first is up to the machine
	same "$name: stderr" <(sort "$work/$name.plain/stderr") <(sort "$work/$name.traced/stderr")
	[ "$(ls "$work/$name.traced/run" 2>/dev/null | wc -l)" -gt 0 ] || fail "$name: nothing was recorded"
}

names=()
begin() {
	names+=("$1")
	job "$@" &
	# a handful at a time: most of them sleep most of the time
	while [ "$(jobs -rp | wc -l)" -ge 6 ]; do
		wait -n
	done
}

for workload in $workloads; do
	begin "$workload" "$workload" ""
done
n=0
for fault in $lives $ends $hangs; do
	for workload in $workloads; do
		n=$((n + 1))
		# by default each fault in the workload that has all kinds of calls, in long runs each in each
		[ "$long" = 1 ] || [ "$workload" = moe ] || continue
		begin "$n.$workload.${fault%%:*}" "$workload" "$fault"
	done
done
wait
for name in "${names[@]}"; do
	compare "$name"
done
for fault in $lives; do
	for status in "$work"/*."${fault%%:*}".traced/status; do
		[ "$(cat "$status")" = 0 ] || fail "$status: a job that survives ended with $(cat "$status")"
	done
done
for fault in $lives $hangs; do
	[ "${fault%%:*}" != skip ] && [ "${fault%%:*}" != extra ] || continue # the job's own misuse
	! grep -l '"misuse": [^0]' "$work"/*."${fault%%:*}".traced/result.json || fail "misuse"
done
for workload in $workloads; do
	grep -q '"misuse": 0' "$work/$workload.traced/result.json" || fail "$workload: misuse"
done
echo "${#names[@]} jobs are the same with and without the preload"
