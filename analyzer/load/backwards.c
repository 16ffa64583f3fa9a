/* SPDX-License-Identifier: Apache-2.0 */
/* backwards.c — a clock that goes back, which CLOCK_MONOTONIC never does: a damaged trace, or times
 * that were put together wrongly. Of two collectives of a communicator the one with the lower
 * number was entered first. Any pair that says otherwise shows it, in whatever order they come: a
 * block's ops, and all of an imported process, come by time, blocks as they were written. */
#include <inttypes.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/load/load_private.h"
#include "trace/ops.h"

static void note_pair(struct ct_load *load, const struct ct_load_comm *comm, uint64_t lower_ns,
		      uint64_t seq, uint64_t higher_ns)
{
	struct ct_load_backwards *most = &load->backwards;

	if (lower_ns < higher_ns + CT_BACKWARDS_NS || lower_ns - higher_ns <= most->ns)
		return;
	*most = (struct ct_load_backwards){ lower_ns - higher_ns, seq, comm->rec.key };
}

/* A persistent collective of MPI has the number of its making, and is started when the program
 * likes. */
static int has_order(const struct ct_joined_op *j)
{
	enum ct_op_class class = ct_op_class(j->op->op);

	return (class == CT_CLASS_SYNC || class == CT_CLASS_ROOTED) &&
	       j->op->op != CT_OP_GraphLaunch && !(j->op->flags & CT_OP_CAPTURED) &&
	       !(j->backend != CT_BACKEND_NCCL && j->call && strstr(j->call, "_init"));
}

void ct_load_look_back(struct ct_load *load, struct ct_load_comm *comm,
		       const struct ct_joined_op *j)
{
	struct ct_load_order_seen *seen = &comm->seen;
	uint64_t seq = j->op->seq, enter_ns = j->op->enter_ns;

	if (!has_order(j))
		return;
	if (!seen->any || seq > seen->last_seq) {
		if (seen->any)
			note_pair(load, comm, seen->last_ns, seq, enter_ns);
		/* What is left out here may come late. */
		if (!seen->any || seq > seen->last_seq + 1) {
			seen->ahead_seq = seq;
			seen->ahead_ns = enter_ns;
		}
		seen->any = 1;
		seen->last_seq = seq;
		seen->last_ns = enter_ns;
	} else if (seen->ahead_ns && seq < seen->ahead_seq) {
		note_pair(load, comm, enter_ns, seen->ahead_seq, seen->ahead_ns);
	}
}

int ct_load_report_backwards(struct ct_load *load)
{
	const struct ct_load_backwards *most = &load->backwards;
	struct ct_process_facts *facts = &load->facts;
	const char *text;

	if (!most->ns || facts->n_notes == CT_PROCESS_NOTES)
		return CT_OK;
	text = ct_arena_printf(load->memory,
			       "CLOCK_MONOTONIC of process %" PRIu32
			       " on host %.63s goes back by %s or more at #%" PRIu64
			       " of communicator %016" PRIx64
			       ": its times, and what follows from them, are wrong",
			       load->info->id.pid, load->info->id.host, ct_prose_ns(most->ns).s,
			       most->seq, most->key);
	if (ct_arena_failed(load->memory))
		return CT_NOMEM;
	facts->notes[facts->n_notes++] = text;
	return CT_OK;
}
