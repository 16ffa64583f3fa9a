#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `hang --check` of messages (check_messages.c): more room and another type are right, less room is found with its number, a message that nobody
# received is counted, and what a receive from any got is left out.
. "$(dirname "$0")/mpi.sh"
program=$(mpi_program check_messages)
export COMMTRACE_QUIET=1

# judged WAY EXIT WHAT: the parts of the JSON that matter
judged() {
	local code=0
	mpi_traced 60 2 "$work/$1" "$program" "$1" >"$1.out" 2>"$1.err" || fail "$1: exit $?: $(cat "$1.err")"
	timeout -k 5 60 "$commtrace" hang --check --json "$work/$1" >"$1.json" || code=$?
	[ $code = "$2" ] || fail "$1: hang --check: exit $code"
	"$python" - "$1.json" >"$1.got" <<-'EOF'
	import json, sys
	m = json.load(open(sys.argv[1]))["messages"]
	print(m["channels"], m["sent"], m["received"], m["equal"], [(o["why"], o["messages"]) for o in m["left_out"]],
	      [(p["src"], p["dst"], p["tag"], p["sent"], p["received"], p["equal_to_seq"],
	        p["first_difference"] and (p["first_difference"]["seq"], p["first_difference"]["field"])) for p in m["pairs"]])
	EOF
	same "$1" "$1.got" <(echo "$3")
}
judged plain 0 "2 400 400 400 [] []"
judged any 0 "1 200 200 200 [('from_any', 400)] []"
judged lost 0 "3 401 400 400 [] [(0, 1, 9, 1, 0, 0, None)]"
judged short 3 "2 400 400 250 [] [(0, 1, 3, 200, 200, 50, (50, 'count'))]"

# Messages in all the ways that are hard to follow: only those differ that are cut off on purpose (tags 70 and 72, one of each rank).
mkdir bare traced
mpi_traced 60 3 "$work/hard" "$(mpi_program requests)" traced 2>hard.err || fail "requests: exit $?: $(tail -n 5 hard.err)"
code=0
timeout -k 5 60 "$commtrace" hang --check --json "$work/hard" >hard.json || code=$?
[ $code = 3 ] || fail "requests: hang --check: exit $code"
"$python" - >hard.got <<'EOF'
import json
m = json.load(open("hard.json"))["messages"]
print(sorted((p["src"], p["tag"], p["first_difference"]["field"]) for p in m["pairs"]), m["sent"] - m["equal"], m["received"] - m["equal"])
EOF
same "requests" hard.got <(echo "[(0, 70, 'count'), (0, 72, 'count'), (1, 70, 'count'), (1, 72, 'count'), (2, 70, 'count'), (2, 72, 'count')] 6 6")
