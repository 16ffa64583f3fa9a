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
# A reader that has gone has seen enough: no message, no death by a signal.
{ sleep 0.3; commtrace dump run1; echo "exit $?" >&2; } | true
ls
NO_COLOR=1 commtrace report run1 --color=always | grep -c "$(printf '\033')" >/dev/null || echo "no colour"
commtrace report run1 | grep -q "$(printf '\033')" && echo "colour without a terminal"
true
