/* SPDX-License-Identifier: Apache-2.0 */
/* Steps are found in the order of operations alone. Each pattern is a program whose steps are
 * known: how many there are and where each begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/steps/step_anchor.h"
#include "trace/status.h"

#define MOST 40000
#define SYMBOLS 256

/* What a program calls, and where its steps begin. */
static struct program {
	struct ct_anchor_op ops[MOST];
	uint32_t n;
	uint64_t bytes[SYMBOLS]; /* of one */
	uint32_t begins[MOST];
	uint32_t n_begins;
	uint64_t clock, idle;
} program;

static void start(void)
{
	memset(&program, 0, sizeof(program));
	for (unsigned s = 0; s < SYMBOLS; s++)
		program.bytes[s] = 1000000;
}

static void step(void)
{
	program.begins[program.n_begins++] = program.n;
	program.idle = 1000000; /* data is loaded, the optimizer runs */
}

static void call(unsigned symbol)
{
	struct ct_anchor_op *op = &program.ops[program.n];

	assert_true(program.n < MOST && symbol < SYMBOLS);
	program.clock += 1000 + program.idle;
	*op = (struct ct_anchor_op){ .at_ns = program.clock,
				     .idle_ns = 1000 + program.idle,
				     .symbol = symbol,
				     .index = program.n++ };
	program.idle = 0;
}

static void calls(unsigned symbol, unsigned times)
{
	while (times--)
		call(symbol);
}

static int find(struct ct_anchor *anchor)
{
	struct ct_anchor_symbol symbols[SYMBOLS] = { 0 };

	for (uint32_t i = 0; i < program.n; i++) {
		symbols[program.ops[i].symbol].n++;
		symbols[program.ops[i].symbol].bytes += program.bytes[program.ops[i].symbol];
	}
	return ct_anchor_find(program.ops, program.n, program.n, symbols, SYMBOLS, anchor);
}

/* The cuts are where `begins` says, but for a constant distance: which operation of the step marks
 * it is free, unless rank had been idle before one of them. */
static void expect_cuts(uint32_t ops, uint32_t offset)
{
	struct ct_anchor anchor;
	uint32_t seen = 0, cuts = 0;

	assert_int_equal(find(&anchor), CT_OK);
	assert_int_equal(anchor.ops, ops);
	for (uint32_t i = 0; i < program.n; i++) {
		if (program.ops[i].symbol != anchor.symbol)
			continue;
		if (seen >= anchor.first && (seen - anchor.first) % anchor.every == 0) {
			assert_true(cuts < program.n_begins);
			assert_int_equal(i, program.begins[cuts] + offset);
			cuts++;
		}
		seen++;
	}
	assert_int_equal(cuts, program.n_begins);
}

/* One cut in every step, by the same occurrence. */
static void expect_period(uint32_t steps)
{
	struct ct_anchor anchor;
	uint32_t seen = 0, cuts = 0, in_step = 0;

	assert_int_equal(find(&anchor), CT_OK);
	for (uint32_t i = 0; i < program.n; i++) {
		if (in_step + 1 < program.n_begins && i == program.begins[in_step + 1])
			in_step++;
		if (program.ops[i].symbol != anchor.symbol)
			continue;
		if (seen >= anchor.first && (seen - anchor.first) % anchor.every == 0)
			assert_int_equal(in_step, cuts++);
		seen++;
	}
	assert_int_equal(cuts, steps);
}

static void ddp(unsigned steps, unsigned log, unsigned eval)
{
	for (unsigned s = 0; s < 14; s++)
		program.bytes[s] = 25000000;
	program.bytes[99] = program.bytes[51] = 8;
	for (unsigned i = 0; i < steps; i++) {
		step();
		for (unsigned bucket = 1; bucket <= 13; bucket++)
			call(bucket);
		if (log && i % log == log - 1)
			call(99);
		for (unsigned k = 0; eval && i % eval == eval - 1 && k < 20; k++) {
			call(50);
			call(51);
		}
	}
}

static void fsdp(unsigned steps, unsigned layers, unsigned log, unsigned batches)
{
	program.bytes[5] = program.bytes[98] = program.bytes[99] = 8;
	for (unsigned i = 0; i < steps; i++) {
		for (unsigned b = 0; b < batches; b++) {
			step();
			call(1);
			calls(2, 2 * layers);
			call(1);
			calls(3, layers);
			call(4);
		}
		call(5);
		if (log && i % log == log - 1) {
			call(99);
			call(98);
		}
	}
}

static void each_bucket_is_a_cut_of_ddp(void **state)
{
	(void)state;
	start();
	ddp(100, 0, 0);
	expect_cuts(13, 0);
}

static void logging_every_tenth_step_is_no_step(void **state)
{
	(void)state;
	start();
	ddp(100, 10, 0);
	expect_cuts(13, 0);
}

static void neither_is_an_evaluation_every_25th(void **state)
{
	(void)state;
	start();
	ddp(100, 10, 25);
	expect_cuts(13, 0);
}

static void logging_in_every_step_is_a_part_of_it(void **state)
{
	(void)state;
	start();
	ddp(50, 1, 0);
	expect_cuts(14, 0);
}

static void fsdp_is_cut_where_its_outermost_unit_is_gathered(void **state)
{
	(void)state;
	start();
	fsdp(30, 24, 0, 1);
	expect_cuts(76, 74);
	start();
	fsdp(40, 24, 10, 1);
	expect_cuts(76, 74);
}

/* By design: nothing that weighs anything shows a step from its four halves. */
static void micro_batches_are_the_steps_of_fsdp_with_accumulation(void **state)
{
	(void)state;
	start();
	fsdp(30, 24, 0, 4);
	expect_cuts(75, 74);
}

static void a_pipeline_is_cut_at_its_gradients(void **state)
{
	(void)state;
	start();
	program.bytes[10] = 200000000;
	program.bytes[11] = program.bytes[12] = 8;
	for (unsigned i = 0; i < 50; i++) {
		step();
		for (unsigned m = 0; m < 8; m++) {
			call(1);
			call(2);
		}
		for (unsigned m = 0; m < 8; m++) {
			call(3);
			call(4);
		}
		call(10);
		call(11);
		call(12);
	}
	expect_cuts(35, 32);
}

/* One stage of a pipeline whose layers are tensor parallel, without data parallelism: microbatches
 * are much alike, and only what is around them shows the step. */
static void a_pipeline_without_gradients_is_cut_at_its_first_message(void **state)
{
	static const unsigned n_layers[] = { 2, 4 };

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		start();
		program.bytes[3] = 4;
		for (unsigned i = 0; i < 60; i++) {
			step();
			for (unsigned m = 0; m < 3; m++) { /* stages behind it */
				calls(0, n_layers[k]);
				call(1);
			}
			for (unsigned m = 0; m < 5; m++) {
				calls(0, n_layers[k]);
				call(1);
				call(2);
				calls(0, n_layers[k]);
			}
			for (unsigned m = 0; m < 3; m++) {
				call(2);
				calls(0, n_layers[k]);
			}
			call(3);
		}
		expect_period(60);
	}
}

static void a_mixture_of_experts_is_cut_at_its_gradients(void **state)
{
	(void)state;
	start();
	program.bytes[1] = program.bytes[2] = 3000000;
	program.bytes[9] = 8000000;
	for (unsigned i = 0; i < 60; i++) {
		step();
		for (unsigned layer = 0; layer < 3; layer++) {
			call(1);
			call(2);
		}
		call(9);
	}
	expect_cuts(7, 6);
}

static void what_comes_before_the_first_step_does_not_matter(void **state)
{
	static const unsigned before[] = { 200, 201, 202, 203, 200 };

	(void)state;
	start();
	for (unsigned i = 0; i < 5; i++)
		call(before[i]);
	program.bytes[201] = program.bytes[202] = program.bytes[203] = 8;
	ddp(8, 0, 0);
	expect_cuts(13, 0);
}

static void a_loop_of_one_operation_is_cut_at_each(void **state)
{
	(void)state;
	start();
	for (unsigned i = 0; i < 500; i++) {
		step();
		call(7);
	}
	expect_cuts(1, 0);
}

/* Each unit gathered ahead, twice, and scattered: no operation that carries anything comes once a
 * step. */
static void a_step_of_equal_units_is_found_by_its_period(void **state)
{
	const unsigned units[] = { 6, 100 };

	(void)state;
	for (unsigned u = 0; u < 2; u++) {
		start();
		program.bytes[3] = 4;
		for (unsigned i = 0; i < 30; i++) {
			step();
			calls(1, units[u] + 1);
			for (unsigned k = 0; k + 1 < units[u]; k++) {
				call(1);
				call(2);
			}
			call(2);
			call(3);
		}
		expect_cuts(3 * units[u] + 1, units[u] + 2);
	}
}

/* An exchange with each of eight others, four times in each layer: evenly, but not always with all.
 * What shows a step are the gradients of the three layers on the way back. */
static void a_step_of_layers_is_found_by_its_period(void **state)
{
	(void)state;
	start();
	program.bytes[50] = 5000000;
	for (unsigned i = 0; i < 40; i++) {
		step();
		for (unsigned layer = 0; layer < 6; layer++) {
			for (unsigned k = 0; k < 2; k++) {
				for (unsigned peer = 0; peer < 16; peer++)
					if ((7 * i + 5 * layer + peer) % 16 || k)
						call(1 + peer);
			}
			if (layer >= 3)
				call(50);
		}
	}
	expect_period(40);
}

/* Two operations come once a step, the one with more time before it now and then a little later. */
static void of_two_the_more_regular_one_is_the_anchor(void **state)
{
	(void)state;
	start();
	for (unsigned i = 0; i < 60; i++) {
		step();
		for (unsigned k = 0; k < 9; k++)
			call(k == (i % 6 == 5 ? 3 : 0) ? 20 : 30 + k % 2);
		call(40);
	}
	expect_cuts(10, 9);
}

static unsigned draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(*state >> 40);
}

static void where_nothing_recurs_no_step_is_found(void **state)
{
	struct ct_anchor anchor;
	uint64_t seed = 1;

	(void)state;
	start();
	assert_int_equal(find(&anchor), CT_NOTFOUND);
	call(1);
	call(1);
	assert_int_equal(find(&anchor), CT_NOTFOUND);
	/* operations at random */
	for (unsigned trial = 0; trial < 20; trial++) {
		start();
		for (unsigned i = 0; i < 2000; i++)
			call(1 + draw(&seed) % 40);
		assert_int_equal(find(&anchor), CT_NOTFOUND);
	}
}

static void what_is_not_complete_on_record_is_no_anchor(void **state)
{
	struct ct_anchor_symbol symbols[2] = { { .n = 100, .bytes = 100, .partial = 1 },
					       { .n = 100, .bytes = 100 } };
	struct ct_anchor anchor;

	(void)state;
	start();
	for (unsigned i = 0; i < 100; i++) {
		call(0);
		call(1);
	}
	assert_int_equal(ct_anchor_find(program.ops, program.n, program.n, symbols, 2, &anchor),
			 CT_OK);
	assert_int_equal(anchor.symbol, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_bucket_is_a_cut_of_ddp),
		cmocka_unit_test(logging_every_tenth_step_is_no_step),
		cmocka_unit_test(neither_is_an_evaluation_every_25th),
		cmocka_unit_test(logging_in_every_step_is_a_part_of_it),
		cmocka_unit_test(fsdp_is_cut_where_its_outermost_unit_is_gathered),
		cmocka_unit_test(micro_batches_are_the_steps_of_fsdp_with_accumulation),
		cmocka_unit_test(a_pipeline_is_cut_at_its_gradients),
		cmocka_unit_test(a_pipeline_without_gradients_is_cut_at_its_first_message),
		cmocka_unit_test(a_mixture_of_experts_is_cut_at_its_gradients),
		cmocka_unit_test(what_comes_before_the_first_step_does_not_matter),
		cmocka_unit_test(a_loop_of_one_operation_is_cut_at_each),
		cmocka_unit_test(a_step_of_equal_units_is_found_by_its_period),
		cmocka_unit_test(a_step_of_layers_is_found_by_its_period),
		cmocka_unit_test(of_two_the_more_regular_one_is_the_anchor),
		cmocka_unit_test(where_nothing_recurs_no_step_is_found),
		cmocka_unit_test(what_is_not_complete_on_record_is_no_anchor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
