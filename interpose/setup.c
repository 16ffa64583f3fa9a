/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/setup.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "interpose/account.h"
#include "interpose/beat.h"
#include "interpose/channels.h"
#include "interpose/dlsym_real.h"
#include "interpose/environ/counters.h"
#include "interpose/environ/environ.h"
#include "interpose/environ/uninterposed.h"
#include "interpose/errors.h"
#include "interpose/gloo/gloo.h"
#include "interpose/gpu/choice/options.h"
#include "interpose/gpu/graph/graph.h"
#include "interpose/gpu/runtime/cudart.h"
#include "interpose/gpu/time.h"
#include "interpose/hash.h"
#include "interpose/identity.h"
#include "interpose/libc_old.h"
#include "interpose/log.h"
#include "interpose/mpi/comm.h"
#include "interpose/mpi/mpi.h"
#include "interpose/mpi/multi_request.h"
#include "interpose/mpi/poll.h"
#include "interpose/mpi/requests.h"
#include "interpose/nccl/nccl.h"
#include "interpose/nvtx/open_ranges.h"
#include "interpose/pending.h"
#include "interpose/profiler/profiler.h"
#include "interpose/recorder.h"
#include "interpose/run_dir.h"
#include "interpose/site.h"
#include "interpose/stacks/stacks.h"
#include "interpose/start_line.h"
#include "interpose/writer.h"
#include "trace/clock.h"
#include "trace/limits.h"
#include "trace/ring_dir.h"

/* They outlive the start: the write thread borrows them. */
static struct ct_settings settings;
static struct ct_notes notes;
static char tmpdir[CT_SETTING_STR_BYTES];

int ct_setup_wanted(void)
{
	const char *value = ct_identity_env(environ, "COMMTRACE");

	/* a set-user-id program must not write where the environment says */
	return !getauxval(AT_SECURE) && !(value && strcmp(value, "0") == 0) &&
	       ct_libc_is_complete();
}

static void read_environment(void)
{
	const char *value = ct_identity_env(environ, "COMMTRACE");

	memset(&notes, 0, sizeof(notes));
	ct_settings_read(&settings, environ, &notes);
	if (value && strcmp(value, "1") != 0)
		ct_notes_add(&notes, "COMMTRACE=%.20s is neither 0 nor 1: recording", value);
	value = ct_identity_env(environ, "TMPDIR");
	if (value && value[0] == '/' && strlen(value) < sizeof(tmpdir))
		memcpy(tmpdir, value, strlen(value) + 1);
	else
		tmpdir[0] = '\0';
	if (ct_log_open(settings.LOG_FILE) != 0)
		ct_notes_add(&notes, "COMMTRACE_LOG_FILE cannot be opened");
}

static int is_listed(const char *backend)
{
	return ct_settings_lists(settings.BACKENDS, backend);
}

static int init_gpu(void)
{
	struct ct_gpu_options options;

	ct_gpu_options_read(&options, &settings,
			    ct_identity_env(environ, "CUDA_DEVICE_MAX_CONNECTIONS"), &notes);
	return ct_gpu_init_options(&options);
}

/* Ring and tables. 0 or -1. */
static int make_memory(const char *const *dirs)
{
	struct ct_process *process = &ct_recorder.process;
	struct ct_err err = { .status = CT_OK };
	uint64_t who = ct_hash_mix(ct_hash_mix(process->hostkey, process->pid), process->start_ns);

	if (ct_ring_create(&ct_recorder.ring, process, dirs, (size_t)settings.RING_MB, &err) !=
		    CT_OK ||
	    ct_comms_init(process->job, who) != CT_OK || ct_channels_init() != CT_OK ||
	    ct_pending_init() != CT_OK || ct_mpi_comm_init() != CT_OK ||
	    ct_mpi_requests_init() != CT_OK || ct_mpi_multi_init() != CT_OK ||
	    init_gpu() != CT_OK ||
	    ct_profiler_init(strcmp(settings.TIMING, "auto") == 0) != CT_OK) {
		ct_log("cannot record: %s", err.text);
		return -1;
	}
	atomic_store_explicit(&ct_recorder.low_water, ct_recorder.ring.header->n_chunks / 2,
			      memory_order_relaxed);
	atomic_store_explicit(&ct_recorder.wanted, 0, memory_order_relaxed);
	if (process->ring_kind == CT_RING_PRIVATE) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_RING_PRIVATE, 1);
		ct_notes_add(&notes, "no ring file can be made: records would not survive a kill");
	}
	return 0;
}

static void start_threads(const struct ct_writer_options *options)
{
	if (options->dirfd < 0)
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_NO_DIR, 1);
	ct_environ_serve(ct_now_ns());
	ct_counters_begin(&ct_recorder.process, (uint64_t)settings.COUNTERS);
	if (ct_writer_start(options) != 0) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_THREAD_FAILED, 1);
		ct_notes_add(&notes, "no write thread can be started: records stay in memory");
	}
	/* also without a write thread: or a rank that works would look dead */
	if (ct_beat_start() != 0) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_THREAD_FAILED, 1);
		ct_notes_add(&notes, "no beat thread can be started: the rank shows no heartbeat");
	}
	if (ct_stacks_start() != 0)
		ct_notes_add(&notes, "no thread can be started: no stacks if the process hangs");
}

static uintptr_t nccl_wrapper(const char *symbol)
{
	const struct ct_real *real = ct_nccl_real(symbol);

	return real ? (uintptr_t)real->self : 0;
}

static uintptr_t mpi_wrapper(const char *symbol)
{
	const struct ct_real *real = ct_mpi_real(symbol);

	return real ? (uintptr_t)real->self : 0;
}

static const struct ct_uninterposed_wrappers wrappers = {
	.nccl = nccl_wrapper,
	.gloo = ct_gloo_wrapper,
	.mpi = mpi_wrapper,
	.gloo_unheard = ct_gloo_unheard,
};

/* Nothing is mapped or started, and of files only the log was opened. */
static int refuse(const char *const *ring_dirs, int has_stderr, const char *why)
{
	struct ct_process *process = &ct_recorder.process;

	ct_log("not recording: %s", why);
	ct_log_close();
	ct_identity_read(process, &settings, environ);
	if (has_stderr && !settings.QUIET && ct_start_line_is_mine(process, ring_dirs))
		ct_start_line_refuse(why);
	return -1;
}

/* ThreadSanitizer's runtime sees what the library copies and not what orders it: it would report
 * our threads, and change the exit status. Our own tests are built with it as a whole. */
static int is_race_checked(void)
{
#ifdef CT_SANITIZED
	return 0;
#else
	return ct_dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
#endif
}

static int is_unwelcome(char *why, size_t size)
{
	if (ct_limits_are_tight(why, size))
		return 1;
	snprintf(why, size, "the program is built with ThreadSanitizer");
	return is_race_checked();
}

static int set_up(uint32_t nth)
{
	struct ct_process *process = &ct_recorder.process;
	struct ct_writer_options options = { .settings = &settings, .notes = &notes };
	char why[160];
	/* Asked before anything is opened: where it is closed, number 2 soon is some file of ours
	 * or the program's. */
	int has_stderr = fcntl(STDERR_FILENO, F_GETFD) >= 0;

	read_environment();
	if (!is_listed("gloo") && !is_listed("nccl") && !is_listed("mpi")) {
		ct_log_close();
		return -1;
	}
	memset(&ct_recorder, 0, sizeof(ct_recorder));
	ct_ring_dirs(settings.RING_DIR, tmpdir, options.ring_dirs);
	if (is_unwelcome(why, sizeof(why)))
		return refuse(options.ring_dirs, has_stderr, why);
	ct_identity_read(process, &settings, environ);
	ct_environ_read(environ);
	ct_uninterposed_use(&wrappers);
	ct_account_reset();
	ct_counters_reset();
	ct_ranges_reset();
	ct_stacks_reset(&(struct ct_stacks_options){
		.hang_after_ns = (uint64_t)settings.HANG_AFTER,
		.is_on = strcmp(settings.STACKS, "off") != 0,
		.with_python = strcmp(settings.STACKS, "off") != 0 &&
			       strcmp(settings.STACKS, "native") != 0,
	});
	process->nth = nth;
	process->start_ns = ct_clock_ns(CLOCK_MONOTONIC);
	process->start_unix_ns = ct_clock_ns(CLOCK_REALTIME);
	options.dirfd = ct_run_dir_open(settings.DIR, tmpdir, process, &notes);
	if (make_memory(options.ring_dirs) != 0)
		goto out_close;
	ct_site_init(settings.STACKS, &notes);
	ct_recorder.call_cost_ns = ct_recorder_calibrate();
	ct_errors_init();
	ct_gloo_init(is_listed("gloo"));
	ct_mpi_poll_init();
	ct_mpi_init(is_listed("mpi"));
	if (ct_nccl_init(is_listed("nccl")) != CT_OK ||
	    ct_graph_init(strcmp(settings.GRAPH, "list") == 0) != CT_OK) {
		ct_log("cannot record: no memory");
		goto out_close;
	}
	ct_cudart_init(is_listed("nccl"));
	start_threads(&options);
	if (has_stderr && !settings.QUIET && ct_start_line_is_mine(process, options.ring_dirs))
		ct_start_line_write(process, &notes);
	ct_log("recording as rank %d of %d to %s, ring %s, a call costs %u ns", process->rank,
	       process->world_size, process->run_dir, ct_recorder.ring.path,
	       ct_recorder.call_cost_ns);
	return 0;
	/* No thread was started. A ring that stayed would look like a living process that never
	 * calls. */
out_close:
	ct_ring_close(&ct_recorder.ring, 1);
	if (options.dirfd >= 0)
		close(options.dirfd);
	ct_log_close();
	return -1;
}

/* A file that would become larger than the process may make one raises SIGXFSZ, which would end the
 * program. Blocks it for this thread, and consumes a resulting one. (The write thread blocks all
 * signals.) */
int ct_setup_recording(uint32_t nth)
{
	const struct timespec now = { 0, 0 };
	sigset_t size_only, before, pending;
	int was_pending, status;

	sigemptyset(&size_only);
	sigaddset(&size_only, SIGXFSZ);
	if (pthread_sigmask(SIG_BLOCK, &size_only, &before) != 0)
		return -1;
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGXFSZ);
	status = set_up(nth);
	if (!was_pending)
		sigtimedwait(&size_only, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}
