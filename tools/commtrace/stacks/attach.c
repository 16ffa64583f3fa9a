/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/stacks/attach.h"

#include <inttypes.h>

#include "analyzer/hang/hang.h"
#include "analyzer/render/json_value.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/stacks/pid_here.h"
#include "tools/commtrace/stacks/stacks_child.h"
#include "tools/commtrace/stacks/stacks_read.h"
#include "tools/commtrace/stacks/stacks_text.h"

#define MOST 32u /* size: processes that are attached to: ranks of all verdicts on one host */

struct attaching {
	const struct ct_run *run;
	struct ct_hang_run *hang;
	struct ct_arena *memory;
	const char *pids[MOST];
	int ranks[MOST];
	uint32_t n;
};

/* Of the process of a rank that lives; 0: none does on this host. */
static uint32_t pid_of(const struct ct_run *run, int rank)
{
	uint32_t pid = 0;

	for (size_t i = 0; i < run->n_processes && !pid; i++)
		pid = run->processes[i].id.rank == rank ? ct_pid_here(&run->processes[i].id) : 0;
	return pid;
}

static int is_chosen(const struct attaching *a, int rank)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->ranks[i] == rank)
			return 1;
	return 0;
}

static void choose(struct attaching *a)
{
	const struct ct_hang_result *result = a->hang->result;

	for (uint32_t v = 0; v < result->n_verdicts; v++) {
		for (uint32_t i = 0; i < result->verdicts[v].n_ranks && a->n < MOST; i++) {
			const int rank = result->verdicts[v].ranks[i];
			const uint32_t pid = pid_of(a->run, rank);

			if (!pid || is_chosen(a, rank))
				continue;
			a->ranks[a->n] = rank;
			a->pids[a->n++] = ct_arena_printf(a->memory, "%" PRIu32, pid);
		}
	}
}

/* The first thread first, then others that run Python, then the rest. */
static unsigned weight(const struct ct_stack *stack)
{
	const int is_python = stack->n && stack->lines[stack->n - 1].kind == CT_FRAME_PYTHON;

	return stack->rec.flags & CT_STACK_MAIN ? 2 : is_python;
}

static void put(struct attaching *a, int rank, const struct ct_taken *taken)
{
	const struct ct_hang_rank *r = ct_hang_rank_of(&a->hang->hang_case, rank);
	struct ct_stack_list *list = ct_arena_calloc(a->memory, 1, sizeof(*list));

	if (!r || !list)
		return;
	list->memory = a->memory;
	for (unsigned w = 3; w-- > 0;)
		for (size_t i = 0; i < taken->n_threads && list->n < CT_STACK_THREADS; i++)
			if (taken->threads[i].stack.n && weight(&taken->threads[i].stack) == w)
				list->stacks[list->n++] = taken->threads[i].stack;
	if (list->n)
		a->hang->stacks[r - a->hang->hang_case.ranks] = list;
}

json_t *ct_attach(const struct ct_run *run, struct ct_hang_run *hang, struct ct_arena *memory,
		  unsigned limit_s)
{
	struct attaching a = { .run = run, .hang = hang, .memory = memory };
	json_t *stacks = NULL, *process;
	size_t i;

	choose(&a);
	if (!a.n) {
		if (hang->result->n_verdicts)
			ct_say("no stacks taken: no rank of the verdict runs on this host");
		return NULL;
	}
	stacks = ct_stacks_child(a.pids, a.n, limit_s);
	json_array_foreach(json_object_get(stacks, "processes"), i, process)
	{
		struct ct_taken taken;

		if (i >= a.n || ct_stacks_read(process, memory, &taken) != CT_OK)
			break;
		json_object_set_new(process, "rank", ct_json_rank(a.ranks[i]));
		if (!taken.error) {
			put(&a, a.ranks[i], &taken);
			continue;
		}
		ct_say("no stacks of rank %d (process %s): %s", a.ranks[i], a.pids[i], taken.error);
		if (taken.hint)
			ct_hint("%s", taken.hint);
	}
	return stacks;
}

void ct_attach_text(const json_t *stacks, const struct ct_hang_run *hang, struct ct_arena *memory,
		    FILE *out)
{
	const struct ct_text_style style = { .unwrapped = 1 };
	struct ct_text text = ct_text_to(out, &style);
	json_t *process;
	size_t i;

	json_array_foreach(json_object_get(stacks, "processes"), i, process)
	{
		const json_t *rank = json_object_get(process, "rank");
		struct ct_taken taken;

		if (ct_stacks_read(process, memory, &taken) != CT_OK || taken.error)
			continue;
		if (i)
			ct_text_empty(&text);
		ct_stacks_text(&text, &taken, hang,
			       json_is_integer(rank) ? (int)json_integer_value(rank) : -1);
	}
}
