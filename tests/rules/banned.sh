#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What code inside someone else's process does not call. Judged by the undefined symbols of the project's own
# objects (zstd's are its own business), so that a call through a macro counts too. Every object of interpose/ and of the
# writing half of trace/ counts as call path; what another thread or the set-up calls all the same has a row below.
. "$(dirname "$0")/rule.sh"

# Nowhere in the job: they end it, change its environment or its signals, or have no bound. (dlsym is our own: ct_dlsym)
everywhere="dlsym exit _exit _Exit quick_exit abort __assert_fail raise kill tgkill pthread_kill sigqueue signal sigaction
	sigvec setenv putenv unsetenv clearenv system popen strcpy strcat sprintf vsprintf gets atoi atol longjmp siglongjmp"
# Not on the call path: they allocate, lock a stream of the program, or wait.
hot="malloc calloc realloc reallocarray aligned_alloc posix_memalign free strdup strndup asprintf printf fprintf
	vprintf vfprintf puts fputs putchar fwrite fopen fdopen open_memstream fflush getline getdelim opendir scandir
	qsort realpath sleep usleep nanosleep poll select pthread_mutex_lock pthread_cond_wait pthread_join sem_wait
	fsync fdatasync waitpid"
# FILE: CALLS: why it may.
allowed='
interpose/beat.c: nanosleep: the beat thread pauses between two beats
interpose/environ/environ.c: nanosleep: the write thread, which waits for a look-around at the end
trace/sys_file.c: opendir qsort: the look-around and the sampler of the network ports, threads of their own
interpose/environ/nccl_settings.c: realpath: the look-around
interpose/environ/objects.c: realpath: the look-around
interpose/libc_old.c: pthread_join: hands on a call of the program
interpose/lifecycle.c: nanosleep: a call that finds the recording being started by another thread, and the end of the process
interpose/output.c: realloc free: the write thread
interpose/run_dir.c: realpath: set-up
interpose/stacks/look.c: nanosleep: the thread that looks at the others
interpose/stacks/stacks.c: nanosleep: the thread that looks at the others
interpose/start_line.c: poll: set-up, with a timeout
interpose/state.c: realloc free: the write thread
trace/block.c: realloc free: the write thread
trace/block_columns.c: malloc free: the write thread
trace/block_encode.c: calloc free: the write thread
trace/block_map.c: malloc free: the write thread
trace/block_model.c: malloc free: the write thread
trace/rare_code.c: malloc free: the write thread
trace/drain.c: realloc free qsort: the write thread
trace/ring_archive.c: malloc free: the command line only
trace/ring_collect.c: calloc free: the command line only
trace/order_totals.c: calloc free: the write thread
trace/segment.c: realloc free: the write thread
'

# of_source: the source of an object at the start of each line, instead of its path.
of_source() {
	sed -E "s,^$build/(interpose|trace)/(CMakeFiles/[^/]*[.]dir/)?([^:]*)[.]o(:|\$),\\1/\\3\\4,"
}

# Of a source that is gone an object may still lie about.
mapfile -t found < <(find "$build/interpose" "$build/trace" -name '*.[cS].o' ! -path '*/ct_trace_read.dir/*' \
	! -path '*/ct_interpose_testing.dir/*' 2>/dev/null | sort)
mapfile -t from < <([ ${#found[@]} = 0 ] || printf '%s\n' "${found[@]}" | of_source)
objects=() of=()
for i in "${!found[@]}"; do
	[ -e "${from[$i]}" ] || continue
	objects+=("${found[$i]}") of+=("${from[$i]}")
done
judged "objects" "${#objects[@]}"
# None is left out. (abi_check.c is built where the real headers are, and is in no library.)
folders() { sed -n 's,/[^/]*$,,p' | sort -u; }
comm -23 <(sources '^(interpose|interpose/.*|trace)/[^/]*[.]c$' | grep -v '/abi_check[.]c$' | folders) \
	<(printf '%s\n' "${of[@]}" | folders) | verdict "folders without an object"

nm -uA "${objects[@]}" | of_source | sed 's/: */ /' | awk -v everywhere="$everywhere" -v hot="$hot" -v allowed="$allowed" '
	function words(list, set,  w, i, n) { n = split(list, w); for (i = 1; i <= n; i++) set[w[i]] = 1 }
	BEGIN {
		words(everywhere, banned)
		words(hot, banned)
		rows = split(allowed, row, "\n")
		for (i = 1; i <= rows; i++) {
			if (row[i] == "") continue
			split(row[i], part, /: /)
			if (part[3] == "") print "a row without a reason: " row[i]
			n = split(part[2], one, " ")
			for (k = 1; k <= n; k++) may[part[1], one[k]] = 1
		}
	}
	{ seen[$1] = 1; call = $NF; sub(/@.*/, "", call) }
	# A fortified call is the call.
	call ~ /^__.*_chk$/ { sub(/^__/, "", call); sub(/_chk$/, "", call) }
	!(call in banned) { next }
	($1, call) in may { used[$1, call] = 1; next }
	{ print $1 ": " $NF }
	END {
		for (what in may) {
			split(what, part, SUBSEP)
			if (part[1] in seen && !(what in used)) print "a row that is not needed: " part[1] ": " part[2]
		}
	}
' | sort -u | verdict "calls that are banned inside a job"

mapfile -t files < <(sources '^(interpose|trace)/.*[.][ch]$')
awk '/[^A-Za-z0-9_]alloca[ \t]*\(/ { printf "%s:%d: %s\n", FILENAME, FNR, $0 }' "${files[@]}" | verdict "alloca"
