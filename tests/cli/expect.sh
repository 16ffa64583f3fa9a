#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --expect: rules that hold, fail and is unknown; a missed one is exit 3, a bad file exit 2 and says where.
commtrace import jsonl "$data/four_ranks.jsonl" -o run1 >/dev/null

hold() {
	printf '%s\n' "$1" >profile.json
	commtrace report run1 --expect=profile.json --verbose | sed -n '/^Check/,/^$/p'
	echo "exit ${PIPESTATUS[0]}"
	commtrace report run1 --expect=profile.json --format=kv | grep ^EXPECT
}
hold '{"rules": [{"op": "AllReduce", "scope": "cross", "min_busbw_GBps": 0.01, "max_latency_us": 1000000}]}'
hold '{"rules": [{"name": "fast", "op": "AllReduce", "min_busbw_GBps": 80}, {"op": "AllReduce", "max_latency_us": 1}]}'
hold '{"rules": [{"op": "AllReduce", "scope": "host", "min_busbw_GBps": 80}, {"op": "Send", "min_algbw_GBps": 1}]}'
hold '{"rules": [{"op": "Send", "min_algbw_GBps": 1, "required": true}]}'
# A communicator as the report prints it; one that the run does not have.
commtrace report run1 --verbose | grep -om1 00000000
hold '{"rules": [{"comm": "00000000", "min_busbw_GBps": 80}]}'
hold '{"rules": [{"comm": "dpp", "min_busbw_GBps": 80, "max_latency_us": 1}]}'
hold '{"rules": [{"comm": "dpp", "min_busbw_GBps": 80, "required": true}]}'

hold '{"rules": [{"min_utilization_pct": 85}]}'

# As JSON, and beside --fail-on.
commtrace report run1 --expect=profile.json --format=json | grep -E '"(passed|failed|not_applicable|metric|limit|unit)"'
commtrace report run1 --expect=profile.json --fail-on=STRAGGLER >/dev/null
echo "exit $?"
commtrace report run1 --format=json | grep '"expect"'

# Bad files.
bad() {
	printf '%b' "$1" >bad.json
	commtrace report run1 --expect bad.json >/dev/null
	echo "exit $?"
}
bad ''
bad '{"rules": [{"op": "AllReduce", }]}'
bad '{"rules": [\n{"op": "AllReduce" "min_busbw_GBps": 80}]}'
bad '[]'
bad '{"rules": []}'
bad '{"rules": [{"op": "AllReduce"}]}'
bad '{"rules": [{"op": "AllReduce", "min_busbw_GBps": 80}, {"op": "Allreduce", "min_busbw_GBps": 80}]}'
bad '{"rules": [{"min_busbw": 80}]}'
bad '{"rules": [{"min_busbw_GBps": "80"}]}'
bad '{"rules": [{"min_busbw_GBps": -80}]}'
bad '{"rules": [{"min_busbw_GBps": 0}]}'
bad '{"rules": [{"scope": "world", "min_busbw_GBps": 80}]}'
bad '{"rules": [{"backend": "ucx", "min_busbw_GBps": 80}]}'
bad '{"rules": [{"min_bytes": 10, "max_bytes": 5, "min_busbw_GBps": 80}]}'
bad '{"rules": [{"min_busbw_GBps": 80, "min_busbw_GBps": 90}]}'
bad '{"rules": [{"required": 1, "min_busbw_GBps": 80}]}'
bad '{"rules": [7]}'
bad '{"limits": []}'
bad '{"rules": [{"name": "\xff", "min_busbw_GBps": 80}]}'
head -c 1100000 /dev/zero | tr '\0' ' ' >bad.json
commtrace report run1 --expect bad.json >/dev/null
echo "exit $?"
commtrace report run1 --expect . >/dev/null
echo "exit $?"
commtrace report run1 --expect nowhere.json >/dev/null
echo "exit $?"

# Peaks that the file declares: utilization and the score have a reference, beside rules or alone.
score() { commtrace report run1 "$@" --json | grep -E '"(grade|reference)"'; }
commtrace-synth --workload=ddp --hosts=2 --gpus-per-host=2 --steps=40 -o run1.synth >/dev/null
rm -r run1
mv run1.synth run1
hold '{"peaks": [{"scope": "host", "busbw_GBps": 1}, {"scope": "cross", "busbw_GBps": 100}], "rules": [{"op": "AllReduce", "min_bytes": 1000000, "min_utilization_pct": 1}]}'
score --expect=profile.json
hold '{"peaks": [{"busbw_GBps": 1}]}'
score --expect=profile.json
commtrace report run1 --expect=profile.json --verbose | grep '^score '
bad '{"peaks": []}'
bad '{"peaks": [{"scope": "rack", "busbw_GBps": 1}]}'
bad '{"peaks": [{"scope": "host"}]}'
bad '{"peaks": [{"busbw_GBps": 0}]}'
bad '{"peaks": [{"busbw_GBps": 1, "unit": "GB/s"}]}'

# A profile that is installed, by its name: where its limit is from, and what it does not hold for.
commtrace report run1 --expect=7b --verbose | sed -n '/^Check/,/^$/p'
echo "exit ${PIPESTATUS[0]}"
commtrace report run1 --expect=7c >/dev/null
echo "exit $?"
