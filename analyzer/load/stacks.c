/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/stacks.h"

#include <string.h>

#include "trace/status.h"

/* The next string of the record; NULL: it has no end. */
static const char *take_text(struct ct_arena *memory, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *begin = *at, *nul = memchr(begin, 0, (size_t)(end - begin));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return ct_arena_text(memory, (const char *)begin, (size_t)(nul - begin));
}

/* The frames that are whole. 0 or CT_NOMEM. */
static int take_frames(struct ct_stack_list *list, struct ct_stack *stack, const uint8_t *at,
		       const uint8_t *end)
{
	uint32_t n = stack->rec.n_frames < CT_STACK_FRAMES ? stack->rec.n_frames : CT_STACK_FRAMES;

	stack->lines = ct_arena_calloc(list->memory, n ? n : 1, sizeof(*stack->lines));
	if (!stack->lines)
		return CT_NOMEM;
	while (stack->n < n) {
		struct ct_stack_line *line = &stack->lines[stack->n];
		struct ct_stack_frame frame;
		const uint8_t *text;

		if ((size_t)(end - at) < sizeof(frame))
			break;
		memcpy(&frame, at, sizeof(frame));
		text = at + sizeof(frame);
		/* both texts have to be there before memory is asked for them */
		if (!memchr(text, 0, (size_t)(end - text)))
			break;
		line->function = take_text(list->memory, &text, end);
		if (!line->function)
			return CT_NOMEM;
		if (!memchr(text, 0, (size_t)(end - text)))
			break;
		line->file = take_text(list->memory, &text, end);
		if (!line->file)
			return CT_NOMEM;
		line->kind = frame.kind == CT_FRAME_PYTHON ? CT_FRAME_PYTHON : CT_FRAME_NATIVE;
		line->flags = frame.flags;
		line->line = frame.line;
		line->offset = frame.offset;
		at = text;
		stack->n++;
	}
	if (stack->n < stack->rec.n_frames)
		stack->rec.flags |= CT_STACK_CUT;
	list->damaged += stack->n < n;
	return CT_OK;
}

static int is_same_stack(const struct ct_stack *a, const struct ct_stack *b)
{
	if (a->n != b->n || (a->rec.flags | b->rec.flags) & (CT_STACK_RUNNING | CT_STACK_MOVED))
		return 0;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->lines[i].offset != b->lines[i].offset ||
		    a->lines[i].line != b->lines[i].line ||
		    strcmp(a->lines[i].function, b->lines[i].function) != 0)
			return 0;
	return 1;
}

static void compare(struct ct_stack *now, const struct ct_stack *before)
{
	uint64_t cpu = now->rec.cpu_ns, cpu_before = before->rec.cpu_ns;

	if (before->rec.since_ns != now->rec.since_ns)
		return;
	now->before_ns = before->rec.taken_ns;
	now->is_same = is_same_stack(now, before);
	now->cpu_since_ns = cpu && cpu_before && cpu >= cpu_before ? cpu - cpu_before : UINT64_MAX;
}

static struct ct_stack *stack_of(struct ct_stack_list *list, uint32_t tid)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->stacks[i].rec.tid == tid)
			return &list->stacks[i];
	return NULL;
}

/* The least recently used one. */
static struct ct_stack *oldest(struct ct_stack_list *list)
{
	struct ct_stack *found = &list->stacks[0];

	for (uint32_t i = 1; i < list->n; i++)
		if (list->stacks[i].rec.take < found->rec.take)
			found = &list->stacks[i];
	return found;
}

int ct_stack_list_take(struct ct_stack_list *list, const uint8_t *bytes, size_t len)
{
	struct ct_stack stack = { .cpu_since_ns = UINT64_MAX }, *before;
	char name[sizeof(stack.rec.thread)];
	int st;

	if (len < sizeof(stack.rec)) {
		list->damaged++;
		return CT_OK;
	}
	memcpy(&stack.rec, bytes, sizeof(stack.rec));
	ct_text_clean(name, sizeof(name), stack.rec.thread,
		      strnlen(stack.rec.thread, sizeof(name) - 1));
	memcpy(stack.rec.thread, name, sizeof(name));
	before = stack_of(list, stack.rec.tid);
	if (before && before->rec.take >= stack.rec.take)
		return CT_OK;
	st = take_frames(list, &stack, bytes + sizeof(stack.rec), bytes + len);
	if (st != CT_OK)
		return st;
	if (before)
		compare(&stack, before);
	else
		before = list->n < CT_STACK_THREADS ? &list->stacks[list->n++] : oldest(list);
	*before = stack;
	return CT_OK;
}

static int weight(const struct ct_stack *stack)
{
	return (stack->rec.flags & CT_STACK_IN_CALL ? 2 : 0) +
	       (stack->rec.flags & CT_STACK_MAIN ? 1 : 0);
}

static int comes_before(const struct ct_stack *a, const struct ct_stack *b)
{
	if (a->rec.take != b->rec.take)
		return a->rec.take > b->rec.take;
	if (weight(a) != weight(b))
		return weight(a) > weight(b);
	return a->rec.tid < b->rec.tid;
}

void ct_stack_list_sort(struct ct_stack_list *list)
{
	for (uint32_t i = 1; i < list->n; i++) {
		struct ct_stack moved = list->stacks[i];
		uint32_t to = i;

		for (; to && comes_before(&moved, &list->stacks[to - 1]); to--)
			list->stacks[to] = list->stacks[to - 1];
		list->stacks[to] = moved;
	}
}
