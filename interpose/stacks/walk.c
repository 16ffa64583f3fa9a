/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/walk.h"

#include <string.h>

#include "interpose/environ/peek.h"
#include "interpose/stacks/call.h"
#include "interpose/stacks/cfi.h"

/* size: words of the stack that a caller is looked for in: 8 KB, more than nearly all frames have. */
#define LOOKED_THROUGH 1024u
#define MOST_STEPS 256u /* size: frames, those of this library too; a damaged stack never ends */

struct walker {
	struct ct_walk *walk;
	struct ct_code_map *map;
	const struct ct_mapped_code *ours; /* this library's own code */
	struct ct_regs regs;
	int is_call;
	uint8_t flags;	 /* of the frame to come */
	uint32_t budget; /* how often the stack may yet be looked through */
};

/* For functions without a table, any address in their code counts as leading to them. */
static void function_of(const struct ct_mapped_code *code, uintptr_t pc, uintptr_t *begin,
			uintptr_t *end)
{
	if (ct_cfi_function(code, pc, begin, end) == 0)
		return;
	*begin = code->begin;
	*end = code->end;
}

static void add(struct walker *w, const struct ct_mapped_code *code)
{
	struct ct_walk *walk = w->walk;
	uintptr_t pc = w->regs.pc - (w->is_call ? 1 : 0);

	if ((code && code == w->ours) || walk->n == CT_WALK_FRAMES)
		return;
	walk->frames[walk->n++] = (struct ct_walk_frame){ .pc = pc,
							  .code = code,
							  .flags = w->flags };
	w->flags = 0;
}

/* A word of the stack at or behind `from` that a call returns to which leads into the range.
 * Certain ones first: a call through a register may lead anywhere. Its address, 0 none. */
static uintptr_t look_for_return(struct walker *w, uintptr_t from, uintptr_t begin, uintptr_t end)
{
	static uintptr_t words[LOOKED_THROUGH]; /* one stack at a time */
	size_t got;
	uintptr_t likely = 0;

	if (!w->budget)
		return 0;
	w->budget--;
	from = (from + sizeof(words[0]) - 1) & ~(uintptr_t)(sizeof(words[0]) - 1);
	got = ct_peek(from, words, sizeof(words)) / sizeof(words[0]);
	for (size_t i = 0; i < got; i++) {
		const struct ct_mapped_code *code = ct_code_find(w->map, words[i]);
		enum ct_call_leads leads;

		if (!code || code == w->ours)
			continue;
		leads = ct_call_leads(words[i], begin, end);
		if (leads == CT_CALL_HERE)
			return from + i * sizeof(words[0]);
		if (leads == CT_CALL_ANYWHERE && !likely)
			likely = from + i * sizeof(words[0]);
	}
	return likely;
}

/* The caller's frame, if its return address is at `at`. */
static void continue_at(struct walker *w, uintptr_t at)
{
	uintptr_t back = 0;

	ct_peek(at, &back, sizeof(back));
	memset(&w->regs, 0, sizeof(w->regs));
	w->regs.pc = back;
	ct_regs_set(&w->regs, CT_REG_SP, at + sizeof(back));
	w->is_call = 1;
	w->flags = CT_WALK_GUESSED;
}

/* Neither table nor registers help. A function with a frame pointer keeps its caller's just below
 * its return address, and then its own is there: all else follows from the table again. 1: *w is at
 * the caller. */
static int guess(struct walker *w, const struct ct_mapped_code *code)
{
	uintptr_t sp = ct_regs_knows(&w->regs, CT_REG_SP) ? w->regs.value[CT_REG_SP] : 0;
	struct ct_regs with_frame = w->regs;
	uintptr_t begin, end, at, back = 0;
	int is_signal;

	if (!sp)
		return 0;
	function_of(code, w->regs.pc - (w->is_call ? 1 : 0), &begin, &end);
	at = look_for_return(w, sp, begin, end);
	if (!at)
		return 0;
	ct_peek(at, &back, sizeof(back));
	ct_regs_set(&with_frame, CT_REG_FP, at - sizeof(back));
	if (ct_cfi_step(code, &with_frame, w->is_call, &is_signal) == CT_CFI_STEPPED &&
	    with_frame.pc == back) {
		w->regs = with_frame;
		w->is_call = 1;
		w->flags = CT_WALK_GUESSED;
	} else {
		continue_at(w, at);
	}
	return 1;
}

/* To the caller. 1; 0: there is none, or it cannot be found. */
static int step(struct walker *w, const struct ct_mapped_code *code)
{
	uint64_t sp = w->regs.value[CT_REG_SP];
	int is_signal = 0;

	switch (ct_cfi_step(code, &w->regs, w->is_call, &is_signal)) {
	case CT_CFI_STEPPED:
		w->is_call = !is_signal;
		/* a signal may be delivered on a stack of its own; else stacks grow downwards */
		return is_signal ||
		       (ct_regs_knows(&w->regs, CT_REG_SP) && w->regs.value[CT_REG_SP] >= sp);
	case CT_CFI_END:
		w->walk->is_whole = 1;
		return 0;
	case CT_CFI_NONE:
	case CT_CFI_UNKNOWN:
		break;
	}
	return guess(w, code);
}

static void walk_on(struct walker *w)
{
	for (unsigned i = 0; i < MOST_STEPS && w->walk->n < CT_WALK_FRAMES; i++) {
		const struct ct_mapped_code *code = ct_code_find(w->map,
								 w->regs.pc - (w->is_call ? 1 : 0));

		if (!code) {
			/* a false return address ends the stack before it */
			if (!w->flags && !i)
				add(w, NULL);
			return;
		}
		add(w, code);
		if (!step(w, code))
			return;
	}
}

static void begin_walk(struct walker *w, struct ct_walk *walk, struct ct_code_map *map)
{
	memset(w, 0, sizeof(*w));
	walk->n = 0;
	walk->is_whole = 0;
	w->walk = walk;
	w->map = map;
	w->ours = ct_code_find(map, (uintptr_t)&ct_walk_wrapper);
	w->budget = 8;
}

/* The wrapper's own return address is the first that leads into this library. */
static void from_wrapper(struct walker *w, uintptr_t wrapper)
{
	uintptr_t at = w->ours ? look_for_return(w, wrapper, w->ours->begin, w->ours->end) : 0;
	uint8_t flags = w->flags;

	if (!at)
		return;
	continue_at(w, at);
	w->flags |= flags;
	walk_on(w);
}

void ct_walk_sleeping(struct ct_walk *walk, struct ct_code_map *map, uintptr_t pc, uintptr_t sp,
		      uintptr_t wrapper)
{
	struct walker w;

	begin_walk(&w, walk, map);
	w.regs.pc = pc;
	ct_regs_set(&w.regs, CT_REG_SP, sp);
	walk_on(&w);
	/* it ended below the wrapper: what called that is known all the same */
	if (!walk->is_whole && wrapper && walk->n < CT_WALK_FRAMES &&
	    (!ct_regs_knows(&w.regs, CT_REG_SP) || w.regs.value[CT_REG_SP] < wrapper)) {
		w.flags = CT_WALK_GAP;
		from_wrapper(&w, wrapper);
	}
}

void ct_walk_wrapper(struct ct_walk *walk, struct ct_code_map *map, uintptr_t wrapper)
{
	struct walker w;

	begin_walk(&w, walk, map);
	w.flags = CT_WALK_GAP;
	from_wrapper(&w, wrapper);
}
