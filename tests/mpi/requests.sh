#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Messages of MPI in all the ways that are hard to follow (requests.c): what the program saw go and come is what is on
# record, side by side, and every send has met its receive. A thread that polls is one that waits.
. "$(dirname "$0")/mpi.sh"
program=$(mpi_program requests)
ranks=3

mkdir bare traced
mpi_start 60 $ranks "$program" bare || fail "without the tracer: exit $?"
mpi_traced 60 $ranks "$work/run" "$program" traced 2>stderr || fail "traced: exit $?: $(tail -n 5 stderr)"
"$commtrace" dump --format jsonl run >dump.jsonl

# RANK SIDE PEER TAG BYTES STATE COMM NUMBER PARTITIONED, of messages.
awk '
	function get(key,  at) {
		at = index($0, "\"" key "\":")
		value = substr($0, at + length(key) + 3)
		sub(/[,}].*/, "", value)
		gsub(/"/, "", value)
		return value
	}
	{ op = get("op") }
	op == "Send" || op == "Recv" {
		print get("rank"), substr(op, 1, 1), get("peer"), get("tag"), get("bytes"), get("state"), get("comm"), get("peer_seq"), get("call") ~ /^MPI_P(send|recv)_init$/
	}' dump.jsonl >messages

# A send whose handle was given away: whether its end is known is the library's affair.
reported() {
	awk -v rank="$1" '$1 == rank { print $2, $3, $4, $5, $2 == "S" && $4 ~ /^5[01]$/ ? "any" : $6 }' messages | sort
}
for ((rank = 0; rank < ranks; rank++)); do
	same "rank $rank: bare and traced" <(sort bare/$rank.journal) <(sort traced/$rank.journal)
	same "rank $rank: program and record" <(sort traced/$rank.journal) <(reported $rank)
done

# Every send and its receive: the same communicator, tag and number, and as many bytes.
awk '
	$6 == "aborted" { next }
	{
		key = ($2 == "S" ? $1 " " $3 : $3 " " $1) " " $4 " " $7 " " $8 " " $9
		if (key in seen && seen[key] == $2) { print "twice: " $0; bad = 1 }
		if (!(key in seen)) { seen[key] = $2; bytes[key] = $5; state[key] = $6; next }
		if (bytes[key] != $5 && $6 != "error" && state[key] != "error") { print "bytes differ: " $0 ", " bytes[key]; bad = 1 }
		seen[key] = "both"
		n++
	}
	END {
		for (key in seen)
			if (seen[key] != "both") { print "alone: " seen[key] " " key; bad = 1 }
		if (n < 3000) { print n " pairs"; bad = 1 }
		exit bad
	}' messages >pairs || fail "sends and receives do not meet:"$'\n'"$(head -n 20 pairs)"

# What dump writes, import takes, also what is matched with nothing.
"$commtrace" import jsonl dump.jsonl -o again >imported || fail "commtrace import: exit $?"

"$mpi/list_waits" run >waits
grep -q "open" waits && fail "not ended: $(grep open waits | head -n 3)"
grep -q "wait MPI_Waitall ended" waits || fail "no MPI_Waitall on record"
grep -q "wait MPI_Probe ended" waits || fail "no MPI_Probe on record"
# Two of three ranks asked for 300 ms. (On a busy machine they are kept from it for a part.)
n=$(awk '$2 == "poll" && $3 == "MPI_Test" { us[$1] += $5 } END { for (r in us) n += us[r] > 100000; print n + 0 }' waits)
[ "$n" = 2 ] || fail "ranks that polled for long: $n of 2"
losses=$("$commtrace" info --format json run | tr -d ' \n' | grep -o '"dropped":\[[^]]*\]' || true)
echo "$(wc -l <messages) messages; losses ${losses:-?}"
