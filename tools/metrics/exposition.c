/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/metrics/exposition.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "trace/ops.h"

/* Limits of histograms, powers of two in ns and in bytes per second: from 1 us to 17 minutes, and
 * from 1 MB/s to 1 TB/s. */
#define TIME_FIRST 10u
#define TIME_LAST 40u
#define RATE_FIRST 20u
#define RATE_LAST 40u
#define LIMIT_STEP 2u

enum metric {
#define METRIC(ID, name, type, labels, help) M_##ID,
#include "tools/metrics/metrics.def"
	METRICS
};

/* Those of each subject alone: a switch over them that lacks one does not compile. */
enum rank_metric {
#define METRIC(ID, name, type, labels, help)
#define RANK(ID, name, type, labels, help) RANK_##ID = M_##ID,
#include "tools/metrics/metrics.def"
};

enum kind_metric {
#define METRIC(ID, name, type, labels, help)
#define KIND(ID, name, type, labels, help) KIND_##ID = M_##ID,
#include "tools/metrics/metrics.def"
};

enum run_metric {
#define METRIC(ID, name, type, labels, help)
#define RUN(ID, name, type, labels, help) RUN_##ID = M_##ID,
#include "tools/metrics/metrics.def"
};

enum reader_metric {
#define METRIC(ID, name, type, labels, help)
#define READER(ID, name, type, labels, help) READER_##ID = M_##ID,
#include "tools/metrics/metrics.def"
};

enum gpu_metric {
#define METRIC(ID, name, type, labels, help)
#define GPU(ID, name, type, labels, help) GPU_##ID = M_##ID,
#include "tools/metrics/metrics.def"
};

enum subject { OF_RANK, OF_KIND, OF_RUN, OF_READER, OF_GPU };

static const struct {
	const char *name, *type, *help;
	enum subject of;
} metrics[METRICS] = {
#define RANK(ID, name, type, labels, help) { "commtrace_" name, #type, help, OF_RANK },
#define KIND(ID, name, type, labels, help) { "commtrace_" name, #type, help, OF_KIND },
#define RUN(ID, name, type, labels, help) { "commtrace_" name, #type, help, OF_RUN },
#define READER(ID, name, type, labels, help) { "commtrace_" name, #type, help, OF_READER },
#define GPU(ID, name, type, labels, help) { "commtrace_" name, #type, help, OF_GPU },
#include "tools/metrics/metrics.def"
};

/* Where the samples of one metric go. Its head is written before the first. */
struct family {
	FILE *out;
	enum metric id;
	const char *run_labels;
	int has_head;
};

/* Prometheus' own words for what C prints otherwise. */
static void put_value(FILE *out, double value)
{
	if (isinf(value))
		fputs(value > 0 ? "+Inf" : "-Inf", out);
	else
		fprintf(out, "%.17g", value);
}

static void put_head(struct family *f)
{
	if (!f->has_head)
		fprintf(f->out, "# HELP %s %s\n# TYPE %s %s\n", metrics[f->id].name,
			metrics[f->id].help, metrics[f->id].name, metrics[f->id].type);
	f->has_head = 1;
}

/* One sample; NAN: not known, and there is none. `own`: labels of its own, may be "". */
static void put_part(struct family *f, const char *suffix, const char *own, double value)
{
	const char *labels = f->run_labels ? f->run_labels : "";

	if (isnan(value))
		return;
	put_head(f);
	fprintf(f->out, "%s%s", metrics[f->id].name, suffix);
	if (*labels || *own)
		fprintf(f->out, "{%s%s%s}", labels, *labels && *own ? "," : "", own);
	fputc(' ', f->out);
	put_value(f->out, value);
	fputc('\n', f->out);
}

static void put(struct family *f, const char *own, double value)
{
	put_part(f, "", own, value);
}

/* ---- of a rank ---- */

static double seconds(uint64_t ns)
{
	return ns == CT_UNKNOWN ? NAN : (double)ns / 1e9;
}

static double of_rank(enum rank_metric id, const struct ct_live_rank *rank)
{
	double behind = 0;

	switch (id) {
	case RANK_RANK_UP:
		return rank->runs;
	case RANK_RECORDED:
		return seconds(rank->now.at_ns);
	case RANK_OPERATIONS:
		return (double)rank->now.ops;
	case RANK_BYTES:
		return (double)rank->now.bytes;
	case RANK_COMMUNICATION:
		return seconds(rank->now.comm_ns);
	case RANK_WAIT:
		return rank->knows_wait ? seconds(rank->now.wait_ns) : NAN;
	case RANK_EXPOSED:
		return rank->knows_exposed ? seconds(rank->now.exposed_ns) : NAN;
	case RANK_AWAITED:
		return seconds(rank->awaited_ns);
	case RANK_STRAGGLER:
		return rank->slow;
	case RANK_STRAGGLER_ERROR:
		return rank->slow > 0 ? rank->slow_err : NAN;
	case RANK_LAST_OPERATION:
		return rank->runs ? seconds(rank->idle_ns) : NAN;
	case RANK_IN_FLIGHT:
		return rank->runs ? rank->n_flights : NAN;
	case RANK_IN_FLIGHT_AGE:
		return !rank->runs ? NAN : rank->flight ? seconds(rank->flight->age_ns) : 0;
	case RANK_HEARTBEAT:
		return rank->runs ? seconds(rank->beat_ns) : NAN;
	case RANK_BEHIND:
		for (uint32_t c = 0; c < rank->n_comms; c++)
			behind = fmax(behind, (double)rank->comms[c].behind);
		return rank->runs ? behind : NAN;
	case RANK_DROPPED:
		break; /* by reason, see put_losses() */
	}
	return NAN;
}

/* Ranks that are not known are distinguished by their process. */
static void rank_label(const struct ct_live_rank *rank, char text[64])
{
	if (rank->rank >= 0)
		snprintf(text, 64, "rank=\"%d\"", rank->rank);
	else
		snprintf(text, 64, "rank=\"pid%" PRIu32 "\"", rank->pid);
}

static const char *loss_name(unsigned reason)
{
	switch (reason) {
#define X(NAME, id, text)                                                                          \
	case id:                                                                                   \
		return #NAME;
#include "trace/losses.def"
#undef X
	default:
		return NULL;
	}
}

/* Only what was dropped, but for the most frequent reason, which alerts want as 0. */
static void put_losses(struct family *f, const struct ct_live_rank *rank, const char *label)
{
	for (unsigned i = 0; i < CT_LOSS_MAX; i++) {
		const char *name = loss_name(i);
		char own[128], lower[48];
		size_t n = 0;

		if (!name || (!rank->losses[i] && i != CT_LOSS_POOL_EMPTY))
			continue;
		for (; name[n] && n + 1 < sizeof(lower); n++)
			lower[n] = (char)tolower((unsigned char)name[n]);
		lower[n] = '\0';
		snprintf(own, sizeof(own), "%s,reason=\"%s\"", label, lower);
		put(f, own, (double)rank->losses[i]);
	}
}

static void put_ranks(struct family *f, const struct ct_live_view *view)
{
	for (uint32_t i = 0; i < view->n_ranks; i++) {
		const struct ct_live_rank *rank = &view->ranks[i];
		char label[64];

		rank_label(rank, label);
		if (f->id == M_DROPPED)
			put_losses(f, rank, label);
		else
			put(f, label, of_rank((enum rank_metric)f->id, rank));
	}
}

/* ---- of a kind of operation ---- */

/* `unit`: of its values, in what the metric is. */
static void put_histogram(struct family *f, const char *own, const struct ct_hist *hist,
			  unsigned first, unsigned last, double unit)
{
	char label[256];

	if (!hist->n)
		return;
	for (unsigned log2 = first; log2 <= last; log2 += LIMIT_STEP) {
		snprintf(label, sizeof(label), "%s,le=\"%.10g\"", own, ldexp(1, (int)log2) * unit);
		put_part(f, "_bucket", label, (double)ct_hist_below(hist, log2));
	}
	snprintf(label, sizeof(label), "%s,le=\"+Inf\"", own);
	put_part(f, "_bucket", label, (double)hist->n);
	put_part(f, "_sum", own, (double)hist->sum * unit);
	put_part(f, "_count", own, (double)hist->n);
}

static void put_row(struct family *f, const struct ct_live_row *row)
{
	char own[160];

	snprintf(own, sizeof(own), "role=\"%s\",op=\"%.48s\",size=\"%s\"", row->role, row->op,
		 ct_live_size_name(row->size));
	switch ((enum kind_metric)f->id) {
	case KIND_DURATION:
		put_histogram(f, own, &row->span, TIME_FIRST, TIME_LAST, 1e-9);
		break;
	case KIND_TRANSFER:
		put_histogram(f, own, &row->transfer, TIME_FIRST, TIME_LAST, 1e-9);
		break;
	case KIND_ALGBW:
		put_histogram(f, own, &row->algbw, RATE_FIRST, RATE_LAST, 1);
		break;
	case KIND_BUS_BYTES:
		put(f, own, row->bus_ns ? (double)row->bus_bytes : NAN);
		break;
	case KIND_BUS_SECONDS:
		put(f, own, row->bus_ns ? seconds(row->bus_ns) : NAN);
		break;
	case KIND_KIND_WAIT:
		put(f, own, row->judged ? seconds(row->wait_ns) : NAN);
		break;
	case KIND_KIND_JUDGED:
		put(f, own, (double)row->judged);
		break;
	}
}

/* ---- of the run, of the reader, of GPUs ---- */

static void put_errors(struct family *f, const struct ct_live_view *view)
{
	static const char *const backends[] = { "none", "nccl", "mpi", "gloo", "import" };
	unsigned n_of[5] = { 0 };
	char own[96];

	for (uint32_t i = 0; i < view->n_errors; i++) {
		const struct ct_live_error *e = &view->errors[i];
		const char *backend = backends[e->backend < 5 ? e->backend : 0];

		n_of[e->backend < 5 ? e->backend : 0]++;
		if (e->code == CT_LIVE_OTHER_CODES)
			snprintf(own, sizeof(own), "backend=\"%s\",code=\"other\"", backend);
		else
			snprintf(own, sizeof(own), "backend=\"%s\",code=\"%d\"", backend, e->code);
		put(f, own, (double)e->n);
	}
	/* a rate needs a value from before the first error */
	for (unsigned b = 1; b < 4; b++) {
		if (n_of[b])
			continue;
		snprintf(own, sizeof(own), "backend=\"%s\",code=\"other\"", backends[b]);
		put(f, own, 0);
	}
}

static void put_run(struct family *f, const struct ct_exposed_run *run)
{
	const struct ct_live_view *view = run->view;

	switch ((enum run_metric)f->id) {
	case RUN_PEAK:
		put(f, "", run->peak_Bps > 0 ? run->peak_Bps : NAN);
		break;
	case RUN_ERRORS:
		put_errors(f, view);
		break;
	case RUN_RANKS:
		put(f, "", view->n_ranks);
		break;
	case RUN_WORLD:
		put(f, "", view->world > 0 ? view->world : NAN);
		break;
	case RUN_RESTARTS:
		put(f, "", view->restart);
		break;
	case RUN_STRAGGLER_JUDGED:
		put(f, "", view->slow_until_ns ? seconds(view->slow_until_ns) : NAN);
		break;
	}
}

static double resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	double pages = NAN;

	if (!file)
		return NAN;
	if (fscanf(file, "%*s %lf", &pages) != 1)
		pages = NAN;
	fclose(file);
	return pages * (double)sysconf(_SC_PAGESIZE);
}

static double cpu_seconds(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return NAN;
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void put_reader(struct family *f, const struct ct_exposed_all *all)
{
	switch ((enum reader_metric)f->id) {
	case READER_READER_BEHIND:
		put(f, "", all->is_behind);
		break;
	case READER_READER_CPU:
		put(f, "", cpu_seconds());
		break;
	case READER_READER_MEMORY:
		put(f, "", resident_bytes());
		break;
	}
}

static void put_gpu(struct family *f, unsigned gpu, const struct ct_gpu_sample *s)
{
	char own[96];

#define OF_GPU(more) snprintf(own, sizeof(own), "gpu=\"%u\"" more, gpu)
	OF_GPU("");
	switch ((enum gpu_metric)f->id) {
	case GPU_GPU_BUSY:
		put(f, own, s->busy);
		break;
	case GPU_GPU_MEMORY_USED:
		put(f, own, s->memory_used);
		break;
	case GPU_GPU_MEMORY:
		put(f, own, s->memory);
		break;
	case GPU_GPU_PCIE:
	case GPU_GPU_NVLINK:
		OF_GPU(",direction=\"tx\"");
		put(f, own, f->id == M_GPU_PCIE ? s->pcie_tx : s->nvlink_tx);
		OF_GPU(",direction=\"rx\"");
		put(f, own, f->id == M_GPU_PCIE ? s->pcie_rx : s->nvlink_rx);
		break;
	case GPU_GPU_CLOCK:
		OF_GPU(",clock=\"sm\"");
		put(f, own, s->sm_hertz);
		OF_GPU(",clock=\"memory\"");
		put(f, own, s->memory_hertz);
		break;
	case GPU_GPU_THROTTLED:
		for (unsigned i = 0; i < CT_GPU_REASONS; i++) {
			snprintf(own, sizeof(own), "gpu=\"%u\",reason=\"%s\"", gpu,
				 ct_gpu_reason_names[i]);
			put(f, own, s->reasons[i]);
		}
		break;
	case GPU_GPU_XID:
		put(f, own, (double)s->xids);
		break;
	case GPU_GPU_LAST_XID:
		put(f, own, s->xids ? s->last_xid : NAN);
		break;
	}
}

static void put_of_run(struct family *f, const struct ct_exposed_run *run)
{
	f->run_labels = run->labels;
	if (metrics[f->id].of == OF_RANK)
		put_ranks(f, run->view);
	else if (metrics[f->id].of == OF_RUN)
		put_run(f, run);
	else
		for (uint32_t i = 0; i < run->view->n_rows; i++)
			put_row(f, &run->view->rows[i]);
}

static void put_family(enum metric id, const struct ct_exposed_all *all, FILE *out)
{
	struct family f = { .out = out, .id = id };

	switch (metrics[id].of) {
	case OF_RANK:
	case OF_KIND:
	case OF_RUN:
		for (unsigned r = 0; r < all->n_runs; r++)
			put_of_run(&f, &all->runs[r]);
		break;
	case OF_READER:
		put_reader(&f, all);
		break;
	case OF_GPU:
		for (unsigned g = 0; g < all->n_gpus; g++)
			put_gpu(&f, g, &all->gpus[g]);
		break;
	}
}

void ct_exposition_write(const struct ct_exposed_all *all, FILE *out)
{
	for (int id = 0; id < METRICS; id++)
		put_family((enum metric)id, all, out);
}
