#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# diff: runs that differ by nothing but chance, a link that is 10 % slower, other sizes; what scripts get; bad use.
for seed in 1 2 3; do
	commtrace-synth -o base$seed --hosts 2 --gpus-per-host 4 --steps 80 --seed $seed >/dev/null
done
commtrace-synth -o link --hosts 2 --gpus-per-host 4 --steps 80 --seed 4 --fault slow-link:src=3,dst=4,factor=0.9 >/dev/null
commtrace-synth -o rank --hosts 2 --gpus-per-host 4 --steps 80 --seed 5 --fault slow-rank:rank=2,pct=20 >/dev/null
commtrace-synth -o short --gpus-per-host 2 --steps 3 --seed 6 >/dev/null
# words RUN...: of each run the rows that differ
words() {
	commtrace diff "$@" --json | python3 -c '
import json, sys
for run in json.load(sys.stdin)["runs"]:
    for row in sorted(run["rows"], key=lambda row: (row["op"], row["size_range"])):
        if row["result"] in ("slower", "faster"):
            print(run["run"], row["op"], row["size_range"], row["result"])'
}
echo "equal:"
words base1 base2 base3
echo "slow link:"
words base1 link
echo "slow rank: the step, and no operation"
words base1 base2 base3 rank --bases=3
commtrace diff base1 link | sed -n '1,2p'
commtrace diff base1 base2
# what is slower and costs no step any time is not a regression
commtrace diff base1 link --fail-on-regression=5 >/dev/null
echo "exit $?"
commtrace diff base1 rank --fail-on-regression=5 >/dev/null
echo "exit $?"
commtrace diff base1 rank --fail-on-regression=25 >/dev/null
echo "exit $?"
commtrace diff base1 base2 --fail-on-regression=0 >/dev/null
echo "exit $?"
commtrace diff base1 short | sed -n 2p
commtrace diff base1 base2 --json | python3 -c '
import json, sys
j = json.load(sys.stdin)
for of in j, j["runs"][0], j["runs"][0]["rows"][0]:
    print(*of)'
commtrace diff base1
echo "exit $?"
commtrace diff base1 base2 --bases=2
echo "exit $?"
commtrace diff base1 nowhere
echo "exit $?"
