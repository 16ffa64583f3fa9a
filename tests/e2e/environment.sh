#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Start records of real processes: what was made to differ is asked to differ, and nothing else; secrets stay out; the
# last segment alone shows it all; what the simulated driver says is what is on record.
. "$(dirname "$0")/e2e.sh"

# ask FILE EXPRESSION: of info's JSON (j).
ask() {
	"$python" -c 'import json, sys; j = json.load(open(sys.argv[1])); e = j["environment"]; print(eval(sys.argv[2]))' "$@"
}

# ranks NAME: two ranks over Gloo, each with rankN_env and on its own processor where there are two.
ranks() {
	local name=$1 rank pids=() where
	mkdir -p "$name/store"
	for rank in 0 1; do
		where=$rank
		[ "$(nproc)" -gt 1 ] || where=0
		local -n variables=rank${rank}_env
		# shellcheck disable=SC2154
		RANK=$rank WORLD_SIZE=2 COMMTRACE_JOB=two COMMTRACE_QUIET=1 traced 60 "$work/$name/run" env "${variables[@]}" \
			taskset -c "$where" "$gloo_job" --rank $rank --size 2 --store "$name/store" \
			--ops "${ops:-200}" --elements 1 >"$name/out$rank" 2>"$name/err$rank" &
		pids+=($!)
	done
	for rank in 0 1; do
		wait "${pids[$rank]}" || fail "$name: rank $rank: exit $?: $(cat "$name/err$rank")"
	done
	info_json "$name/run" >"$name.json" || fail "$name: commtrace info: exit $?"
}

secret=hush-$RANDOM$RANDOM
common=(NCCL_DEBUG=WARN OMP_NUM_THREADS=3 NCCL_API_TOKEN="$secret" UCX_PASSWORD="$secret" HF_TOKEN="$secret" EXTRA="$secret")
# shellcheck disable=SC2034
rank0_env=("${common[@]}" NCCL_ALGO=Ring CUDA_VISIBLE_DEVICES=0)
# shellcheck disable=SC2034
rank1_env=("${common[@]}" NCCL_ALGO=Tree CUDA_VISIBLE_DEVICES=1 UCX_TLS=rc)
ranks differ
expected=env.NCCL_ALGO,env.UCX_TLS
[ "$(nproc)" = 1 ] || expected=cpu.affinity,$expected
reported=$(ask differ.json '",".join(sorted(d["name"] for d in e["differs"]))')
[ "$reported" = "$expected" ] || fail "differs: $reported, not $expected"
reported=$(ask differ.json '[d["values"] for d in e["differs"] if d["name"] == "env.NCCL_ALGO"][0]')
[ "$reported" = "[{'value': 'Ring', 'ranks': [0]}, {'value': 'Tree', 'ranks': [1]}]" ] || fail "NCCL_ALGO: $reported"
reported=$(ask differ.json '[d["values"] for d in e["differs"] if d["name"] == "env.UCX_TLS"][0]')
[ "$reported" = "[{'value': 'rc', 'ranks': [1]}, {'value': None, 'ranks': [0]}]" ] || fail "UCX_TLS: $reported"
[ "$(ask differ.json 'e["same"]["env.OMP_NUM_THREADS"]')" = 3 ] || fail "OMP_NUM_THREADS is not reported"
[ "$(ask differ.json 'e["same"]["kernel.release"]')" = "$(uname -r)" ] || fail "another kernel"
[ "$(ask differ.json '[r["facts"]["env.CUDA_VISIBLE_DEVICES"] for r in e["per_rank"]]')" = "['0', '1']" ] || fail "own facts"
[ "$(ask differ.json 'e["same"]["lib.gloo.path"]')" = "$(realpath "$(ldd "$gloo_job" | awk '/libgloo/ { print $3 }')")" ] ||
	fail "another Gloo"
[ "$(ask differ.json '{p["program"] for p in j["processes"]}')" = "{'${gloo_job##*/}'}" ] || fail "another program than $gloo_job"
found=$("$commtrace" report --format=json differ/run | "$python" -c '
import json, sys
for f in json.load(sys.stdin)["findings"]:
    if f["kind"] == "ENVIRONMENT_DIFFERS": print(f["severity"], f["cause"])')
[ "$found" = "warning env.NCCL_ALGO Ring on rank 0, Tree on rank 1" ] || fail "finding: $found"

# As short as can be: what is asked of the kernel and of the loader is on record all the same.
ops=1 ranks short
for key in kernel.release cpu.model lib.gloo.path lib.glibc.version; do
	reported=$(ask differ.json "e['same'].get('$key')")
	[ "$(ask short.json "e['same'].get('$key')")" = "$reported" ] || fail "a short run does not report $key, which is $reported"
done

# Not a byte of a secret anywhere; segments are compressed, so each frame is looked into.
for file in differ/run/*.seg; do
	"$e2e/unpack_blocks" "$file" >raw || fail "unpack_blocks: exit $?"
	grep -qa 'NCCL_ALGO' raw || fail "the unpacked segment has no environment either"
	! grep -qaF "$secret" raw "$file" || fail "a secret is in $file"
done

# All but the last segment lost.
export COMMTRACE_SEGMENT_BYTES=64K COMMTRACE_FLUSH=20ms
ops=13000 ranks rotated
unset COMMTRACE_SEGMENT_BYTES COMMTRACE_FLUSH
removed=0
for first in rotated/run/*.0.seg; do
	last=$(ls -v "${first%.0.seg}".*.seg | tail -n 1)
	for file in "${first%.0.seg}".*.seg; do
		[ "$file" = "$last" ] || { rm "$file" && removed=$((removed + 1)); }
	done
done
[ $removed -ge 2 ] || fail "only $removed segments were closed"
info_json rotated/run >last.json
for part in same differs own; do
	[ "$(ask last.json "e['$part']")" = "$(ask rotated.json "e['$part']")" ] || fail "$part: the last segment has another one"
done

# What the simulated driver has.
COMMTRACE_QUIET=1 traced 60 "$work/gpus" "$build/bin/commtrace-simjob" --ranks 2 --ranks-per-process 2 --steps 3 --step-ms 5 >out ||
	fail "simjob: exit $?"
info_json gpus >gpus.json
reported=$(ask gpus.json '[e["same"][k] for k in ("gpu.0.name", "gpu.1.name", "lib.cuda.version", "gpu.0.compute")]')
[ "$reported" = "['Simulated GPU', 'Simulated GPU', '13.0', '9.0']" ] || fail "GPUs: $reported"
reported=$(ask gpus.json '(len(e["per_rank"]), sorted({r["facts"][k] for r in e["per_rank"] for k in r["facts"] if k.startswith("gpu.") and k.endswith(".pci")}))')
[ "$reported" = "(2, ['0000:00:00.0', '0000:01:00.0'])" ] || fail "bus ids: $reported"
[ "$(ask gpus.json 'e["same"]["lib.nccl.version"]')" = 2.30.7 ] || fail "NCCL $(ask gpus.json 'e["same"]["lib.nccl.version"]')"
echo "differs: $expected; $removed segments removed"
