#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Parts without the operations of the earlier part of a run: verdicts are those of the whole run, nothing is called dropped, no rank is accused for
# what was left out, and what cannot be known is not asserted. Any split, any order and parts of parts give the same bytes.
say() { commtrace report --json "$@" && commtrace hang --json "$@" || true; }
verdict() {
	commtrace report --json "$@" | jq -c '[.verdict.code, [.findings[] | select(.confidence != "low" and .severity != "info") |
		"\(.kind) \(.ranks)"], .run.omitted_ns > 0, .run.hang_why]'
}
hang() { commtrace hang --json "$@" 2>err | jq -c '.verdicts | map([.code, .ranks, .confidence])'; head -n 1 err; }
job=(--hosts 2 --gpus-per-host 2 --steps 800 --step-ms 100 --noise-pct 1)

# run NAME OPTION...: the whole run, and its parts.
run() {
	echo "== $1"
	commtrace-synth -o "$@" "${job[@]}"
	for share in 1 2 3; do
		commtrace partial "$1" -o "$1.$share" --share=$share/3 --keep=30 >/dev/null
	done
	verdict "$1"
	verdict "$1".2 "$1".3 "$1".1
	hang "$1"
	hang "$1".3 "$1".1 "$1".2
}
run healthy --workload megatron --seed 1
run slow --workload megatron --seed 2 --fault slow-rank:rank=1,pct=20
run missing --workload ddp --seed 4 --fault missing:rank=3,op=5300
# without times, an operation that all ranks called may have ended, whatever is left out
run untimed --workload ddp --seed 9 --timing off
run untimed_missing --workload ddp --seed 10 --timing off --fault missing:rank=3,op=5300
run diverged --workload ddp --seed 6 --on-mismatch go-on --fault mismatch:rank=2,op=200,field=dtype

run late --workload ddp --seed 7 --on-mismatch go-on --fault mismatch:rank=2,op=5000,field=dtype
# a call that was left out long before the part on record: everything after it differs, and which call it was is not known
run shifted --workload ddp --seed 8 --on-mismatch go-on --fault skip:rank=2,op=200
# where most calls are alike, ranks agree again after each contradiction; three of four ranks made one call less, and the fourth is not accused
run alike --workload decode --seed 11 --on-mismatch go-on --fault skip:rank=1,op=3000 --fault skip:rank=2,op=3003 --fault skip:rank=3,op=3005

echo == damage
file=$(ls late/* | head -n 1)
printf XXXXXXXXXXXX | dd of="$file" bs=1 seek=9000 conv=notrunc status=none
commtrace partial late -o cut --keep=30 >/dev/null
for run in late cut; do
	commtrace info "$run" | grep -o 'damaged: '
	commtrace info "$run" --json | jq -c '.dropped | map([.rank, .reason])'
done
cmp <(tail -c 20000 "$file") <(tail -c 20000 "cut/${file#*/}") && echo as it is

echo == bytes
commtrace partial slow.2 slow.1 -o some --keep=30 --share=1/2 >/dev/null
commtrace partial slow.1 slow.2 -o rest --keep=30 --share=2/2 >/dev/null
commtrace partial slow -o one --keep=30 | sed -E 's/, [0-9]+ op/, N op/; s/[0-9.]+ [KM]?i?B/N MiB/'
cmp <(say one) <(say slow.1 slow.2 slow.3) && cmp <(say one) <(say rest slow.3 some) && echo same
commtrace partial slow -o exact --exact >/dev/null
cmp <(say slow) <(say exact) && echo exact is exact
[ $(($(cat one/* | wc -c) * 2)) -lt "$(cat slow/* | wc -c)" ] && echo small

echo == commands
commtrace report one --last=10 --json | jq -c '[.verdict.code, (.run.duration_ns / 1e9 | round)]'
commtrace report one --skip-steps=10 || echo "exit $?"
commtrace hang one --whole | head -n 1
commtrace hang diverged.1 diverged.2 diverged.3 >/dev/null || echo "exit $?"
commtrace report one | sed -nE 's/^run .* (on record of .*), job.*/\1/p'
commtrace report diverged.? | grep -A1 '^hang'
commtrace report diverged.? --fail-on=NOT_ENOUGH_EVIDENCE >/dev/null || echo "exit $?"
commtrace report slow --json | jq -r .verdict.confidence
commtrace report one --json | jq -r .verdict.confidence
commtrace diagnose --verbose diverged.? | grep -E ' (hang|calls) ' || true
commtrace info one | grep -A1 '^complete' | head -n 1
# what is left out is in `info` as in the report, with and without the operations
for run in one slow; do
	commtrace info $run | grep '^left out'
	commtrace info $run --whole | grep '^left out'
	for all in "info $run" "info $run --whole" "report $run"; do
		# shellcheck disable=SC2086
		commtrace $all --json | jq -c '.run | [(.omitted_ns / 1e9 | round), .omitted_ops]'
	done
done
commtrace partial slow -o both --exact --keep=30 || echo "exit $?"
commtrace run --partial=both --exact --keep=30 -- true || echo "exit $?"
[ -e both ] || echo nothing was made
commtrace timeline one --format=tuples -o - | cut -f1 | sort -n | tail -n 1 | wc -l
commtrace dump one | wc -l
rm -r [!.]*
