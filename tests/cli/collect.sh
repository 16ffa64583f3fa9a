#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Segments of two directories come together in one; again does no harm; nothing is said to be something.
grep '"node1"' "$data/four_ranks.jsonl" >one.jsonl
grep '"node2"' "$data/four_ranks.jsonl" >two.jsonl
commtrace import jsonl one.jsonl -o one >/dev/null
commtrace import jsonl two.jsonl -o two >/dev/null
commtrace import jsonl "$data/four_ranks.jsonl" -o all >/dev/null
bytes() { sed 's/([0-9.]* [KM]*i*B)/(N MiB)/'; }
commtrace collect one two -o both | bytes
commtrace collect one two -o both | bytes
commtrace collect both | bytes
cmp <(commtrace dump both) <(commtrace dump all)
cmp <(commtrace dump one two) <(commtrace dump all)
# A segment that grew is brought anew, a shorter one replaces nothing.
segment=$(basename one/*.100.*)
rm "both/$segment"
head -c 1500 "one/$segment" >"both/$segment"
commtrace collect one -o both | bytes
cmp "one/$segment" "both/$segment"
mkdir empty
commtrace collect empty -o new || echo "exit $?"
commtrace collect missing -o new || echo "exit $?"
commtrace collect one.jsonl -o new || echo "exit $?"
commtrace collect one -o one.jsonl || echo "exit $?"
commtrace collect one -o no/new || echo "exit $?"
commtrace collect 2>&1 | sed -n "s/[0-9][0-9]*/N/g; 1p"
ls
