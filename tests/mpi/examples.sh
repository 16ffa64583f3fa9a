#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The examples over MPI print the same and end the same with the tracer and without, with every option that lets them end; and
# both MPIs print the same, since a result depends on options and ranks only.
. "$(dirname "$0")/mpi.sh"
export COMMTRACE_QUIET=1
suffix=
[ "$flavour" = openmpi ] || suffix=.mpich
compared=0

# both NAME RANKS COMMAND...
both() {
	local name=$1 ranks=$2 way code
	shift 2
	for way in plain traced; do
		code=0
		if [ $way = plain ]; then
			mpi_start 60 "$ranks" "$@" >plain.out 2>plain.err || code=$?
		else
			mpi_traced 60 "$ranks" "$work/run-$compared" "$@" >traced.out 2>traced.err || code=$?
		fi
		echo "exit code $code" >>$way.out
	done
	same "$name: stdout and exit code" plain.out traced.out
	same "$name: stderr" plain.err traced.err
	grep -qx 'result checksum=[0-9a-f]*' plain.out && grep -qx 'exit code 0' plain.out || fail "$name: $(cat plain.out plain.err)"
	said=$(timeout -k 5 240 "$commtrace" dump --format=jsonl "$work/run-$compared" >dump &&
		"$python" "$root/tests/mpi/counts.py" dump 2>&1) || fail "$name: $said"
	printf '%-22s %s; %s\n' "$name" "$(grep checksum plain.out)" "$said"
	compared=$((compared + 1))
}

for ranks in 1 3; do
	both "stencil, $ranks" $ranks "$build/bin/mpi_stencil$suffix" --steps 8
	both "stencil, groups, $ranks" $ranks "$build/bin/mpi_stencil$suffix" --steps 6 --groups --seed 7 --slow-rank 0 --slow-ms 2 \
		--slow-from 2 --slow-to 4
done
# Of the last one, whichever MPI: what the other one prints, too.
grep -qx 'result checksum=3a4771ba1608bfc6' plain.out || fail "another result: $(tail -n 2 plain.out)"

if [ "$flavour" = openmpi ] && /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
	for ranks in 1 3; do
		both "mpi4py, $ranks" $ranks /usr/bin/python3 "$root/examples/mpi4py/kmeans.py" --steps 5 --points 100
		both "mpi4py, groups, $ranks" $ranks /usr/bin/python3 "$root/examples/mpi4py/kmeans.py" --steps 4 --points 100 --groups --seed 2 \
			--slow-rank 0 --slow-ms 2 --slow-to 1
	done
fi
