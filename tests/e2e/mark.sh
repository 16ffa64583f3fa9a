#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steps that ranks mark with their samples, in Python under torchrun with two and with four ranks: report has the samples per second
# that the job measured itself, diff the scaling efficiency. Without the preload, marking does nothing.
. "$(dirname "$0")/e2e.sh"
export COMMTRACE_QUIET=1 OMP_NUM_THREADS=1 PYTHONPATH=$root/python
port=$("$python" "$root/tools/free_port.py")

# job RANKS SAMPLES [COMMAND...]: when its ranks made their marks, in known.RANKS
job() {
	local ranks=$1 samples=$2
	shift 2
	mkdir "known.$ranks"
	timeout -k 5 240 "$@" "$python" -m torch.distributed.run -r 1 -t 1 --log_dir "log$ranks" --nproc_per_node "$ranks" --master_addr 127.0.0.1 \
		--master_port "$port" "$root/tests/e2e/mark_job.py" 60 "$samples" 20 "known.$ranks" >"$ranks.out" 2>"$ranks.err" ||
		fail "$ranks ranks: exit $?: $(cat "$ranks.err")"
	[ ! -s "$ranks.out" ] || fail "$ranks ranks print: $(cat "$ranks.out")"
}

[ "$("$python" -c 'import commtrace; print(commtrace.mark(1, samples=2))')" = None ] || fail "marking without the preload"
job 2 32 "$commtrace" run -o run2 --
job 4 16 "$commtrace" run -o run4 --
"$commtrace" report run4 >report.txt
grep '^throughput .* ± .* samples/s, marked by 4 ranks$' report.txt || fail "not in the report: $(cat report.txt)"
"$commtrace" diff run2 run4 >diff.txt
grep '^efficiency ' diff.txt || fail "no efficiency: $(cat diff.txt)"
"$commtrace" diff run2 run4 --json >diff.json
for ranks in 2 4; do
	"$commtrace" report run$ranks --json >$ranks.json
	grep -q '"marker": "commtrace.mark"' $ranks.json || fail "no steps by marks"
done
"$python" - <<'PYTHON' || fail "other figures"
import itertools, json, math, statistics

class Between:
    """What the job knows of a figure: a rank may wait for a core before or after its mark."""
    def __init__(self, low, high):
        self.low, self.high = low, high
    def has(self, seen):
        return self.low * 0.999 <= seen <= self.high * 1.001 # clocks are compared

def took(made, first, last):
    """Seconds from one mark to another, at least and at most."""
    return max(made[last][0] - made[first][1], 1e-9), made[last][1] - made[first][0]

def known(ranks, samples):
    """Samples per second, and by step the logarithm of the time of a sample."""
    all_ = [json.load(open(f"known.{ranks}/{rank}")) for rank in range(ranks)]
    steps = len(all_[0])
    whole = [sum(ns) for ns in zip(*(took(made, 0, steps - 1) for made in all_))]
    each = [[math.log(sum(ns)) for ns in zip(*(took(made, k, k + 1) for made in all_))] for k in range(steps - 1)]
    each = [[ns - math.log(ranks * ranks * samples) for ns in step] for step in each]
    return Between(*((steps - 1) * samples * ranks * ranks / ns for ns in reversed(whole))), each

def longer(a, b):
    """Hodges and Lehmann: the median of all differences."""
    return math.exp(statistics.median(y - x for x, y in itertools.product(a, b)))

rates, each = zip(known(2, 32), known(4, 16))
for ranks, samples, rate in (2, 32, rates[0]), (4, 16, rates[1]):
    seen = json.load(open(f"{ranks}.json"))["throughput"]
    print(f"{ranks} ranks: {rate.low:.1f} to {rate.high:.1f} samples/s, seen {seen['samples_per_s']:.1f}")
    assert rate.has(seen["samples_per_s"]) and seen["samples_per_s_err"] > 0, ranks
    assert seen["ranks"] == ranks and seen["samples"] == 59 * ranks * samples, seen
scaling = json.load(open("diff.json"))["runs"][0]["scaling"]
(low2, high2), (low4, high4) = (([step[0] for step in steps], [step[1] for step in steps]) for steps in each)
truth = Between(50 / longer(low2, high4), 50 / longer(high2, low4))
print(f"efficiency {truth.low:.1f} to {truth.high:.1f} %, seen {scaling['efficiency_pct']:.1f}")
assert (scaling["base_ranks"], scaling["ranks"]) == (2, 4)
assert truth.has(scaling["efficiency_pct"])
assert scaling["low_pct"] < scaling["efficiency_pct"] < scaling["high_pct"]
PYTHON
