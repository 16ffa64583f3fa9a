/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fixture_run.h"

#include <string.h>

struct ct_run *fx_open_runs(const char *a, const char *b, const char *rings)
{
	const char *paths[2] = { fx_path(a), b ? fx_path(b) : NULL };
	const char *dirs[2] = { rings ? fx_path(rings) : NULL, NULL };
	struct ct_run_options options = { .ring_dirs = rings ? dirs : NULL };
	struct ct_err err = { 0 };
	struct ct_run *run;

	if (ct_run_open(paths, b ? 2 : 1, &options, &run, &err) != CT_OK)
		fail_msg("%s", err.text);
	return run;
}

struct ct_run *fx_open_run(const char *a)
{
	return fx_open_runs(a, NULL, NULL);
}

int fx_has_warning(const struct ct_run *run, const char *a, const char *b)
{
	for (size_t i = 0; i < run->n_warnings; i++)
		if (strstr(run->warnings[i], a) && strstr(run->warnings[i], b))
			return 1;
	return 0;
}

uint64_t fx_read_ops(const struct ct_run *run, size_t index, struct ct_gaps *gaps)
{
	struct ct_process_reader *r;
	const struct ct_block *block;
	struct ct_err err = { 0 };
	uint64_t seen = 0;
	int st;

	assert_int_equal(ct_process_open(run, index, &r, &err), CT_OK);
	while ((st = ct_process_next(r, &block, &err)) == 1) {
		for (uint32_t i = 0; i < block->n_ops; i++) {
			uint64_t n = block->ops[i].seq;

			assert_true(n < 64);
			assert_int_equal(seen >> n & 1, 0);
			seen |= 1ull << n;
			if (!(block->ops[i].flags & CT_OP_UNRETURNED))
				fx_assert_op(&block->ops[i], n);
		}
	}
	assert_int_equal(st, 0);
	assert_int_equal(ct_process_next(r, &block, &err), 0);
	if (gaps)
		*gaps = *ct_process_gaps(r);
	ct_process_close(r);
	return seen;
}

uint64_t fx_bits(int from, int to)
{
	uint64_t all = 0;

	for (int i = from; i < to; i++)
		all |= 1ull << i;
	return all;
}

struct ct_process fx_put_process(int rank, const char *run)
{
	struct ct_process p = fx_process(rank, run);
	struct fx_writer w;

	fx_open(&w, &p, run);
	fx_next_segment(&w);
	fx_ops(&w, 1, 0, 0, 10);
	fx_ops(&w, 1, 10, 10, 10);
	fx_close(&w);
	return p;
}

void fx_segment_path(char *to, const char *run, const struct ct_process *p, uint32_t number)
{
	char name[CT_SEGMENT_NAME_MAX];

	ct_segment_name(name, p, number);
	strcpy(to, run);
	strcat(to, "/");
	strcat(to, name);
}
