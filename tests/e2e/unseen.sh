#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a process has loaded that passes the preload unseen is reported, with the reason; what is seen is not.
. "$(dirname "$0")/e2e.sh"

# reported NAME LIBRARIES...: the warnings of a job that opens these.
reported() {
	local name=$1
	shift
	COMMTRACE_QUIET=1 traced 60 "$work/$name" "$e2e/unseen_job" "$@" || fail "$name: exit $?"
	info_json "$work/$name" >"$name.json" || fail "$name: commtrace info: exit $?"
	"$python" - "$name.json" <<'PY'
import json, os, re, sys
for row in json.load(open(sys.argv[1]))["not_traced"]:
    if row["advice"] is None:
        sys.exit(f"without advice: {row}")
    path = re.search(r": (/\S+) on rank", row["why"])
    print(row["what"], "|", os.path.basename(path.group(1)) if path else row["why"])
PY
}

# expect NAME LIBRARIES...: exactly the lines of standard input.
expect() {
	local name=$1
	reported "$@" | sort >"$name.reported"
	sort >"$name.expected"
	same "$name" "$name.expected" "$name.reported"
	count=$((count + 1))
}
count=0

hidden='a copy of NCCL that is linked in and hidden'
elsewhere='calls that the loader has bound past this library'

expect nothing "$e2e/unseen_nothing.so" </dev/null
# Seen: calls through the loader, also those of a copy of NCCL that calls itself so.
expect seen "now:$e2e/unseen_user.so" "now:$e2e/unseen_exported.so" </dev/null
# Not bound yet, so no one knows.
expect lazy "$e2e/unseen_user.so" </dev/null
expect hidden "$e2e/unseen_hidden.so" <<<"$hidden | unseen_hidden.so"
# Not there when the first look was taken.
expect later "later:$e2e/unseen_hidden.so" <<<"$hidden | unseen_hidden.so"
expect symbolic "$e2e/unseen_symbolic.so" <<<'calls of NCCL that are bound inside the object | unseen_symbolic.so'
expect deepbind "deepbind:$e2e/unseen_user.so" <<<"$elsewhere | unseen_user.so"
mkdir own
cp "$e2e/unseen_exported.so" own/libnccl.so.2
expect namespace "namespace:$work/own/libnccl.so.2" <<<'a communication library in a namespace of its own | libnccl.so.2'
expect cudart "$e2e/unseen_static_cudart.so" <<<'a CUDA runtime that is linked in | unseen_static_cudart.so'
expect device_api "$e2e/unseen_device_api.so" <<<"kernels of the program that communicate by NCCL's device API | unseen_device_api.so"
# By their names; UCX counts where it is used by something else than MPI or a collective library.
for file in libnvshmem_host.so.3 deep_ep_cpp.cpython-311.so libmscclpp.so.0; do
	cp "$e2e/unseen_nothing.so" "own/$file"
done
cp "$e2e/unseen_ucx_user.so" own/libucc.so.1
expect others "$work/own/libnvshmem_host.so.3" "$work/own/deep_ep_cpp.cpython-311.so" "$work/own/libmscclpp.so.0" \
	"$e2e/unseen_ucx_user.so" "$work/own/libucc.so.1" <<-EOF
		NVSHMEM | libnvshmem_host.so.3
		DeepEP | deep_ep_cpp.cpython-311.so
		MSCCL++ | libmscclpp.so.0
		UCX that is used without MPI | unseen_ucx_user.so
	EOF
# Several at once, each once.
expect all "$e2e/unseen_hidden.so" "deepbind:$e2e/unseen_user.so" "$e2e/unseen_hidden.so" <<-EOF
	$hidden | unseen_hidden.so
	$elsewhere | unseen_user.so
EOF
echo "$count jobs"
