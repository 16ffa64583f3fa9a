# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# limits.sh — sourced after e2e.sh or mpi.sh: one job under a limit (ulimit), alone and recorded, by `commtrace run` and with
# LD_PRELOAD. `own` is a directory that is new for each of them; `others` are other preloads; `passed` counts the rows in which
# the job passes alone, which are those that say something; `user` is a prefix that runs a job as a user who has nothing else
# running, or empty: root is not held to its number of threads.
own=$work/own
others=
passed=0
user=()

# limited LIMIT VALUE COMMAND...
limited() {
	local limit=$1 value=$2
	shift 2
	(
		[ "$limit" != -u ] || set -- "${user[@]}" "$@"
		ulimit "$limit" "$value"
		exec timeout -k 5 240 "$@"
	)
}

# one HOW LIMIT VALUE COMMAND...: sets `status`; what it prints is in HOW.out and HOW.err.
one() {
	local how=$1 limit=$2 value=$3 run=$work/$1.run
	shift 3
	rm -rf "$run" "$own"
	mkdir -m 0777 "$run" "$own"
	status=0
	case $how in
	alone) limited "$limit" "$value" env LD_PRELOAD="$others" "$@" ;;
	run) limited "$limit" "$value" env LD_PRELOAD="$others" "$commtrace" run --force -o "$run" -- "$@" ;;
	preload) limited "$limit" "$value" env COMMTRACE_DIR="$run" LD_PRELOAD="$library${others:+:$others}" "$@" ;;
	esac >"$work/$how.out" 2>"$work/$how.err" || status=$?
	# UCX says on stdout what it does without, with the time of day
	sed -i '/ UCX /d' "$work/$how.out"
}

# What the loader maps of the library before anything in it runs, in kB: no one can take that back.
mapped=512
while read -r _ _ address _ _ bytes _; do
	mapped=$((512 + (address + bytes) / 1024))
done < <(readelf -lW "$library" | grep -w LOAD)

# row WANTED LIMIT VALUE COMMAND...: WANTED is the exit status of a job that has what it needs.
row() {
	local wanted=$1 what="ulimit $2 $3, ${*:4}" how
	shift
	case $1 in
	-v | -d) one alone "$1" $(($2 - mapped)) "${@:3}" ;;
	*) one alone "$@" ;;
	esac
	[ "$status" = "$wanted" ] || return 0
	passed=$((passed + 1))
	for how in run preload; do
		# at the edge of what it needs a job passes by chance
		for _ in 1 2 3 4 5; do
			one $how "$@"
			[ "$status" != "$wanted" ] || break
		done
		[ "$status" = "$wanted" ] || fail "$what, $how: exit status $status: $(cat "$work/$how.err")"
		same "$what, $how: stdout" "$work/alone.out" "$work/$how.out"
		[ "$(grep -Ec '^commtrace: (not recording: .*(\(ulimit|ThreadSanitizer)|recording to)' "$work/$how.err")" = 1 ] ||
			fail "$what, $how: not one word of whether it records: $(cat "$work/$how.err")"
	done
}
