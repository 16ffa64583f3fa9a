/* SPDX-License-Identifier: Apache-2.0 */
/* process.c — a launched process: the devices of its ranks, a thread for each, and a watchdog that
 * asks the communicators for errors, as PyTorch's does. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/sim/job/rank.h"
#include "tools/sim/nccl/job.h"
#include "tools/sim/sim.h"

enum { WATCH_EVERY_NS = 100 * 1000 * 1000 };

static struct {
	struct simjob_rank *ranks;
	int n;
	int spans_fd, stalls_fd;
	pthread_t watchdog;
	_Atomic int is_over;
} process = { .spans_fd = -1, .stalls_fd = -1 };

void simjob_exit(int code)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;

	/* exit() may be called once only; a second caller waits for the end. */
	pthread_mutex_lock(&once);
	exit(code);
}

void simjob_rank_fail(struct simjob_rank *r, const char *call, const char *why)
{
	/* One write, so that ranks do not interrupt each other. */
	char line[256];
	const int n = snprintf(line, sizeof(line), "commtrace-simjob: rank %d: %s: %s\n", r->rank,
			       call, why);

	snprintf(r->board->error, sizeof(r->board->error), "%s: %s", call, why);
	atomic_store(&r->board->has_error, 1);
	atomic_store(&r->board->misuse, simMisuse());
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		simjob_exit(SIMJOB_FAILED);
	simjob_exit(SIMJOB_FAILED);
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* Half of the most to all of it, either way. */
static double some_of(double most, uint64_t draw)
{
	const double size = most * (0.5 + 0.5 * (double)(draw >> 12) / (double)(1ULL << 52));

	return draw & 1 ? -size : size;
}

void simjob_clock(const struct simjob *job, int rank, int64_t *offset_ns, double *ppm)
{
	const uint64_t draw = mix(job->options.config.seed * 0x9e3779b97f4a7c15 + (uint64_t)rank +
				  1);

	*offset_ns = (int64_t)(some_of(job->options.clock_offset_ms, draw) * 1e6);
	*ppm = some_of(job->options.drift_ppm, mix(draw + 1));
}

/* One line per kernel, in one write, so that processes share the file. */
static void note_span(const struct sim_nccl_span *span)
{
	char line[320];
	const int n = snprintf(line, sizeof(line),
			       "{\"rank\": %d, \"comm\": \"%016" PRIx64 "\", \"launch\": %" PRIu64
			       ", \"stream\": %" PRIuPTR ", \"start_ns\": %" PRIu64
			       ", \"end_ns\": %" PRIu64 ", \"ops\": %d, \"aborted\": %d}\n",
			       span->rank, span->comm, span->launch, (uintptr_t)span->stream,
			       span->start_ns, span->end_ns, span->n_ops, span->aborted);

	/* not by way of the disk that a fault may stop */
	if (syscall(SYS_write, process.spans_fd, line, (size_t)n) != n)
		fprintf(stderr, "commtrace-simjob: a span is lost\n");
}

static void note_stall(const struct sim_stall *stall)
{
	char line[200];
	int i = 0, n;

	while (i < process.n - 1 && process.ranks[i].device != stall->device)
		i++;
	n = snprintf(line, sizeof(line),
		     "{\"rank\": %d, \"stream\": %" PRIuPTR ", \"begin_ns\": %" PRIu64
		     ", \"end_ns\": %" PRIu64 "}\n",
		     process.ranks[i].rank, (uintptr_t)stall->stream, stall->begin_ns,
		     stall->end_ns);
	if (write(process.stalls_fd, line, (size_t)n) != n)
		fprintf(stderr, "commtrace-simjob: a stall is lost\n");
}

static void *watch(void *unused)
{
	while (!process.is_over) {
		for (int i = 0; i < process.n; i++) {
			struct simjob_rank *r = &process.ranks[i];

			if (r->is_aborting || !simjob_nccl_async_error(r))
				continue;
			simjob_rank_abort(r, SIMJOB_WATCHDOG_LANE);
			simSleepUntil(simNow() + WATCH_EVERY_NS);
			simjob_rank_fail(r, "ncclCommGetAsyncError", "remote error");
		}
		simSleepUntil(simNow() + WATCH_EVERY_NS);
	}
	return unused;
}

/* Real rates divided like the sizes: 200 GB/s between GPUs of a node, 25 GB/s between nodes. */
static void set_links(const struct simjob *job)
{
	const unsigned scale = ct_workload_config(job->workload)->scale;
	const struct sim_links links = {
		.alpha_ns = 8000,
		.hop_ns = 500,
		.node_Bps = 200000000000 / scale,
		.net_Bps = 25000000000 / scale,
		.jitter = 0.02,
		.end_skew_ns = (uint64_t)(job->options.end_skew_us * 1e3),
		.seed = job->options.config.seed,
	};

	simNcclLinks(&links);
}

static int set_devices(const struct simjob *job, int first, int n)
{
	const int per_node = job->options.config.ranks / job->options.config.nodes;

	if (simSetDeviceCount(per_node))
		return -1;
	for (int i = 0; i < n; i++) {
		const int device = (first + i) % per_node;
		int64_t offset_ns;
		double ppm;

		simjob_clock(job, first + i, &offset_ns, &ppm);
		if (simSetClock(device, offset_ns, ppm))
			return -1;
		simNcclRank(device, first + i);
		process.ranks[i].device = device;
	}
	return 0;
}

static int map_board(struct simjob *job)
{
	const size_t bytes = sizeof(struct simjob_board) +
			     (size_t)job->options.config.ranks * sizeof(struct simjob_rank_board);

	job->board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, job->options.board_fd,
			  0);
	close(job->options.board_fd);
	return job->board == MAP_FAILED ? -1 : 0;
}

static int open_spans(const char *path)
{
	if (!path)
		return 0;
	process.spans_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	simNcclOnKernel(note_span);
	return process.spans_fd < 0 ? -1 : 0;
}

static int open_stalls(const char *path)
{
	if (!path)
		return 0;
	process.stalls_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	simOnStall(note_stall);
	return process.stalls_fd < 0 ? -1 : 0;
}

static int failed(const char *what)
{
	fprintf(stderr, "commtrace-simjob: %s failed\n", what);
	return SIMJOB_FAILED;
}

int simjob_process(struct simjob *job)
{
	const int ranks = job->options.config.ranks, most = job->options.ranks_per_process;
	const int first = job->options.process * most;

	process.n = ranks - first < most ? ranks - first : most;
	process.ranks = calloc((size_t)process.n, sizeof(*process.ranks));
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!process.ranks || map_board(job))
		return failed("starting a process");
	simSetTiming(job->options.timing);
	if (set_devices(job, first, process.n))
		return failed("setting up devices");
	if (open_spans(job->options.spans))
		return failed("opening the file of spans");
	if (open_stalls(job->options.stalls))
		return failed("opening the file of stalls");
	set_links(job);
	for (int i = 0; i < process.n; i++) {
		struct simjob_rank *r = &process.ranks[i];

		r->job = job;
		r->rank = first + i;
		r->board = &job->board->ranks[first + i];
		r->comms = calloc((size_t)ct_workload_n_comms(job->workload), sizeof(*r->comms));
		if (!r->comms)
			return failed("memory");
		pthread_mutex_init(&r->lock, NULL);
		if (i > 0 && pthread_create(&r->thread, NULL, simjob_rank_run, r))
			return failed("starting a thread");
	}
	if (pthread_create(&process.watchdog, NULL, watch, NULL))
		return failed("starting a thread");
	pthread_detach(process.watchdog);
	simjob_rank_run(&process.ranks[0]);
	for (int i = 1; i < process.n; i++)
		pthread_join(process.ranks[i].thread, NULL);
	process.is_over = 1;
	return 0;
}
