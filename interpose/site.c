/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/site.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "interpose/environ/environ.h"
#include "interpose/log.h"
#include "interpose/python/own.h"
#include "interpose/recorder.h"
#include "interpose/site_object.h"
#include "interpose/site_table.h"

_Atomic uint32_t ct_site_wanted;
_Atomic uint64_t ct_site_recent[CT_SITE_RECENT] __attribute__((aligned(64)));

/* What is known of Python's frames here. */
enum python {
	NO_PYTHON, /* none in this process, or not wanted: a call's return address is its site */
	UNCHECKED, /* no thread with frames came by yet */
	USABLE,
	UNUSABLE, /* sites of threads that run Python are unknown */
};
static _Atomic uint32_t python;
static int has_limit; /* limit of the time for it */
static const struct ct_python *interpreter;
/* an interpreter of an unknown version: only which threads run Python is known */
static struct ct_python stranger;

static uint32_t intern(uint64_t key, const char *text)
{
	uint32_t id = *text ? ct_site_table_intern(text) : 0;

	if (ct_site_table_put(key, id ? id : CT_SITE_UNKNOWN) != 0 && id)
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_STRINGS_FULL, 1);
	return id;
}

/* "FILE:LINE FUNCTION < FILE:LINE FUNCTION": the frames are this thread's own, but read as though
 * they were not. */
static __attribute__((noinline)) uint32_t describe_python(const struct ct_python_own *own)
{
	struct ct_python_frame frame;
	char text[CT_RING_STRING_MAX];
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < own->n && used < sizeof(text); i++) {
		struct ct_python_cursor cursor = { own->frames[i], 0 };
		int n;

		if (ct_python_next(interpreter, ct_python_read_safely, &cursor, &frame) <= 0)
			return intern(own->key, "");
		n = snprintf(text + used, sizeof(text) - used, "%s%s:%u %s", i ? " < " : "",
			     frame.file, frame.line, frame.func);
		used += n > 0 ? (size_t)n : 0;
	}
	return intern(own->key, text);
}

static __attribute__((noinline)) uint32_t describe_object(uint64_t key, uintptr_t caller)
{
	char text[256];

	if (ct_site_object_text(caller, ct_recorder.process.exe, text, sizeof(text)) != 0)
		text[0] = '\0';
	return intern(key, text);
}

static uint32_t known(uint32_t id)
{
	return id == CT_SITE_UNKNOWN ? 0 : id;
}

static uint32_t of_object(uintptr_t caller)
{
	uint64_t key = ct_site_mix(0x6f626a656374ull, caller);
	uint32_t id;

	if (!caller)
		return 0;
	key += key == 0;
	id = ct_site_table_get(key);
	return id ? known(id) : describe_object(key, caller);
}

/* Where a return address is the site of every thread. Ids are 16 bits; an address of more than 48
 * is looked up each time. */
static uint32_t of_native(uintptr_t caller)
{
	uint32_t id = of_object(caller);

	if (id && caller >> 48 == 0)
		atomic_store_explicit(ct_site_word(caller), (uint64_t)caller << 16 | id,
				      memory_order_relaxed);
	return id;
}

static uint32_t of_frames(const struct ct_python_own *own)
{
	uint32_t id = ct_site_table_get(own->key);

	return id ? known(id) : describe_python(own);
}

/* Of the fastest of several, since others may be interrupted. */
static uint32_t cost_ns(uintptr_t state)
{
	struct ct_python_own own;
	uint64_t best = UINT64_MAX;

	for (int round = 0; round < 8; round++) {
		uint64_t begin = ct_now_ns(), took;

		for (int i = 0; i < 8; i++)
			if (ct_python_own(interpreter, state, &own))
				ct_site_table_get(own.key);
		took = ct_now_ns() - begin;
		best = took < best ? took : best;
	}
	return (uint32_t)(best / 8);
}

/* With the frames of the first thread that has any. Concurrent threads get the same result. */
static __attribute__((noinline)) enum python check(uintptr_t state)
{
	int right = ct_python_own_check(interpreter, state);
	uint32_t cost = right > 0 && has_limit ? cost_ns(state) : 0;

	if (right == 0)
		return UNCHECKED;
	if (right < 0 || cost > CT_SITE_MAX_NS)
		ct_log("no call sites in Python: %s",
		       right < 0 ? "its frames are not what they should be" : "they cost too much");
	atomic_store_explicit(&python, right < 0 || cost > CT_SITE_MAX_NS ? UNUSABLE : USABLE,
			      memory_order_relaxed);
	return (enum python)atomic_load_explicit(&python, memory_order_relaxed);
}

static uint32_t find(const void *caller)
{
	enum python now = (enum python)atomic_load_explicit(&python, memory_order_relaxed);
	struct ct_python_own own;
	uintptr_t state;

	if (now == NO_PYTHON)
		return of_native((uintptr_t)caller);
	/* NULL for a thread that Python does not know; while it ends, states go that threads still
	 * have */
	state = (uintptr_t)interpreter->own_state();
	if (!state)
		return of_object((uintptr_t)caller);
	if (interpreter->is_finalizing())
		return 0;
	if (now == UNCHECKED)
		now = check(state);
	if (now == UNUSABLE)
		return 0;
	if (now == USABLE && ct_python_own(interpreter, state, &own))
		return of_frames(&own);
	return of_object((uintptr_t)caller);
}

uint32_t ct_site_of(const void *caller)
{
	int saved = errno;
	uint32_t id = 0;

	if (atomic_load_explicit(&ct_site_wanted, memory_order_relaxed))
		id = find(caller);
	errno = saved;
	return id;
}

/* Records the result, too. */
static void look_for_python(struct ct_notes *notes)
{
	char fact[64];
	uintptr_t state;

	ct_python_here_init();
	interpreter = ct_python_here();
	if (!interpreter) {
		if (ct_python_find(&stranger) != 0 && !stranger.runtime) {
			ct_environ_report("sites", "native");
			return;
		}
		snprintf(fact, sizeof(fact), "native, Python %u.%u is not known",
			 stranger.version >> 24, stranger.version >> 16 & 255);
		ct_environ_report("sites", fact);
		if (stranger.own_state && stranger.is_finalizing) {
			interpreter = &stranger;
			atomic_store_explicit(&python, UNUSABLE, memory_order_relaxed);
		}
		return;
	}
	atomic_store_explicit(&python, UNCHECKED, memory_order_relaxed);
	state = (uintptr_t)interpreter->own_state();
	if (state && !interpreter->is_finalizing() && check(state) == UNUSABLE) {
		ct_notes_add(notes, "no call sites in Python %u.%u", interpreter->version >> 24,
			     interpreter->version >> 16 & 255);
		ct_environ_report("sites", "native, Python's frames cannot be used");
		return;
	}
	snprintf(fact, sizeof(fact), "python %u.%u", interpreter->version >> 24,
		 interpreter->version >> 16 & 255);
	ct_environ_report("sites", fact);
}

void ct_site_init(const char *setting, struct ct_notes *notes)
{
	int is_off = strcmp(setting, "off") == 0, is_native = strcmp(setting, "native") == 0;

	if (!is_off && !is_native && strcmp(setting, "on") != 0 && strcmp(setting, "auto") != 0)
		ct_notes_add(notes, "COMMTRACE_STACKS=%.20s is none of auto, on, native, off: auto",
			     setting);
	ct_site_table_clear();
	for (uint32_t i = 0; i < CT_SITE_RECENT; i++)
		atomic_store_explicit(&ct_site_recent[i], CT_SITE_NONE, memory_order_relaxed);
	ct_python_own_clear();
	has_limit = strcmp(setting, "on") != 0;
	atomic_store_explicit(&python, NO_PYTHON, memory_order_relaxed);
	atomic_store_explicit(&ct_site_wanted, 0, memory_order_relaxed);
	if (is_off || is_native)
		ct_environ_report("sites", setting);
	else
		look_for_python(notes);
	/* last: what this thread itself does meanwhile is not recorded, others' calls wait for the
	 * start */
	atomic_store_explicit(&ct_site_wanted, !is_off, memory_order_relaxed);
}
