#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What no line shows is not known, and not 0 bytes; who shows nothing contradicts no one.
show() {
	commtrace report run --format=json >report
	jq -c '.verdict.code, [.findings[].kind], (.ranks[] | [.rank, .bytes]), (.comms[] | [.bytes])' report
	jq -c '.ops[] | [.op, .dtype, .size_range, .bytes, .op_count, .algbw_p50_Bps != null, .transfer_p50_ns != null]' report
	jq -c '(.curves | length), [.links[].samples // 0], [.traffic | .exact_bytes, .modeled_bytes, .complete, .why]' report
	commtrace report run -o page.html --force
	grep -o '"size_range":[^,]*' page.html | sort -u
	commtrace dump run --format=jsonl | jq -c '[.op, .count, .bytes, .state]' | sort | uniq -c
	commtrace dump run | grep -c 'n/a' || true
	commtrace hang run | head -n 3
}
for silent in "" 1 "0 2"; do
	# shellcheck disable=SC2086
	python3 "$data/lines.py" unsized $silent | commtrace import jsonl - -o run --force
	show
done
# what is imported from a dump is as it was
commtrace dump run --format=jsonl >first
commtrace import jsonl first -o again >/dev/null
commtrace dump again --format=jsonl | diff first - && echo same
