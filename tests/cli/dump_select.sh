#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What --ranks, --window and --comm choose is what a filter of the whole list would leave.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
try() { commtrace dump run1 --format=jsonl "$@" || echo "exit $?"; }
try >all
# count LIST EXPRESSION: how many lines of it do not fit.
judge() {
	python3 - "$@" <<-'EOF'
		import json, sys
		want = [line for line in open("all") if eval(sys.argv[2], {}, json.loads(line))]
		got = list(open(sys.argv[1]))
		print(len(got), "lines" if want == got else "lines, but not the %d wanted" % len(want))
	EOF
}
try --ranks=1,3 >some; judge some 'rank in (1, 3)'
try --ranks=2-3,2 >some; judge some 'rank in (2, 3)'
try --comm=world >some; judge some 'True'
try --comm=00000000 >some; judge some 'True'
try --comm=none
# The run begins at its first process: ranks 0 and 1, and 2 and 3, are of a host each.
zero=$(python3 -c 'import json; print({h: min(l["enter_ns"] for l in map(json.loads, open("all")) if l["host"] == h) for h in ("node1", "node2")})')
try --window=500ms..1.1s >some
judge some "enter_ns - $zero[host] <= 1100000000 and (not return_ns or max(return_ns, end_ns) - $zero[host] >= 500000000)"
try --window=1310ms.. --ranks=3 >some; judge some "rank == 3 and (not return_ns or max(return_ns, end_ns) - $zero[host] >= 1310000000)"
try --window=..200ms --ranks=0 --limit=1 >some; judge some 'rank == 0 and seq == 0'
# What had not ended is under way to the end of the run.
try --window=1h.. >some; judge some 'not return_ns'
commtrace dump run1 --json | cmp - all
commtrace dump run1 --json --format=jsonl | cmp - all
commtrace dump run1 --json --format=text || echo "exit $?"
try --ranks=0,9 -o none.jsonl; ls none.jsonl 2>/dev/null
true
