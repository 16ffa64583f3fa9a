/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/metrics/exposition.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "trace/ops.h"

/* Limits of histograms, powers of two in ns and in bytes per second: from 1 us to 17 minutes, and from 1 MB/s to 1 TB/s. */
#define TIME_FIRST 10u
#define TIME_LAST 40u
#define RATE_FIRST 20u
#define RATE_LAST 40u
#define LIMIT_STEP 2u

enum metric {
#define METRIC(ID, name, type, labels, help) M_##ID,
#include "tools/metrics/metrics.def"
#undef METRIC
	METRICS
};

static const struct {
	const char *name, *type, *help;
} metrics[METRICS] = {
#define METRIC(ID, name, type, labels, help) { "commtrace_" name, #type, help },
#include "tools/metrics/metrics.def"
#undef METRIC
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

static double of_rank(enum metric id, const struct ct_live_rank *rank)
{
	double behind = 0;

	switch (id) {
	case M_RANK_UP:
		return rank->runs;
	case M_RECORDED:
		return seconds(rank->now.at_ns);
	case M_OPERATIONS:
		return (double)rank->now.ops;
	case M_BYTES:
		return (double)rank->now.bytes;
	case M_COMMUNICATION:
		return seconds(rank->now.comm_ns);
	case M_WAIT:
		return rank->knows_wait ? seconds(rank->now.wait_ns) : NAN;
	case M_EXPOSED:
		return rank->knows_exposed ? seconds(rank->now.exposed_ns) : NAN;
	case M_AWAITED:
		return seconds(rank->awaited_ns);
	case M_STRAGGLER:
		return rank->slow;
	case M_STRAGGLER_ERROR:
		return rank->slow > 0 ? rank->slow_err : NAN;
	case M_LAST_OPERATION:
		return rank->runs ? seconds(rank->idle_ns) : NAN;
	case M_IN_FLIGHT:
		return rank->runs ? rank->n_flights : NAN;
	case M_IN_FLIGHT_AGE:
		return !rank->runs ? NAN : rank->flight ? seconds(rank->flight->age_ns) : 0;
	case M_HEARTBEAT:
		return rank->runs ? seconds(rank->beat_ns) : NAN;
	case M_BEHIND:
		for (uint32_t c = 0; c < rank->n_comms; c++)
			behind = fmax(behind, (double)rank->comms[c].behind);
		return rank->runs ? behind : NAN;
	default:
		return NAN;
	}
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
			put(f, label, of_rank(f->id, rank));
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
	switch (f->id) {
	case M_DURATION:
		put_histogram(f, own, &row->span, TIME_FIRST, TIME_LAST, 1e-9);
		break;
	case M_TRANSFER:
		put_histogram(f, own, &row->transfer, TIME_FIRST, TIME_LAST, 1e-9);
		break;
	case M_ALGBW:
		put_histogram(f, own, &row->algbw, RATE_FIRST, RATE_LAST, 1);
		break;
	case M_BUS_BYTES:
		put(f, own, row->bus_ns ? (double)row->bus_bytes : NAN);
		break;
	case M_BUS_SECONDS:
		put(f, own, row->bus_ns ? seconds(row->bus_ns) : NAN);
		break;
	case M_KIND_WAIT:
		put(f, own, row->judged ? seconds(row->wait_ns) : NAN);
		break;
	case M_KIND_JUDGED:
		put(f, own, (double)row->judged);
		break;
	default:
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

	switch (f->id) {
	case M_PEAK:
		put(f, "", run->peak_Bps > 0 ? run->peak_Bps : NAN);
		break;
	case M_ERRORS:
		put_errors(f, view);
		break;
	case M_RANKS:
		put(f, "", view->n_ranks);
		break;
	case M_WORLD:
		put(f, "", view->world > 0 ? view->world : NAN);
		break;
	case M_RESTARTS:
		put(f, "", view->restart);
		break;
	case M_STRAGGLER_JUDGED:
		put(f, "", view->slow_until_ns ? seconds(view->slow_until_ns) : NAN);
		break;
	default:
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

static void put_reader(struct family *f, const struct ct_exposed_all *all)
{
	struct rusage usage;

	if (f->id == M_READER_BEHIND) {
		put(f, "", all->is_behind);
	} else if (f->id == M_READER_MEMORY) {
		put(f, "", resident_bytes());
	} else if (getrusage(RUSAGE_SELF, &usage) == 0) {
		put(f, "",
		    (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	}
}

static void put_gpu(struct family *f, unsigned gpu, const struct ct_gpu_sample *s)
{
	char own[96];

#define OF_GPU(more) snprintf(own, sizeof(own), "gpu=\"%u\"" more, gpu)
	OF_GPU("");
	switch (f->id) {
	case M_GPU_BUSY:
		put(f, own, s->busy);
		break;
	case M_GPU_MEMORY_USED:
		put(f, own, s->memory_used);
		break;
	case M_GPU_MEMORY:
		put(f, own, s->memory);
		break;
	case M_GPU_PCIE:
	case M_GPU_NVLINK:
		OF_GPU(",direction=\"tx\"");
		put(f, own, f->id == M_GPU_PCIE ? s->pcie_tx : s->nvlink_tx);
		OF_GPU(",direction=\"rx\"");
		put(f, own, f->id == M_GPU_PCIE ? s->pcie_rx : s->nvlink_rx);
		break;
	case M_GPU_CLOCK:
		OF_GPU(",clock=\"sm\"");
		put(f, own, s->sm_hertz);
		OF_GPU(",clock=\"memory\"");
		put(f, own, s->memory_hertz);
		break;
	case M_GPU_THROTTLED:
		for (unsigned i = 0; i < CT_GPU_REASONS; i++) {
			snprintf(own, sizeof(own), "gpu=\"%u\",reason=\"%s\"", gpu,
				 ct_gpu_reason_names[i]);
			put(f, own, s->reasons[i]);
		}
		break;
	case M_GPU_XID:
		put(f, own, (double)s->xids);
		break;
	case M_GPU_LAST_XID:
		put(f, own, s->xids ? s->last_xid : NAN);
		break;
	default:
		break;
	}
}

static void put_family(enum metric id, const struct ct_exposed_all *all, FILE *out)
{
	struct family f = { .out = out, .id = id };

	if (id >= M_GPU_BUSY) {
		for (unsigned g = 0; g < all->n_gpus; g++)
			put_gpu(&f, g, &all->gpus[g]);
		return;
	}
	if (id >= M_READER_BEHIND) {
		put_reader(&f, all);
		return;
	}
	for (unsigned r = 0; r < all->n_runs; r++) {
		const struct ct_exposed_run *run = &all->runs[r];

		f.run_labels = run->labels;
		if (id >= M_PEAK) {
			put_run(&f, run);
		} else if (id >= M_DURATION) {
			for (uint32_t i = 0; i < run->view->n_rows; i++)
				put_row(&f, &run->view->rows[i]);
		} else {
			put_ranks(&f, run->view);
		}
	}
}

void ct_exposition_write(const struct ct_exposed_all *all, FILE *out)
{
	for (int id = 0; id < METRICS; id++)
		put_family((enum metric)id, all, out);
}
