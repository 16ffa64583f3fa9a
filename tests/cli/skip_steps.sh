#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --skip-steps: what only the first steps have is left out, what comes behind them is not, and steps keep their numbers. Order and
# exits are of the whole run.
job=(--gpus-per-host 8 --steps 60 --workload ddp)
lines() {
	echo "== $*"
	commtrace report "$@" | grep -E '^([A-Z][a-z]+:|step time|next)|^  when'
	commtrace report "$@" --format=kv | grep -oE '^(STRAGGLER|CHANGE_POINT|PERIODIC_STALLS) (ranks=[0-9]+|step=[0-9]+)|steps=[0-9]+\.\.[0-9]+' | uniq
}
value() {
	python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
print(eval(sys.argv[2], {"r": report}))' "$@"
}

# one rank takes five times as long in the first ten steps
commtrace-synth -o warm "${job[@]}" --step-ms 2 --fault slow-rank:rank=5,ms=8,from=0,to=9
lines warm
lines warm --skip-steps=10
# a straggler behind step 20 only
commtrace-synth -o late "${job[@]}" --step-ms 10 --fault slow-rank:rank=3,ms=3,from=20,to=60
lines late
lines late --skip-steps=10
lines late --skip-steps=30

# the same for any number of threads
for n in 1 2 4; do
	commtrace report late --skip-steps=25 --format=json --threads=$n >late.$n.json
done
cmp late.1.json late.2.json && cmp late.1.json late.4.json
commtrace report late --format=json >late.json
for file in late.json late.1.json; do
	value $file '[r["steps"]["skipped"], r["steps"]["count"], r["steps"]["items"][0]["index"], r["steps"]["items"][-1]["index"]]'
done
value late.1.json '[r["heatmaps"]["steps"]["first_step"][0], len(r["heatmaps"]["steps"]["first_step"])]'
# of the 60 steps of the program the 25 and the anchor that begins the first one that counts
value late.json 'sorted((o["op"], o["op_count"]) for o in r["ops"])'
value late.1.json 'sorted((o["op"], o["op_count"]) for o in r["ops"])'
commtrace heatmap late --type=steps --skip-steps=25 --format=csv -o - | grep -m1 '^[^#]' | cut -d, -f1-3

# what is known of a step does not depend on whether those before it are skipped; but what is exposed in the first one of operations
# that began before it is left out
for workload in ddp megatron decode; do
	commtrace-synth -o $workload --hosts 2 --gpus-per-host 4 --steps 30 --workload $workload
	commtrace report $workload --format=json >all.json
	commtrace report $workload --skip-steps=12 --format=json >some.json
	python3 -c 'import json
all, some = (json.load(open(f)) for f in ("all.json", "some.json"))
items, same = some["steps"]["items"], all["steps"]["items"][12:]
close = items[0]["exposed_ns"] / same[0]["exposed_ns"] > 0.95
items[0]["exposed_ns"] = same[0]["exposed_ns"]
print(len(items), items == same, close,
      {o["method"] for o in all["overlap"]} == {o["method"] for o in some["overlap"]})'
done

# the whole run's: a mismatch, a missing trace and a hang
commtrace-synth -o odd "${job[@]}" --on-mismatch go-on --fault mismatch:rank=1,field=count,op=12 --fault drop-trace:rank=7
commtrace-synth -o hung "${job[@]}" --fault missing:rank=2,op=150
for run in odd hung; do
	for skip in '' --skip-steps=10; do
		commtrace report $run $skip --format=kv 2>/dev/null | grep -oE '^(VERDICT code=HANG|MISMATCH [a-z]+=[^ ]+|UNEVEN[A-Z_]* [a-z]+=[^ ]+)'
		commtrace report $run $skip 2>/dev/null | grep -oE '^run +[^,]*'
	done
done

# no steps behind them, or none at all
for n in 59 58 1000 0 -1 x; do
	commtrace report warm --skip-steps=$n >out; echo "exit $?"; wc -l <out | sed 's/^[1-9].*/some/'
done
commtrace-synth -o short --gpus-per-host 8 --steps 2
commtrace report short --skip-steps=1; echo "exit $?"
