#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Messages of 4 and 8 bytes show no bandwidth of a link: no figure, no line through them.
python3 "$data/lines.py" tiny | commtrace import jsonl - -o run1
commtrace report run1 --verbose | grep -e ^links -e ^SLOW
commtrace report run1 --format=json | jq -c '(.links[] | [.scope, .busbw_Bps, .expected_Bps]), (.curves[] | [.busbw_Bps, (.fit | length)])'
python3 "$data/lines.py" two_hosts | commtrace import jsonl - -o run2
commtrace report run2 --format=json | jq -c '(.links[] | [.scope, .busbw_Bps > 1e9]), (.curves[] | [.busbw_Bps > 1e9, (.fit | length)])'
