#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that asks dlsym what its NCCL can do sees of each wrapped function whether that NCCL has it: the wrapper if
# so, nothing if not, whatever the table knows of later versions.
#
# absent.sh LIBRARY NAME...     LIBRARY: a libnccl; NAME: functions that it does not have, among others perhaps
. "$(dirname "$0")/e2e.sh"
library_asked=$1
shift
mapfile -t symbols < <(sed -n 's/^NCCL_CALL[A-Z_]*("\([A-Za-z]*\)".*/\1/p' "$CT_ROOT/interpose/abi/nccl_calls.def")
[ ${#symbols[@]} -gt 30 ] || fail "only ${#symbols[@]} functions are wrapped"

timeout -k 5 240 env LD_PRELOAD="$library" LD_LIBRARY_PATH="$CT_BUILD/lib/sim" COMMTRACE_DIR="$work/run" \
	"$e2e/ask_dlsym" "$library_asked" "${symbols[@]}" >answers || fail "ask_dlsym: exit $?"
nm -D --defined-only "$library_asked" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort >there
for i in "${!symbols[@]}"; do
	if grep -qx "${symbols[i]}" there; then echo libcommtrace.so; else echo nowhere; fi
done >expected
same "where ${symbols[*]} are" expected answers
for name; do
	! grep -qx "$name" there || fail "$library_asked has $name"
	printf '%s\n' "${symbols[@]}" | grep -qx "$name" || fail "$name is not wrapped"
done
[ ! -e run ] || fail "asking is recorded"
echo "$(grep -c libcommtrace answers) wrapped, $(grep -c nowhere answers || :) absent"
