#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A preload in front of the tracer asks for functions with RTLD_NEXT and RTLD_DEFAULT: where no MPI is loaded it finds none, with
# MPI the wrapper, and what lies between the two comes first.
. "$(dirname "$0")/mpi.sh"
suffix=
[ "$flavour" = openmpi ] || suffix=.mpich
asker=$mpi/libask_next.so tool=$mpi/liblast_threads.so

# answers NAME PRELOADS PROGRAM: how and where, in NAME.
answers() {
	timeout -k 5 120 env LD_PRELOAD="$2" ASK_NEXT_LOG="$work/$1" COMMTRACE_DIR="$work/run" "$3" --help >out 2>&1 || :
	grep -q malloc "$1" || fail "$1: nothing was asked: $(cat out)"
}

# says NAME LINE...: each stands there.
says() {
	local name=$1 line
	shift
	for line; do
		grep -qx "$line" "$name" || fail "$name: not '$line', but: $(cat "$name")"
	done
}

answers without "$asker:$library" /bin/true
for how in next default; do
	for symbol in MPI_Allreduce PMPI_Allreduce MPI_Finalize ncclAllReduce; do
		says without "$how $symbol nowhere"
	done
done
[ ! -e run ] || fail "asking is recorded"
answers with "$asker:$library" "$build/bin/mpi_stencil$suffix"
for how in next default; do
	says with "$how MPI_Allreduce libcommtrace.so" "$how PMPI_Allreduce libcommtrace.so" "$how ncclAllReduce nowhere"
done
# The tool has MPI_Finalize of its own.
answers between "$asker:$tool:$library" /bin/true
says between "next MPI_Allreduce nowhere" "next MPI_Finalize liblast_threads.so" "default MPI_Finalize liblast_threads.so"
answers behind "$asker:$library:$tool" /bin/true
says behind "next MPI_Finalize libcommtrace.so" "next MPI_Allreduce nowhere"
echo "$(cat without with between behind | wc -l) answers"
