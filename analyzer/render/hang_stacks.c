/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/hang.h"
#include "trace/path.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/json_value.h"
#include "analyzer/render/text.h"

#define TEXT_RANKS 4u
#define TEXT_FRAMES 8u
#define JSON_RANKS 64u
#define JSON_THREADS 4u

/* NULL: none were taken. */
static const struct ct_stack_list *stacks_of(const struct ct_hang_run *run, int rank)
{
	const struct ct_hang_rank *r = ct_hang_rank_of(&run->hang_case, rank);

	return r ? run->stacks[r - run->hang_case.ranks] : NULL;
}

/* ---- for people ---- */

static int is_python(const struct ct_stack *stack)
{
	for (uint32_t i = 0; i < stack->n; i++)
		if (stack->lines[i].kind == CT_FRAME_PYTHON)
			return 1;
	return 0;
}

/* The first thread is what a program is written in: its frames of Python say more than a worker's
 * of a library. */
static const struct ct_stack *most_useful(const struct ct_stack_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->stacks[i].rec.flags & CT_STACK_MAIN && is_python(&list->stacks[i]))
			return &list->stacks[i];
	return list->n ? &list->stacks[0] : NULL;
}

static const char *doing(const struct ct_stack_rec *rec)
{
	if (rec->flags & CT_STACK_RUNNING)
		return "running";
	if (rec->flags & CT_STACK_HIDDEN)
		return "state unknown";
	return rec->state == 'D' ? "uninterruptible sleep (driver or file system)" : "asleep";
}

/* What is shown of a path: its end, from a slash on, where all of it would push the line's number
 * out of the screen. */
static const char *end_of(const struct ct_text *text, const struct ct_stack_line *line)
{
	const int room = snprintf(NULL, 0, "%-*s%s (...:%" PRIu32 ")", (int)CT_TEXT_ROW, "",
				  line->function, line->line);
	const char *end = line->file, *next;

	while (!text->unwrapped && text->columns && room + (int)strlen(end) > (int)text->columns &&
	       (next = strchr(end + 1, '/')))
		end = next;
	return end;
}

/* At most `most` lines, of which the last may be for the frames that do not fit. */
static void write_frames(struct ct_text *text, const struct ct_stack *stack, uint32_t most)
{
	int python = is_python(stack);
	uint32_t shown = 0, left = 0;

	for (uint32_t i = 0; i < stack->n; i++) {
		const struct ct_stack_line *line = &stack->lines[i];

		if ((line->kind == CT_FRAME_PYTHON) != python || !line->function[0])
			continue;
		if (shown + 1 >= most) {
			left++;
			continue;
		}
		shown++;
		if (python)
			ct_text_line(text, CT_COLOR_NONE, "%-*s%s (%s%s:%" PRIu32 ")",
				     (int)CT_TEXT_ROW, "", line->function,
				     end_of(text, line) > line->file ? "..." : "",
				     end_of(text, line), line->line);
		else
			ct_text_line(text, CT_COLOR_NONE, "%-*s%s%s (%s)", (int)CT_TEXT_ROW, "",
				     line->flags & CT_FRAME_GUESSED ? "? " : "", line->function,
				     ct_path_name(line->file));
	}
	if (left)
		ct_text_line(text, CT_COLOR_NONE, "%-*sand %" PRIu32 " outer frames",
			     (int)CT_TEXT_ROW, "", left);
}

static void write_stack(struct ct_text *text, int rank, const struct ct_stack *stack, uint32_t most)
{
	const struct ct_stack_rec *rec = &stack->rec;
	uint64_t after_ns = rec->taken_ns > rec->since_ns ? rec->taken_ns - rec->since_ns : 0;
	int is_main = rec->flags & CT_STACK_MAIN;

	if (stack->is_taken_now)
		ct_text_rowf(text, "stack", "rank %s, %s%s, %s, taken now%s%s%s",
			     ct_text_rank(rank).s, is_main ? "main thread" : "thread ",
			     is_main ? "" : rec->thread, doing(rec),
			     stack->paused_ns ? " (paused for " : "",
			     stack->paused_ns ? ct_prose_ns(stack->paused_ns).s : "",
			     stack->paused_ns ? ")" : "");
	else
		ct_text_rowf(text, "stack", "rank %s, %s%s, %s%s%s, %s into the %s",
			     ct_text_rank(rank).s, is_main ? "main thread" : "thread ",
			     is_main ? "" : rec->thread, doing(rec),
			     rec->flags & CT_STACK_MOVED ? ", moving" : "",
			     stack->before_ns && stack->is_same ? ", unchanged" : "",
			     ct_prose_ns(after_ns).s,
			     rec->flags & CT_STACK_IN_CALL ? "call" : "stall");
	write_frames(text, stack, most);
}

void ct_hang_stacks_text(struct ct_text *text, const struct ct_hang_run *run,
			 const struct ct_hang_verdict *v, int lines)
{
	const int end = lines < INT32_MAX - text->lines ? text->lines + lines : INT32_MAX;

	/* a line for its thread, and one for a frame at least */
	for (uint32_t i = 0; i < v->n_ranks && i < TEXT_RANKS && text->lines + 2 < end; i++) {
		const struct ct_stack_list *list = stacks_of(run, v->ranks[i]);
		const struct ct_stack *stack = list ? most_useful(list) : NULL;
		uint32_t most = (uint32_t)(end - text->lines - 2);

		if (stack)
			write_stack(text, v->ranks[i], stack,
				    most < TEXT_FRAMES ? most : TEXT_FRAMES);
	}
}

/* ---- for programs ---- */

static json_t *frame_of(const struct ct_stack_line *line)
{
	int is_python = line->kind == CT_FRAME_PYTHON, is_native = line->kind == CT_FRAME_NATIVE;

	return CT_JSON({ "kind", ct_json_text(is_python ? "python" : "native") },
		       { "func", ct_json_text(line->function[0] ? line->function : NULL) },
		       { "file", ct_json_text(line->file[0] ? line->file : NULL) },
		       { "line", line->line ? json_integer(line->line) : json_null() },
		       { "offset", is_native ? ct_json_u64(line->offset) : json_null() },
		       { "guessed", json_boolean(line->flags & CT_FRAME_GUESSED) });
}

static const char *state_of(const struct ct_stack *stack)
{
	if (stack->rec.flags & CT_STACK_RUNNING)
		return "running";
	if (stack->rec.flags & CT_STACK_HIDDEN || !stack->rec.state)
		return NULL;
	return stack->rec.state == 'D' ? "uninterruptible" : "asleep";
}

static json_t *stack_of(int rank, const struct ct_stack *stack)
{
	const struct ct_stack_rec *rec = &stack->rec;
	uint64_t after_ns = rec->taken_ns > rec->since_ns ? rec->taken_ns - rec->since_ns : 0;

	return CT_JSON({ "rank", ct_json_rank(rank) },
		       { "thread", ct_json_text(rec->thread[0] ? rec->thread : NULL) },
		       { "tid", json_integer(rec->tid) },
		       { "main", json_boolean(rec->flags & CT_STACK_MAIN) },
		       { "running", json_boolean(rec->flags & CT_STACK_RUNNING) },
		       { "in_call", json_boolean(rec->flags & CT_STACK_IN_CALL) },
		       { "state", ct_json_text(state_of(stack)) },
		       { "after_ns", stack->is_taken_now ? json_null() : ct_json_u64(after_ns) },
		       { "moved", stack->before_ns ? json_boolean(!stack->is_same) : json_null() },
		       { "cpu_since_ns",
			 stack->before_ns ? ct_json_u64(stack->cpu_since_ns) : json_null() },
		       { "taken_now", json_boolean(stack->is_taken_now) },
		       { "paused_ns",
			 stack->paused_ns ? ct_json_u64(stack->paused_ns) : json_null() },
		       { "frames", CT_JSON_ARRAY(i, stack->n, frame_of(&stack->lines[i])) });
}

json_t *ct_hang_stacks_json(const struct ct_hang_run *run, const struct ct_hang_verdict *v)
{
	json_t *array = json_array();
	int failed = !array;

	for (uint32_t i = 0; i < v->n_ranks && i < JSON_RANKS; i++) {
		const struct ct_stack_list *list = stacks_of(run, v->ranks[i]);

		for (uint32_t s = 0; list && s < list->n && s < JSON_THREADS; s++)
			ct_json_append(array, stack_of(v->ranks[i], &list->stacks[s]), &failed);
	}
	return ct_json_done(array, failed);
}
