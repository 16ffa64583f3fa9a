#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Imported lines hold no heartbeats and no exits: silence is not a death, and how processes ended is not recorded.
python3 "$data/lines.py" two_hosts | commtrace import jsonl - -o run1
commtrace report run1 --verbose | sed -n '1s/:.*//p;/^ended/p;/how is not recorded/p;/outside,/p'
commtrace hang run1
commtrace hang run1 --format=json | jq -c '[.state, .verdicts, .missing_data]'
commtrace info run1 | sed -n '/^complete/,/^$/p; /^processes/,/^$/p' | grep -v -e ^directory | sed 's|[0-9.]* KiB|  BYTES|'
commtrace info run1 --format=json | jq -c '.processes[0] | [.ring, .end, .last_heartbeat_ns]'
