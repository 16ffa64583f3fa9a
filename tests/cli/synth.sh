#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A run that never was: the same bytes for the same options, others for another seed; the truth beside it; the analyzer reads
# it whole, and its truth has the keys of docs/reference/JSON.md.
job=(--hosts 2 --gpus-per-host 4 --steps 8 --clock-offset-ms 50 --clock-drift-ppm 20 --clock-wander-ppb 100 --noise-pct 1
	--spread-pct 1 --hiccup 0.1:2 --end-skew-fixed-us 5)
same() { diff -rq "$1" "$2" >/dev/null && cmp -s "$1".truth.json "$2".truth.json && echo "$1 is $2" || echo "$1 is not $2"; }

for workload in ddp megatron fsdp moe decode; do
	commtrace-synth -o $workload.a "${job[@]}" --workload $workload
	commtrace-synth -o $workload.b "${job[@]}" --workload $workload
	commtrace-synth -o $workload.c "${job[@]}" --workload $workload --seed 2
	same $workload.a $workload.b
	same $workload.a $workload.c
	commtrace info $workload.a | grep -E '^complete|^dropped' -A1 | grep -E '^complete|^none'
	commtrace info $workload.a --format=json | grep -c '"end": "clean"'
done

# Through a file it is the same run; what comes later on the command line counts.
cat >job.json <<'EOF'
{"hosts": 2, "gpus-per-host": 4, "steps": 8, "workload": "ddp", "clock-offset-ms": 50, "clock-drift-ppm": 20,
 "clock-wander-ppb": 100, "noise-pct": 1, "spread-pct": 1, "hiccup": "0.1:2", "end-skew-fixed-us": 5, "seed": 2}
EOF
commtrace-synth -o from_file --scenario job.json --seed 1
same from_file ddp.a
echo '{"fault": ["slow-rank:rank=5,pct=5", "late-host:rank=1,ms=3"]}' >faults.json
commtrace-synth -o two_faults --scenario faults.json --truth two.json
grep -o '"kind": "[a-z-]*"' two.json
ls

# A link that shows: its ends, or only that it is one of a communicator; and one that all that is like it uses.
for link in "decode --tp 2" "decode --tp 4" "ddp"; do
	commtrace-synth -o link --workload $link --fault slow-link:src=0,dst=1,factor=0.02
	echo "$link: $(grep -c '"SLOW_LINK"' link.truth.json) $(grep -o '"identifiable": [a-z]*' link.truth.json | xargs)"
	rm -r link link.truth.json
done

# Everything that is said about it has its key in the document, and the other way round.
commtrace-synth -o keys --fault slow-link:src=1,dst=2,factor=0.5
grep -F '"schema"' keys.truth.json
awk '/^## / { mine = $2 == "truth" } /^```/ { fence = !fence; next } mine && fence' "$data/../../../docs/reference/JSON.md" | tr -s ' ' '\n' |
	sed 's/[[({].*//' |
	grep . | sort -u >documented
grep -oE '^ {1,3}"[A-Za-z_]+":' keys.truth.json | grep -oE '[A-Za-z_]+' | sort -u >written
diff documented written
