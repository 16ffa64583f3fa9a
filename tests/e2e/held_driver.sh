#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Someone holds the lock of the CUDA driver for seconds. Calls of the program that need no driver do not wait for it because
# of the tracer; the process ends as it would; what could not be timed is counted; what was called is recorded.
. "$(dirname "$0")/e2e.sh"
job=$e2e/held_job
hold=2500
[ "$long" = 0 ] || hold=5500
export COMMTRACE_QUIET=1 COMMTRACE_BUDGET=off

# ends MODE MS HOW: run it plain or traced; exit status, stdout, stderr and milliseconds in MODE.HOW.{status,out,err,ms}.
ends() {
	local name=$work/$1.$3 begin status=0
	begin=$(date +%s%N)
	if [ "$3" = plain ]; then
		timeout -k 5 360 "$job" "$1" "$2" >"$name.out" 2>"$name.err" || status=$?
	else
		traced 90 "$work/$1.run" "$job" "$1" "$2" >"$name.out" 2>"$name.err" || status=$?
	fi
	echo $status >"$name.status"
	echo $((($(date +%s%N) - begin) / 1000000)) >"$name.ms"
}

# longest MODE HOW: how long its longest call took, ms.
longest() {
	sed -nE 's/^.*: ([0-9]+) ms$/\1/p' "$work/$1.$2.err" | sort -n | tail -n 1
}

same_end() {
	same "$1: exit status" "$work/$1.plain.status" "$work/$1.traced.status"
	same "$1: stdout" "$work/$1.plain.out" "$work/$1.traced.out"
	[ -s "$work/$1.traced.out" ] || fail "$1: says nothing: $(cat "$work/$1.traced.err")"
}

# recorded MODE N: all N calls of ncclAllReduce on two ranks are on record.
recorded() {
	local n
	n=$("$commtrace" dump --format=jsonl "$work/$1.run" 2>"$work/dump.err" | grep -c '"op": *"AllReduce"') || true
	[ "$n" = "$2" ] || fail "$1: $n calls on record, not $2: $(cat "$work/dump.err")"
}

# says MODE: the loss is reported by its name.
says() {
	info_json "$work/$1.run" | tr -d ' \n' | grep -Eq '"reason":"DRIVER_HELD","records":[1-9]' || fail "$1: info does not tell it"
}

# A thread that waits only because it was sent after the lock waits until it is given back. On a machine that is busy
# enough the tracer may learn of the lock later than this program gives it time for: that is not a failure the first time.
# Of what is left of a second without the tracer, other tests have their share.
for mode in calls pending thread fork; do
	for try in 1 2 3; do
		rm -rf "$work/$mode".*
		ends $mode $hold plain &
		ends $mode $hold traced
		wait
		same_end $mode
		[ "$(longest $mode plain)" -lt 1000 ] || continue
		[ "$(longest $mode traced)" -ge 1000 ] || break
		[ $try -lt 3 ] || fail "$mode: calls wait because of the tracer:"$'\n'"$(cat "$work/$mode.plain.err" "$work/$mode.traced.err")"
	done
	printf '%-8s the longest call takes %s ms, traced %s ms\n' $mode "$(longest $mode plain)" "$(longest $mode traced)"
done
recorded calls $((8 + 20 + 20))
says calls
recorded pending 8
says pending

# It ends as it would, and two seconds later at most, whoever holds what.
for mode in exit abort term; do
	ends $mode 60000 plain &
	ends $mode 60000 traced
	wait
	same_end $mode
	[ "$(cat "$work/$mode.traced.ms")" -lt 30000 ] || fail "$mode: waits for the driver at the end: $(cat "$work/$mode.traced.ms") ms"
	recorded $mode 8
	printf '%-8s status %s after %s ms, traced %s ms\n' $mode "$(cat "$work/$mode.plain.status")" "$(cat "$work/$mode.plain.ms")" \
		"$(cat "$work/$mode.traced.ms")"
done
says exit
[ "$(cat "$work"/{exit,abort,term}.plain.status | tr '\n' ' ')" = "7 134 143 " ] || fail "the program itself ends otherwise"
