#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hang reads no more of a rank of a run three times as long, but for the rank that it accuses: its calls are looked for from the beginning. It says
# the same as with --whole. (Times between hosts depend on what was read.)
for k in 1 3; do
	commtrace-synth -o run$k --hosts 2 --gpus-per-host 1 --steps $((30000 * k)) --step-ms 50 --segment-kb 300 --fault missing:rank=1,op=$((k * 150000)) >/dev/null
	commtrace hang run$k --json >json$k || echo "exit $?"
	commtrace hang run$k --json --whole >whole$k || echo "exit $?"
	cmp <(jq '.verdicts[0] | .code, .ranks, .victims, .comm, .seq, .confidence, .cause' json$k) \
		<(jq '.verdicts[0] | .code, .ranks, .victims, .comm, .seq, .confidence, .cause' whole$k) && echo same
	jq -c '[.verdicts[] | .code, .ranks, .confidence]' json$k
done
jq -s 'map(.run.file_bytes) | .[1] > 2.9 * .[0]' json1 json3
# the one that waits: its last megabyte and up to a segment, twice at most
jq -s 'map(.run | .read_bytes - .most_read_bytes) | (.[1] < 1.2 * .[0], .[1] < 2700000)' json1 json3
commtrace hang run3 --verbose | sed -nE 's/^ +(read) +[0-9.]+ [KM]iB from [0-9.]+ [KM]iB of files; of a process at most [0-9.]+ [KM]iB$/\1/p'
