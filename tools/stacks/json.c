/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/stacks/json.h"

#include <stdlib.h>
#include <string.h>

#include "tools/stacks/need.h"
#include "tools/stacks/object.h"
#ifdef CT_DEMANGLE
/* libiberty's own header declares functions of the C library in another way */
char *cplus_demangle_v3(const char *mangled, int options);
#define AS_IN_SOURCE 3 /* fact: DMGL_PARAMS | DMGL_ANSI */
#endif

#define LONGEST 256u /* size: of a name; templates have no limit of their own */

/* Names of files and functions need not be UTF-8. */
static json_t *text_of(const char *text)
{
	json_t *value = text ? json_string(text) : json_null();

	if (!value) {
		char *copy = ct_need_text("%s", text);

		for (char *c = copy; *c; c++)
			if (*c & 0x80)
				*c = '?';
		value = json_string(copy);
		free(copy);
	}
	return value;
}

/* As a programmer wrote it, without the version behind '@'. */
static json_t *function_of(const char *name)
{
	char text[LONGEST];
	char *plain = NULL;
	size_t n;

	if (!name)
		return json_null();
#ifdef CT_DEMANGLE
	plain = cplus_demangle_v3(name, AS_IN_SOURCE);
#endif
	n = plain ? strlen(plain) : strcspn(name, "@");
	n = n < sizeof(text) ? n : sizeof(text) - 1;
	memcpy(text, plain ? plain : name, n);
	text[n] = '\0';
	free(plain);
	return text_of(text);
}

static json_t *native_of(struct ct_target *target, const struct ct_native_frame *frame)
{
	struct ct_range *range = ct_range_find(&target->ranges, frame->pc);
	uint64_t address;
	int known = range && ct_object_address(target, range, frame->pc, &address) == 0;
	const char *name = known ? ct_object_function(target, range, address) : NULL;

	return json_pack("{s:s, s:o, s:o, s:n, s:o, s:I, s:b}", "kind", "native", "func",
			 function_of(name), "file",
			 range && range->path[0] ? text_of(range->path) : json_null(), "line",
			 "offset", known ? json_integer((json_int_t)address) : json_null(), "pc",
			 (json_int_t)frame->pc, "guessed", 0);
}

static json_t *python_of(const struct ct_python_frame *frame)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:n, s:n, s:b}", "kind", "python", "func",
			 text_of(frame->func), "file", text_of(frame->file), "line",
			 frame->line ? json_integer(frame->line) : json_null(), "offset", "pc",
			 "guessed", 0);
}

static json_t *frames_of(struct ct_target *target, const struct ct_stack_sample *sample)
{
	json_t *frames = json_array();

	for (uint32_t i = 0; i < sample->n_native; i++)
		json_array_append_new(frames, native_of(target, &sample->native[i]));
	for (uint32_t i = 0; i < sample->n_python; i++)
		json_array_append_new(frames, python_of(&sample->python[i]));
	return frames;
}

static const char *state_name(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
	case 'I':
		return "asleep";
	case 'D':
		return "uninterruptible";
	case 'T':
		return "stopped";
	default:
		return NULL;
	}
}

static json_t *thread_of(struct ct_target *target, const struct ct_stack_sample *sample,
			 size_t index)
{
	/* the kernel writes the thread that died first into a core, the first one where all did */
	int is_main = sample->tid == (uint32_t)target->pid;

	return json_pack(
		"{s:I, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:b, s:b, s:o}", "tid",
		(json_int_t)sample->tid, "thread",
		sample->name[0] ? text_of(sample->name) : json_null(), "main", is_main, "died",
		target->core && target->signal && !index, "running", sample->state == 'R', "state",
		text_of(state_name(sample->state)), "paused_ns",
		sample->paused_ns ? json_integer((json_int_t)sample->paused_ns) : json_null(),
		"not_taken", text_of(sample->not_taken), "not_paused", text_of(sample->not_paused),
		"cut", sample->is_cut, "python_cut", sample->is_python_cut, "frames",
		frames_of(target, sample));
}

static json_t *python_version(const struct ct_target *target)
{
	const uint32_t version = target->python.version;
	char text[32];

	if (!version)
		return json_null();
	snprintf(text, sizeof(text), "%u.%u", version >> 24, version >> 16 & 255);
	return json_string(text);
}

json_t *ct_stacks_json(struct ct_target *target)
{
	json_t *threads = json_array(), *missing = json_array();

	for (size_t i = 0; i < target->n_samples && !target->error; i++)
		json_array_append_new(threads, thread_of(target, &target->samples[i], i));
	if (target->python_error)
		json_array_append_new(missing, text_of(target->python_error));
	for (size_t i = 0; i < target->n_missing; i++)
		json_array_append_new(missing, text_of(target->missing[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "pid",
			 target->pid ? json_integer(target->pid) : json_null(), "core",
			 text_of(target->core), "program", text_of(target->program), "python",
			 python_version(target), "signal",
			 target->signal ? json_integer(target->signal) : json_null(),
			 "signal_address",
			 target->signal_address ? json_integer((json_int_t)target->signal_address)
						: json_null(),
			 "error", text_of(target->error), "hint", text_of(target->hint), "missing",
			 missing, "threads", threads);
}
