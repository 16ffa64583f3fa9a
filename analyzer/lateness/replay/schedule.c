/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/schedule_private.h"
#include "trace/status.h"

/* How many launches back it is looked for what ended last, and for what shares a launch. */
#define BACK 32u
#define EIGHTHS 8u
/* Launches with more messages are exchanges: to whom each of them goes depends on the data. */
#define FEW_MESSAGES 4u

void ct_schedule_fini(struct ct_schedule *s)
{
	free(s->launches);
	free(s->gap_ns);
	free(s->parts);
	free(s->meetings);
	free(s->seat_first);
	free(s->length_ns);
	*s = (struct ct_schedule){ 0 };
}

/* ---- which part of the tape ---- */

/* Nine years: times beyond are none, and sums of those below have room. */
#define LATEST_NS (1ull << 58)

static int is_timed(const struct ct_tape *tape, const struct ct_tape_instance *i)
{
	for (uint32_t p = i->first_part; p < i->first_part + i->n; p++) {
		const struct ct_tape_part *part = &tape->parts[p];

		if (!part->start_ns || part->end_ns < part->start_ns || part->end_ns > LATEST_NS)
			return 0;
	}
	return 1;
}

/* Does somebody take part but one seat? */
static int has_others(const struct ct_tape *tape, const struct ct_tape_instance *i)
{
	for (uint32_t p = i->first_part + 1; p < i->first_part + i->n; p++) {
		if (tape->parts[p].seat != tape->parts[i->first_part].seat)
			return 1;
	}
	return 0;
}

static uint64_t number_of(const struct ct_schedule_choice *c, const struct ct_tape_instance *i)
{
	return c->eighth_ns ? i->at_ns / c->eighth_ns : ct_tape_stretch(c->tape, i->at_ns);
}

static void choose_width(struct ct_schedule_choice *c)
{
	uint64_t last = 0;

	c->one_of = 1;
	if (c->tape->n_parts <= CT_SCHEDULE_PARTS)
		return;
	for (uint32_t k = 0; k < c->tape->n_instances; k++)
		last = c->tape->instances[k].at_ns > last ? c->tape->instances[k].at_ns : last;
	c->eighth_ns = c->tape->stretch_ns ? c->tape->stretch_ns : last / EIGHTHS + 1;
	c->one_of = c->tape->keep_one_of;
	while (c->tape->n_parts / c->one_of * c->tape->keep_one_of > CT_SCHEDULE_PARTS)
		c->one_of *= 2;
}

/* The stretches that are in, numbered as they are met. 0 or CT_NOMEM. */
static int stretch_of(struct ct_schedule_choice *c, uint64_t number, uint32_t *stretch)
{
	uintptr_t at = (uintptr_t)ct_table_get(&c->numbers, number);

	if (!at) {
		at = c->n_stretches + 1;
		if (ct_table_put(&c->numbers, number, (void *)at) != CT_OK)
			return CT_NOMEM;
		c->n_stretches++;
	}
	*stretch = (uint32_t)at - 1;
	return CT_OK;
}

static int choose(struct ct_schedule_choice *c)
{
	const struct ct_tape *tape = c->tape;
	int st = CT_OK;

	c->stretch = malloc(((size_t)tape->n_instances + 1) * sizeof(*c->stretch));
	c->meeting = malloc(((size_t)tape->n_instances + 1) * sizeof(*c->meeting));
	if (!c->stretch || !c->meeting)
		return CT_NOMEM;
	choose_width(c);
	for (uint32_t k = 0; k < tape->n_instances; k++) {
		const struct ct_tape_instance *i = &tape->instances[k];
		uint64_t number = number_of(c, i);

		c->stretch[k] = UINT32_MAX;
		if (c->eighth_ns && number % c->one_of) {
			c->not_chosen += i->n;
			continue;
		}
		if (!has_others(tape, i))
			continue;
		if (!is_timed(tape, i) || c->n_parts + i->n > CT_SCHEDULE_PARTS) {
			c->untimed++;
			continue;
		}
		st = stretch_of(c, number, &c->stretch[k]);
		if (st != CT_OK)
			return st;
		c->meeting[k] = c->n_meetings++;
		c->n_parts += i->n;
	}
	return CT_OK;
}

/* ---- launches ---- */

/* Which of a seat's communicators it is, in the order in which it met them: that is the same on ranks that do the same. */
static uint32_t ordinal(struct ct_schedule_building *b, uint32_t seat, const struct ct_comm *comm)
{
	if (b->ordinal_of[comm->index] != seat) {
		b->ordinal_of[comm->index] = seat;
		b->ordinal[comm->index] = ++b->n_ordinals;
	}
	return b->ordinal[comm->index];
}

static uint64_t kind_of(struct ct_schedule_building *b, const struct ct_tape_instance *i,
			const struct ct_tape_part *p)
{
	uint64_t nranks = i->comm->nranks ? i->comm->nranks : 1;
	uint64_t kind = ct_mix((uint64_t)ordinal(b, p->seat, i->comm) << 32 | nranks);

	/* which half of a message it is, and to whom; how long it is may change */
	if (i->src >= 0)
		return ct_mix(kind ^ (p->index << 1 | 1) ^
			      ((uint64_t)(i->dst - i->src) + nranks) % nranks << 8);
	kind = ct_mix(kind ^ ((uint64_t)i->op << 16 | i->dtype));
	return i->varying ? kind : ct_mix(kind ^ i->count);
}

/* The seat's launch with this group among its latest; CT_NO_LAUNCH: there is none yet. */
static uint32_t grouped_with(const struct ct_schedule *s, const struct ct_tape_part *p,
			     uint32_t first)
{
	for (uint32_t l = s->n_launches; p->group && l > first && s->n_launches - l < BACK; l--) {
		if (s->launches[l - 1].group == p->group)
			return l - 1;
	}
	return CT_NO_LAUNCH;
}

/* What its seat did before it. */
static void set_before(struct ct_schedule *s, uint32_t at, uint32_t first)
{
	struct ct_schedule_launch *l = &s->launches[at];

	l->from = l->after = l->also = CT_NO_LAUNCH;
	for (uint32_t k = at; k > first && at - k < BACK; k--) {
		const struct ct_schedule_launch *before = &s->launches[k - 1];

		int is_ahead = l->after == CT_NO_LAUNCH && l->stream && before->stream == l->stream;

		if (before->stretch != l->stretch)
			continue;
		if (is_ahead)
			l->after = k - 1;
		/* what ended as this began ended before, as far as the errors tell; so did what lies ahead on the stream */
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

static void add_launch(struct ct_schedule_building *b, const struct ct_tape_part *p,
		       uint32_t stretch, uint32_t first)
{
	struct ct_schedule *s = b->s;

	s->launches[s->n_launches] = (struct ct_schedule_launch){
		.start_ns = (int64_t)p->start_ns,
		.span_ns = (int64_t)(p->end_ns - p->start_ns),
		.seat = p->seat,
		.stretch = stretch,
		.stream = p->stream,
		.group = p->group,
		.err_ns = p->err_ns,
	};
	s->n_launches++;
	set_before(s, s->n_launches - 1, first);
}

static int by_entry(const void *a, const void *b, void *arg)
{
	const struct ct_tape_part *parts = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return CT_CMP(parts[x].enter_ns, parts[y].enter_ns) ?: CT_CMP(x, y);
}

/* In the order of the calls: that is the program's and the same on all peers, while starts on several streams change places by
 * chance. What was called later cannot have been waited for. */
static void add_seat(struct ct_schedule_building *b, uint32_t seat)
{
	const struct ct_tape *tape = b->c->tape;
	struct ct_schedule *s = b->s;
	uint32_t first = s->n_launches, n = tape->seat_first[seat + 1] - tape->seat_first[seat];

	b->n_ordinals = 0;
	s->seat_first[seat] = first;
	memcpy(b->order, tape->order + tape->seat_first[seat], n * sizeof(*b->order));
	qsort_r(b->order, n, sizeof(*b->order), by_entry, tape->parts);
	for (uint32_t o = 0; o < n; o++) {
		uint32_t at = b->order[o];
		const struct ct_tape_part *p = &tape->parts[at];
		const struct ct_tape_instance *i = &tape->instances[p->instance];
		uint32_t l;

		if (b->c->stretch[p->instance] == UINT32_MAX)
			continue;
		l = grouped_with(s, p, first);
		if (l == CT_NO_LAUNCH) {
			l = s->n_launches;
			add_launch(b, p, b->c->stretch[p->instance], first);
		}
		b->launch_of[at] = l;
		s->launches[l].messages += i->src >= 0;
		if (s->launches[l].messages > FEW_MESSAGES)
			s->launches[l].kind = ct_mix(ordinal(b, seat, i->comm));
		else
			s->launches[l].kind += kind_of(b, i, p);
	}
}

/* ---- all of it ---- */

/* Times of a stretch count from its first start. */
static int rebase(struct ct_schedule *s)
{
	int64_t *first = malloc(((size_t)s->n_stretches + 1) * sizeof(*first));

	if (!first)
		return CT_NOMEM;
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
	for (uint32_t m = 0; m < s->n_meetings; m++) {
		struct ct_schedule_meeting *meeting = &s->meetings[m];
		uint32_t l = s->parts[meeting->first_part].launch;

		meeting->window = ct_schedule_window(s, &s->launches[l]);
	}
	free(first);
	return CT_OK;
}

uint32_t ct_schedule_window(const struct ct_schedule *s, const struct ct_schedule_launch *l)
{
	double part = (double)l->start_ns / ((double)s->length_ns[l->stretch] + 1);

	return l->stretch * s->windows_each + (uint32_t)(part * s->windows_each);
}

static int allocate(struct ct_schedule *s, struct ct_schedule_building *b)
{
	const struct ct_schedule_choice *c = b->c;
	size_t most = (size_t)c->n_parts + 1;

	for (uint32_t k = 0; k < c->tape->n_instances; k++) {
		uint32_t index = c->tape->instances[k].comm->index;

		b->n_comms = index >= b->n_comms ? index + 1 : b->n_comms;
	}
	s->n_seats = c->tape->n_seats;
	s->n_stretches = c->n_stretches;
	s->windows_each = s->n_stretches && s->n_stretches < CT_SCHEDULE_WINDOWS
				  ? (CT_SCHEDULE_WINDOWS + s->n_stretches - 1) / s->n_stretches
				  : 1;
	s->n_windows = s->n_stretches * s->windows_each;
	s->n_meetings = c->n_meetings;
	s->n_parts = c->n_parts;
	s->untimed = c->untimed;
	if (c->tape->seen_parts)
		s->share = (double)(c->tape->n_parts - c->not_chosen) / (double)c->tape->seen_parts;
	s->launches = malloc(most * sizeof(*s->launches));
	s->gap_ns = malloc(most * sizeof(*s->gap_ns));
	s->parts = malloc(most * sizeof(*s->parts));
	s->meetings = malloc(((size_t)c->n_meetings + 1) * sizeof(*s->meetings));
	s->seat_first = calloc((size_t)s->n_seats + 1, sizeof(*s->seat_first));
	s->length_ns = calloc((size_t)s->n_stretches + 1, sizeof(*s->length_ns));
	b->order = malloc(((size_t)c->tape->n_parts + 1) * sizeof(*b->order));
	b->launch_of = malloc(((size_t)c->tape->n_parts + 1) * sizeof(*b->launch_of));
	b->partners = malloc(most * sizeof(*b->partners));
	b->ordinal = calloc((size_t)b->n_comms + 1, sizeof(*b->ordinal));
	b->ordinal_of = malloc(((size_t)b->n_comms + 1) * sizeof(*b->ordinal_of));
	if (!s->launches || !s->gap_ns || !s->parts || !s->meetings || !s->seat_first ||
	    !s->length_ns || !b->order || !b->launch_of || !b->partners || !b->ordinal ||
	    !b->ordinal_of)
		return CT_NOMEM;
	for (uint32_t k = 0; k <= b->n_comms; k++)
		b->ordinal_of[k] = UINT32_MAX;
	return CT_OK;
}

static int build(struct ct_schedule_building *b, const uint32_t *host_of)
{
	struct ct_schedule *s = b->s;
	int st = allocate(s, b);

	if (st != CT_OK)
		return st;
	for (uint32_t seat = 0; seat < s->n_seats; seat++)
		add_seat(b, seat);
	s->seat_first[s->n_seats] = s->n_launches;
	ct_schedule_meet(b, host_of);
	st = ct_schedule_align(s, host_of);
	return st == CT_OK ? rebase(s) : st;
}

int ct_schedule_build(struct ct_schedule *s, const struct ct_tape *tape, const uint32_t *host_of)
{
	struct ct_schedule_choice c = { .tape = tape };
	struct ct_schedule_building b = { .s = s, .c = &c };
	int st;

	*s = (struct ct_schedule){ 0 };
	st = choose(&c);
	if (st == CT_OK)
		st = build(&b, host_of);
	free(b.order);
	free(b.launch_of);
	free(b.partners);
	free(b.ordinal);
	free(b.ordinal_of);
	free(c.stretch);
	free(c.meeting);
	ct_table_fini(&c.numbers);
	return st;
}
