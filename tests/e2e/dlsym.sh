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
said=$(timeout 30 env LD_PRELOAD="$e2e/libnccl_shim.so:$library" "$e2e/ask_dlsym" "$e2e/libnccl_shim.so" ncclGetUniqueId)
[ "$said" = libnccl_shim.so ] || fail "asked for a function of a preload before this one: the answer lies in $said"
