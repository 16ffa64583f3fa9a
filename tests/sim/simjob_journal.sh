#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The journal of commtrace-simjob shows, whatever happened to the rank, what it called and what came back.
. "$(dirname "$0")/simjob.sh"

# journal NAME JOB...: one line per rank: rank, calls entered and returned, data-moving ones of them, the last one.
journal() {
	local name=$1
	shift
	run "$name" --ranks 4 --steps 3 --step-ms 5 --give-up 5 --journal "$dir/$name.journal" "$@"
	"$CT_READ_JOURNAL" "$dir/$name.journal" >"$dir/$name.calls"
}

# has NAME LINE...: the journal's lines are these.
has() {
	local name=$1
	shift
	diff <(printf '%s\n' "$@") "$dir/$name.calls" || fail "$name: other calls"
}

# Rank 0 makes the unique id; then init, 21 ops, finalize, destroy.
journal whole
has whole "0 entered=25 returned=25 ops=21 last=700" "1 entered=24 returned=24 ops=21 last=700" \
	"2 entered=24 returned=24 ops=21 last=700" "3 entered=24 returned=24 ops=21 last=700"

# Killed before its 16th op, that is before it enters it; the others have issued what is left of the step.
journal killed --fault kill:rank=2,op=15
has killed "0 entered=23 returned=23 ops=21 last=1" "1 entered=22 returned=22 ops=21 last=1" \
	"2 entered=16 returned=16 ops=15 last=2" "3 entered=22 returned=22 ops=21 last=1"

# Inside a call that does not come back.
journal stalled --fault host-stall:rank=1,call=groupend,op=9
has stalled "0 entered=16 returned=16 ops=14 last=1" "1 entered=11 returned=10 ops=10 last=1" \
	"2 entered=15 returned=15 ops=14 last=1" "3 entered=15 returned=15 ops=14 last=1"

# Never in any call; the others are inside init.
journal absent --fault skip-init:rank=3
has absent "0 entered=2 returned=1 ops=0 last=200" "1 entered=1 returned=0 ops=0 last=200" \
	"2 entered=1 returned=0 ops=0 last=200" "3 entered=0 returned=0 ops=0 last=0"

# Two ranks of a process have journals of their own.
journal threads --ranks-per-process 2 --fault kill:rank=2,op=15
cut -d ' ' -f 1,2 "$dir/threads.calls" | sed -n 3p | grep -qx '2 entered=16' || fail "threads: $(cat "$dir/threads.calls")"
