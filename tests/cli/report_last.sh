#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --last: what only the earlier part of a run has is left out, also where its blocks are not read, and what the last part has is as in a report
# of everything, whatever the number of threads.
said() { commtrace report "$@" | awk 'NR == 1 || /^ *verdict/ || /^data quality/ || /^ .* incomplete/' | sed 's/;.*//'; }
commtrace-synth -o early --seed 3 --gpus-per-host 4 --hosts 2 --steps 400 --fault slow-rank:rank=5,ms=8,from=0,to=199 >/dev/null
commtrace-synth -o late --seed 3 --gpus-per-host 4 --hosts 2 --steps 400 --fault slow-rank:rank=5,ms=8,from=200,to=399 >/dev/null
for run in early late; do
	for last in 1000 3; do
		echo "$run --last=$last"
		said $run --last=$last
	done
done
for n in 1 2; do
	commtrace report late --last=3 --json --threads=$n >late.$n.json
done
cmp late.1.json late.2.json
commtrace report late --last=3 --json | jq '.run.duration_ns / 1e9 | round'
commtrace report late --last=3 --skip-steps=2
echo "exit $?"
# In a pipeline each rank's part on record begins elsewhere, and neighbors exchange: the same exchange is one, wherever it begins.
commtrace-synth -o stages --seed 20 --workload megatron --hosts 2 --gpus-per-host 4 --steps 400 --step-ms 100 --fault slow-rank:rank=0,pct=20 >/dev/null
for last in 14 15 16 17 18 19 20 21; do
	commtrace report stages --last=$last --json |
		jq -r '[.findings[] | select(.confidence != "low" and (.kind | startswith("STRAGGLER"))) | "\(.kind) \(.ranks)"] | join("; ")'
done
# Which stream depends on others is recorded once. The communication of decode runs where the computing does, in the whole run and in each part:
# the last part, thinned parts and parts of those, and what is left after the oldest segments were removed.
exposed() {
	commtrace report --json "$@" | jq -c '[([.overlap[].method] | unique), (.exposed_comm | [.median_pct, .err_pct] | map(. * 100 | round / 100))]'
}
for timing in events plugin; do
	for kb in 4 4000; do
		commtrace-synth -o decode$kb --hosts 2 --workload decode --tp 8 --dp 2 --steps 400 --step-ms 300 --segment-kb $kb --timing $timing \
			--fault slow-rank:rank=5,pct=30 >/dev/null
		commtrace partial decode$kb -o part --keep=60 >/dev/null
		commtrace partial part -o part2 --keep=30 >/dev/null
		echo "$timing, segments of $kb KiB"
		for run in decode$kb "decode$kb --last=60" part "part --last=20" part2; do
			# shellcheck disable=SC2086
			exposed $run
		done
		rm -r part part2
	done
	rm decode4/*.[0-5].seg
	exposed decode4
	rm -r decode4 decode4000
done
# Of a run that does not fit into memory, stretches are looked at: of what is read, not of the time before it; and steps are those of the stretches.
commtrace-synth -o moe --seed 6 --workload moe --hosts 2 --gpus-per-host 4 --steps 1500 --step-ms 50 --fault late-host:rank=3,ms=8 >/dev/null
commtrace partial moe -o part --keep=30 >/dev/null
for run in moe "moe --last=40" "moe --last=20" part; do
	# shellcheck disable=SC2086
	commtrace report --json $run |
		jq -c '[.verdict.code, (.findings[0] | .kind, .ranks), (.exposed_comm.median_pct | round), (.steps.time_p50_ns / 1e6 | round)]'
done
# Where exposed communication is unknown, the report says why.
for timing in plugin host off; do
	commtrace-synth -o $timing --workload ddp --steps 40 --timing $timing >/dev/null
	commtrace report $timing --verbose | grep -A1 '^communication'
	commtrace report $timing --json | jq -r .exposed_comm.why
done
