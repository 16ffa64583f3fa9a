/* SPDX-License-Identifier: Apache-2.0 */
/* tails_run RUN LEAST BYTES — the verdict on a hang from the tails of a run, of at least LEAST
 * operations a process, held against the one from everything. BYTES of its last segments are looked
 * at first. Prints "last segments", "tails" or "everything" (what the verdict was made of) and, if
 * the two are not the same, how; exit 1 then.
 *
 * Times are not compared: clocks of hosts are synchronized by what was read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/hang/hang.h"
#include "trace/reader.h"

static int differs;

static void hold(int is_same, const char *what, uint32_t number)
{
	if (!is_same) {
		printf("%s %" PRIu32 "\n", what, number);
		differs = 1;
	}
}

static int same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static int same_ranks(const int *a, uint32_t n_a, const int *b, uint32_t n_b)
{
	return n_a == n_b && (!n_a || memcmp(a, b, n_a * sizeof(*a)) == 0);
}

static uint64_t key_of(const struct ct_hang_run *run, uint32_t comm)
{
	return comm < run->hang_case.n_comms ? run->hang_case.comms[comm].hash : 0;
}

static int same_divergence(const struct ct_hang_divergence *a, const struct ct_hang_divergence *b)
{
	return a && b ? a->seq == b->seq && a->n_ranks == b->n_ranks : a == b;
}

static void hold_verdict(uint32_t i, const struct ct_hang_run *tails,
			 const struct ct_hang_run *whole)
{
	const struct ct_hang_verdict *a = &tails->result->verdicts[i];
	const struct ct_hang_verdict *b = &whole->result->verdicts[i];

	hold(a->code == b->code, "code of verdict", i);
	hold(same_ranks(a->ranks, a->n_ranks, b->ranks, b->n_ranks), "ranks of verdict", i);
	hold(same_ranks(a->victims, a->n_victims, b->victims, b->n_victims), "victims of verdict",
	     i);
	hold(key_of(tails, a->comm) == key_of(whole, b->comm), "communicator of verdict", i);
	hold(a->seq == b->seq, "number of verdict", i);
	hold(same_text(a->call, b->call), "call of verdict", i);
	hold(same_text(a->site, b->site), "call site of verdict", i);
	hold(same_text(a->anchor, b->anchor), "cause of verdict", i);
	hold(a->confidence == b->confidence, "confidence of verdict", i);
	hold(a->n_facts == b->n_facts, "evidence of verdict", i);
	hold(same_divergence(a->divergence, b->divergence), "divergence of verdict", i);
}

static void hold_rank(uint32_t i, const struct ct_hang_run *tails, const struct ct_hang_run *whole)
{
	const struct ct_hang_rank *a = &tails->hang_case.ranks[i];
	const struct ct_hang_rank *b = &whole->hang_case.ranks[i];
	const struct ct_hang_op *last = ct_hang_last_op(&tails->hang_case, a->rank);
	const struct ct_hang_op *other = ct_hang_last_op(&whole->hang_case, b->rank);

	hold(a->rank == b->rank && a->process == b->process && a->cut == b->cut, "life of rank", i);
	hold(same_text(a->how_ended, b->how_ended) && same_text(a->error, b->error), "end of rank",
	     i);
	hold(!last == !other && (!last || (last->op == other->op && last->seq == other->seq &&
					   last->state == other->state)),
	     "last operation of rank", i);
}

static void hold_runs(const struct ct_hang_run *tails, const struct ct_hang_run *whole)
{
	hold(tails->state == whole->state, "state of the job", tails->state);
	hold(tails->n_missing_data == whole->n_missing_data, "missing data",
	     (uint32_t)tails->n_missing_data);
	hold(tails->hang_case.n_ranks == whole->hang_case.n_ranks, "ranks",
	     tails->hang_case.n_ranks);
	hold(tails->result->n_verdicts == whole->result->n_verdicts, "verdicts",
	     tails->result->n_verdicts);
	for (uint32_t i = 0; i < tails->hang_case.n_ranks && !differs; i++)
		hold_rank(i, tails, whole);
	for (uint32_t i = 0; i < tails->result->n_verdicts && !differs; i++)
		hold_verdict(i, tails, whole);
}

int main(int argc, char **argv)
{
	const char *const paths[] = { argc == 4 ? argv[1] : "" };
	const struct ct_run_options none = { 0 };
	struct ct_hang_options options = { .restart = -1, .whole = 1 };
	struct ct_hang_run *tails, *whole;
	struct ct_arena *memory = ct_arena_new();
	struct ct_err err = { 0 };
	struct ct_run *run;

	if (argc != 4 || !memory || ct_run_open(paths, 1, &none, &run, &err)) {
		fprintf(stderr, "tails_run: %s\n", err.text);
		return 2;
	}
	if (ct_hang_of_run(run, &options, memory, &whole, &err)) {
		fprintf(stderr, "tails_run: %s\n", err.text);
		return 2;
	}
	options.whole = 0;
	options.least_tail = strtoull(argv[2], NULL, 10);
	options.tail_bytes = strtoull(argv[3], NULL, 10);
	if (ct_hang_of_run(run, &options, memory, &tails, &err)) {
		fprintf(stderr, "tails_run: %s\n", err.text);
		return 2;
	}
	puts(tails->skips_segments ? "last segments" : tails->from_tails ? "tails" : "everything");
	hold_runs(tails, whole);
	ct_arena_free(memory);
	ct_run_close(run);
	return differs;
}
