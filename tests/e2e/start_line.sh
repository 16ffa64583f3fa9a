#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tracer's only word: one line on stderr, by rank 0, none if switched off, with what was wrong in the environment. And
# COMMTRACE=0 leaves nothing at all.
. "$(dirname "$0")/e2e.sh"

# job NAME SETTINGS... [-- ARGUMENTS...]: two ranks; their stderr is in err.0 and err.1 of the job's folder, their run in run.
job() {
	local name=$1 settings=() rank status=0 pids=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		settings+=("$1")
		shift
	done
	[ $# = 0 ] || shift
	d=$work/$name
	mkdir -p "$d/store" "$d/cwd"
	for rank in 0 1; do
		(
			cd "$d/cwd"
			export COMMTRACE_DIR=$d/run COMMTRACE_JOB=e2e
			timeout -k 5 120 env "${settings[@]}" RANK=$rank WORLD_SIZE=2 \
				LD_PRELOAD="$library" "$gloo_job" --rank $rank --size 2 --store "$d/store" --ops 20 "$@" \
				>"$d/out.$rank" 2>"$d/err.$rank"
		) &
		pids+=($!)
	done
	for rank in 0 1; do
		wait "${pids[rank]}" || status=$?
	done
	[ $status = 0 ] || fail "$name: exit $status: $(cat "$d"/err.*)"
	[ ! -s "$d/err.1" ] || fail "$name: rank 1 speaks: $(cat "$d/err.1")"
}

# says NAME PATTERN: rank 0 said exactly one line, and this one (a whole extended expression).
says() {
	[ "$(wc -l <"$work/$1/err.0")" = 1 ] || fail "$1: not one line:"$'\n'"$(cat "$work/$1/err.0")"
	grep -Eqx "$2" "$work/$1/err.0" || fail "$1: the line is not '$2':"$'\n'"$(cat "$work/$1/err.0")"
}

# notes NAME TEXT: the warning is in the trace, too: info and report repeat it.
notes() {
	local command
	for command in info report; do
		timeout -k 5 240 "$commtrace" $command "$work/$1/run" >"$work/$1/$command" 2>&1 || fail "$1: $command: exit $?"
		grep -Fq "$2" "$work/$1/$command" || fail "$1: $command does not repeat '$2':"$'\n'"$(cat "$work/$1/$command")"
	done
}

run_of() {
	echo "$work/$1/run"
}
line() {
	echo "commtrace: recording to $1; then: commtrace report $1"
}

job plain
says plain "$(line "$(run_of plain)")"

job quiet COMMTRACE_QUIET=1
[ ! -s "$d/err.0" ] || fail "quiet: $(cat "$d/err.0")"
[ -n "$(find "$d/run" -name '*.seg')" ] || fail "quiet: nothing was recorded"

# A typing error is named together with what was meant.
job neighbour COMMTRACE_FLUSCH=1s
says neighbour "$(line "$(run_of neighbour)").*COMMTRACE_FLUSCH.*COMMTRACE_FLUSH.*"
notes neighbour COMMTRACE_FLUSCH
job value COMMTRACE_RING_MB=lots
says value "$(line "$(run_of value)").*COMMTRACE_RING_MB.*"
notes value COMMTRACE_RING_MB
job both COMMTRACE_FLUSCH=1s COMMTRACE_QUIET=1
[ ! -s "$d/err.0" ] || fail "both: $(cat "$d/err.0")"
notes both COMMTRACE_FLUSCH
# Not ours.
job stranger COMMTRACER=1 XCOMMTRACE_DIR=1
says stranger "$(line "$(run_of stranger)")"

# A path is not an order to the terminal, and the command can be pasted.
job $'red\e[31m\a it\'s'
! grep -q $'[\e\a]' "$d/err.0" || fail "control characters reach the terminal: $(cat -v "$d/err.0")"
said=$(sed -n 's/.*; then: //p' "$d/err.0")
eval "set -- $said"
[ "$#,$1,$2,$3" = "3,commtrace,report,$d/run" ] || fail "the command is read as something else: $said"

# A tail that does not fit makes no second line.
long_name=COMMTRACE_$(printf 'X%.0s' {1..3000})
job long "$long_name=1"
says long "$(line "$(run_of long)").*"

# The default directory lies in the working directory and is named after the job.
job default -u COMMTRACE_DIR COMMTRACE_JOB=tuesday
says default "commtrace: recording to .*/commtrace-tuesday; then: commtrace report .*/commtrace-tuesday"
[ -n "$(find "$d/cwd/commtrace-tuesday" -name '*.seg')" ] || fail "default: no segment in $d/cwd/commtrace-tuesday"

# No one reads what the job says: the line is dropped, nothing waits.
mkfifo "$work/full"
exec 9<>"$work/full"
dd if=/dev/zero of="$work/full" bs=4k oflag=nonblock 2>/dev/null || true
mkdir "$work/pipe"
RANK=0 traced 20 "$work/pipe/run" "$gloo_job" --rank 0 --size 1 --store "$work/pipe" --ops 10 >"$work/pipe/out" 2>&9 ||
	fail "with a full pipe for stderr: exit $?"
exec 9>&-
[ -n "$(find "$work/pipe/run" -name '*.seg')" ] || fail "with a full pipe for stderr: nothing recorded"

# Off: no ring, no directory, no thread, no word. The reference has no preload.
threads() {
	local pid guard store
	store=$(mktemp -d "$work/store.XXXXXX")
	timeout -k 5 120 env "$@" "$gloo_job" --rank 0 --size 1 --store "$store" --ops 100000 --pace-us 1000 \
		--journal "$work/threads.journal" >/dev/null 2>&1 &
	guard=$!
	for _ in $(seq 200); do
		pid=$(od -An -t u4 -j 24 -N 4 "$work/threads.journal" 2>/dev/null | tr -d ' ') || pid=
		if [ "${pid:-0}" != 0 ] && [ "$(od -An -t u8 -j 64 -N 8 "$work/threads.journal" | tr -d ' ')" -gt 10 ]; then
			find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l
			find "/proc/$pid/fd" -mindepth 1 -maxdepth 1 | wc -l
			kill -KILL "$pid"
			break
		fi
		sleep 0.02
	done
	wait "$guard" 2>/dev/null || true
	rm -f "$work/threads.journal"
}
threads A=1 >"$work/without"
threads COMMTRACE=0 COMMTRACE_DIR="$work/off" LD_PRELOAD="$library" >"$work/off.threads"
threads COMMTRACE_DIR="$work/on" LD_PRELOAD="$library" >"$work/on.threads"
same "threads and files of a process with COMMTRACE=0" "$work/without" "$work/off.threads"
! cmp -s "$work/without" "$work/on.threads" || fail "the test does not see the tracer's threads"
rm -f "$rings"/*

job off COMMTRACE=0 COMMTRACE_FLUSCH=1
[ ! -s "$d/err.0" ] || fail "off: $(cat "$d/err.0")"
[ ! -e "$d/run" ] || fail "off: $d/run was made"
[ -z "$(find "$rings" "$d/cwd" -mindepth 1)" ] || fail "off: left behind: $(find "$rings" "$d/cwd" -mindepth 1)"

echo "one line or none, in 10 environments; off means off"
