#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What code inside somebody else's process does not call. Judged by the undefined symbols of the project's own
# objects (zstd's are its own business), so that a call through a macro counts too.
. "$(dirname "$0")/rule.sh"

# Nowhere in the job: they end it, change its environment or its signals, or have no bound. (dlsym is our own: ct_dlsym)
everywhere="dlsym exit _exit _Exit quick_exit abort __assert_fail raise kill tgkill pthread_kill sigqueue signal sigaction
	sigvec setenv putenv unsetenv clearenv system popen strcpy strcat sprintf vsprintf gets atoi atol longjmp siglongjmp"
# Not on the call path: they allocate, or lock a stream of the program.
hot="malloc calloc realloc reallocarray aligned_alloc posix_memalign free strdup strndup asprintf printf fprintf
	vprintf vfprintf puts fputs putchar fwrite fopen fflush"
# The objects of the call path.
hot_objects='^(guard|real|unwind|recorder|ring|comms|tags|pending|ring_traffic|gloo(_[a-z0-9]+)?|nccl|nccl_[a-z]+|cuda|cudart|waits(_[a-z]+)?|gpu[a-z]+|poll|graph(_[a-z]+)?|profiler_[a-z]+|nvtx|marker_names|open_ranges)$'
# The file that wraps the ways to die calls the real ones through pointers; that it also names them is its job.
exempt='^death$'

objects=()
for dir in "$build/interpose" "$build/trace"; do
	mapfile -t found < <(find "$dir" -name '*.o' ! -path '*/ct_trace_read.dir/*' 2>/dev/null | sort)
	[ ${#found[@]} -gt 0 ] || { echo "no objects under $dir"; exit 1; }
	objects+=("${found[@]}")
done

nm -uA "${objects[@]}" | awk -v everywhere="$everywhere" -v hot="$hot" -v hot_objects="$hot_objects" -v exempt="$exempt" '
	function words(list, set,  w, i, n) { n = split(list, w); for (i = 1; i <= n; i++) set[w[i]] = 1 }
	BEGIN { words(everywhere, never); words(hot, not_hot) }
	{
		name = $1; sub(/\.c\.o:.*/, "", name); sub(/.*\//, "", name)
		call = $NF; sub(/@.*/, "", call)
		# A fortified call is the call.
		if (call ~ /^__.*_chk$/) { sub(/^__/, "", call); sub(/_chk$/, "", call) }
	}
	(call in never && name !~ exempt) || (call in not_hot && name ~ hot_objects) { print name ": " $NF }
' | sort -u | verdict "calls that are banned inside a job"

mapfile -t files < <(sources '^(interpose|trace)/.*[.][ch]$')
awk '/[^A-Za-z0-9_]alloca[ \t]*\(/ { printf "%s:%d: %s\n", FILENAME, FNR, $0 }' "${files[@]}" | verdict "alloca"
