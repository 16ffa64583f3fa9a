#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The simulated CUDA exports what its tables and sim.h declare, and nothing else: no more is promised than is there.
# Its libraries are found beside each other and nowhere else.
set -euo pipefail
export LC_ALL=C
sim=$CT_BUILD/lib/sim
cd "$CT_ROOT/tools/sim"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

exported() {
	nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort
}

{
	sed -n 's/^SIM_CALL(\([A-Za-z0-9_]*\),.*/\1/p' driver_calls.def
	sed -n 's/^SIM_EXPORT .*[ *]\(sim[A-Z][A-Za-z]*\)(.*/\1/p' sim.h
} | sort >"$work/driver"
sed -n 's/^RUNTIME_CALL([^,]*, \([A-Za-z0-9_]*\),.*/\1/p' runtime_calls.def | sort >"$work/runtime"
[ "$(wc -l <"$work/driver")" -gt 50 ] && [ "$(wc -l <"$work/runtime")" -gt 30 ]

diff "$work/driver" <(exported "$sim/libcuda.so.1")
diff "$work/runtime" <(exported "$sim/libcudart.so.13")

# What the tracer asks for is there.
sed -n 's/^CUDA_CALL[A-Z_]*([^,]*, \([A-Za-z0-9_]*\),.*/\1/p' ../../interpose/abi/cuda_calls.def | sort |
	comm -23 - "$work/driver" >"$work/missing"
[ ! -s "$work/missing" ] || { cat "$work/missing"; exit 1; }

for library in libcuda.so.1 libcudart.so.13; do
	readelf -d "$sim/$library" | grep -F "Library soname: [$library]" >/dev/null
	readelf -d "$sim/$library" | grep -F 'Library rpath: [$ORIGIN]' >/dev/null
done
