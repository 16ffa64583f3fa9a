/* SPDX-License-Identifier: Apache-2.0 */
/* stack_read.c — prints the stacks of a run's only process, one fact a line, for stacks.sh.
 *
 * usage: stack_read RUN RING_DIR
 *   looks N
 *   thread TID [main] [call] [runs] [moved] [cut] [hidden] why W state S takes N same 0|1 before
 * 0|1 native FUNCTION FILE OFFSET | python FUNCTION LINE FILE      (FUNCTION "-": not known) */
#include <stdio.h>
#include <string.h>

#include "analyzer/load/stacks.h"
#include "trace/reader.h"
#include "trace/ring_dir.h"

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void print_stack(const struct ct_stack *s)
{
	static const char *const flags[] = { "main", "call", "runs", "moved", "cut", "hidden" };

	printf("thread %u", s->rec.tid);
	for (unsigned i = 0; i < 6; i++)
		if (s->rec.flags >> i & 1)
			printf(" %s", flags[i]);
	printf(" why %u state %c takes %u same %d before %d\n", s->rec.why, s->rec.state,
	       s->rec.take, s->is_same, s->before_ns != 0);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct ct_stack_line *line = &s->lines[i];
		const char *function = line->function[0] ? line->function : "-";

		if (line->kind == CT_FRAME_PYTHON)
			printf("python %s %u %s\n", function, line->line, base(line->file));
		else
			printf("native %s %s %llu\n", function, base(line->file),
			       (unsigned long long)line->offset);
	}
}

int main(int argc, char **argv)
{
	static struct ct_stack_list list;
	struct ct_run_options options;
	struct ct_process_reader *reader;
	const struct ct_block *block;
	const char *dirs[4];
	struct ct_run *run;
	struct ct_err err;
	uint32_t looks = 0;

	if (argc != 3)
		return 2;
	ct_ring_dirs(argv[2], NULL, dirs);
	options.ring_dirs = dirs;
	if (ct_run_open((const char *const *)&argv[1], 1, &options, &run, &err) != CT_OK ||
	    run->n_processes != 1 || ct_process_open(run, 0, &reader, &err) != CT_OK)
		return 1;
	list.memory = ct_arena_new();
	while (ct_process_next(reader, &block, &err) > 0)
		for (uint32_t i = 0; i < block->n_rares; i++)
			if (block->rares[i].kind == CT_KIND_STACK &&
			    ct_stack_list_take(&list, block->bytes + block->rares[i].at,
					       block->rares[i].len) != CT_OK)
				return 1;
	ct_stack_list_sort(&list);
	for (uint32_t i = 0; i < list.n; i++)
		looks = list.stacks[i].rec.take > looks ? list.stacks[i].rec.take : looks;
	printf("looks %u damaged %u threads %u\n", looks, list.damaged, list.n);
	for (uint32_t i = 0; i < list.n; i++)
		print_stack(&list.stacks[i]);
	ct_process_close(reader);
	ct_run_close(run);
	ct_arena_free(list.memory);
	return 0;
}
