#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Results that cannot be written are said; nothing is replaced without --force; files appear whole.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
commtrace report run1 >/dev/full || echo "exit $?"
commtrace dump run1 --format=jsonl >/dev/full || echo "exit $?"
commtrace help >/dev/full || echo "exit $?"
commtrace version >&- || echo "exit $?"
commtrace report run1 -o /dev/full --format=json || echo "exit $?"
commtrace report run1 -o report.json
commtrace report run1 -o report.json || echo "exit $?"
commtrace report run1 -o report.json --force
commtrace report run1 -o no/report.json || echo "exit $?"
commtrace report run1 -o - --format=json | cmp - report.json
commtrace report run1 -o /dev/null --format=text
# Nor is a recording ever replaced, and a file that may not become that large leaves nothing behind.
for segment in run1/*.seg; do
	cksum <"$segment" >before
	commtrace report run1 -o "$segment" --format=json --force 2>&1 | sed 's/run1.*seg/SEGMENT/'
	cksum <"$segment" | cmp - before
	break
done
rm before
(ulimit -f 1 && commtrace report run1 -o large.json) || echo "exit $?"
# Nor does a result get a name by which it would count as one.
for name in run1/x.seg x.ring ./x.ring.zst; do
	commtrace report run1 -o "$name" --format=json --force || echo "exit $?"
done
ls run1 | grep '^x'
# A reader that has gone has seen enough: no message, no death by a signal.
{ sleep 0.3; commtrace dump run1; echo "exit $?" >&2; } | true
# Nor where the failed write was not the last one, and others came after it.
commtrace-synth --workload=moe --steps=500 -o long >/dev/null
for command in 'report --json' 'timeline -o -' 'dump'; do
	{ sleep 0.3; commtrace $command long; echo "exit $? of $command" >&2; } | true
done
commtrace timeline long -o - >/dev/full || echo "exit $?"
rm -r long long.truth.json
ls
NO_COLOR=1 commtrace report run1 --color=always | grep -c "$(printf '\033')" >/dev/null || echo "no colour"
commtrace report run1 | grep -q "$(printf '\033')" && echo "colour without a terminal"
true
