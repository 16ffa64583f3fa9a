/* SPDX-License-Identifier: Apache-2.0 */
/* What slices of a process say about themselves. */
#include "analyzer/base/limits.h"
#include "analyzer/timeline/draw_process.h"
#include "trace/ops.h"

const struct ct_drawn_comm *ct_drawing_comm(const struct ct_drawing *x, uint32_t comm)
{
	return comm && x->d->comms[comm - 1].comm ? &x->d->comms[comm - 1] : NULL;
}

const char *ct_drawing_label(const struct ct_drawing *x, uint32_t comm)
{
	const struct ct_drawn_comm *c = ct_drawing_comm(x, comm);

	return c ? ct_texts_get(&x->pen->tl_index->texts, c->comm->label) : "no communicator";
}

void ct_drawing_end(const struct ct_drawing *x, struct ct_args *args,
		    struct ct_timeline_slice *slice, enum ct_op_state state)
{
	uint64_t sign_ns = x->d->seen->sign_ns;

	if (slice->end_ns != CT_TIMELINE_OPEN)
		return;
	if (sign_ns < slice->begin_ns)
		sign_ns = slice->begin_ns;
	ct_args_uint(args, CT_ARG_age_ns, sign_ns - slice->begin_ns);
	if (sign_ns + CT_GONE_EARLIER_NS < x->pen->tl_index->sign_ns) {
		slice->end_ns = sign_ns;
		x->pen->result->unfinished++;
	}
	ct_args_word(args, x->pen, CT_ARG_state, ct_op_state_name(state));
}

void ct_drawing_what(const struct ct_drawing *x, struct ct_args *args, const struct ct_drawn_op *o)
{
	const struct ct_drawn_comm *comm = ct_drawing_comm(x, o->comm);
	enum ct_op_class class = ct_op_class(o->op);

	if (comm) {
		ct_args_text(args, CT_ARG_comm, comm->comm->label);
		ct_args_text(args, CT_ARG_comm_hash, comm->comm->hash);
		ct_args_uint(args, CT_ARG_nranks, comm->comm->nranks);
		ct_args_uint(args, CT_ARG_seq, o->seq);
	}
	if (x->rank >= 0)
		ct_args_int(args, CT_ARG_rank, x->rank);
	ct_args_uint(args, CT_ARG_bytes, o->bytes);
	ct_args_uint(args, CT_ARG_count, o->count);
	ct_args_word(args, x->pen, CT_ARG_dtype, ct_dtype_name(o->dtype));
	ct_args_word(args, x->pen, CT_ARG_redop, ct_redop_name(o->redop));
	if (o->peer >= 0 && class == CT_CLASS_ROOTED)
		ct_args_int(args, CT_ARG_root, o->peer);
	else if (o->peer >= 0)
		ct_args_int(args, CT_ARG_peer, o->peer);
	if (class == CT_CLASS_P2P)
		ct_args_uint(args, CT_ARG_tag,
			     ct_op_program_tag(comm ? comm->comm->backend : 0, o->tag));
	if (o->graph)
		ct_args_uint(args, CT_ARG_graph, o->graph);
	if (o->holds)
		ct_args_text(args, CT_ARG_holds, o->holds);
}

int ct_drawing_member(const struct ct_drawing *x, const struct ct_drawn_op *o, uint64_t exchange,
		      struct ct_cached_key *key)
{
	const struct ct_drawn_comm *comm = ct_drawing_comm(x, o->comm);

	if (!comm || o->captured)
		return 0;
	*key = (struct ct_cached_key){ .comm = comm->comm->id,
				       .seq = o->seq,
				       .src = -1,
				       .dst = -1,
				       .index = (uint32_t)comm->rank };
	switch (ct_op_class(o->op)) {
	case CT_CLASS_SYNC:
	case CT_CLASS_ROOTED:
		return 1;
	case CT_CLASS_P2P:
		if (exchange) {
			key->src = CT_SRC_EXCHANGE;
			key->seq = exchange - 1;
			return 1;
		}
		if (o->peer < 0)
			return 0;
		key->index = o->op == CT_OP_Recv;
		key->src = key->index ? o->peer : comm->rank;
		key->dst = key->index ? comm->rank : o->peer;
		key->tag = o->tag;
		return 1;
	case CT_CLASS_LOCAL:
	case CT_CLASS_UNKNOWN:
		break;
	}
	return 0;
}

/* Of the process and its launch. */
uint64_t ct_drawing_launch_flow(const struct ct_drawing *x, uint32_t launch)
{
	if (x->pen->tl_index->options->flows == CT_FLOWS_NONE || !launch)
		return 0;
	return (uint64_t)(x->d->process + 1) << 32 | launch;
}

uint64_t ct_drawing_instance_flow(const struct ct_drawing *x, const struct ct_drawn_op *o)
{
	const struct ct_drawn_comm *comm = ct_drawing_comm(x, o->comm);
	enum ct_op_class class = ct_op_class(o->op);

	if (x->pen->tl_index->options->flows != CT_FLOWS_ALL || !comm)
		return 0;
	if (class == CT_CLASS_P2P && o->peer >= 0) {
		int sends = o->op == CT_OP_Send;
		uint32_t src = (uint32_t)(sends ? comm->rank : o->peer);
		uint32_t dst = (uint32_t)(sends ? o->peer : comm->rank);
		uint64_t pair = ct_mix((uint64_t)src << 32 | dst);

		return ct_mix(comm->comm->id + ct_mix(o->seq + ct_mix(pair + o->tag))) | 1ull << 63;
	}
	if (class != CT_CLASS_SYNC && class != CT_CLASS_ROOTED)
		return 0;
	return ct_mix(comm->comm->id + ct_mix(o->seq)) | 1ull << 63;
}
