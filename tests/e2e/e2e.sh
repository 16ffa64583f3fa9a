# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# e2e.sh — sourced by every test of this folder: where things are, a directory of its own, and how a job is run under the
# preload. CT_ROOT, CT_BUILD, CT_GLOO_JOB and CT_PYTHON come from ctest; CT_SEED=N repeats a run, CT_LONG=1 makes it long,
# CT_KEEP=1 leaves the files.
# A test prints what it compared and exits 1 with the first difference.
set -euo pipefail
export LC_ALL=C
root=${CT_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${CT_BUILD:-$root/build}
library=$build/lib/libcommtrace.so
commtrace=$build/bin/commtrace
e2e=$build/tests/e2e
gloo_job=${CT_GLOO_JOB:-$build/tests/interpose/gloo_job}
python=${CT_PYTHON:-/usr/bin/python3}
seed=${CT_SEED:-$((RANDOM * 32768 + RANDOM))}
long=${CT_LONG:-0}
RANDOM=$((seed % 32768))

# Nothing of the caller's own tracing reaches the jobs.
for name in $(compgen -e | grep -E '^(COMMTRACE|LD_PRELOAD$|RANK$|WORLD_SIZE$|MASTER_|SLURM_|OMPI_|PMI)' || true); do
	unset "$name"
done

# On a busy machine it would leave operations without times that a test looks at; and most jobs end before auto goes over to events.
export COMMTRACE_BUDGET=off COMMTRACE_TIMING=events

work=$(mktemp -d "${TMPDIR:-/tmp}/commtrace-e2e.XXXXXX")
rings=$(mktemp -d "${ring_base:-/dev/shm}/commtrace-e2e.XXXXXX" 2>/dev/null) || { rings=$work/rings && mkdir "$rings"; }
cleanup() {
	# What a test that has failed has left running is a load on those that follow.
	# shellcheck disable=SC2046
	kill $(jobs -pr) 2>/dev/null || :
	if [ -n "${CT_KEEP:-}" ]; then
		echo "kept: $work $rings"
	else
		rm -rf "$work" "$rings"
	fi
}
trap cleanup EXIT
export COMMTRACE_RING_DIR=$rings
cd "$work"

# fail WORDS...: the first difference.
fail() {
	printf '%s: %s (CT_SEED=%s)\n' "${0##*/}" "$*" "$seed" >&2
	exit 1
}

# same WHAT FILE FILE: equal bytes, or the difference in words.
same() {
	local difference
	difference=$(diff -u "$2" "$3" | head -n 20) || true
	[ -z "$difference" ] || fail "$1 differs:"$'\n'"$difference"
}

# between NAME LOW HIGH: sets NAME to a number by the seed. (In a $(...) RANDOM would not follow the seed.)
between() {
	printf -v "$1" %d $(($2 + (RANDOM * 32768 + RANDOM) % ($3 - $2 + 1)))
}

# traced SECONDS DIR COMMAND...: under the preload, recording into DIR, in bounded time (four times as long: on a machine where others
# work, too). Settings come from the environment.
traced() {
	local limit=$(($1 * 4)) dir=$2
	shift 2
	timeout -k 5 "$limit" env COMMTRACE_DIR="$dir" LD_PRELOAD="$library" "$@"
}

# untraced SECONDS DIR COMMAND...: the same without the preload; the command gives it to a program of its choice.
untraced() {
	local limit=$(($1 * 4)) dir=$2
	shift 2
	timeout -k 5 "$limit" env COMMTRACE_DIR="$dir" "$@"
}

# info_json RUN...: what `commtrace info` says.
info_json() {
	timeout -k 5 240 "$commtrace" info --format=json "$@"
}

# kill_round NAME CHECK_OPTIONS KILL_RANKS_ARGUMENTS...: a job with kill_ranks as its launcher, held against its journals
# and the launcher's account of the ends. Adds up `processes`, `kills` and `calls`.
processes=0 kills=0 calls=0 waits=0 in_flight=0 in_flight_found=0 orders=0
kill_round() {
	local name=$1 checks=$2 d=$work/$1 round_seed
	shift 2
	between round_seed 1 1000000000
	mkdir -p "$d/run"
	"${launch:-traced}" 90 "$d/run" "$e2e/kill_ranks" --job "${job:-$gloo_job}" --dir "$d" --seed "$round_seed" "$@" \
		>"$d/driver.out" 2>"$d/driver.err" ||
		fail "$name: kill_ranks $*: exit $?: $(cat "$d/driver.err")"
	[ ! -s "$d/driver.err" ] || fail "$name: the launcher is not silent: $(cat "$d/driver.err")"
	check_round "$name" "$checks"
	# What was read where the processes left it must read the same after it was brought together.
	if [ $((RANDOM % 2)) = 0 ]; then
		timeout -k 5 240 "$commtrace" collect "$d/run" -o "$d/collected" >"$d/collect.out" 2>&1 ||
			fail "$name: collect: $(cat "$d/collect.out")"
		rm -rf "$d/run"
		mv "$d/collected" "$d/run"
		check_round "$name, collected" "$checks" "$d"
	fi
	rm -rf "$d"
	rm -f "$rings"/*
}

# check_round NAME CHECK_OPTIONS [FOLDER]: compare. Only the first comparison of a round counts.
check_round() {
	local name=$1 checks=$2 d=${3:-$work/$1} said ends
	# shellcheck disable=SC2086
	said=$(timeout -k 5 240 "$e2e/check_journal" $checks -r "$d/run" "$d"/*.journal 2>&1) || fail "$name: $said"
	if [ "$(word "$said" ' processes')" = 0 ]; then
		echo "$name: all were killed before they recorded anything"
		return 0
	fi
	info_json "$d/run" >"$d/info.json" || fail "$name: commtrace info: exit $?"
	ends=$(timeout -k 5 240 "$e2e/check_ends" "$d/truth" "$d/run" "$d/info.json" 2>&1) || fail "$name: $ends"
	[ $# -le 2 ] || return 0
	processes=$((processes + $(word "$said" ' processes')))
	calls=$((calls + $(word "$said" ' calls')))
	waits=$((waits + $(word "$said" ' waits')))
	in_flight=$((in_flight + $(word "$said" ' in flight')))
	in_flight_found=$((in_flight_found + $(word "$said" ' of them recorded')))
	orders=$(word "$ends" ' orders')
	kills=$((kills + $(word "$ends" ' kills')))
	printf '%-22s %s\n%-22s %s\n' "$name" "${said#check_journal: }" '' "${ends#check_ends: }"
}

# word TEXT NAME: the number that stands before NAME.
word() {
	sed -nE "s/.*[^0-9]([0-9]+)$2.*/\1/p" <<<"$1"
}
