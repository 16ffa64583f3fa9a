#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Processes that stand still in functions that the test knows, killed when they have been looked at: what is on record names those
# functions, in order. stack_job.c has the ways, stack_job.py the truth of Python as the interpreter shows it.
# usage: stacks.sh LIBRARY FAKE_GLOO STACK_JOB STACK_READ
set -u
library=$1 fake=$2 job=$3 read=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
declare -A pids
trap 'for name in "${!pids[@]}"; do kill -9 "${pids[$name]}"; done 2>/dev/null; rm -rf "$work"' EXIT
failed=0
wrong() {
	echo "FAIL: $*"
	[ ! -f "$work/is" ] || sed 's/^/    /' "$work/is"
	failed=1
}

# start NAME SETTING PROGRAM... : in the background, recorded.
start() {
	local name=$1 d=$work/$1 setting=$2
	shift 2
	mkdir -p "$d/ring"
	env LD_PRELOAD="$library" COMMTRACE_DIR="$d/run" COMMTRACE_RING_DIR="$d/ring" COMMTRACE_QUIET=1 COMMTRACE_HANG_AFTER=1s \
		"$setting" "$@" &
	pids[$name]=$!
}

# What is left of it goes to $work/is.
is_left() {
	"$read" "$work/$1/run" "$work/$1/ring" >"$work/is" 2>/dev/null
}

# Wait until the process has been looked at COUNT times, then kill it. A look is on record twice: first without the names of
# native functions, which are in files, then with them. One killed in between has only the first.
looked() {
	local looks=0
	for _ in $(seq 600); do
		is_left "$1" && looks=$(sed -n 's/^looks \([0-9]*\).*/\1/p' "$work/is")
		[ "${looks:-0}" -lt "$2" ] || ! grep -q '^native [^-]' "$work/is" || break
		sleep 0.1
	done
	end "$1"
	is_left "$1"
	grep -q ' damaged 0 ' "$work/is" || wrong "$1: damaged records"
}
end() {
	kill -9 "${pids[$1]}" 2>/dev/null
	wait "${pids[$1]}" 2>/dev/null
	unset "pids[$1]"
}

# It ends by itself, as it would without being looked at.
ended() {
	wait "${pids[$1]}" || wrong "$1: exit status $?"
	unset "pids[$1]"
	is_left "$1"
}

# frames: the functions of known name of the first thread, in one line.
frames() {
	awk '/^thread/ { n++ } n == 1 && ($1 == "native" || $1 == "python") && $2 != "-" { printf "%s ", $2 }' "$work/is"
}

# has NAME THREAD_WORDS FUNCTIONS: the first thread is said to be so, and these functions come one behind the other.
has() {
	grep -m 1 '^thread' "$work/is" | grep -qE "$2" || wrong "$1: the thread is not said to be: $2"
	case " $(frames)" in
	*" $3 "*) ;;
	*) wrong "$1: not in these functions: $3" ;;
	esac
}

# All at once: most of the time they wait.
gloo=_ZN4gloo7barrierERNS_14BarrierOptionsE
for way in spins asleep pointer idle signalled threads churn loader leaderless "healthy 2500" "computes 2500"; do
	# shellcheck disable=SC2086 # a way may have an argument
	start "${way% *}" A=1 "$job" $way
done
start off COMMTRACE_STACKS=off "$job" asleep
pythons=0
for python in $("$here/../python/interpreters.sh"); do
	pythons=$((pythons + 1))
	start "python$pythons" A=1 "$python" "$here/stack_job.py" "$fake" "$work/where$pythons"
done
start native COMMTRACE_STACKS=native "$python" "$here/stack_job.py" "$fake" "$work/where"

looked spins 2
has spins ' main call runs why 1 state R takes [2-9] same 0 before 1' "train_step train_epoch main"
looked asleep 2
has asleep ' main call why 1 state S takes [2-9] same 1 before 1' "nanosleep sleeps $gloo train_step train_epoch main"
looked pointer 1
has pointer ' main call why 1 ' "sleeps $gloo train_step train_epoch with_room compare"
has pointer ' main call why 1 ' "qsort_r sorts main"
# Where nothing could be written, the ring has it.
"$read" "$work/pointer/ring"/*.ring "$work/pointer/ring" >"$work/is"
has "pointer, the ring alone" ' main call why 1 ' "sleeps $gloo train_step train_epoch with_room compare"
looked idle 1
has idle ' main why 3 state S' "nanosleep sleeps lost_in_thought main"
looked signalled 1
has signalled ' main call why 1 ' "sleeps lost_in_thought handles"
has signalled ' main call why 1 ' "signals $gloo train_step train_epoch main"

looked loader 1
has loader ' main call why 1 ' "sleeps $gloo train_step train_epoch loaded"

looked leaderless 1
has leaderless ' call why 1 ' "sleeps $gloo train_step train_epoch worker"
[ -n "$(ls "$work/leaderless/ring")" ] || wrong "leaderless: the ring has gone though its process went on"

# Those in a call and the first thread; no more than can be identified.
looked threads 1
has threads ' call why 1 ' "sleeps $gloo train_step train_epoch worker"
[ "$(grep -c '^thread' "$work/is")" = 16 ] || wrong "threads: not 16 of them"
[ "$(grep -c '^thread.* call ' "$work/is")" = 15 ] || wrong "threads: not 15 in a call"
[ "$(grep -c '^thread.* main ' "$work/is")" = 1 ] || wrong "threads: not the first one"
looked churn 3
has churn ' call why 1 ' "sleeps $gloo train_step train_epoch worker"
grep -q '^native lost_in_thought ' "$work/is" || wrong "churn: the first thread is not reported"

for i in $(seq $pythons); do
	looked "python$i" 1
	grep -q '^thread.* main why 3 state S' "$work/is" || wrong "Python $i: the first thread is not reported"
	sed -n 's/^python \([^ ]* [0-9]*\) stack_job.py$/\1/p' "$work/is" | cmp -s - "$work/where$i" ||
		wrong "Python $i: not the frames that the interpreter tells: $(cat "$work/where$i")"
done
[ $pythons -gt 0 ] || wrong "no Python"
looked native 1
grep -q '^native ' "$work/is" || wrong "native: no frames"
! grep -q '^python ' "$work/is" || wrong "native: frames of Python"

# What goes on is not looked at; nor is anything where it is switched off.
ended healthy
grep -q '^looks 0 ' "$work/is" || wrong "healthy: looked at"
ended computes
grep -q '^native main ' "$work/is" || wrong "computes: not looked at in its long step"
end off
is_left off
grep -q '^looks 0 ' "$work/is" || wrong "off: looked at"
exit $failed
