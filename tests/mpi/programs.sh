#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs of others, as Debian has them: NetPIPE and ScaLAPACK's tests on both MPIs, HPC Challenge on OpenMPI (Debian has it
# for no other). They succeed as without the tracer; what each rank sent each other one is what that received, in number
# and bytes; every collective is on record once with each member; and another tool counts the same calls.
. "$(dirname "$0")/mpi.sh"
shim=$mpi/libpmpi_shim.$flavour.so
scalapack=/usr/lib/$(uname -m)-linux-gnu/scalapack/$flavour-tests
export COMMTRACE_QUIET=1 COMMTRACE_RING_MB=16
ran=0

# one NAME RANKS COMMAND...: in a folder of its own, where its input is already.
one() {
	local name=$1 ranks=$2 d=$work/$1 said
	shift 2
	(
		cd "$d"
		preloads=$library:$shim COMMTRACE_DIR=$d/run PMPI_SHIM_LOG=$d/log mpi_start 120 "$ranks" "$@" >out 2>err
	) || fail "$name: exit $?: $(tail -n 5 "$d/out" "$d/err")"
	timeout -k 5 240 "$commtrace" dump --format=jsonl "$d/run" >"$d/dump" || fail "$name: commtrace dump: exit $?"
	said=$("$python" "$root/tests/mpi/counts.py" "$d/dump" "$d/log" some 2>&1) || fail "$name: $said"
	! info_json "$d/run" | grep -A3 '"reason"' || fail "$name: records were lost"
	printf '%-8s %s\n' "$name" "$said"
	ran=$((ran + 1))
	rm -rf "$d/run" "$d/dump"
}

netpipe=NPopenmpi
[ "$flavour" = openmpi ] || netpipe=NPmpich2
if command -v $netpipe >/dev/null; then
	for way in "" -a -z -2 -S; do
		# MPICH's never ends with -z, without the tracer either.
		[ "$flavour$way" != mpich-z ] || continue
		mkdir "netpipe$way"
		# shellcheck disable=SC2086
		one "netpipe$way" 2 $netpipe $way -n 5 -u 2048 -o "$work/netpipe$way/points"
		[ "$(wc -l <"netpipe$way/points")" -gt 50 ] || fail "netpipe$way: $(cat "netpipe$way/points")"
	done
fi

# Not its condition estimates (the T or F below): those fail in every second run by themselves, without any preload.
if [ -x "$scalapack/xdlu" ]; then
	mkdir lu
	cat >lu/LU.dat <<-'END'
		LU factorization, small
		tracer's test
		'LU.out' output file name (if any)
		6 device out
		2 number of problems sizes
		20 37 values of M
		20 30 values of N
		1 number of NB's
		6 values of NB
		1 number of NRHS's
		1 values of NRHS
		1 Number of NBRHS's
		2 values of NBRHS
		2 number of process grids
		1 2 values of P
		2 1 values of Q
		1.0 threshold
		F (T or F) Test Cond. Est. and Iter. Ref. Routines
	END
	one lu 2 "$scalapack/xdlu"
	grep -q '^ *0 tests completed and failed' lu/out && grep -Eq '^ *[1-9][0-9]* tests completed and passed' lu/out ||
		fail "lu: $(tail -n 20 lu/out)"
fi

if [ "$flavour" = openmpi ] && command -v hpcc >/dev/null; then
	mkdir hpcc
	sed -e 's/^1000  */200 /' -e 's/^80  */40 /' /usr/share/doc/hpcc/examples/_hpccinf.txt >hpcc/hpccinf.txt
	one hpcc 4 hpcc
	grep -qx 'Success=1' hpcc/hpccoutf.txt || fail "hpcc: $(tail -n 20 hpcc/hpccoutf.txt)"
fi
[ $ran -gt 0 ] || fail "none of the programs is here"
