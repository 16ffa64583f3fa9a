#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# aarch64.sh QEMU: builds the library, the simulated GPUs and some tests for aarch64 and runs them. What the library records
# there, the commtrace of this machine reads. CT_LONG=1: more tests. It is an emulated processor with one memory order: that the
# order of stores and loads is right on a real one is not shown.
set -euo pipefail
export LC_ALL=C
qemu=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${CT_ROOT:-$here/../..}
host=${CT_BUILD:-$root/build}
build=$host/cross-aarch64
library=$build/lib/libcommtrace.so
system=/usr/aarch64-linux-gnu
long=${CT_LONG:-0}

fail() {
	printf 'aarch64.sh: %s\n' "$*" >&2
	exit 1
}

for name in $(compgen -e | grep -E '^(COMMTRACE|LD_PRELOAD$|RANK$|WORLD_SIZE$|MASTER_|SLURM_)' || true); do
	unset "$name"
done
CT_CROSS_ROOT=$("$here/fetch.sh")
export CT_CROSS_ROOT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# quietly COMMAND...: shown only if it fails.
quietly() {
	"$@" >"$work/log" 2>&1 || {
		tail -n 40 "$work/log" >&2
		fail "failed: $*"
	}
}
targets=(commtrace_preload sim_cudart sim_nccl unit_ring unit_block unit_segment ask_dlsym asker0 asker1 asker2
	copy_nccl1 copy_nccl2 copy_nccl3 copy_nccl4 copy_nccl5 registers interpose_nccl_sim)
[ "$long" = 0 ] || targets+=(interpose_dlsym_real interpose_tags interpose_nccl interpose_nccl_comm interpose_gpuspan)
# -O1: this is about what runs, not how fast.
quietly cmake -S "$root" -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$here/aarch64.cmake" -DCT_ABI_CHECK=OFF \
	-DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1
quietly ninja -C "$build" "${targets[@]}"

# What the library asks of the system is the same as on x86-64; the loader is in every process.
readelf --wide -d "$library" | awk '/\(NEEDED\)/ && !/\[(libc\.so\.6|ld-linux-aarch64\.so\.1)\]/ || /\((RPATH|RUNPATH|TEXTREL)\)/' >"$work/needs"
[ ! -s "$work/needs" ] || fail "the library needs: $(cat "$work/needs")"
youngest=$(readelf --wide -V "$library" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
[ "$(printf '%s\n' "$youngest" GLIBC_2.28 | sort -V | tail -n 1)" = GLIBC_2.28 ] || fail "the library needs $youngest"

# run NAME PROGRAM SETTING...: a cmocka program; every test of it passes, but those that are named after `except=`.
tests=0
run() {
	local name=$1 program=$2 except="" settings=() said
	shift 2
	for setting in "$@"; do
		case $setting in
		except=*) except=${setting#except=} ;;
		*) settings+=(-E "$setting") ;;
		esac
	done
	said=$(timeout -k 5 480 "$qemu" -L "$system" \
		-E LD_LIBRARY_PATH="$CT_CROSS_ROOT/usr/lib/aarch64-linux-gnu:$build/tests/e2e" -E COMMTRACE_QUIET=1 "${settings[@]}" \
		"$build/tests/$program" 2>&1) || true
	grep -q '\] [0-9]* test(s) run\.' <<<"$said" || fail "$name: $said"
	bad=$(sed -nE 's/^\[  (FAILED|ERROR ) +\] ([a-z_0-9]+)$/\2/p' <<<"$said" | sort -u | tr '\n' ' ')
	[ "${bad% }" = "$except" ] || fail "$name: $said"
	tests=$((tests + $(grep -c '^\[ *OK \]' <<<"$said")))
}
mkdir "$work/rings"
preload=(LD_PRELOAD="$library" COMMTRACE_RING_DIR="$work/rings" COMMTRACE_DIR="$work/run")
# (QEMU lets a forked child have what madvise said that it has not.)
run ring unit/unit_ring except=the_file_is_private_whole_and_not_inherited
run block unit/unit_block
run segment unit/unit_segment
run registers cross/registers "${preload[@]}"
run dlsym e2e/ask_dlsym "${preload[@]}"
run "dlsym switched off" e2e/ask_dlsym "${preload[@]}" COMMTRACE_NO_DLSYM=1
run nccl interpose/interpose_nccl_sim LD_PRELOAD="$library" COMMTRACE_TIMING=events
if [ "$long" != 0 ]; then
	run "dlsym, inside" interpose/interpose_dlsym_real
	run tags interpose/interpose_tags
	run "nccl, inside" interpose/interpose_nccl
	run "nccl communicators" interpose/interpose_nccl_comm
	run spans interpose/interpose_gpuspan
fi
timeout -k 5 240 "$host/bin/commtrace" info "$work/run" >"$work/info" 2>&1 || fail "commtrace info: $(cat "$work/info")"
echo "$tests tests passed on an emulated aarch64"
