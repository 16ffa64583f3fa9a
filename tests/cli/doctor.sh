#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The environment of a recording, without a program: what is fine, and each thing that is not.
. "$data/doctor.bash"

echo "= nothing is wrong"
ask '.*' | sed -E 's/has [0-9]+ MB left: room for [0-9]+/has N MB left: room for N/; s/\([a-z0-9]+\)$/(FS)/'
echo "= LD_PRELOAD"
cp "$build/lib/libcommtrace.so" .
: >empty.so
mkdir directory.so
ask PRELOAD LD_PRELOAD="$build/lib/libcommtrace.so"
ask PRELOAD LD_PRELOAD=./libcommtrace.so
ask PRELOAD LD_PRELOAD=libcommtrace.so 2>/dev/null
ask PRELOAD LD_PRELOAD="$PWD/gone/libcommtrace.so"
ask PRELOAD LD_PRELOAD="$PWD/libcommtrace.so"
mkdir one
cp empty.so one/libcommtrace.so
ask PRELOAD LD_PRELOAD="$PWD/one/libcommtrace.so"
rm one/libcommtrace.so
mkdir one/libcommtrace.so
ask PRELOAD LD_PRELOAD="$PWD/one/libcommtrace.so"
ask 'OTHER_.*|PRELOAD' LD_PRELOAD="$PWD/gone.so $build/lib/libcommtrace.so"
echo 'void *dlsym(void *handle, const char *symbol) { return handle ? (void *)symbol : 0; }' | compiled hook.so -shared -fPIC -w
ask 'OTHER_.*' LD_PRELOAD="$PWD/hook.so"
echo 'int ncclAllReduce(void) { return 1; }' | compiled shim.so -shared -fPIC
ask 'OTHER_.*' LD_PRELOAD="$PWD/shim.so"
echo "= settings"
ask 'SETTINGS|SWITCHED_OFF|BACKENDS|DLSYM_OFF' COMMTRACE_RINGDIR=/tmp COMMTRACE_XYZZY=1 COMMTRACE_HANG_AFTER=abc
ask 'SETTINGS|SWITCHED_OFF|BACKENDS|DLSYM_OFF' COMMTRACE=0
ask 'SETTINGS|SWITCHED_OFF|BACKENDS|DLSYM_OFF' COMMTRACE_NO_DLSYM=1 COMMTRACE_BACKENDS=gloo
ask BACKENDS COMMTRACE_BACKENDS=mpi,nccl,gloo
echo "= directories and limits"
ask RUN_DIR COMMTRACE_DIR=/dev/null/run | sed -E 's/\([a-z0-9]+\)$/(FS)/'
ask RING_DIR COMMTRACE_RING_DIR=/dev/null TMPDIR= | sed -E 's/[0-9]+ MB left.*/N MB left/'
(
	ulimit -n 40
	ulimit -f 1000
	ask 'OPEN_FILES|FILE_SIZE' COMMTRACE_RING_MB=2
)
(
	ulimit -u 100
	ulimit -d 50000
	ask 'PROCESSES|MEMORY' | sed -E 's/[0-9]+ MB of data/N MB of data/'
)
echo "= sanitizers"
echo 'int main(void) { return 0; }' | compiled asan -fsanitize=address
ask SANITIZER -- ./asan
ask SANITIZER LD_PRELOAD="$build/lib/libcommtrace.so" -- ./asan
ask SANITIZER LD_PRELOAD="$build/lib/libcommtrace.so" ASAN_OPTIONS=verify_asan_link_order=0 -- ./asan
echo 'int main(void) { return 0; }' | compiled tsan -fsanitize=thread
ask SANITIZER -- ./tsan
echo "= usage"
ask none --run
ask none --format=xml
ask none --format
ask none --runn
