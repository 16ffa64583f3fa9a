#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs on the simulated NCCL and on Gloo under limits: as tests/mpi/scarce.sh.
. "$(dirname "$0")/e2e.sh"
. "$root/tests/e2e/limits.sh"

gloo() {
	row 0 "$1" "$2" "$gloo_job" --rank 0 --size 1 --store "$own" --ops 40
}

for mb in 60 150 370; do
	row 5 -v $((mb << 10)) "$e2e/limited_job" nothing
	gloo -v $((mb << 10))
done
for files in 10 30; do
	row 5 -n $files "$e2e/limited_job" nothing
	gloo -n $files
done
# As many as usual are allowed, and the program has them.
row 5 -n 1024 "$e2e/limited_job" few-descriptors
# Neither limited nor recorded: the runtime would report the library's threads.
[ ! -x "$e2e/limited_job_tsan" ] || row 5 -n 1024 "$e2e/limited_job_tsan" nothing
[ $passed -ge 7 ] || fail "only $passed rows pass alone: what is tested here?"
echo "$passed jobs under limits are what they are alone"
