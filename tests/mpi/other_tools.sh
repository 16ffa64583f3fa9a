#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job with another tool on MPI's profiling interface, before the tracer, behind it, or linked into the program; and with
# another allocator. Results and exit code are those without, the other tool counts what it counts alone, and what is on
# record is just that.
. "$(dirname "$0")/mpi.sh"
ranks=2
suffix=
[ "$flavour" = openmpi ] || suffix=.mpich
program=$build/bin/mpi_stencil$suffix
job=(--steps 12 --groups --seed 3)
shim=$mpi/libpmpi_shim.$flavour.so

# run NAME PRELOADS [PROGRAM]: the job's output is in NAME/out, its run, if it has one, in NAME/run.
run() {
	local name=$1 d=$work/$1
	mkdir "$d"
	preloads=$2 COMMTRACE_DIR=$d/run COMMTRACE_QUIET=1 PMPI_SHIM_LOG=$d/log EZTRACE_TRACE=$flavour EZTRACE_TRACE_DIR=$d/eztrace \
		mpi_start 60 $ranks "${3:-$program}" "${job[@]}" >"$d/out" 2>"$d/err" || fail "$name: exit $?: $(cat "$d/err")"
	[ "$name" = plain ] || same "$name: stdout" plain/out "$name/out"
	[[ ":$2:" != *":$library:"* ]] ||
		timeout -k 5 60 "$commtrace" dump --format=jsonl "$d/run" >"$d/dump" || fail "$name: commtrace dump: exit $?"
}

# counted NAME [some]: the other tool's log against itself alone, and against the run.
counted() {
	local rank said
	for ((rank = 0; rank < ranks; rank++)); do
		same "$1: what the other tool saw" "$3/log.$rank" "$1/log.$rank"
	done
	said=$("$python" "$root/tests/mpi/counts.py" "$1/dump" "$1/log" $2 2>&1) || fail "$1: $said"
	printf '%-14s %s\n' "$1" "$said"
}

run plain ""
grep -q '^result checksum=' plain/out || fail "no result: $(cat plain/out plain/err)"

run alone "$shim"
grep -q '^Sendrecv 12 ' alone/log.0 || fail "this job calls only: $(cat alone/log.0)"
run before "$shim:$library"
counted before "" alone
run behind "$library:$shim"
counted behind "" alone
run linked "$library" "$mpi/linked_stencil.$flavour"
counted linked "" alone

# EZTrace is a tracer of others; its log is made into the shim's form: what it tells of collectives and sends.
ezt=/usr/lib/$(uname -m)-linux-gnu/libeztrace-$flavour.so
if [ -e "$ezt" ] && command -v otf2-print >/dev/null; then
	ezt=${ezt%/*}/libeztrace-lib.so:$ezt
	# eztrace_log NAME
	eztrace_log() {
		otf2-print "$1"/eztrace/eztrace_log.otf2 2>/dev/null | awk -v log_file="$1/log" '
			# Locations are numbered by rank, in steps of 2^30.
			{ rank = int(($2 + 1) / 1073741824) }
			$1 == "ENTER" && /Region: "MPI_(Allreduce|Gather|Sendrecv)"/ { split($0, part, "\""); n[rank, substr(part[2], 5)]++ }
			$1 == "MPI_ISEND" && !/INVALID/ { n[rank, "Isend"]++; sub(/.*Length: /, ""); bytes[rank, "Isend"] += $1 }
			END { for (k in n) { split(k, p, SUBSEP); print p[2], n[k], bytes[k] + 0 | "sort >" log_file "." p[1] } }'
	}
	run ez_alone "$ezt"
	eztrace_log ez_alone
	grep -qx "Allreduce 36 0" ez_alone/log.0 || fail "EZTrace alone saw: $(cat ez_alone/log.*)"
	run ez_before "$ezt:$library"
	eztrace_log ez_before
	counted ez_before some ez_alone
	run ez_behind "$library:$ezt"
	eztrace_log ez_behind
	counted ez_behind some ez_alone
fi

jemalloc=$(ldconfig -p | awk '/libjemalloc\.so\.2/ { print $NF; exit }')
if [ -n "$jemalloc" ]; then
	run je_before "$jemalloc:$library"
	run je_behind "$library:$jemalloc"
	for name in je_before je_behind; do
		said=$("$python" "$root/tests/mpi/counts.py" $name/dump "$work/alone/log" 2>&1) || fail "$name: $said"
		printf '%-14s %s\n' $name "$said"
	done
fi
