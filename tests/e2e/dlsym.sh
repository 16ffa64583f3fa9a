#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dlsym under the preload, hooked and switched off in both ways, and without the preload.
. "$(dirname "$0")/e2e.sh"
export LD_LIBRARY_PATH=$e2e

ask() {
	local name=$1 said
	shift
	said=$("$@" "$e2e/ask_dlsym" 2>&1) || fail "$name: $said"
	echo "$name: $(grep -c '^\[ *OK \]' <<<"$said") answers as they should be"
}

ask hooked traced 30 "$work/run" env
ask "COMMTRACE_NO_DLSYM=1" traced 30 "$work/run" env COMMTRACE_NO_DLSYM=1
ask "COMMTRACE=0" traced 30 "$work/run" env COMMTRACE=0
ask "not preloaded" untraced 30 "$work/run" env COMMTRACE=0

# Another preload before this one calls it by itself.
said=$(timeout 120 env LD_PRELOAD="$e2e/libnccl_shim.so:$library" "$e2e/ask_dlsym" "$e2e/libnccl_shim.so" ncclGetUniqueId)
[ "$said" = libnccl_shim.so ] || fail "asked for a function of a preload before this one: the answer lies in $said"

# Another preload that stands before dlsym: it is asked as it would be without this one, on either side.
for order in "$e2e/libdlsym_shim.so" "$e2e/libdlsym_shim.so:$library" "$library:$e2e/libdlsym_shim.so"; do
	said=$(timeout 120 env LD_PRELOAD="$order" "$e2e/ask_dlsym" libc.so.6 dlsym_shim_answer)
	[ "$said" = libdlsym_shim.so ] || fail "LD_PRELOAD=$order: the other dlsym is not asked: the answer lies in $said"
done
for order in "$e2e/libdlsym_shim.so:$library" "$library:$e2e/libdlsym_shim.so"; do
	said=$(timeout 120 env LD_PRELOAD="$order" "$e2e/ask_dlsym" libcopy_nccl1.so ncclGetUniqueId)
	echo "LD_PRELOAD=${order//$build\//}: NCCL's function is answered from $said"
done
[ "$said" = libcommtrace.so ] || fail "before the other preload: the answer lies in $said"
