/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/advice.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/model/comm_spec.h"
#include "analyzer/model/report_rows.h"
#include "trace/ops.h"
#include "trace/port_counters.h"

enum scope { SCOPE_HOST, SCOPE_CROSS, SCOPE_ANY };

/* What a piece of advice is made of. */
struct advice_request {
	const struct ct_report *report;
	struct ct_findings *list;
	/* communication that compute waits for, NULL: little, and the loss of the finding on it, of
	 * the run */
	const struct ct_report_comm *exposed;
	double exposed_pct;
	const char *headline, *advice; /* of the row that asks */
};

/* What all ranks say alike; NULL: they do not, or do not say. */
static const char *fact(const struct ct_report *report, const char *name)
{
	const struct ct_report_environment *e = &report->environment;

	for (size_t i = 0; i < e->n_same; i++)
		if (strcmp(e->same[i].name, name) == 0)
			return e->same[i].value;
	return NULL;
}

/* No rank says anything about it. */
static int is_unheard_of(const struct ct_report *report, const char *name)
{
	const struct ct_report_environment *e = &report->environment;

	for (size_t i = 0; i < e->n_differs; i++)
		if (strcmp(e->differs[i].name, name) == 0)
			return 0;
	return !fact(report, name);
}

static double number(const char *text)
{
	char *end;
	long value = text ? strtol(text, &end, 10) : 0;

	return text && end != text ? (double)value : NAN;
}

/* ---- settings that limit ---- */

static int fits(const char *value, const char *pattern)
{
	if (pattern[0] == '<')
		return number(value) < number(pattern + 1);
	return fnmatch(pattern, value, FNM_EXTMATCH) == 0;
}

/* The part of the expected bandwidth that large transfers reach, with its error in favor; NAN:
 * unknown. */
static double reached(const struct ct_report_link *link, const struct ct_report_comm *comm)
{
	double err = link->beta_err_Bps == CT_UNKNOWN ? NAN : (double)link->beta_err_Bps;

	if (link->beta_Bps == CT_UNKNOWN || !(comm->peak.Bps > 0))
		return NAN;
	return ((double)link->beta_Bps + err) / comm->peak.Bps;
}

static const struct ct_report_comm *comm_of(const struct ct_report *report, uint64_t hash)
{
	for (size_t i = 0; hash && i < report->n_comms; i++)
		if (report->comms[i].hash == hash)
			return &report->comms[i];
	return NULL;
}

/* The slowest communicator of NCCL in this scope, if it is slow; NULL: none is. */
static const struct ct_report_comm *slow_comm(const struct ct_report *report, enum scope scope,
					      double *ratio)
{
	const struct ct_report_comm *slowest = NULL;

	*ratio = CT_SLOW_LINK;
	for (size_t i = 0; i < report->n_links; i++) {
		const struct ct_report_link *link = &report->links[i];
		const struct ct_report_comm *comm = comm_of(report, link->comm_hash);

		if (!comm || comm->backend != CT_BACKEND_NCCL || !comm->n_hosts ||
		    (scope != SCOPE_ANY && scope != (comm->n_hosts > 1 ? SCOPE_CROSS : SCOPE_HOST)))
			continue;
		if (reached(link, comm) < *ratio) {
			*ratio = reached(link, comm);
			slowest = comm;
		}
	}
	return slowest;
}

static const char *cut(struct ct_arena *memory, const char *text, int columns)
{
	return ct_arena_printf(memory, "%.*s", columns, text);
}

static void look_at_limits(const struct ct_report *report, struct ct_findings *list)
{
	static const struct {
		const char *name, *value;
		enum scope scope;
		const char *needs, *needed, *advice;
	} limits[] = {
#define LIMIT(name, value, scope, needs, needed, advice)                                           \
	{ "env." name, value, SCOPE_##scope, needs, needed, advice },
#include "analyzer/findings/advice.def"
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const char *value = fact(report, limits[i].name);
		const char *needed = limits[i].needs ? fact(report, limits[i].needs) : NULL;
		const struct ct_report_comm *comm;
		struct ct_finding *f;
		double ratio;

		/* without a needed value the fact has to be absent */
		if (!value || !fits(value, limits[i].value) ||
		    (limits[i].needs &&
		     (limits[i].needed ? !needed || !fits(needed, limits[i].needed) : !!needed)))
			continue;
		comm = slow_comm(report, limits[i].scope, &ratio);
		if (!comm)
			continue;
		f = ct_findings_add(list, CT_FINDING_ADVICE);
		f->confidence = CT_CONFIDENCE_MEDIUM;
		ct_finding_say(list, f, CT_TEXT_LIMIT,
			       CT_WORDS({ "{setting}", limits[i].name + strlen("env.") },
					{ "{value}", cut(list->memory, value, 24) },
					{ "{comm}", ct_comm_digits(comm->hash).s },
					{ "{share}", ct_prose_pct(100 * ratio).s },
					{ "{from}", comm->peak.from },
					{ "{remedy}", limits[i].advice }));
		ct_finding_put(list, f, "about", "%s", f->headline);
		f->comm_hash = comm->hash;
		ct_finding_evidence(list, f, "reached_of_expected", 100 * ratio, "%", NAN);
	}
}

/* ---- what the program does ---- */

static int is_reduction(unsigned op)
{
	return op == CT_OP_AllReduce || op == CT_OP_ReduceScatter;
}

/* Of the bytes that the communicator reduces, the share of these types; NAN: it reduces few. */
static double share_of(const struct ct_report *report, const struct ct_report_comm *comm,
		       unsigned dtype, unsigned or_dtype)
{
	double all = 0, reduced = 0, of_type = 0;

	for (size_t i = 0; i < report->n_ops; i++) {
		const struct ct_report_op *op = &report->ops[i];

		if (op->comm_hash != comm->hash || op->bytes == CT_UNKNOWN)
			continue;
		all += (double)op->bytes;
		reduced += is_reduction(op->op) ? (double)op->bytes : 0;
		if (is_reduction(op->op) && (op->dtype == dtype || op->dtype == or_dtype))
			of_type += (double)op->bytes;
	}
	return all > 0 && reduced > CT_MOST * all ? of_type / reduced : NAN;
}

/* Gradients that compute waits for: of a communicator that is not a layer's, and that reduces. */
static int has_exposed_gradients(const struct advice_request *a)
{
	const char *role = a->exposed ? a->exposed->role : NULL;

	return a->exposed && (!role || strcmp(role, "dp") == 0 || strcmp(role, "world") == 0) &&
	       !isnan(share_of(a->report, a->exposed, 0, 0));
}

/* `comm_hash` 0: of no communicator. The words are those of the headline. */
static struct ct_finding *advise(struct advice_request *a, uint64_t comm_hash,
				 const struct ct_word *words, size_t n)
{
	struct ct_finding *f = ct_findings_add(a->list, CT_FINDING_ADVICE);
	const char *headline = ct_template_fill(a->list->memory, a->headline, words, n);

	f->confidence = CT_CONFIDENCE_MEDIUM;
	f->headline = headline ? headline : "";
	f->advice = a->advice;
	f->comm_hash = comm_hash;
	ct_finding_put(a->list, f, "about", "%s", f->headline);
	return f;
}

static void try_ACCUMULATE(struct advice_request *a)
{
	struct ct_finding *f;

	if (!has_exposed_gradients(a))
		return;
	f = advise(a, a->exposed->hash, CT_WORDS({ "{comm}", ct_comm_digits(a->exposed->hash).s }));
	ct_finding_evidence(a->list, f, "exposed_of_steps", a->exposed_pct, "%", NAN);
}

static void try_BF16(struct advice_request *a)
{
	double share = has_exposed_gradients(a)
			       ? share_of(a->report, a->exposed, CT_DTYPE_float32, CT_DTYPE_float64)
			       : NAN;
	struct ct_finding *f;

	if (!(share > CT_MOST))
		return;
	f = advise(a, a->exposed->hash, CT_WORDS({ "{share}", ct_prose_pct(100 * share).s }));
	ct_finding_evidence(a->list, f, "gradients_in_float32", 100 * share, "%", NAN);
}

/* Half the bytes are saved already, and the link gives what it can. */
static void try_COMPRESS(struct advice_request *a)
{
	double share = has_exposed_gradients(a) ? share_of(a->report, a->exposed, CT_DTYPE_float16,
							   CT_DTYPE_bfloat16)
						: NAN;
	double ratio = NAN;
	struct ct_finding *f;

	for (size_t i = 0; share > CT_MOST && i < a->report->n_links; i++)
		if (a->report->links[i].comm_hash == a->exposed->hash)
			ratio = reached(&a->report->links[i], a->exposed);
	if (!(ratio >= CT_SLOW_LINK) || a->exposed->n_hosts < 2)
		return;
	f = advise(a, a->exposed->hash, CT_WORDS({ "{share}", ct_prose_pct(100 * ratio).s }));
	ct_finding_evidence(a->list, f, "reached_of_expected", 100 * ratio, "%", NAN);
}

/* DistributedDataParallel reduces an int32 for each parameter once a step, beside the floats: which
 * ones were used. */
static int is_bitmap(const struct ct_report *report, const struct ct_report_op *op)
{
	const struct ct_report_comm *comm = comm_of(report, op->comm_hash);
	double steps = (double)report->steps.count;

	return comm && op->op == CT_OP_AllReduce && op->dtype == CT_DTYPE_int32 && !op->group &&
	       op->bytes_each > sizeof(int32_t) && op->bytes_each != CT_UNKNOWN &&
	       share_of(report, comm, CT_DTYPE_float32, CT_DTYPE_bfloat16) > CT_NEARLY_ALL &&
	       fabs((double)op->instances - steps) <= CT_NEAR * steps;
}

static void try_UNUSED(struct advice_request *a)
{
	const struct ct_report *report = a->report;

	for (size_t i = 0; fact(report, "lib.torch.path") && i < report->n_ops; i++) {
		const struct ct_report_op *op = &report->ops[i];
		struct ct_finding *f;

		if (!report->steps.count || !is_bitmap(report, op))
			continue;
		f = advise(a, op->comm_hash,
			   CT_WORDS({ "{bytes}", ct_prose_bytes(op->bytes_each).s }));
		ct_finding_evidence(a->list, f, "bitmap_bytes", (double)op->bytes_each, "bytes",
				    NAN);
		return;
	}
}

static void try_BACKEND(struct advice_request *a)
{
	const struct ct_report *report = a->report;
	const struct ct_report_op *longest = NULL;
	const char *gpu = fact(report, "gpu.0.name");
	struct ct_finding *f;
	double pct;

	for (size_t i = 0; gpu && i < report->n_ops; i++) {
		const struct ct_report_op *op = &report->ops[i];

		if (op->backend == CT_BACKEND_GLOO && op->bytes_each != CT_UNKNOWN &&
		    op->bytes_each >= CT_LARGE_BYTES && op->span_each_ns != CT_UNKNOWN &&
		    (!longest || op->span_each_ns > longest->span_each_ns))
			longest = op;
	}
	pct = longest ? 100 * (double)longest->span_each_ns / (double)report->run.duration_ns : 0;
	if (!(pct > CT_NOTABLE_PCT))
		return;
	f = advise(a, longest->comm_hash,
		   CT_WORDS({ "{time}", ct_prose_ns(longest->span_each_ns).s },
			    { "{gpu}", cut(a->list->memory, gpu, 24) }));
	ct_finding_evidence(a->list, f, "gloo_each", (double)longest->span_each_ns, "ns", NAN);
}

/* fact: since Linux 5.12 drivers export device memory as DMA-BUF to RDMA */
#define HAS_DMABUF 5.12

/* "5.10.0-28-amd64": 5.10, comparable as a number with two digits behind the point. NAN: not
 * understood. */
static double version(const char *release)
{
	unsigned major, minor;

	return release && sscanf(release, "%u.%u", &major, &minor) == 2 ? major + minor / 100.0
									: NAN;
}

static void try_PEERMEM(struct advice_request *a)
{
	const struct ct_report *report = a->report;
	const char *release = fact(report, "kernel.release");
	struct ct_finding *f;
	double ratio;
	const struct ct_report_comm *comm = slow_comm(report, SCOPE_CROSS, &ratio);

	if (!comm || !comm->peak.via || strcmp(comm->peak.via, "infiniband") != 0 ||
	    !fact(report, "nvidia.driver") || !is_unheard_of(report, "nvidia.peermem") ||
	    !(version(release) < HAS_DMABUF))
		return;
	f = advise(a, comm->hash,
		   CT_WORDS({ "{release}", cut(a->list->memory, release, 8) },
			    { "{comm}", ct_comm_digits(comm->hash).s },
			    { "{share}", ct_prose_pct(100 * ratio).s }));
	ct_finding_evidence(a->list, f, "reached_of_expected", 100 * ratio, "%", NAN);
}

/* fact: 2^22 times 4.096 us, with retries about the longest that a job should wait; the default is
 * 20, in older versions less */
#define LONG_IB_TIMEOUT 22

/* How often a port got no answer in time, above what is usual; 0: it did not, or it is not known. */
static uint64_t ack_timeouts(const struct ct_report_port *port)
{
	const struct ct_port_counter
		*counter = &ct_port_counters[CT_PORT_COUNTER_local_ack_timeout_err];

	for (size_t i = 0; i < port->n_counters; i++) {
		const struct ct_report_counter *c = &port->counters[i];

		if (strcmp(c->name, counter->name) == 0 && c->grew != CT_UNKNOWN &&
		    c->grew > counter->noise)
			return c->grew;
	}
	return 0;
}

static void try_IB_TIMEOUT(struct advice_request *a)
{
	const struct ct_report *report = a->report;
	const char *value = fact(report, "env.NCCL_IB_TIMEOUT");
	const struct ct_report_transport *host = NULL;
	const struct ct_report_port *port = NULL;
	struct ct_finding *f;
	uint64_t most = 0;
	int crosses = 0;

	for (size_t i = 0; i < report->n_comms; i++)
		crosses |= report->comms[i].backend == CT_BACKEND_NCCL &&
			   report->comms[i].n_hosts > 1;
	for (size_t t = 0; t < report->n_transport; t++) {
		for (size_t p = 0; p < report->transport[t].n_ports; p++) {
			uint64_t n = ack_timeouts(&report->transport[t].ports[p]);

			if (n > most) {
				most = n;
				host = &report->transport[t];
				port = &host->ports[p];
			}
		}
	}
	if (!most || !crosses || number(value) >= LONG_IB_TIMEOUT)
		return;
	f = advise(a, 0,
		   CT_WORDS({ "{n}", ct_text_count(most).s },
			    { "{host}", cut(a->list->memory, host->host, 12) },
			    { "{port}", cut(a->list->memory, port->name, 12) },
			    { "{value}", value ? cut(a->list->memory, value, 8)
					       : ct_finding_part(a->list->memory, CT_PART_NOT_SET,
								 CT_NO_WORDS) }));
	ct_finding_evidence(a->list, f, "ack_timeouts", (double)most, "count", NAN);
}

/* The mean over ranks: % of steps in which communication streams were idle since the host called
 * late; NAN: unknown. */
static double host_late_pct(const struct ct_report *report)
{
	double late = 0, steps = 0;

	for (size_t i = 0; i < report->n_stream_idle; i++) {
		const struct ct_report_stream_idle *g = &report->stream_idle[i];

		if (g->idle_host_bound_ns == CT_UNKNOWN || g->steps_ns == CT_UNKNOWN)
			continue;
		late += (double)g->idle_host_bound_ns;
		steps += (double)g->steps_ns;
	}
	return steps > 0 ? 100 * late / steps : NAN;
}

static void advise_late(struct advice_request *a, double late_pct, const struct ct_word *words,
			size_t n)
{
	struct ct_finding *f = advise(a, 0, words, n);

	ct_finding_evidence(a->list, f, "host_bound_of_steps", late_pct, "%", NAN);
}

static void try_PROCESSES(struct advice_request *a)
{
	const struct ct_report *report = a->report;
	double late = host_late_pct(report);
	size_t most = 0;

	for (size_t i = 0; i < report->n_processes; i++)
		if (report->processes[i].n_ranks > most)
			most = report->processes[i].n_ranks;
	if (most > 1 && late > CT_NOTABLE_PCT)
		advise_late(a, late,
			    CT_WORDS({ "{ranks}", ct_text_exact(most).s },
				     { "{share}", ct_prose_pct(late).s }));
}

static void try_THREADS(struct advice_request *a)
{
	const struct ct_report *report = a->report;
	double threads = number(fact(report, "env.OMP_NUM_THREADS"));
	double processes = number(fact(report, "env.LOCAL_WORLD_SIZE"));
	double cores = number(fact(report, "cpu.usable")), late = host_late_pct(report);

	if (threads * processes > cores && late > CT_NOTABLE_PCT)
		advise_late(a, late,
			    CT_WORDS({ "{processes}", ct_text_exact((uint64_t)processes).s },
				     { "{threads}", ct_text_exact((uint64_t)threads).s },
				     { "{cores}", ct_text_exact((uint64_t)cores).s },
				     { "{share}", ct_prose_pct(late).s }));
}

/* The finding on exposed communication that is a warning, and the communicator that it is about. */
static void find_exposed(struct advice_request *a)
{
	const struct ct_report *report = a->report;

	for (size_t i = 0; i < a->list->n && !a->exposed; i++) {
		const struct ct_finding *f = &a->list->all[i];
		const struct ct_report_comm *most = comm_of(report, f->comm_hash);

		if ((f->kind != CT_FINDING_EXPOSED_COMM && f->kind != CT_FINDING_COMM_SHARE) ||
		    f->severity < CT_SEVERITY_WARNING)
			continue;
		for (size_t c = 0; !f->comm_hash && c < report->n_comms; c++) {
			const struct ct_report_comm *comm = &report->comms[c];

			if (comm->steps_exposed_ns != CT_UNKNOWN &&
			    (!most || comm->steps_exposed_ns > most->steps_exposed_ns))
				most = comm;
		}
		a->exposed = most;
		a->exposed_pct = f->time_lost_pct;
	}
}

void ct_advice_find(const struct ct_report *report, struct ct_findings *list)
{
	static const struct {
		const char *headline, *advice;
		void (*try)(struct advice_request *a);
	} all[] = {
#define TRY(ID, headline, advice) { headline, advice, try_##ID },
#include "analyzer/findings/advice.def"
	};
	struct advice_request a = { .report = report, .list = list };

	find_exposed(&a);
	look_at_limits(report, list);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		a.headline = all[i].headline;
		a.advice = all[i].advice;
		all[i].try(&a);
	}
}
