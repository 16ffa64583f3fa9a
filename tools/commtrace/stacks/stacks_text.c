/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/stacks/stacks_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/hang.h"
#include "trace/path.h"

#define NAMED 4u /* size: threads with one stack that are listed by number */

static int is_same(const struct ct_taken_thread *a, const struct ct_taken_thread *b)
{
	if (a->stack.n != b->stack.n || a->stack.rec.state != b->stack.rec.state || a->died ||
	    !a->not_taken != !b->not_taken || !a->not_paused != !b->not_paused)
		return 0;
	if (a->not_taken && strcmp(a->not_taken, b->not_taken) != 0)
		return 0;
	for (uint32_t i = 0; i < a->stack.n; i++) {
		const struct ct_stack_line *x = &a->stack.lines[i], *y = &b->stack.lines[i];

		if (x->offset != y->offset || x->line != y->line ||
		    strcmp(x->function, y->function) != 0 || strcmp(x->file, y->file) != 0)
			return 0;
	}
	return 1;
}

/* ---- frames ---- */

static void write_native(struct ct_text *text, const struct ct_stack_line *line)
{
	const char *file = line->file[0] ? ct_path_name(line->file) : "no file";

	if (line->function[0])
		ct_text_line(text, CT_COLOR_NONE, "    %s (%s)", line->function, file);
	else if (line->file[0])
		ct_text_line(text, CT_COLOR_NONE, "    ? (%s+0x%" PRIx64 ")", file, line->offset);
	else
		ct_text_line(text, CT_COLOR_NONE, "    ? (code of no file)");
}

static void write_frames(struct ct_text *text, const struct ct_taken_thread *thread,
			 enum ct_frame_kind kind)
{
	const int is_python = kind == CT_FRAME_PYTHON;
	const int is_cut = is_python ? thread->is_python_cut
				     : thread->stack.rec.flags & CT_STACK_CUT;
	uint32_t shown = 0;

	for (uint32_t i = 0; i < thread->stack.n; i++) {
		const struct ct_stack_line *line = &thread->stack.lines[i];

		if (line->kind != kind)
			continue;
		if (!shown++)
			ct_text_line(text, CT_COLOR_DIM, "  %s", is_python ? "Python" : "native");
		if (is_python)
			ct_text_line(text, CT_COLOR_NONE, "    %s (%s:%" PRIu32 ")", line->function,
				     line->file, line->line);
		else
			write_native(text, line);
	}
	if (shown && is_cut)
		ct_text_line(text, CT_COLOR_NONE, "    ... the outer frames are not known");
}

/* ---- threads ---- */

static const char *doing(const struct ct_taken_thread *thread)
{
	if (thread->died)
		return "died here";
	switch (thread->stack.rec.state) {
	case 'R':
		return "running";
	case 'D':
		return "in uninterruptible sleep (driver or file system)";
	case 'T':
		return "stopped by a signal";
	case 'S':
		return "asleep";
	default:
		return NULL;
	}
}

/* "thread 4242 python3 (main), running, paused for 0.2 ms" */
static void write_head(struct ct_text *text, const struct ct_taken_thread *thread,
		       const char *others, uint64_t paused_ns)
{
	const struct ct_stack_rec *rec = &thread->stack.rec;
	const char *what = doing(thread);
	char stop[48] = "";

	if (paused_ns)
		snprintf(stop, sizeof(stop), ", paused for %s", ct_prose_ns(paused_ns).s);
	ct_text_line(text, CT_COLOR_BOLD, "%s %" PRIu32 "%s%s%s%s%s%s%s",
		     *others ? "threads" : "thread", rec->tid, rec->thread[0] ? " " : "",
		     rec->thread, rec->flags & CT_STACK_MAIN ? " (main)" : "", others,
		     what ? ", " : "", what ? what : "", stop);
	if (thread->not_taken)
		ct_text_line(text, CT_COLOR_NONE, "  no stack: %s", thread->not_taken);
	else if (thread->not_paused)
		ct_text_line(text, CT_COLOR_NONE, "  read without a pause: %s", thread->not_paused);
}

/* The thread, and those behind it with the same stack, which are marked. */
static void write_thread(struct ct_text *text, const struct ct_taken *taken, size_t at,
			 uint8_t *is_written)
{
	const struct ct_taken_thread *thread = &taken->threads[at];
	uint64_t paused_ns = thread->stack.paused_ns;
	char others[128] = "";
	size_t used = 0, more = 0;

	for (size_t i = at + 1; i < taken->n_threads; i++) {
		const struct ct_taken_thread *other = &taken->threads[i];

		if (is_written[i] || !is_same(thread, other))
			continue;
		is_written[i] = 1;
		if (other->stack.paused_ns > paused_ns)
			paused_ns = other->stack.paused_ns;
		if (++more < NAMED)
			used += (size_t)snprintf(others + used, sizeof(others) - used, ", %" PRIu32,
						 other->stack.rec.tid);
	}
	if (more >= NAMED)
		snprintf(others + used, sizeof(others) - used, " and %zu more with this stack",
			 more - NAMED + 1);
	write_head(text, thread, others, paused_ns);
	write_frames(text, thread, CT_FRAME_PYTHON);
	write_frames(text, thread, CT_FRAME_NATIVE);
}

/* ---- the process ---- */

static void write_process(struct ct_text *text, const struct ct_taken *taken)
{
	const char *program = taken->program ? taken->program : "unknown program", *name;
	char at[48] = "";

	if (taken->core)
		ct_text_wrap(text, CT_COLOR_BOLD, 2, "core %s of process %" PRIu32 ": %s",
			     taken->core, taken->pid, program);
	else
		ct_text_wrap(text, CT_COLOR_BOLD, 2, "process %" PRIu32 ": %s", taken->pid,
			     program);
	if (!taken->signal)
		return;
	name = sigabbrev_np(taken->signal);
	if (taken->signal_address)
		snprintf(at, sizeof(at), " at address 0x%" PRIx64, taken->signal_address);
	ct_text_rowf(text, "ended by", "signal %d%s%s%s%s", taken->signal, name ? " (SIG" : "",
		     name ? name : "", name ? ")" : "", at);
}

void ct_stacks_text(struct ct_text *text, const struct ct_taken *taken,
		    const struct ct_hang_run *hang, int rank)
{
	uint8_t *is_written = calloc(taken->n_threads + 1, 1);

	write_process(text, taken);
	if (hang && ct_hang_rank_of(&hang->hang_case, rank))
		ct_hang_rank_text(text, hang, rank, 0);
	else if (hang)
		ct_text_row(text, "rank ?", "recorded, of unknown rank");
	for (size_t i = 0; i < taken->n_missing; i++)
		ct_text_row(text, "note", taken->missing[i]);
	for (size_t i = 0; is_written && i < taken->n_threads; i++)
		if (!is_written[i])
			write_thread(text, taken, i, is_written);
	free(is_written);
}
