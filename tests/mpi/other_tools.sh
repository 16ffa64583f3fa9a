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
		timeout -k 5 240 "$commtrace" dump --format=jsonl "$d/run" >"$d/dump" || fail "$name: commtrace dump: exit $?"
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

# A tool that looks MPI up while it is initialised; its libraries are initialised in the order that the loader chose.
tool=$mpi/libinit_other.so:$mpi/libinit_one.so
run init_alone "$tool"
grep -q ': begun 1, found 1, done 1$' init_alone/err || fail "the tool is not initialised in order: $(cat init_alone/err)"
run init_before "$tool:$library"
run init_behind "$library:$tool"
for order in before behind; do
	same "init_$order: what the tool says" init_alone/err init_$order/err
done

# A tool that is gone with MPI, and then bears no thread; what the last thing loaded was is on record all the same.
last=$work/libsharp_last.so
cp "$mpi/libinit_one.so" "$last"
export LAST_LIBRARY=$last
run last_before "$mpi/liblast_threads.so:$library"
run last_behind "$library:$mpi/liblast_threads.so"
unset LAST_LIBRARY
for order in before behind; do
	info_json last_$order/run >last_$order/info || fail "last_$order: commtrace info: exit $?"
	grep -qF "$last" last_$order/info || fail "last_$order: what was loaded last is not reported: $(cat last_$order/info)"
done

jemalloc=$(/sbin/ldconfig -p | awk '/libjemalloc\.so\.2/ && !n++ { print $NF }')
if [ -n "$jemalloc" ]; then
	run je_before "$jemalloc:$library"
	run je_behind "$library:$jemalloc"
	for name in je_before je_behind; do
		said=$("$python" "$root/tests/mpi/counts.py" $name/dump "$work/alone/log" 2>&1) || fail "$name: $said"
		printf '%-14s %s\n' $name "$said"
	done
fi
