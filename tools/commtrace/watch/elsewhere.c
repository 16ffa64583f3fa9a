/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/watch/elsewhere.h"

#include "analyzer/base/limits.h"
#include "trace/mix.h"
#include "trace/ring_dir.h"

/* tuning: ns: twice the time in which a process writes, since a look comes later, and file systems
 * of several machines show a change late */
#define UNCHANGED_NS (2 * CT_WRITE_NS)

/* tuning: ns: clocks of one job do not differ by more. A job that ended before is not waited for. */
#define ENDED_NS 3600000000000ull

struct last_change {
	uint64_t beat_ns, bytes, changed_ns;
};

static int is_visible(const struct ct_process_info *process)
{
	return process->ring != CT_RING_NOT_FOUND ||
	       (process->id.pidns == ct_pidns_self() && ct_process_same_boot(&process->id));
}

static int is_long_ago(const struct ct_process_info *process, uint64_t unix_ns)
{
	return process->id.start_unix_ns + (process->last_beat_ns - process->id.start_ns) +
		       ENDED_NS <
	       unix_ns;
}

static struct last_change *last_change_of(struct ct_elsewhere *e, const struct ct_process *id)
{
	const uint64_t key = ct_mix(ct_mix(ct_mix(id->hostkey) + id->start_ns) + id->pid);
	struct last_change *seen = ct_table_get(&e->by_process, key);

	if (seen)
		return seen;
	if (!e->memory)
		e->memory = ct_arena_new();
	seen = e->memory ? ct_arena_calloc(e->memory, 1, sizeof(*seen)) : NULL;
	return seen && ct_table_put(&e->by_process, key, seen) == CT_OK ? seen : NULL;
}

int ct_elsewhere_note(struct ct_elsewhere *e, struct ct_run *run, uint64_t now_ns, uint64_t unix_ns,
		      uint32_t *visible, uint32_t *n)
{
	*visible = *n = 0;
	for (size_t p = 0; p < run->n_processes; p++) {
		struct ct_process_info *process = &run->processes[p];
		struct last_change *seen;

		*visible += is_visible(process) != 0;
		if (process->end.how != CT_END_UNKNOWN || is_visible(process))
			continue;
		seen = last_change_of(e, &process->id);
		if (!seen)
			return CT_NOMEM;
		if (seen->beat_ns != process->last_beat_ns || seen->bytes != process->segment_bytes)
			*seen = (struct last_change){ .beat_ns = process->last_beat_ns,
						      .bytes = process->segment_bytes,
						      .changed_ns = now_ns };
		if (now_ns - seen->changed_ns > UNCHANGED_NS || is_long_ago(process, unix_ns))
			continue;
		process->end.how = CT_END_RUNNING;
		++*n;
	}
	return CT_OK;
}

void ct_elsewhere_fini(struct ct_elsewhere *e)
{
	ct_table_fini(&e->by_process);
	ct_arena_free(e->memory);
}
