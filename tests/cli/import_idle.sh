#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where no computing is on record nothing is said of what GPUs did between operations.
python3 "$data/lines.py" host_late | commtrace import jsonl - -o run1
commtrace report run1 --verbose | grep -i -e ^gaps -e busy -e idle -e '^  cause'
commtrace report run1 -o page.html
grep -c -e 'not busy' -e 'idles most' page.html || true
