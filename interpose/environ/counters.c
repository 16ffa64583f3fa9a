/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/counters.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "interpose/account.h"
#include "interpose/clear.h"
#include "interpose/environ/environ.h"
#include "interpose/environ/ports.h"
#include "interpose/recorder.h"
#include "interpose/threads.h"
#include "trace/clock.h"

/* size: differences grow with the distance to the whole sample; a lost one costs what leans on it:
 * ten minutes at most, with a sample each 10 s. */
#define SAMPLES_TO_A_WHOLE 60u
/* size: also without a word from the write thread the sampler looks whether it missed one. */
#define IDLE_NS (3600 * CT_SECOND_NS)

/* Whose `ports` and `now` are: ASKED the sampler's, else the write thread's. */
enum { NO_THREAD, IDLE, ASKED, READY };

static struct counters {
	_Atomic uint32_t turn; /* futex, see above; release by the giver, acquire by the taker */
	struct ct_ports ports;
	struct ct_port_sample now;
	/* the write thread's */
	struct ct_port_sample latest, base;  /* head.number 0: none yet */
	struct ct_port known[CT_PORTS_MOST]; /* as of the latest sample */
	uint32_t n_known, changes;
	uint64_t every_ns, asked_at;
	int reported_stuck, reported_left_out;
} counters;

static uint8_t encoded[CT_PORT_SAMPLE_BYTES]; /* the write thread's */

void ct_counters_reset(void)
{
	ct_clear(&counters, sizeof(counters));
}

static uint32_t turn(struct counters *c)
{
	return atomic_load_explicit(&c->turn, memory_order_acquire);
}

static void *sample_forever(void *arg)
{
	struct counters *c = arg;

	ct_thread_settle();
	for (;;) {
		uint32_t whose = turn(c);

		if (whose != ASKED) {
			ct_futex_wait(&c->turn, whose, IDLE_NS);
			continue;
		}
		c->now.head.begin_ns = ct_now_ns();
		ct_ports_read(&c->ports, ct_environ_root, &c->now);
		c->now.head.end_ns = ct_now_ns();
		ct_account_note(CT_OURS_COUNTERS);
		atomic_store_explicit(&c->turn, READY, memory_order_release);
		/* at the end the process waits for it */
		ct_futex_wake(&c->turn);
	}
	return NULL;
}

static void ask(struct counters *c, uint64_t now)
{
	c->asked_at = now;
	atomic_store_explicit(&c->turn, ASKED, memory_order_release);
	ct_futex_wake(&c->turn);
}

void ct_counters_begin(const struct ct_process *process, uint64_t every_ns)
{
	struct counters *c = &counters;

	if (!every_ns || process->local_rank > 0)
		return;
	c->every_ns = every_ns;
	ask(c, ct_now_ns());
	if (ct_thread_start(sample_forever, c) != 0)
		atomic_store_explicit(&c->turn, NO_THREAD, memory_order_relaxed);
}

static void take_sample(struct counters *c)
{
	uint32_t number = c->latest.head.number + 1;

	c->latest = c->now;
	c->latest.head.number = number;
	c->latest.head.base = 0;
	memcpy(c->known, c->ports.ports, sizeof(c->known));
	c->n_known = c->ports.n;
	c->changes = c->ports.changes;
	if (!c->base.head.number || number - c->base.head.number >= SAMPLES_TO_A_WHOLE)
		c->base = c->latest;
	if (c->ports.left_out && !c->reported_left_out) {
		c->reported_left_out = 1;
		ct_environ_watch("ports_left_out", "more than are sampled");
	}
	atomic_store_explicit(&c->turn, IDLE, memory_order_relaxed);
}

static void look_for_the_stuck(struct counters *c, uint64_t now)
{
	/* acquire: pairs with the release in ports.c, for the text */
	const char *what = atomic_load_explicit(&c->ports.doing, memory_order_acquire);

	if (c->reported_stuck || now - c->asked_at <= CT_ENVIRON_STUCK_NS)
		return;
	c->reported_stuck = 1;
	/* a port's name never changes once it has one */
	ct_environ_watch("unanswered_counters", what ? what : "?");
}

void ct_counters_serve(uint64_t now)
{
	struct counters *c = &counters;

	switch (turn(c)) {
	case READY:
		take_sample(c);
		break;
	case ASKED:
		look_for_the_stuck(c, now);
		break;
	case IDLE:
		if (now - c->asked_at >= c->every_ns)
			ask(c, now);
		break;
	default:
		break;
	}
}

static void wait_for_it(struct counters *c, uint64_t until)
{
	uint64_t now = ct_now_ns();

	while (turn(c) == ASKED && now < until) {
		ct_futex_wait(&c->turn, ASKED, until - now);
		now = ct_now_ns();
	}
	if (turn(c) == READY)
		take_sample(c);
}

/* A sampler that is stuck already is not waited for. */
void ct_counters_finish(uint64_t timeout_ns)
{
	struct counters *c = &counters;
	uint64_t now = ct_now_ns(), until = now + timeout_ns;

	if (turn(c) == NO_THREAD || c->reported_stuck)
		return;
	wait_for_it(c, until);
	if (turn(c) != IDLE)
		return;
	ask(c, ct_now_ns());
	wait_for_it(c, until);
}

static int add_ports(const struct counters *c, struct ct_counters_seen *seen,
		     struct ct_block *block, int all)
{
	uint32_t since = all ? 0 : seen->ports;

	for (uint32_t i = 0; i < c->n_known; i++) {
		const struct ct_port *port = &c->known[i];
		int st = CT_OK;

		if (port->change > since)
			st = ct_block_add_text(block, CT_KIND_PORT, &port->rec, sizeof(port->rec),
					       port->name);
		if (st != CT_OK)
			return st;
	}
	seen->ports = c->changes;
	return CT_OK;
}

static int add_sample(const struct ct_port_sample *sample, const struct ct_port_sample *base,
		      struct ct_block *block)
{
	size_t len = ct_port_sample_encode(sample, base, encoded);

	return ct_block_add_rare(block, CT_KIND_COUNTERS, encoded, len);
}

int ct_counters_add(struct ct_counters_seen *seen, struct ct_block *block, int all)
{
	struct counters *c = &counters;
	int st;

	if (!c->latest.head.number)
		return CT_OK;
	st = add_ports(c, seen, block, all);
	if (st == CT_OK && (all || c->base.head.number > seen->base)) {
		st = add_sample(&c->base, NULL, block);
		if (st == CT_OK)
			seen->base = c->base.head.number;
	}
	if (st != CT_OK || all || c->latest.head.number <= seen->number)
		return st;
	if (c->latest.head.number != c->base.head.number)
		st = add_sample(&c->latest, &c->base, block);
	if (st == CT_OK)
		seen->number = c->latest.head.number;
	return st;
}
