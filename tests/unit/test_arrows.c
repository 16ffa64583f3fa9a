/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a job that sends messages: each Send is joined with its own Recv, calls that wait
 * have slices, and what they waited for has no wait drawn a second time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/table.h"
#include "analyzer/timeline/timeline.h"
#include "tests/unit/stencil_job.h"

#define STEPS 40
#define RANKS 4

/* What lies at the ends of one arrow. */
struct arrow {
	unsigned sends, recvs, others;
	uint64_t peers; /* bits: 8 * what was said by Send, by Recv: rank * 16 + peer */
};

struct drawn {
	const struct ct_texts *texts;
	struct ct_table arrows;
	unsigned n_arrows, waits, messages, waitalls;
	struct arrow all[RANKS * STEPS * 8];
	uint32_t message_tracks[64];
};

static struct drawn drawn;

static int begin(void *arg, const struct ct_texts *texts, uint64_t begin_unix_ns,
		 const struct ct_timeline_fact *facts, size_t n)
{
	(void)arg;
	(void)begin_unix_ns;
	(void)facts;
	(void)n;
	drawn.texts = texts;
	return 0;
}

static int track(void *arg, const struct ct_timeline_track *t)
{
	(void)arg;
	if (t->id < 64)
		drawn.message_tracks[t->id] = strcmp(t->name, "p2p") == 0;
	return 0;
}

static int64_t number(const struct ct_timeline_slice *slice, enum ct_timeline_key key)
{
	for (unsigned i = 0; i < slice->n_args; i++) {
		if (slice->args[i].key == key)
			return slice->args[i].i;
	}
	return -1;
}

static int slice(void *arg, const struct ct_timeline_slice *s)
{
	const char *name = ct_texts_get(drawn.texts, s->name);
	uint64_t flow = s->flows[1];
	struct arrow *arrow;

	(void)arg;
	drawn.waitalls += strcmp(name, "MPI_Waitall") == 0 && s->end_ns > s->begin_ns;
	if (s->track >= 64 || !drawn.message_tracks[s->track])
		return 0;
	drawn.waits += strcmp(name, "wait") == 0;
	if (s->depth)
		return 0;
	drawn.messages++;
	assert_true(flow != 0);
	arrow = ct_table_get(&drawn.arrows, flow);
	if (!arrow) {
		assert_true(drawn.n_arrows < sizeof(drawn.all) / sizeof(drawn.all[0]));
		arrow = &drawn.all[drawn.n_arrows++];
		assert_int_equal(ct_table_put(&drawn.arrows, flow, arrow), 0);
	}
	if (strcmp(name, "Send") == 0) {
		arrow->sends++;
		arrow->peers |= (uint64_t)(number(s, CT_ARG_rank) * 16 + number(s, CT_ARG_peer));
	} else if (strcmp(name, "Recv") == 0) {
		arrow->recvs++;
		arrow->peers |= (uint64_t)(number(s, CT_ARG_peer) * 16 + number(s, CT_ARG_rank))
				<< 8;
	} else {
		arrow->others++;
	}
	return 0;
}

static int counter(void *arg, uint32_t track_id, uint64_t at_ns, double gbps)
{
	(void)arg;
	(void)track_id;
	(void)at_ns;
	(void)gbps;
	return 0;
}

static int end(void *arg)
{
	(void)arg;
	return 0;
}

static void each_send_is_joined_with_its_receive(void **state)
{
	const struct stencil o = { .ranks = RANKS,
				   .steps = STEPS,
				   .every = 4,
				   .step_ms = 5,
				   .noise = 0.1,
				   .transfer_us = 50 };
	const struct ct_timeline_sink sink = {
		.begin = begin, .track = track, .slice = slice, .counter = counter, .end = end
	};
	const struct ct_timeline_options options = {
		.restart = -1, .to_ns = UINT64_MAX, .max_slices = 100000, .flows = CT_FLOWS_ALL
	};
	const char *path = fx_path("run");
	struct ct_timeline_result result;
	struct ct_err err = { 0 };
	struct ct_timeline *timeline;
	struct ct_run *run;

	(void)state;
	ct_report_free(stencil_report(&o, NULL, NULL));
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, &err), CT_OK);
	if (ct_timeline_open(run, &options, &timeline, &result, &err) != CT_OK ||
	    ct_timeline_draw(timeline, &sink, &result, &err) != CT_OK)
		fail_msg("%s", err.text);
	ct_timeline_close(timeline);
	ct_run_close(run);
	assert_int_equal(drawn.messages, RANKS * STEPS * 4);
	assert_int_equal(drawn.n_arrows, RANKS * STEPS * 2);
	for (unsigned a = 0; a < drawn.n_arrows; a++) {
		assert_int_equal(drawn.all[a].sends, 1);
		assert_int_equal(drawn.all[a].recvs, 1);
		assert_int_equal(drawn.all[a].others, 0);
		/* both agree on senders and receivers */
		assert_int_equal(drawn.all[a].peers >> 8, drawn.all[a].peers & 0xff);
	}
	assert_int_equal(drawn.waitalls, RANKS * STEPS);
	assert_int_equal(drawn.waits, 0);
	ct_table_fini(&drawn.arrows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_send_is_joined_with_its_receive, fx_setup,
						fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
