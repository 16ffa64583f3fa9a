/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/schedule_private.h"
#include "trace/status.h"

void ct_schedule_fini(struct ct_schedule *s)
{
	free(s->launches);
	free(s->gap_ns);
	free(s->parts);
	free(s->exchanges);
	free(s->slot_first);
	free(s->length_ns);
	free(s->begin_ns);
	*s = (struct ct_schedule){ 0 };
}

/* ---- which part of the log ---- */

/* code: nine years: times beyond are none, and sums of those below have space. */
#define LATEST_NS (1ull << 58)

static int is_timed(const struct ct_instance_log *log, const struct ct_log_instance *i)
{
	for (uint32_t p = i->first_part; p < i->first_part + i->n; p++) {
		const struct ct_log_part *part = &log->parts[p];

		if (!part->start_ns || part->end_ns < part->start_ns || part->end_ns > LATEST_NS)
			return 0;
	}
	return 1;
}

/* Does someone take part but one slot? */
static int has_others(const struct ct_instance_log *log, const struct ct_log_instance *i)
{
	for (uint32_t p = i->first_part + 1; p < i->first_part + i->n; p++) {
		if (log->parts[p].slot != log->parts[i->first_part].slot)
			return 1;
	}
	return 0;
}

static int choose(struct ct_schedule_choice *c)
{
	const struct ct_instance_log *log = c->log;
	int st = CT_OK;

	c->stretch = malloc(((size_t)log->n_instances + 1) * sizeof(*c->stretch));
	c->exchange = malloc(((size_t)log->n_instances + 1) * sizeof(*c->exchange));
	if (!c->stretch || !c->exchange)
		return CT_NOMEM;
	for (uint32_t k = 0; k < log->n_instances; k++) {
		const struct ct_log_instance *i = &log->instances[k];

		c->stretch[k] = UINT32_MAX;
		if (!has_others(log, i) || !is_timed(log, i))
			continue;
		st = ct_table_number(&c->numbers, ct_sample_stretch(&log->sample, i->at_ns),
				     &c->stretch[k]);
		if (st != CT_OK)
			return st;
		for (uint32_t part = i->first_part; part < i->first_part + i->n; part++)
			c->n_begun += log->parts[part].asked_ns != 0;
		c->exchange[k] = c->n_exchanges++;
		c->n_parts += i->n;
	}
	c->n_stretches = (uint32_t)c->numbers.n;
	return CT_OK;
}

/* ---- launches ---- */

/* How far apart the ranks of a communicator are; 0: not evenly, or not all are known. */
static uint32_t stride_of(const struct ct_model *model, const struct ct_comm *comm)
{
	int64_t stride = 0;

	for (uint32_t r = 0; r + 1 < comm->nranks; r++) {
		int64_t apart;

		if (!comm->slots[r] || !comm->slots[r + 1])
			return 0;
		apart = (int64_t)model->slots[comm->slots[r + 1] - 1].rank -
			model->slots[comm->slots[r] - 1].rank;
		if (apart <= 0 || (stride && apart != stride))
			return 0;
		stride = apart;
	}
	return (uint32_t)stride;
}

/* By communicator. 0 or CT_NOMEM. */
static int find_strides(struct ct_schedule_building *b, const struct ct_model *model)
{
	b->stride = malloc(((size_t)model->comms.n + 1) * sizeof(*b->stride));
	for (uint32_t c = 0; b->stride && c < model->comms.n; c++)
		b->stride[c] = stride_of(model, model->comms.all[c]);
	return b->stride ? CT_OK : CT_NOMEM;
}

/* By the size of its communicator and how far apart its ranks are (tensor and data parallel groups
 * may be of one size), not by the communicator: one more of these on a rank makes nothing else
 * there different. */
static uint64_t kind_of(const struct ct_schedule_building *b, const struct ct_log_instance *i,
			const struct ct_log_part *p)
{
	uint64_t nranks = i->comm->nranks ? i->comm->nranks : 1;
	uint64_t kind = ct_mix(nranks);

	/* which half of a message it is, and its peer; its size may change */
	if (i->src >= 0)
		return ct_mix(kind ^ (p->index << 1 | 1) ^
			      ((uint64_t)(i->dst - i->src) + nranks) % nranks << 8);
	kind = ct_mix(kind ^ ((uint64_t)b->stride[i->comm->index] << 24 | (uint64_t)i->op << 16 |
			      i->dtype));
	return i->varying ? kind : ct_mix(kind ^ i->count);
}

/* A call, or what it put onto a stream. */
struct log_event {
	const struct ct_log_part *part;
	enum ct_launch_role role;
};

static struct log_event event_of(const struct ct_instance_log *log, uint32_t number)
{
	const struct ct_log_part *part = &log->parts[number / 2];

	return (struct log_event){ part, number % 2	  ? CT_LAUNCH_WAITS
					 : part->asked_ns ? CT_LAUNCH_BEGINS
							  : CT_LAUNCH_WHOLE };
}

static uint64_t entered(struct log_event e)
{
	return e.role == CT_LAUNCH_WAITS ? e.part->asked_ns : e.part->enter_ns;
}

/* Begins and ends of calls of MPI are all there is to its ranks' time; Gloo's are mostly made by
 * threads of the framework, beside those that compute. */
static uint32_t thread_of(const struct ct_instance_log *log, const struct ct_log_part *p)
{
	int is_mpi = log->instances[p->instance].comm->backend == CT_BACKEND_MPI;

	return is_mpi && !p->on_gpu ? p->tid : 0;
}

/* The slot's launch with this group among its latest; CT_NO_LAUNCH: there is none yet. */
static uint32_t grouped_with(const struct ct_schedule_building *b, const struct ct_log_part *p,
			     uint32_t first)
{
	uint32_t end = b->s->n_launches;

	for (uint32_t l = end; p->group && l > first && end - l < CT_LAGS; l--) {
		if (b->calls[l - 1 - first].group == p->group)
			return l - 1;
	}
	return CT_NO_LAUNCH;
}

/* A call that did or waited for several operations (MPI_Sendrecv, MPI_Waitall): the launch that is
 * it already; CT_NO_LAUNCH: none is there yet. They begin at one moment, or one after the other
 * within the call: a thread is in one call at a time. Times of operations with another host were
 * brought to one clock each for itself. */
static uint32_t same_call(const struct ct_schedule_building *b, struct log_event e, uint32_t tid,
			  uint32_t first)
{
	const struct ct_schedule *s = b->s;
	int64_t start = (int64_t)(e.role == CT_LAUNCH_WAITS ? e.part->asked_ns : e.part->start_ns);
	struct ct_schedule_launch *l;
	int64_t err;

	if (s->n_launches == first || e.role == CT_LAUNCH_BEGINS ||
	    (!tid && e.role == CT_LAUNCH_WHOLE))
		return CT_NO_LAUNCH;
	l = &s->launches[s->n_launches - 1];
	err = (int64_t)e.part->err_ns + l->err_ns;
	if (l->role != e.role || b->calls[s->n_launches - 1 - first].tid != tid)
		return CT_NO_LAUNCH;
	if (llabs(start - l->start_ns) > err && (!tid || start + err >= ct_schedule_end(l)))
		return CT_NO_LAUNCH;
	if ((int64_t)e.part->end_ns > ct_schedule_end(l))
		l->span_ns = (int64_t)e.part->end_ns - l->start_ns;
	return s->n_launches - 1;
}

static int is_other_thread(const struct ct_schedule_call *a, const struct ct_schedule_call *b)
{
	return a->tid && b->tid && a->tid != b->tid;
}

/* What its slot did before it. */
static void set_before(struct ct_schedule_building *b, uint32_t at, uint32_t first)
{
	struct ct_schedule *s = b->s;
	struct ct_schedule_launch *l = &s->launches[at];
	struct ct_schedule_call *call = &b->calls[at - first];

	if (at > first) {
		int64_t end = ct_schedule_end(l - 1);

		call[-1].reached = at - 1 > first && call[-2].reached > end ? call[-2].reached
									    : end;
	}
	l->from = l->after = l->also = CT_NO_LAUNCH;
	for (uint32_t k = at; k > first && at - k < CT_LAGS; k--) {
		const struct ct_schedule_launch *before = &s->launches[k - 1];
		const struct ct_schedule_call *its = &b->calls[k - 1 - first];
		int is_ahead;

		/* mostly the one right before it: nothing farther back ended later */
		if (l->from != CT_NO_LAUNCH && (l->after != CT_NO_LAUNCH || !call->stream) &&
		    its->reached <= ct_schedule_end(&s->launches[l->from]))
			break;
		is_ahead = l->after == CT_NO_LAUNCH && call->stream && its->stream == call->stream;
		if (before->stretch != l->stretch || is_other_thread(its, call))
			continue;
		if (is_ahead)
			l->after = k - 1;
		/* what ended as this began ended before, as far as the errors show; so did what
		 * lies ahead on the stream */
		if (!is_ahead && ct_schedule_end(before) > l->start_ns + l->err_ns)
			continue;
		if (l->from == CT_NO_LAUNCH ||
		    ct_schedule_end(before) > ct_schedule_end(&s->launches[l->from]))
			l->from = k - 1;
	}
	ct_schedule_anchor(s, at, l->from);
}

void ct_schedule_anchor(struct ct_schedule *s, uint32_t launch, uint32_t from)
{
	struct ct_schedule_launch *l = &s->launches[launch];
	int64_t begin = from == CT_NO_LAUNCH ? 0 : ct_schedule_end(&s->launches[from]);

	l->from = from;
	s->gap_ns[launch] = l->start_ns > begin ? l->start_ns - begin : 0;
}

static void add_launch(struct ct_schedule_building *b, struct log_event e, uint32_t stretch,
		       uint32_t first)
{
	struct ct_schedule *s = b->s;
	const struct ct_log_part *p = e.part;
	uint64_t start = e.role == CT_LAUNCH_WAITS ? p->asked_ns : p->start_ns;
	uint64_t end = e.role == CT_LAUNCH_BEGINS ? start : p->end_ns;
	uint32_t tid = thread_of(b->c->log, p);

	b->calls[s->n_launches - first] = (struct ct_schedule_call){ .stream = p->stream,
								     .group = p->group,
								     .tid = tid };
	s->launches[s->n_launches] = (struct ct_schedule_launch){
		.start_ns = (int64_t)start,
		.span_ns = end > start ? (int64_t)(end - start) : 0,
		.slot = p->slot,
		.stretch = stretch,
		.is_in_turn = tid != 0,
		.err_ns = p->err_ns,
		/* on record is where an operation was begun, not where it was waited for */
		.site = e.role == CT_LAUNCH_WAITS ? 0 : p->site,
		.role = e.role,
	};
	s->n_launches++;
	set_before(b, s->n_launches - 1, first);
}

static int by_entry(const void *a, const void *b, void *arg)
{
	const struct ct_instance_log *log = *(const struct ct_instance_log **)arg;
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
	struct log_event x = event_of(log, m), y = event_of(log, n);

	return CT_CMP(entered(x), entered(y)) ?: CT_CMP(x.part->end_ns, y.part->end_ns) ?: CT_CMP(m, n);
}

/* Sends, receives, the rest. */
static uint32_t direction(const struct ct_instance_log *log, uint32_t number)
{
	const struct ct_log_part *p = event_of(log, number).part;

	return log->instances[p->instance].src < 0 ? 2 : p->index;
}

/* Called and started at one moment, as far as times show (imported ones may be coarse): then which
 * is first is chance. */
static int are_at_once(struct log_event x, struct log_event y)
{
	const struct ct_log_part *a = x.part, *b = y.part;
	uint64_t apart = a->start_ns > b->start_ns ? a->start_ns - b->start_ns
						   : b->start_ns - a->start_ns;

	return x.role != CT_LAUNCH_WAITS && y.role != CT_LAUNCH_WAITS &&
	       a->enter_ns == b->enter_ns && apart <= (uint64_t)a->err_ns + b->err_ns;
}

static int by_direction(const void *a, const void *b, void *arg)
{
	const struct ct_instance_log *log = *(const struct ct_instance_log **)arg;
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;

	return CT_CMP(direction(log, m), direction(log, n)) ?: by_entry(a, b, arg);
}

/* Of those that were called at once, sends first: an order that is the same on all peers. */
static void order_at_once(const struct ct_instance_log *log, uint32_t *order, uint32_t n)
{
	for (uint32_t k = 0, end; k < n; k = end) {
		struct log_event first = event_of(log, order[k]);

		end = k + 1;
		while (end < n && are_at_once(first, event_of(log, order[end])))
			end++;
		if (end - k > 1)
			ct_sort_r(order + k, end - k, sizeof(*order), by_direction, &log);
	}
}

static void add_operation(const struct ct_schedule_building *b, struct ct_schedule_launch *l,
			  const struct ct_log_instance *i, const struct ct_log_part *p)
{
	if (i->src < 0) {
		l->width = i->comm->nranks > l->width ? i->comm->nranks : l->width;
	} else {
		l->messages++;
		l->sends += p->index == 0;
	}
	if (l->messages > CT_FEW_MESSAGES)
		l->kind = ct_mix(ct_mix(i->comm->nranks) + l->role);
	else
		l->kind += l->role ? ct_mix(kind_of(b, i, p) + l->role) : kind_of(b, i, p);
}

/* In the order of the calls: that is the program's and the same on all peers, while starts on
 * several streams change their order by chance. What was called later cannot have been waited for. */
static void add_slot(struct ct_schedule_building *b, uint32_t slot)
{
	const struct ct_instance_log *log = b->c->log;
	struct ct_schedule *s = b->s;
	uint32_t first = s->n_launches, n = 0;
	int untimed = 0;

	s->slot_first[slot] = first;
	for (uint32_t o = log->slot_first[slot]; o < log->slot_first[slot + 1]; o++) {
		b->order[n++] = 2 * log->order[o];
		if (log->parts[log->order[o]].asked_ns)
			b->order[n++] = 2 * log->order[o] + 1;
	}
	ct_sort_r(b->order, n, sizeof(*b->order), by_entry, &log);
	order_at_once(log, b->order, n);
	for (uint32_t o = 0; o < n; o++) {
		struct log_event e = event_of(log, b->order[o]);
		const struct ct_log_instance *i = &log->instances[e.part->instance];
		uint32_t at = b->order[o] / 2, l;

		if (b->c->stretch[e.part->instance] == UINT32_MAX) {
			untimed |= has_others(log, i);
			continue;
		}
		l = grouped_with(b, e.part, first);
		if (l == CT_NO_LAUNCH)
			l = same_call(b, e, thread_of(log, e.part), first);
		if (l == CT_NO_LAUNCH) {
			l = s->n_launches;
			add_launch(b, e, b->c->stretch[e.part->instance], first);
			s->launches[l].is_uncertain = untimed != 0;
			untimed = 0;
		}
		if (e.role != CT_LAUNCH_BEGINS)
			b->ends_of[at] = l;
		if (e.role != CT_LAUNCH_WAITS || ct_log_part_came(e.part) == e.part->asked_ns)
			b->launch_of[at] = l;
		add_operation(b, &s->launches[l], i, e.part);
	}
}

/* ---- all of it ---- */

/* Times of a stretch count from its first start. */
static void rebase(struct ct_schedule *s)
{
	int64_t *first = s->begin_ns;

	for (uint32_t k = 0; k < s->n_stretches; k++)
		first[k] = INT64_MAX;
	for (uint32_t l = 0; l < s->n_launches; l++) {
		int64_t *f = &first[s->launches[l].stretch];

		*f = s->launches[l].start_ns < *f ? s->launches[l].start_ns : *f;
	}
	for (uint32_t l = 0; l < s->n_launches; l++) {
		struct ct_schedule_launch *launch = &s->launches[l];
		int64_t *length = &s->length_ns[launch->stretch];

		launch->start_ns -= first[launch->stretch];
		*length = ct_schedule_end(launch) > *length ? ct_schedule_end(launch) : *length;
		if (launch->from == CT_NO_LAUNCH)
			ct_schedule_anchor(s, l, CT_NO_LAUNCH);
	}
	for (uint32_t k = 0; k < s->n_stretches; k++) {
		if (__builtin_add_overflow(s->total_ns, s->length_ns[k], &s->total_ns))
			s->total_ns = INT64_MAX;
	}
	for (uint32_t m = 0; m < s->n_exchanges; m++) {
		struct ct_schedule_exchange *exchange = &s->exchanges[m];
		uint32_t l = s->parts[exchange->first_part].launch;

		exchange->stretch = s->launches[l].stretch;
	}
}

static int allocate(struct ct_schedule *s, struct ct_schedule_building *b)
{
	const struct ct_schedule_choice *c = b->c;
	size_t launches = (size_t)c->n_parts + c->n_begun + 1;
	size_t parts = (size_t)c->n_parts + 2 * (size_t)c->n_begun + 1, most = 1;

	for (uint32_t slot = 0; slot < c->log->n_slots; slot++) {
		size_t n = c->log->slot_first[slot + 1] - c->log->slot_first[slot];

		most = 2 * n > most ? 2 * n : most;
	}
	s->n_slots = c->log->n_slots;
	s->n_stretches = c->n_stretches;
	s->n_exchanges = c->n_exchanges;
	s->n_parts = c->n_parts;
	s->launches = malloc(launches * sizeof(*s->launches));
	s->gap_ns = malloc(launches * sizeof(*s->gap_ns));
	s->parts = malloc(parts * sizeof(*s->parts));
	s->exchanges = malloc(((size_t)c->n_exchanges + 2 * (size_t)c->n_begun + 1) *
			      sizeof(*s->exchanges));
	s->slot_first = calloc((size_t)s->n_slots + 1, sizeof(*s->slot_first));
	s->length_ns = calloc((size_t)s->n_stretches + 1, sizeof(*s->length_ns));
	s->begin_ns = malloc(((size_t)s->n_stretches + 1) * sizeof(*s->begin_ns));
	b->order = malloc(most * sizeof(*b->order));
	b->calls = malloc(most * sizeof(*b->calls));
	b->launch_of = malloc(((size_t)c->log->n_parts + 1) * sizeof(*b->launch_of));
	b->ends_of = malloc(((size_t)c->log->n_parts + 1) * sizeof(*b->ends_of));
	b->partners = malloc(launches * sizeof(*b->partners));
	if (!s->launches || !s->gap_ns || !s->parts || !s->exchanges || !s->slot_first ||
	    !s->length_ns || !s->begin_ns || !b->order || !b->calls || !b->launch_of ||
	    !b->ends_of || !b->partners)
		return CT_NOMEM;
	return CT_OK;
}

static int build(struct ct_schedule_building *b, const struct ct_model *model)
{
	const uint32_t *host_of = model->host_of;
	struct ct_schedule *s = b->s;
	int st = allocate(s, b);

	if (st == CT_OK)
		st = find_strides(b, model);
	if (st != CT_OK)
		return st;
	for (uint32_t slot = 0; slot < s->n_slots; slot++)
		add_slot(b, slot);
	s->slot_first[s->n_slots] = s->n_launches;
	ct_schedule_meet(b, host_of);
	st = ct_schedule_align(s, host_of);
	if (st == CT_OK) {
		ct_schedule_meet_aligned(b);
		rebase(s);
	}
	return st;
}

int ct_schedule_build(struct ct_schedule *s, const struct ct_instance_log *log,
		      const struct ct_model *model)
{
	struct ct_schedule_choice c = { .log = log };
	struct ct_schedule_building b = { .s = s, .c = &c };
	int st;

	*s = (struct ct_schedule){ 0 };
	st = choose(&c);
	if (st == CT_OK)
		st = build(&b, model);
	free(b.order);
	free(b.calls);
	free(b.launch_of);
	free(b.ends_of);
	free(b.stride);
	free(b.partners);
	free(c.stretch);
	free(c.exchange);
	ct_table_fini(&c.numbers);
	return st;
}
