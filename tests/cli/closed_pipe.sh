#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A reader that has seen enough, as in `commtrace dump RUN | head`: every command ends with 141 and says nothing.
cp "$data/four_ranks.jsonl" ops.jsonl
commtrace import jsonl ops.jsonl -o run1 >/dev/null
while read -r line; do
	echo "${line%% *}" >>tried
	# shellcheck disable=SC2086
	{ sleep 0.1; commtrace $line; echo "exit $? of $line" >&2; } | true
done <<-EOF
	help
	help report
	report --help
	version --build
	preload
	doctor --json
	collect run1 -o run2
	report run1
	report run1 --verbose
	report run1 --json
	report run1 --format=html
	report run1 --format=kv
	hang run1
	hang run1 --json
	top run1 --once
	top run1 --json
	info run1
	info run1 --json
	diff run1 run1
	diff run1 run1 --json
	bench run1
	bench run1 --json
	diagnose
	diagnose run1 --full-scan
	diagnose run1 --json
	timeline run1 -o -
	timeline run1 --format=tuples
	timeline run1 -o run1.pftrace
	heatmap run1 --format=svg
	heatmap run1 --format=csv
	dump run1
	dump run1 --json
	import jsonl ops.jsonl -o run3
	partial run1 -o run4
EOF
# run has the standard output of its program, open ends when a browser has come, watch prints what happens to a running job, and stacks needs
# a program that is not built everywhere.
commtrace help | awk '/^  [a-z]+  / { print $1 }' | grep -vxE 'run|open|watch|stacks' | sort | diff - <(sort -u tried)
