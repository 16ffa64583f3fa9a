#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --fail-on: 3 if there is such a finding, 0 if not.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null
commtrace report run1 --fail-on=STRAGGLER >/dev/null
echo $?
commtrace report run1 --fail-on=MISMATCH,LOSSES >/dev/null
echo $?
commtrace report run1 --fail-on=any >/dev/null
echo $?
