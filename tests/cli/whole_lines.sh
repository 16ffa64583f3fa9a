#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lines are cut to fit a terminal, and nowhere else.
long=$(printf 'a%.0s' {1..120})
commtrace import jsonl "$data/four_ranks.jsonl" -o "$long" >/dev/null
commtrace info "$long" -o info.txt
commtrace report "$long" --verbose -o report.txt
commtrace report "$long" --verbose | cmp - report.txt
grep -c "^directory .*/$long\$" info.txt
grep -c "^next      commtrace info $long; commtrace report $long -o report[.]html; commtrace timeline $long -o run[.]pftrace\$" report.txt
script -qec "commtrace info $long" terminal >/dev/null
tr -d '\r' <terminal | grep -c '^directory .*[.][.][.]$'
