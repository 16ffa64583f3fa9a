#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One clear line, a hint, exit 2.
try() {
	printf '$ commtrace %s\n' "$*" >&2
	commtrace "$@"
	local got=$?
	[ $got = 2 ] || echo "exit $got" >&2
}
try
try reprot
try frobnicate
try --foo
try help frobnicate
try version now
try report --foo run1
try report --formt=json run1
try report -z run1
try report -o
try report --format
try report --force=1 run1
try report --fo=json run1
try report
try report --format=pdf run1
try report -o report.pdf run1
try report -o report run1
try report --fail-on=LATE run1
try report --fail-on= run1
try report --fail-on=STRAGGLER, run1
try report --color=pink run1
try report -o a.html -o b.html run1
try report --expect=a.json --expect=b.json run1
try report run1 --top=3 --json
try info
try dump
try dump --ranks=many run1
try dump --limit -1 run1
try dump --ranks=3-1 run1
try dump --window=5s..1s run1
try dump --window=10..20 run1
try hang --json --format=text run1
try hang -j run1
try info --josn run1
try heatmap --type=waits --layer=bytes run1
try import
try import csv file -o run1
try import jsonl file
try import jsonl a b -o run1
try collect -o run1
try run
try run --
try run --sett FLUSH=1s -- true
try run --set FLUSH -- true
try run --set FLUHS=1s -- true
try run --set FROBNICATE=1s -- true
try run --set HANG_AFTER=abc -- true
