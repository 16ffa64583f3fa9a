/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/stacks/stacks_read.h"

#include <string.h>

#include "trace/status.h"

static const char *text_of(const json_t *object, const char *key, struct ct_arena *memory)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? ct_arena_text(memory, text, strlen(text)) : NULL;
}

static uint64_t number_of(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static int is_set(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static struct ct_stack_line line_of(const json_t *frame, struct ct_arena *memory)
{
	const char *kind = json_string_value(json_object_get(frame, "kind"));
	const char *function = text_of(frame, "func", memory),
		   *file = text_of(frame, "file", memory);

	return (struct ct_stack_line){
		.kind = kind && strcmp(kind, "python") == 0 ? CT_FRAME_PYTHON : CT_FRAME_NATIVE,
		.function = function ? function : "",
		.file = file ? file : "",
		.offset = number_of(frame, "offset"),
		.line = (uint32_t)number_of(frame, "line"),
	};
}

static char state_of(const json_t *thread)
{
	const char *state = json_string_value(json_object_get(thread, "state"));

	if (!state)
		return 0;
	return strcmp(state, "running") == 0	       ? 'R'
	       : strcmp(state, "uninterruptible") == 0 ? 'D'
	       : strcmp(state, "stopped") == 0	       ? 'T'
						       : 'S';
}

static int read_thread(const json_t *thread, struct ct_arena *memory, struct ct_taken_thread *out)
{
	const json_t *frames = json_object_get(thread, "frames");
	const char *name = json_string_value(json_object_get(thread, "thread"));
	struct ct_stack *stack = &out->stack;
	size_t n = json_array_size(frames);

	*out = (struct ct_taken_thread){ .not_taken = text_of(thread, "not_taken", memory),
					 .not_paused = text_of(thread, "not_paused", memory),
					 .died = is_set(thread, "died"),
					 .is_python_cut = is_set(thread, "python_cut") };
	stack->is_taken_now = 1;
	stack->paused_ns = number_of(thread, "paused_ns");
	stack->cpu_since_ns = UINT64_MAX;
	stack->rec.tid = (uint32_t)number_of(thread, "tid");
	stack->rec.state = state_of(thread);
	stack->rec.flags = (uint16_t)((is_set(thread, "main") ? CT_STACK_MAIN : 0) |
				      (is_set(thread, "running") ? CT_STACK_RUNNING : 0) |
				      (is_set(thread, "cut") ? CT_STACK_CUT : 0));
	if (name)
		strncpy(stack->rec.thread, name, sizeof(stack->rec.thread) - 1);
	stack->lines = ct_arena_calloc(memory, n + 1, sizeof(*stack->lines));
	if (!stack->lines)
		return CT_NOMEM;
	for (stack->n = 0; stack->n < n; stack->n++)
		stack->lines[stack->n] = line_of(json_array_get(frames, stack->n), memory);
	return CT_OK;
}

int ct_stacks_read(const json_t *process, struct ct_arena *memory, struct ct_taken *taken)
{
	const json_t *threads = json_object_get(process, "threads");
	const json_t *missing = json_object_get(process, "missing");
	size_t n = json_array_size(threads), n_missing = json_array_size(missing);

	*taken = (struct ct_taken){
		.pid = (uint32_t)number_of(process, "pid"),
		.core = text_of(process, "core", memory),
		.program = text_of(process, "program", memory),
		.python = text_of(process, "python", memory),
		.error = text_of(process, "error", memory),
		.hint = text_of(process, "hint", memory),
		.signal = (int)number_of(process, "signal"),
		.signal_address = number_of(process, "signal_address"),
		.missing = ct_arena_calloc(memory, n_missing + 1, sizeof(*taken->missing)),
		.threads = ct_arena_calloc(memory, n + 1, sizeof(*taken->threads)),
	};
	if (!taken->missing || !taken->threads)
		return CT_NOMEM;
	for (size_t i = 0; i < n_missing; i++) {
		const char *sentence = json_string_value(json_array_get(missing, i));

		if (sentence)
			taken->missing[taken->n_missing++] = ct_arena_text(memory, sentence,
									   strlen(sentence));
	}
	for (; taken->n_threads < n; taken->n_threads++) {
		struct ct_taken_thread *thread = &taken->threads[taken->n_threads];

		if (read_thread(json_array_get(threads, taken->n_threads), memory, thread) != CT_OK)
			return CT_NOMEM;
		if (thread->stack.paused_ns > taken->longest_pause_ns)
			taken->longest_pause_ns = thread->stack.paused_ns;
	}
	return ct_arena_failed(memory) ? CT_NOMEM : CT_OK;
}
