#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Jobs under limits of memory, descriptors and threads, of which they need more or less after MPI has started: what passes alone
# passes recorded, with the same exit status and standard output; where nothing is recorded, one line says why.
. "$(dirname "$0")/mpi.sh"
. "$root/tests/e2e/limits.sh"
program=$(mpi_program scarce)
others=$yield
# With an arena of 64 MB for each two threads that meet in malloc, what a job needs would be a matter of chance.
export MALLOC_ARENA_MAX=1

for mb in 60 120 150 210 370 2000; do
	for eighths in 0 4; do
		row 4 -v $((mb << 10)) "$program" $((mb * eighths / 8)) 0 0
	done
done
for mb in 80; do
	row 4 -d $((mb << 10)) "$program" $((mb / 2)) 0 0
done
# Most of a limit that leaves a tracer room: 88 % of one that leaves it little, 94 % of one that lets it record.
row 4 -v $((2700 << 10)) "$program" 2376 0 0
row 4 -v $((10600 << 10)) "$program" 9964 0 0
row 4 -d $((900 << 10)) "$program" 792 0 0
row 4 -d $((3200 << 10)) "$program" 3008 0 0
for files in 25 30 200; do
	for spare in 0 8 12; do
		row 4 -n $files "$program" 0 $((files > 30 ? files - 30 + spare : spare)) 0
	done
done
[ $passed -ge 8 ] || fail "only $passed rows pass alone: what is tested here?"

before=$passed
as_other=(setpriv --reuid 64321 --regid 64321 --clear-groups)
if [ "$(id -u)" = 0 ] && "${as_other[@]}" test -x "$program" -a -r "$library" 2>/dev/null; then
	user=("${as_other[@]}")
	chmod 0777 "$work" "$rings"
	for threads in 4 8 100; do
		for taken in 0 2 $((threads - 3)); do
			row 4 -u $threads "$program" 0 0 "$taken"
		done
	done
	[ $passed -gt "$before" ] || fail "no row of threads passes alone"
else
	echo "no limit of threads: this needs root, and another user who may read $program"
fi

# Without such limits all is recorded.
one run -n 1024 "$program" 10 10 10
[ "$status" = 4 ] || fail "without limits: exit status $status"
[ "$("$commtrace" dump --format=jsonl "$work/run.run" | grep -c '"op":"AllReduce"')" -ge 100 ] || fail "without limits: not recorded"
echo "$flavour: $passed jobs under limits are what they are alone"
