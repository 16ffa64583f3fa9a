#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The timeline: what is drawn, what is cut, and each way in which it cannot be written.
try() {
	printf '$ commtrace %s\n' "$*" >&2
	commtrace "$@" >said || echo "exit $?" >&2
	# How large a file is depends on where it lies: its path stands in it.
	sed 's/, [0-9.]* [KM]*i*B into /, SIZE into /' said
	rm said
}
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
try timeline run1 -o run1.pftrace
try timeline run1 -o run1.pftrace
try timeline run1 -o run1.pftrace --force
try timeline run1 -o slices.tsv
commtrace timeline run1 --format=tuples 2>/dev/null | cmp - slices.tsv
commtrace timeline run1 -o - 2>/dev/null | cmp - run1.pftrace
head -n 4 slices.tsv
grep -P '\t-1\t' slices.tsv
cut -f 4 slices.tsv | sort | uniq -c
# A part of it.
try timeline run1 -o - --format=tuples --ranks 2 --window 1.0s..1.2s
try timeline run1 -o - --format=tuples --window 1.3s.. --ranks 0-1
try timeline run1 -o - --format=tuples --window 0s.. --max-slices 60 | cut -f 4 | sort | uniq -c
try timeline run1 -o - --format=tuples --window 0s.. --max-slices 2
try timeline run1 -o w.pftrace --ranks 0-3 --max-slices 2
try timeline run1 -o few.pftrace --window 0s.. --max-slices 60
# What is too much for one file: an overview.
try timeline run1 -o many.pftrace --max-slices 166
try timeline run1 -o many.tsv --max-slices 166
commtrace timeline run1 -o - --format=tuples --max-slices 166 2>overview | cmp - many.tsv
cat overview >&2
rm overview
cut -f 4 many.tsv | sort | uniq -c
try timeline run1 -o w.pftrace --max-slices 1
try timeline run1 -o - --format=tuples --color-by=collective --flows=blame | grep -vP '\tcolour\t' | cmp - slices.tsv
try timeline run1 -o w.pftrace --color-by=blue
# What cannot be.
try timeline run1 -o w.pftrace --window 20s..30s
try timeline run1 -o w.pftrace --ranks 2,7
try timeline run1 -o no/w.pftrace
try timeline run1 -o /dev/full
try timeline run1 --format=pftrace -o /dev/full
try timeline run1 --format=tuples -o /dev/full
mkdir empty
try timeline empty -o w.pftrace
try timeline missing -o w.pftrace
ls
# What is wrongly asked for.
for window in 1s 5s..2s 1..2 1s..x s..1s 1.2.3s.. 1s..1s; do
	try timeline run1 -o w.pftrace --window "$window" 2>&1 >/dev/null | grep -v '^hint' >&2
done
for ranks in '' x 1-x 3-1 1, 1,,2 -1 99999999; do
	try timeline run1 -o w.pftrace --ranks "$ranks" 2>&1 >/dev/null | grep -v '^hint' >&2
done
try timeline run1
try timeline
try timeline run1 -o w.txt
try timeline run1 -o w.pftrace --flows some
try timeline run1 -o w.pftrace --max-slices 0
ls w* 2>/dev/null || true
