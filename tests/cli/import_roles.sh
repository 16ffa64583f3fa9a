#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two stages that hand on to each other are no all-to-all, and the first and last stage share an embedding, not data.
python3 "$data/lines.py" two_stages | commtrace import jsonl - -o swap
commtrace report swap --verbose | grep -e ^links -e '^\['
commtrace report swap --format=json | jq -c '.ops[] | [.op, .group, .bytes, .algbw_p50_Bps == .busbw_p50_Bps]'
commtrace report swap --format=json | grep -c AllToAll
commtrace timeline swap --format=tuples -o - | grep -c AllToAll
commtrace timeline swap --format=tuples -o - | cut -f4,5 | grep 'Job.*SendRecv' | sort | uniq -c | sed 's/  *//'
python3 "$data/lines.py" megatron | commtrace import jsonl - -o megatron
commtrace report megatron --format=json | jq -r '.comms | sort_by(.comm)[] | "\(.comm) \(.role) \(.ranks)"'
