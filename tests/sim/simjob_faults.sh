#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every fault does what it says, as far as a job shows it: how it ends, how far it came, what is left.
. "$(dirname "$0")/simjob.sh"

give_up="no progress for 6 s: everything is killed"

# reported NAME STEPS: rank 0 has reported so many steps, one a line. "2 of rank 3": rank 3 has come through two steps. That it
# has is certain, since each rank waits for its GPU at the end of a step; that rank 0 reported so, too, is not: when someone
# dies, it may not have come to its end of the last of these steps, of the one before it must.
reported() {
	local lines own at_least
	lines=$(wc -l <"$dir/$1.out")
	at_least=${2%% *}
	if [[ $2 = *" of rank "* ]]; then
		own=$(sed -n "s/.*{\"rank\": ${2##* }, .*\"steps\": \([0-9]*\).*/\1/p" "$dir/$1.json")
		[ "$own" = "$at_least" ] || echo "rank ${2##* } came through $own steps, not $at_least"
		[ "$at_least" = 0 ] || at_least=$((at_least - 1))
	fi
	[ "$lines" -ge "$at_least" ] && [ "$lines" -le "${2%% *}" ] || echo "$lines steps, not $2"
}

# check LINE STATUS STEPS ENDS STDERR JOB...: a job of eight ranks on two nodes. STEPS as reported() takes it.
check() {
	local line=$1 status=$2 steps=$3 expected=$4 words=$5 name=fault$1 patience=6
	shift 5
	[ "$status" != 0 ] || patience=60 # nothing is to be given up
	run "$name" --ranks 8 --nodes 2 --steps 6 --step-ms 10 --give-up $patience "$@"
	[ "$(cat "$dir/$name.rc")" = "$status" ] || fail "line $line: $*: exit status $(cat "$dir/$name.rc"), not $status"
	[ -z "$(reported "$name" "$steps")" ] || fail "line $line: $*: $(reported "$name" "$steps")"
	[ "$(ends "$name")" = "$expected" ] || fail "line $line: $*: $(ends "$name"), not $expected"
	[ "$(sum "$name" misuse)" = 0 ] || fail "line $line: $*: CUDA was misused"
	if [ -n "$words" ]; then
		grep -qF "$words" "$dir/$name.err" || fail "line $line: $*: says $(cat "$dir/$name.err")"
	else
		[ ! -s "$dir/$name.err" ] || fail "line $line: $*: says $(cat "$dir/$name.err")"
	fi
}

# ddp has 7 ops a step: op 16 is an all-reduce of the third step, op 14 its first broadcast.
stuck="8 stopped 9"
jobs_of() {
	# Slow, but nothing is wrong.
	while read -r workload fault; do
		echo "0|6|8 exit 0||$workload|$fault"
	done <<-'END'
		ddp slow-rank:rank=5,pct=50
		fsdp slow-rank:rank=5,ms=20
		megatron slow-host:host=1,pct=50
		moe slow-link:src=0,dst=1,factor=0.1
		ddp late-host:rank=3,ms=40
		decode pause:rank=3,every=3,ms=100
		ddp rotating:every=2,ms=100
		ddp starve-sm:rank=2,ms=30
		megatron run-ahead:ms=24
		fsdp gpu-pause:rank=3,ms=100
		ddp mismatch:rank=1,op=14,field=root
		fsdp driver-lock:rank=1,s=0.5
		ddp slow-write:rank=1,s=0.5
	END
	# A rank waits forever.
	while read -r steps workload fault; do
		echo "1|$steps|$stuck|$give_up|$workload|$fault"
	done <<-'END'
		2 ddp missing:rank=2,op=16
		2 ddp skip:rank=1,op=16
		2 ddp extra:rank=1,op=16
		2 ddp mismatch:rank=1,op=16,field=op
		2 ddp mismatch:rank=1,op=16,field=count
		2 ddp mismatch:rank=1,op=16,field=dtype
		2 ddp mismatch:rank=1,op=16,field=redop
		2 ddp block-stream:rank=2,op=16
		1 ddp order-inversion:ranks=0+5
		3 ddp order-inversion:ranks=5+0,from=3
		1 ddp kernel-inversion:ranks=0+5
		1 moe host-inversion:ranks=2+1
		1 fsdp unbatched-p2p:ranks=0+1
		0 ddp skip-init:rank=3
		0 megatron skip-send:rank=0,peer=4,op=9
		0 ddp host-stall:rank=0,call=init
		0 megatron host-stall:rank=1,call=split
		2 ddp host-stall:rank=0,call=groupend,op=16
		6 ddp host-stall:rank=3,call=finalize
		0 moe missing:rank=1,op=30
		0 moe skip:rank=1,op=30
		0 moe host-stall:rank=1,call=groupend,op=30
		2 ddp transport-stall:rank=1,op=16
		2 ddp never-ends:rank=1,op=16
		2 ddp stray-split:rank=1,op=16
	END
	echo "1|2|1 exit 0, 7 stopped 9|$give_up|ddp|exit:rank=3,op=16"
	# Someone dies, and the launcher ends the others.
	echo "1|2 of rank 3|1 exit 5, 7 stopped 15||ddp|exit:rank=3,op=16,code=5"
	echo "1|2 of rank 2|1 signal 9, 7 stopped 15||ddp|kill:rank=2,op=16"
	echo "1|2 of rank 0|1 signal 11, 7 stopped 15||ddp|kill:rank=0,op=16,signal=11"
	echo "1|0 of rank 1|1 signal 9, 7 stopped 15||moe|kill:rank=1,op=30"
	echo "1|2 of rank 1|1 exit 1, 7 stopped 15|rank 1: ncclCommGetAsyncError: remote error|ddp|async-error:rank=1,op=16"
	echo "1|2 of rank 1|8 exit 1|rank 6: ncclCommAbort: the time is up|ddp|abort-completes:rank=1,op=16,ms=3000"
	echo "1|2 of rank 1|8 exit 1|rank 6: ncclCommAbort: the time is up|ddp|abort-completes:rank=1,op=16,ms=3000,after=200"
}

# Those that wait do so side by side.
line=0
pids=()
bad=0
join() {
	local pid
	for pid in "${pids[@]}"; do
		wait "$pid" || bad=1
	done
	pids=()
}
while IFS='|' read -r status steps expected words workload fault; do
	line=$((line + 1))
	(trap - EXIT && check $line "$status" "$steps" "$expected" "$words" --workload "$workload" --fault "$fault") &
	pids+=($!)
	[ $((line % 12)) != 0 ] || join
done < <(jobs_of)
join
[ $line = 46 ] || fail "$line faults were looked at"
[ $bad = 0 ] || exit 1

# A kill at a time and not at an op; and a launcher that leaves the others alone.
check timed 1 0 "1 signal 9, 7 stopped 15" "" --fault kill:rank=2,ms=150 --step-ms 4000
check left 1 2 "1 signal 9, 7 stopped 9" "$give_up" --fault kill:rank=2,op=16 --on-death wait
# The whole process dies, with all of its ranks.
check shared 1 "2 of rank 2" "1 signal 9, 1 stopped 15" "" --fault kill:rank=2,op=16 --ranks-per-process 4
