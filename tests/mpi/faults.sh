#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The extensions for faults (faults.c): on record with their communicator, and what is shrunk is one of its own.
. "$(dirname "$0")/mpi.sh"
mpi_traced 60 3 "$work/run" "$(mpi_program faults)" 2>stderr || fail "traced: exit $?: $(tail -n 5 stderr)"
"$commtrace" dump --format jsonl run >dump.jsonl
key() { grep '"MPI_Allreduce"' dump.jsonl | grep "\"count\":$1," | grep -oE '"comm":"[0-9a-f]*"' | sort | uniq -c; }
copy=$(key 2) fewer=$(key 3)
[[ $copy =~ ^\ *3\ \"comm\":\"([0-9a-f]{16})\"$ ]] || fail "the copy has not one key on three ranks: $copy"
copy=${BASH_REMATCH[1]}
[[ $fewer =~ ^\ *3\ \"comm\":\"([0-9a-f]{16})\"$ ]] || fail "what is shrunk has not one key on three ranks: $fewer"
fewer=${BASH_REMATCH[1]}
[ "$copy" != "$fewer" ] || fail "what is shrunk has the key of what it is made from"

"$mpi/list_hosts" run | awk '/MPIX_/ { print $1, $2, $3, $4 }' | sort >recorded
for rank in 0 1 2; do
	echo "$rank MPIX_Comm_agree $copy 0"
	echo "$rank MPIX_Comm_shrink $copy 0"
done >expected
echo "0 MPIX_Comm_revoke $fewer 0" >>expected
sort -o expected expected
same "calls on record" expected recorded
