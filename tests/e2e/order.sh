#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Simulated jobs in which a rank leaves an operation out, calls one twice, calls another one, or exits early: the report
# names that rank, the operation and its number. One that crashes there is not said to have uneven inputs, and
# nothing is said of a job in which nothing is wrong.
. "$(dirname "$0")/e2e.sh"

export COMMTRACE_QUIET=1

# job NAME FAULT WORDS...: every word in the line of the first finding, and a verdict, HANG: CODE: rank R OP #SEQ, in the first line.
# Eight ranks; ddp has 7 ops a step, so op 16 is the first all-reduce of the third one.
job() {
	local name=$1 fault=$2 line word
	shift 2
	traced 60 "$work/$name.run" "$build/bin/commtrace-simjob" --ranks 8 --nodes 2 --steps 5 --step-ms 10 --give-up 5 \
		${fault:+--fault "$fault"} >/dev/null 2>&1 || true
	"$commtrace" report "$work/$name.run" --json | jq -r '
		if .hang then .hang.verdicts[0] | "HANG: \(.code): rank \(.ranks | join(",")) \(.op) #\(.seq) "
		else "\(.verdict.code): \(.verdict.text)" end' >"$name.report"
	"$commtrace" report "$work/$name.run" --format=kv >>"$name.report"
	for word; do
		case $word in
		HANG:* | *:) grep -q "^$word" "$name.report" || fail "$name: no $word in the first line: $(head -n 1 "$name.report")" ;;
		!*) ! grep -q "^${word#!}" "$name.report" || fail "$name: $(grep "^${word#!}" "$name.report")" ;;
		*)
			line=$(sed -n 3p "$name.report")
			[[ " $line " == *" $word "* ]] || fail "$name: no $word in: $line"
			;;
		esac
	done
	head -n 1 "$name.report"
}

pids=()
start() {
	job "$@" &
	pids+=($!)
}
join() {
	local pid
	for pid in "${pids[@]}"; do
		wait "$pid" || exit 1
	done
	pids=()
}
start skip skip:rank=1,op=16 'HANG: SKIPPED_OP: rank 1 AllReduce #16 ' SKIPPED_OP ranks=1 seq=16 left_out=1
start extra extra:rank=6,op=16 'HANG: EXTRA_OP: rank 6 ' EXTRA_OP ranks=6 seq_max=17 more=1
start count mismatch:rank=2,op=16,field=count 'HANG: MISMATCH_COUNT: rank 2 AllReduce #16 ' ranks=2 seq=16 field=count
start dtype mismatch:rank=0,op=16,field=dtype 'HANG: MISMATCH_DTYPE: rank 0 AllReduce #16 ' ranks=0 seq=16 field=dtype
join
start op mismatch:rank=7,op=16,field=op 'HANG: MISMATCH_OP: rank 7 ' ranks=7 seq=16 field=op others=AllReduce
start redop mismatch:rank=3,op=16,field=redop 'HANG: MISMATCH_REDOP: rank 3 AllReduce #16 ' ranks=3 seq=16 field=redop
start root mismatch:rank=1,op=14,field=root MISMATCH: ranks=1 seq=14 field=root
# the others wait for as long as a hang must at least take: it may be reported as one
start exit exit:rank=3,op=16 '\(UNEVEN_INPUT\|HANG: EXITED_RANK\):' UNEVEN_INPUT ranks=3 last_seq=15 by=exit
join
start failed exit:rank=3,op=16,code=5 '!UNEVEN_INPUT' '!MISMATCH'
start killed kill:rank=3,op=16 '!UNEVEN_INPUT' '!MISMATCH'
start missing missing:rank=3,op=16 '!UNEVEN_INPUT' '!MISMATCH' '!SKIPPED_OP'
start nothing '' '!UNEVEN_INPUT' '!MISMATCH' '!SKIPPED_OP' '!EXTRA_OP'
join
