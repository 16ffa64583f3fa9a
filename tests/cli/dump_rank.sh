#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A rank that left no trace: dump says so and fails like timeline, and leaves no file; one that did nothing has an empty list.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1
try() { commtrace "$@" || echo "exit $?"; }
try dump run1 --ranks 77
try dump run1 --ranks 77 --format=jsonl
try dump run1 --ranks 77 -o there.txt
try timeline run1 --ranks 77 -o there.pftrace
ls
commtrace dump run1 --ranks 3 --format=jsonl | grep -c '"rank":3'
try dump run1 --ranks 3 --comm 1 | wc -l
try dump run1 --ranks 3 --limit 0 | wc -l
