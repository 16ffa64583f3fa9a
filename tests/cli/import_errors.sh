#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A line that cannot be taken: file, line, column and why; nothing is left behind.
try() {
	printf '%b' "$1" >in.jsonl
	printf '> %s\n' "$1" >&2
	commtrace import jsonl in.jsonl -o run1 2>&1 >/dev/null | grep -v '^hint: a line is a JSON object' >&2
	[ "${PIPESTATUS[0]}" = "${2:-1}" ] || echo "exit is not ${2:-1}" >&2
	[ "$(echo *)" = in.jsonl ] || [ "${2:-1}" = 0 ] || echo "left behind: $(echo *)" >&2
	rm -rf run1
}
good='{"rank":0,"op":"AllReduce","comm":"00000000c0ffee01","seq":1,"enter_ns":5}\n'
try ''
try '{'
try "$good$good}"
try '[1]'
try '{"enter_ns":5}'
try '{"op":"Foo","enter_ns":5}'
try '{"op":"AllReduce"}'
try '{"op":"AllReduce","enter_ns":"5"}'
try '{"op":"AllReduce","enter_ns":1.5}'
try '{"op":"AllReduce","enter_ns":0}'
try '{"op":"AllReduce","enter_ns":99999999999999999999}'
try '{"op":"AllReduce","enter_ns":5,"return_ns":4}'
try '{"op":"AllReduce","enter_ns":5,"comm":"xyz","seq":0}'
try '{"op":"AllReduce","enter_ns":5,"comm":"00000000c0ffee01"}'
try '{"op":"Send","enter_ns":5,"comm":"00000000c0ffee01","seq":0}'
try '{"op":"AllReduce","enter_ns":5,"comm":"00000000c0ffee01","seq":0,"nranks":2,"comm_rank":2}'
try '{"op":"AllReduce","enter_ns":5,"timing":"clock"}'
try '{"op":"AllReduce","enter_ns":5,"state":"lost"}'
try '{"op":"AllReduce","enter_ns":5,"dtype":"float33"}'
try '{"op":"AllReduce","enter_ns":5,"captured":1}'
try '{"op":"AllReduce","op":"Send","enter_ns":5}'
try '{"op":"AllReduce","enter_ns":5,"host":"a/b"}'
try '{"op":"AllReduce","enter_ns":5,"rank":-2}'
try '{"op":"AllReduce","enter_ns":5,"call":"\\x80"}'
try '{"op":"AllReduce","enter_ns":5,"colour":"red","smell":3}\n\n{"op":"AllReduce","enter_ns":5,"colour":null}' 0
try '{"op":"AllReduce","enter_ns":5,"rank":2147483647}' 0
commtrace import jsonl missing.jsonl -o run1 || echo "exit $?"
mkdir dir
commtrace import jsonl dir -o run1 || echo "exit $?"
# Whoever hands over a compressed file gets another error than a wrong byte in line 1.
for magic in '\x1f\x8b\x08' '\x28\xb5\x2f\xfd' '\xfd7zXZ' BZh9; do
	printf %b "$magic" >packed
	commtrace import jsonl packed -o run1 || echo "exit $?"
done
commtrace import jsonl - -o run1 <packed || echo "exit $?"
ls
