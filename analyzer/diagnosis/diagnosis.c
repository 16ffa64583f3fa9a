/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/diagnosis/diagnosis.h"

#include <math.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/diagnosis/nccl_log.h"
#include "analyzer/model/names.h"
#include "trace/ops.h"

/* What asks a run: text is its arena's. */
struct diagnosis_inputs {
	const struct ct_report *report;
	struct ct_arena *memory;
};

static struct ct_diagnosis_node pass(const char *evidence)
{
	return (struct ct_diagnosis_node){ .answer = CT_DIAGNOSIS_PASS, .evidence = evidence };
}

/* advice NULL: that of the table. */
static struct ct_diagnosis_node unknown(const char *evidence, const char *advice)
{
	return (struct ct_diagnosis_node){ .answer = CT_DIAGNOSIS_UNKNOWN,
					   .evidence = evidence,
					   .advice = advice };
}

static struct ct_diagnosis_node fail(const char *evidence, const char *advice)
{
	return (struct ct_diagnosis_node){ .answer = CT_DIAGNOSIS_FAIL,
					   .evidence = evidence,
					   .advice = advice };
}

/* ---- error ---- */

static struct ct_diagnosis_node ask_HANG(const struct diagnosis_inputs *a)
{
	const struct ct_report *r = a->report;

	if (r->verdict.code == CT_VERDICT_HANG)
		return fail(r->verdict.headline, r->verdict.advice);
	if (r->run.hang_why)
		return unknown(r->run.hang_why, NULL);
	if (r->run.processes_running)
		return unknown(ct_arena_printf(a->memory, "%llu processes still run",
					       (unsigned long long)r->run.processes_running),
			       NULL);
	if (r->n_in_flight || r->open_launches)
		return unknown("operations were under way at the end", NULL);
	return pass("no operation was in flight at the end");
}

/* "signal 9", "exit status 1", "unknown" */
static const char *end_text(const struct ct_report_process *p, struct ct_arena *memory)
{
	if (p->how.how == CT_END_SIGNAL && p->how.signal)
		return ct_arena_printf(memory, "signal %d", p->how.signal);
	if (p->how.how == CT_END_EXIT && p->how.exit_code >= 0)
		return ct_arena_printf(memory, "exit status %d", p->how.exit_code);
	return p->end;
}

static struct ct_diagnosis_node ask_EXITS(const struct diagnosis_inputs *a)
{
	const struct ct_report *r = a->report;
	const struct ct_report_process *p = r->n_ended ? &r->processes[r->ended[0]] : NULL;
	size_t clean = 0, of_start = 0;

	for (size_t i = 0; i < r->n_processes; i++) {
		of_start += r->processes[i].restart == r->run.restart;
		clean += r->processes[i].restart == r->run.restart &&
			 r->processes[i].manner == CT_MANNER_WELL;
	}
	if (p && p->how.how == CT_END_UNKNOWN)
		return unknown("not cleanly; what ended the job is not recorded", NULL);
	if (p)
		return fail(ct_arena_printf(a->memory, "rank %s on %s ended badly: %s",
					    ct_text_rank(p->rank).s,
					    ct_host_word(a->memory, p->host),
					    end_text(p, a->memory)),
			    "see what ended it, and who was first: commtrace hang");
	if (!clean || clean < of_start || r->run.n_missing)
		return unknown(ct_arena_printf(a->memory, "%zu of %llu processes ended cleanly",
					       clean, (unsigned long long)r->run.ranks_expected),
			       NULL);
	return pass(ct_arena_printf(a->memory, "all %zu processes ended cleanly", clean));
}

static struct ct_diagnosis_node ask_CALLS(const struct diagnosis_inputs *a)
{
	size_t compared = 0;

	for (size_t i = 0; i < a->report->n_comms; i++)
		compared += a->report->comms[i].equal_to_seq != CT_UNKNOWN;
	/* else sums compare what was left out */
	if (a->report->run.hang_why)
		return unknown("calls were left out of the parts of the run", NULL);
	if (!compared || a->report->run.n_missing)
		return unknown(a->report->run.n_missing ? "ranks are missing"
							: "no calls of members were compared",
			       NULL);
	return pass(ct_arena_printf(a->memory, "the members of %zu communicator%s agree", compared,
				    compared == 1 ? "" : "s"));
}

static struct ct_diagnosis_node ask_RECORDS(const struct diagnosis_inputs *a)
{
	if (!a->report->run.complete)
		return unknown("ranks or records are missing", NULL);
	return pass("no rank and no record is missing");
}

static struct ct_diagnosis_node ask_SETTINGS(const struct diagnosis_inputs *a)
{
	const struct ct_report_environment *e = &a->report->environment;

	if (!e->n_ranks || e->n_ranks < a->report->run.ranks_expected)
		return unknown(ct_arena_printf(a->memory, "%zu of %llu ranks have a start record",
					       e->n_ranks,
					       (unsigned long long)a->report->run.ranks_expected),
			       NULL);
	return pass(ct_arena_printf(a->memory, "the start records of %zu ranks agree", e->n_ranks));
}

static struct ct_diagnosis_node ask_PORT_ERRORS(const struct diagnosis_inputs *a)
{
	const struct ct_report *r = a->report;
	size_t known = 0;

	for (size_t i = 0; i < r->n_transport; i++)
		known += r->transport[i].ib_errors != CT_UNKNOWN;
	if (!known || known < r->run.n_hosts)
		return unknown(
			ct_arena_printf(a->memory,
					"%zu of %zu hosts have counters of InfiniBand errors",
					known, r->run.n_hosts),
			NULL);
	return pass(ct_arena_printf(a->memory, "the ports of %zu hosts counted no errors", known));
}

/* ---- topology ---- */

/* `wrong`: what it means that some are; its answer. */
static struct ct_diagnosis_node of_devices(const struct ct_report_topology *t,
					   struct ct_arena *memory, enum ct_diagnosis_answer wrong,
					   const char *advice)
{
	if (!t->known)
		return unknown("no such device is known", NULL);
	if (!t->wrong)
		return pass(
			ct_arena_printf(memory, "%zu of %zu; %s", t->known, t->known, t->right));
	return (struct ct_diagnosis_node){
		.answer = wrong,
		.evidence = ct_arena_printf(memory, "%s%s", t->first,
					    t->wrong > 1 ? ct_arena_printf(memory,
									   ", and %zu more of %zu",
									   t->wrong - 1, t->known)
							 : ""),
		.advice = advice
	};
}

static struct ct_diagnosis_node of_check(const struct ct_report_topology *checks,
					 enum ct_topology_check check, struct ct_arena *memory)
{
	switch (check) {
	case CT_TOPOLOGY_PCIE:
		return of_devices(&checks[check], memory, CT_DIAGNOSIS_FAIL,
				  "reseat the card, or move it to a slot that carries it; is the "
				  "slot's width or speed limited in the firmware?");
	case CT_TOPOLOGY_PORTS:
		return of_devices(&checks[check], memory, CT_DIAGNOSIS_FAIL,
				  "check the cable and the subnet manager: ibstat, sminfo");
	case CT_TOPOLOGY_NVLINK:
		return of_devices(&checks[check], memory, CT_DIAGNOSIS_FAIL,
				  "look for errors of its links, then reset the GPU: nvidia-smi "
				  "nvlink -e, dmesg | grep NVRM");
	default:
		return of_devices(&checks[check], memory, CT_DIAGNOSIS_UNKNOWN,
				  "its traffic crosses the sockets; whether that costs anything, "
				  "the measured rates show");
	}
}

static struct ct_diagnosis_node ask_PCIE(const struct diagnosis_inputs *a)
{
	return of_check(a->report->environment.topology, CT_TOPOLOGY_PCIE, a->memory);
}

static struct ct_diagnosis_node ask_PORTS(const struct diagnosis_inputs *a)
{
	return of_check(a->report->environment.topology, CT_TOPOLOGY_PORTS, a->memory);
}

static struct ct_diagnosis_node ask_NUMA(const struct diagnosis_inputs *a)
{
	return of_check(a->report->environment.topology, CT_TOPOLOGY_NUMA, a->memory);
}

static struct ct_diagnosis_node ask_TRANSPORT(const struct diagnosis_inputs *a)
{
	const struct ct_report *r = a->report;
	double ib = 0, nic = 0;
	size_t known = 0;

	for (size_t i = 0; i < r->n_transport; i++) {
		const struct ct_report_transport *t = &r->transport[i];

		if (t->ib_bytes == CT_UNKNOWN || t->nic_bytes == CT_UNKNOWN)
			continue;
		known++;
		ib += (double)t->ib_bytes;
		nic += (double)t->nic_bytes;
	}
	if (r->run.n_hosts == 1)
		return unknown("the run is on one host, and NCCL's choice of transports is not "
			       "recorded",
			       NULL);
	if (!known || known < r->run.n_hosts || ib <= nic)
		return unknown("the counters of the ports do not show it", NULL);
	return pass(ct_arena_printf(a->memory, "InfiniBand carried %s, Ethernet %s",
				    ct_prose_bytes((uint64_t)ib).s,
				    ct_prose_bytes((uint64_t)nic).s));
}

/* ---- bandwidth ---- */

static struct ct_diagnosis_node ask_LINKS(const struct diagnosis_inputs *a)
{
	size_t compared = 0, slow = 0;

	for (size_t i = 0; i < a->report->n_links; i++) {
		compared += a->report->links[i].expected_Bps != CT_UNKNOWN;
		slow += a->report->links[i].slow != 0;
	}
	if (slow)
		return pass(ct_arena_printf(a->memory,
					    "%zu of %zu links are slow, which costs little", slow,
					    compared));
	if (!compared)
		return unknown("no links could be compared with others of their kind", NULL);
	return pass(ct_arena_printf(a->memory, "%zu links are as fast as others of their kind",
				    compared));
}

/* A node for each baseline check. */
static void add_rates(struct ct_diagnosis *d, const struct ct_report_expect *all)
{
	static const enum ct_diagnosis_answer answers[] = {
		[CT_EXPECT_PASS] = CT_DIAGNOSIS_PASS,
		[CT_EXPECT_FAIL] = CT_DIAGNOSIS_FAIL,
		[CT_EXPECT_NA] = CT_DIAGNOSIS_UNKNOWN,
	};

	for (size_t i = 0; i < all->n; i++) {
		const struct ct_report_expectation *e = &all->items[i];
		struct ct_diagnosis_node node = {
			.name = e->name ? e->name : "rates",
			.answer = answers[e->result],
			.evidence = ct_expectation_text(e, d->memory),
			.advice = e->result == CT_EXPECT_PASS ? NULL
							      : "compare with a benchmark of the "
								"same machines: --bench=RUN",
		};

		if (e->result == CT_EXPECT_NA && !e->within_error)
			node.evidence = e->why;
		if (e->result == CT_EXPECT_FAIL) {
			node.advice = "look at the ports of its hosts, and at what else uses them";
			if (e->source)
				node.advice = ct_arena_printf(d->memory, "%s. The limit: %s",
							      node.advice, e->source);
			if (e->not_for)
				node.advice = ct_arena_printf(d->memory, "%s; not for %s",
							      node.advice, e->not_for);
		}
		ct_diagnosis_add(d, CT_DIAGNOSIS_BANDWIDTH, node);
	}
}

/* ---- pattern ---- */

static struct ct_diagnosis_node ask_RANKS(const struct diagnosis_inputs *a)
{
	const struct ct_report *r = a->report;

	if (r->verdict.code == CT_VERDICT_NOT_ENOUGH_EVIDENCE)
		return unknown(r->verdict.headline, r->verdict.advice);
	if (r->whatif.why_not || isnan(r->whatif.s))
		return unknown(r->whatif.why_not ? r->whatif.why_not : "the replay gave no figure",
			       r->whatif.remedy);
	return pass(ct_arena_printf(
		a->memory, "a step takes %.2f times as long as one of an even job", r->whatif.s));
}

static struct ct_diagnosis_node ask_CHANGE(const struct diagnosis_inputs *a)
{
	const struct ct_report_steps *s = &a->report->steps;

	if (s->time_p50_ns == CT_UNKNOWN || !s->count)
		return unknown(s->why ? s->why : "no steps were found", NULL);
	return pass(ct_arena_printf(a->memory, "half of %llu steps take at most %s, 99 %% %s",
				    (unsigned long long)s->count, ct_prose_ns(s->time_p50_ns).s,
				    ct_prose_ns(s->time_p99_ns).s));
}

static struct ct_diagnosis_node ask_OVERLAP(const struct diagnosis_inputs *a)
{
	const struct ct_report_exposed *e = &a->report->exposed;
	int on_gpus = 0;

	for (size_t i = 0; i < a->report->n_comms; i++)
		on_gpus |= a->report->comms[i].backend == CT_BACKEND_NCCL;
	if (isnan(e->median_pct))
		return unknown("how long compute waited for communication is not known",
			       on_gpus ? NULL
				       : "see how long ranks are inside calls: commtrace report");
	return pass(ct_arena_printf(a->memory, "compute waits for communication for %s of %s",
				    ct_prose_pct(e->median_pct).s,
				    ct_step_time_name(&a->report->step_time)));
}

static struct ct_diagnosis_node ask_TRACER(const struct diagnosis_inputs *a)
{
	if (isnan(a->report->overhead_pct) || !a->report->n_overhead)
		return unknown("the overhead is not on record", NULL);
	return pass(ct_arena_printf(a->memory, "recording added %s of the run to calls",
				    ct_prose_pct(a->report->overhead_pct).s));
}

/* ---- the tree ---- */

#define KIND(kind) (1u << CT_FINDING_##kind)
static const struct ask {
	enum ct_diagnosis_level level;
	const char *name;
	unsigned kinds;
	const char *advice;
	struct ct_diagnosis_node (*ask)(const struct diagnosis_inputs *a);
} asks[] = {
#define ASK(ID, level, name, kinds, advice) { CT_DIAGNOSIS_##level, name, kinds, advice, ask_##ID },
#include "analyzer/diagnosis/diagnosis.def"
};
#define ASKS (sizeof(asks) / sizeof(asks[0]))

const char *ct_diagnosis_answer_name(unsigned answer)
{
	static const char *const names[] = { "pass", "unknown", "fail" };

	return answer < 3 ? names[answer] : NULL;
}

void ct_diagnosis_init(struct ct_diagnosis *d, struct ct_arena *memory)
{
	static const char *const names[] = {
#define LEVEL(ID, name) name,
#include "analyzer/diagnosis/diagnosis.def"
	};

	*d = (struct ct_diagnosis){ .memory = memory, .n_levels = CT_DIAGNOSIS_LEVELS };
	for (size_t i = 0; i < CT_DIAGNOSIS_LEVELS; i++)
		d->levels[i].name = names[i];
}

void ct_diagnosis_add(struct ct_diagnosis *d, enum ct_diagnosis_level level,
		      struct ct_diagnosis_node node)
{
	struct ct_diagnosis_branch *to = &d->levels[level];
	struct ct_diagnosis_node *grown = ct_arena_calloc(d->memory, to->n_nodes + 1,
							  sizeof(*grown));

	if (!grown)
		return;
	if (to->n_nodes)
		memcpy(grown, to->nodes, to->n_nodes * sizeof(*grown));
	grown[to->n_nodes++] = node;
	to->nodes = grown;
}

void ct_diagnosis_topology(struct ct_diagnosis *d,
			   const struct ct_report_topology checks[CT_TOPOLOGY_CHECKS])
{
	static const struct {
		const char *name, *advice;
	} rows[] = {
		[CT_TOPOLOGY_PCIE] = { "PCIe here",
				       "nvidia-smi -q -d PCIE and lspci -vv show the links" },
		[CT_TOPOLOGY_PORTS] = { "ports here", "ibstat shows the InfiniBand ports" },
		[CT_TOPOLOGY_NUMA] = { "NUMA here",
				       "nvidia-smi topo -m shows what is close to what" },
		[CT_TOPOLOGY_NVLINK] = { "NVLink here",
					 "nvidia-smi nvlink --status shows the links" },
	};

	for (int i = 0; i < CT_TOPOLOGY_CHECKS; i++) {
		struct ct_diagnosis_node node = of_check(checks, (enum ct_topology_check)i,
							 d->memory);

		node.name = rows[i].name;
		if (node.answer == CT_DIAGNOSIS_UNKNOWN && !node.advice)
			node.advice = rows[i].advice;
		ct_diagnosis_add(d, CT_DIAGNOSIS_TOPOLOGY, node);
	}
}

void ct_diagnosis_nccl_log(struct ct_diagnosis *d, const struct ct_nccl_log *log)
{
	const struct ct_report *r = d->report;
	struct ct_diagnosis_node node;
	const char *counts = ct_arena_printf(
		d->memory,
		"channels: P2P %zu, shared memory %zu, InfiniBand %zu (GPUDirect RDMA %zu), "
		"sockets %zu, plugins %zu",
		log->p2p, log->shm, log->rdma, log->gdr, log->sockets, log->others);

	if (ct_nccl_log_is_empty(log))
		node = unknown(
			"no lines about channels",
			"record it with NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,NET,P2P,SHM");
	else if (log->sockets && r && r->environment.topology[CT_TOPOLOGY_PORTS].right)
		node = fail(counts, "InfiniBand is active: see NCCL_IB_DISABLE, NCCL_NET, and "
				    "whether libibverbs and /dev/infiniband are there");
	else if (log->sockets)
		node = unknown(counts, "check whether there is InfiniBand: ibstat");
	else if (log->gdr < log->rdma)
		node = unknown(counts, "data of the rest goes through host memory: load "
				       "nvidia_peermem, or a driver with DMA-BUF; see "
				       "NCCL_NET_GDR_LEVEL");
	else
		node = pass(counts);
	node.name = "NCCL's log";
	node.is_wanted = 1;
	ct_diagnosis_add(d, CT_DIAGNOSIS_TOPOLOGY, node);
}

/* The first of the findings that answers this, and how; NULL: none does. The weightiest comes
 * first. */
static const struct ct_finding *answering(const struct ct_report *r, unsigned kinds,
					  enum ct_diagnosis_answer answer)
{
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct ct_finding *f = &r->findings[i];
		int fails = f->severity >= CT_SEVERITY_WARNING &&
			    f->confidence >= CT_CONFIDENCE_MEDIUM;
		int is_doubtful = f->severity >= CT_SEVERITY_WARNING && !fails;

		if (kinds >> f->kind & 1 && (answer == CT_DIAGNOSIS_FAIL ? fails : is_doubtful))
			return f;
	}
	return NULL;
}

static struct ct_diagnosis_node of_finding(const struct ct_finding *f,
					   enum ct_diagnosis_answer answer, struct ct_arena *memory)
{
	return (struct ct_diagnosis_node){ .answer = answer,
					   .evidence = ct_arena_printf(memory, "%s: %s",
								       ct_finding_title(f->kind),
								       f->headline),
					   .advice = f->advice };
}

static struct ct_diagnosis_node ask_one(const struct ask *ask, const struct diagnosis_inputs *a)
{
	const struct ct_finding *f = answering(a->report, ask->kinds, CT_DIAGNOSIS_FAIL);
	struct ct_diagnosis_node node;

	if (f)
		return of_finding(f, CT_DIAGNOSIS_FAIL, a->memory);
	f = answering(a->report, ask->kinds, CT_DIAGNOSIS_UNKNOWN);
	node = f ? of_finding(f, CT_DIAGNOSIS_UNKNOWN, a->memory) : ask->ask(a);
	if (node.answer == CT_DIAGNOSIS_UNKNOWN && !node.advice)
		node.advice = ask->advice;
	return node;
}

void ct_diagnosis_of_run(struct ct_diagnosis *d, const struct ct_report *report)
{
	const struct diagnosis_inputs a = { report, d->memory };

	d->report = report;
	for (size_t i = 0; i < ASKS; i++) {
		struct ct_diagnosis_node node = ask_one(&asks[i], &a);

		node.name = asks[i].name;
		ct_diagnosis_add(d, asks[i].level, node);
	}
	add_rates(d, &report->expect);
}

const struct ct_diagnosis_node *ct_diagnosis_conclude(struct ct_diagnosis *d, int whole)
{
	const struct ct_diagnosis_node *first = NULL;

	for (size_t l = 0; l < d->n_levels; l++) {
		struct ct_diagnosis_branch *level = &d->levels[l];

		level->is_asked = whole || !first;
		level->answer = level->n_nodes ? CT_DIAGNOSIS_PASS : CT_DIAGNOSIS_UNKNOWN;
		for (size_t i = 0; level->is_asked && i < level->n_nodes; i++) {
			if (level->nodes[i].answer > level->answer)
				level->answer = level->nodes[i].answer;
			if (level->nodes[i].answer == CT_DIAGNOSIS_FAIL && !first)
				first = &level->nodes[i];
		}
	}
	return first;
}
