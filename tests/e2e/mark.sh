#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steps that ranks mark with their samples, in Python under torchrun with two and with four ranks: report has the samples per second
# that the job measured itself, diff the scaling efficiency. Without the preload, marking does nothing.
. "$(dirname "$0")/e2e.sh"
export COMMTRACE_QUIET=1 OMP_NUM_THREADS=1 PYTHONPATH=$root/python
port=$("$python" "$root/tools/free_port.py")

# job RANKS SAMPLES [COMMAND...]: its own samples per second, in RANKS.known
job() {
	local ranks=$1 samples=$2
	shift 2
	timeout -k 5 240 "$@" "$python" -m torch.distributed.run -r 1 -t 1 --log_dir "log$ranks" --nproc_per_node "$ranks" --master_addr 127.0.0.1 \
		--master_port "$port" "$root/tests/e2e/mark_job.py" 60 "$samples" 20 >"$ranks.known" 2>"$ranks.err" || fail "$ranks ranks: exit $?: $(cat "$ranks.err")"
	sed -i 's/^\[default0\]://' "$ranks.known" # torchrun's
	grep -q '^[0-9.]*$' "$ranks.known" || fail "$ranks ranks print: $(cat "$ranks.known")"
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
import json, sys
known = {n: float(open(f"{n}.known").read()) for n in (2, 4)}
seen = {n: json.load(open(f"{n}.json"))["throughput"] for n in (2, 4)}
scaling = json.load(open("diff.json"))["runs"][0]["scaling"]
print(known, seen, scaling)
# all ranks end a step together, but a rank may wait for a core after that
for n, samples in ((2, 32), (4, 16)):
    assert abs(seen[n]["samples_per_s"] / known[n] - 1) < 0.15, n
    assert seen[n]["samples_per_s_err"] > 0 and seen[n]["ranks"] == n and seen[n]["samples"] == 59 * n * samples, n
assert (scaling["base_ranks"], scaling["ranks"]) == (2, 4)
# of the medians, which a pause of the machine moves less than the whole
truth = 100 * known[4] / known[2] / 2
assert 0.7 < scaling["efficiency_pct"] / truth < 1.4, truth
assert scaling["low_pct"] < scaling["efficiency_pct"] < scaling["high_pct"]
PYTHON
