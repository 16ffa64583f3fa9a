#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who holds the others up shows in the messages before an all-reduce; its row names who came last to the all-reduce itself.
python3 "$data/lines.py" ring | commtrace import jsonl - -o run1
commtrace report run1 --verbose | grep -e ^operation -e ^AllReduce
