/* SPDX-License-Identifier: Apache-2.0 */
/* How a process ended, put together from what each of several witnesses saw. */
#include <string.h>
#include <sys/wait.h>

#include "trace/ring_dir.h"
#include "trace/run_files.h"

/* What the last block of the segments says. */
struct tail {
	uint64_t seen_ns; /* latest time in it */
	uint64_t beat_ns;
	int ended;
	struct ct_end_rec end;
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void read_block(const struct ct_block *block, const struct ct_block_header *h,
		       struct tail *t)
{
	t->seen_ns = h->end_ns;
	for (uint32_t i = 0; i < block->n_rares; i++) {
		const struct ct_rare *rare = &block->rares[i];
		struct ct_status_rec status;

		if (rare->kind == CT_KIND_STATUS) {
			ct_rare_get(block, rare, &status, sizeof(status));
			t->beat_ns = later(t->beat_ns, status.beat_ns);
		} else if (rare->kind == CT_KIND_END) {
			ct_rare_get(block, rare, &t->end, sizeof(t->end));
			t->ended = 1;
		}
	}
}

/* The last block of one segment file. 1, 0 if it has none that can be read, or CT_NOMEM. */
static int read_last(const char *path, struct tail *t)
{
	struct ct_segment_reader *reader;
	struct ct_block block = { 0 };
	int st = ct_segment_open_read(path, &reader, NULL);

	if (st != CT_OK)
		return st == CT_NOMEM ? st : 0;
	st = ct_segment_seek_last(reader, NULL);
	if (st == 1)
		st = ct_segment_next_block(reader, &block, NULL);
	if (st == 1)
		read_block(&block, ct_segment_block_header(reader), t);
	ct_segment_close_read(reader);
	ct_block_fini(&block);
	return st < 0 && st != CT_NOMEM ? 0 : st;
}

/* The newest segment may hold no block yet: look into the one before, too. */
static int read_tail(const struct ct_process_files *p, struct tail *t)
{
	int st = 0;

	memset(t, 0, sizeof(*t));
	for (size_t i = p->n_segments; i > 0 && i + 2 > p->n_segments && st == 0; i--)
		st = read_last(p->segments[i - 1].path, t);
	return st < 0 ? st : CT_OK;
}

static enum ct_end_how how_of_kind(uint32_t kind)
{
	switch (CT_EXIT_KIND(kind)) {
	case CT_EXIT_UNDERSCORE:
		return CT_END_EXIT;
	case CT_EXIT_ABORT:
		return CT_END_SIGNAL;
	default:
		return CT_END_CLEAN;
	}
}

/* The process's own word, from its END block or from the note it left in the ring. */
static void own_word(struct ct_end *e, uint32_t kind, uint32_t code)
{
	e->how = how_of_kind(kind);
	if (e->how == CT_END_SIGNAL)
		e->signal = SIGABRT;
	else
		e->exit_code = (int)(code & 0xff); /* as its parent would see it */
}

/* Its parent's word: what waitpid said. */
static void parents_word(struct ct_end *e, const struct ct_ring_header *h, const struct tail *t)
{
	int status = (int)(uint32_t)ct_load_acquire(&h->death_note);

	e->seen_by = (uint32_t)(ct_load_acquire(&h->death_note) >> 32);
	e->before_ns = later(ct_load_acquire(&h->death_seen_ns), e->after_ns);
	if (WIFSIGNALED(status)) {
		e->how = CT_END_SIGNAL;
		e->signal = WTERMSIG(status);
		e->for_memory = e->signal == SIGKILL && !e->kill_ns &&
				ct_load_acquire(&h->oom_seen) > ct_load_acquire(&h->oom_kills) + 1;
		return;
	}
	/* With neither note nor END block no exit handler ran: exit_group called directly. */
	e->how = CT_END_EXIT;
	if (t->ended)
		e->how = how_of_kind(t->end.kind);
	else if (ct_load_acquire(&h->exit_ns))
		e->how = how_of_kind((uint32_t)(ct_load_acquire(&h->exit_note) >> 32));
	else if (ct_load_acquire(&h->state) == CT_RING_ENDED)
		e->how = CT_END_CLEAN;
	if (e->how == CT_END_SIGNAL)
		e->how = CT_END_EXIT; /* a handler for SIGABRT exited instead */
	e->exit_code = WEXITSTATUS(status);
}

static void set_end(const struct ct_process_files *p, const struct tail *t, uint64_t replaced_ns,
		    int lives, struct ct_end *e)
{
	const struct ct_ring_header *h = p->ring;

	if (h) {
		uint64_t note = ct_load_acquire(&h->kill_note);

		e->kill_ns = ct_load_acquire(&h->kill_ns);
		e->kill_signal = (int)(uint32_t)note;
		e->kill_by = (uint32_t)(note >> 32);
	}
	if (replaced_ns && !t->ended) {
		e->how = CT_END_EXEC;
		e->before_ns = later(replaced_ns, e->after_ns);
	} else if (h && ct_load_acquire(&h->death_seen_ns)) {
		parents_word(e, h, t);
	} else if (t->ended) {
		own_word(e, t->end.kind, t->end.code);
	} else if (lives) {
		e->how = CT_END_RUNNING;
	} else if (h && ct_load_acquire(&h->exit_ns)) {
		own_word(e, (uint32_t)(ct_load_acquire(&h->exit_note) >> 32),
			 (uint32_t)ct_load_acquire(&h->exit_note));
	}
}

int ct_run_process_end(const struct ct_process_files *p, uint64_t replaced_ns, int look_here,
		       struct ct_process_info *info)
{
	const struct ct_ring_header *h = p->ring;
	struct ct_end *e = &info->end;
	struct tail t;
	int lives;
	int st = read_tail(p, &t);

	if (st != CT_OK)
		return st;
	info->last_beat_ns = later(t.beat_ns, t.seen_ns);
	if (h)
		info->last_beat_ns = later(info->last_beat_ns, ct_load_acquire(&h->beat_ns));
	info->looked_ns = h ? ct_load_acquire(&h->looked_ns) : 0;
	info->late_ns = h ? ct_load_acquire(&h->late_ns) : 0;
	*e = (struct ct_end){ .exit_code = -1, .before_ns = UINT64_MAX };
	e->after_ns = info->last_beat_ns;
	if (t.ended)
		e->after_ns = later(e->after_ns, t.end.end_ns);
	e->said_ns = t.ended ? t.end.end_ns : 0;
	if (h)
		e->said_ns = later(e->said_ns, ct_load_acquire(&h->exit_ns));
	e->after_ns = later(e->after_ns, e->said_ns);
	e->unasked = t.ended && (t.end.kind & CT_EXIT_UNASKED);
	if (h && ct_load_acquire(&h->exit_ns))
		e->unasked = (ct_load_acquire(&h->exit_note) >> 32 & CT_EXIT_UNASKED) != 0;
	/* An archived ring is a dead process's; without a ring the process table may still show it.
	 */
	lives = h ? p->ring_lives : look_here && ct_process_lives(&p->id);
	set_end(p, &t, replaced_ns, lives, e);
	e->stopped = e->how == CT_END_RUNNING && ct_process_is_stopped(&p->id);
	return CT_OK;
}
