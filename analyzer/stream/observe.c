/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/stream/stream_private.h"

#define EACH(stream, function, ...)                                                                \
	do {                                                                                       \
		for (uint32_t i_ = 0; i_ < (stream)->options.n_observers; i_++) {                  \
			const struct ct_observer *o_ = &(stream)->options.observers[i_];           \
			int st_ = o_->function ? o_->function(o_->arg, stream, __VA_ARGS__)        \
					       : CT_OK;                                            \
                                                                                                   \
			if (st_ != CT_OK)                                                          \
				return st_;                                                        \
		}                                                                                  \
		return CT_OK;                                                                      \
	} while (0)

/* The same of those that come by the operation, and may be skipped. */
#define EACH_OF(observing, is_skipped, function, ...)                                              \
	do {                                                                                       \
		for (uint32_t i_ = 0; i_ < (observing).n; i_++) {                                  \
			const struct ct_observer *o_ = (observing).by[i_];                         \
			int st_ = (is_skipped) && !o_->gets_all                                    \
					  ? CT_OK                                                  \
					  : o_->function(o_->arg, __VA_ARGS__);                    \
                                                                                                   \
			if (st_ != CT_OK)                                                          \
				return st_;                                                        \
		}                                                                                  \
		return CT_OK;                                                                      \
	} while (0)

int ct_observe_op(struct ct_stream *stream, const struct ct_op_event *event)
{
	int is_skipped = ct_stream_skips_member(stream, event->member);

	EACH_OF(stream->on_op, is_skipped, op, stream, event);
}

int ct_observe_comm(struct ct_stream *stream, uint32_t process, const struct ct_load_comm *comm,
		    uint32_t slot)
{
	EACH(stream, comm, process, comm, slot);
}

int ct_observe_host(struct ct_stream *stream, uint32_t process, const struct ct_host_rec *rec,
		    const char *call, const char *site)
{
	EACH(stream, host, process, rec, call, site);
}

int ct_observe_error(struct ct_stream *stream, uint32_t process, const struct ct_error_rec *rec,
		     const char *call, const char *text)
{
	EACH(stream, error, process, rec, call, text);
}

int ct_observe_reached(struct ct_stream *stream, uint32_t process, const struct ct_load_comm *comm,
		       const struct ct_comm_status_rec *rec)
{
	EACH(stream, reached, process, comm, rec);
}

int ct_observe_stack(struct ct_stream *stream, uint32_t process, const uint8_t *bytes, size_t len)
{
	EACH(stream, stack, process, bytes, len);
}

int ct_observe_wait(struct ct_stream *stream, uint32_t process, const struct ct_wait_rec *rec)
{
	EACH_OF(stream->on_wait, 0, wait, stream, process, rec);
}

int ct_observe_nvtx(struct ct_stream *stream, uint32_t process, uint32_t slot,
		    const struct ct_nvtx_rec *rec)
{
	EACH(stream, nvtx, process, slot, rec);
}

int ct_observe_block(struct ct_stream *stream, uint32_t process, const struct ct_load *load,
		     int ended)
{
	EACH(stream, block, process, load, ended);
}

int ct_observe_waited(struct ct_stream *stream, uint32_t slot, uint64_t begin_ns, uint64_t end_ns)
{
	EACH_OF(stream->on_waited, 0, waited, stream, slot, begin_ns, end_ns);
}

int ct_observe_instance(struct ct_stream *stream, const struct ct_instance_event *event)
{
	EACH_OF(stream->on_instance, event->is_skipped, instance, stream, event);
}

int ct_observe_matched(struct ct_stream *stream, const struct ct_instance *instance)
{
	EACH(stream, matched, instance);
}

#define OBSERVING(stream, list, function)                                                          \
	do {                                                                                       \
		const struct ct_stream_options *from_ = &(stream)->options;                        \
                                                                                                   \
		(list).by = ct_arena_calloc((stream)->model.memory, from_->n_observers + 1,        \
					    sizeof(*(list).by));                                   \
		if (!(list).by)                                                                    \
			return CT_NOMEM;                                                           \
		for (uint32_t i_ = 0; i_ < from_->n_observers; i_++) {                             \
			if (from_->observers[i_].function)                                         \
				(list).by[(list).n++] = &from_->observers[i_];                     \
		}                                                                                  \
	} while (0)

int ct_observe_begin(struct ct_stream *stream)
{
	OBSERVING(stream, stream->on_op, op);
	OBSERVING(stream, stream->on_wait, wait);
	OBSERVING(stream, stream->on_waited, waited);
	OBSERVING(stream, stream->on_instance, instance);
	for (uint32_t i = 0; i < stream->options.n_observers; i++) {
		const struct ct_observer *o = &stream->options.observers[i];
		int st = o->begin ? o->begin(o->arg, stream) : CT_OK;

		if (st != CT_OK)
			return st;
	}
	return CT_OK;
}

int ct_observe_end(struct ct_stream *stream)
{
	for (uint32_t i = 0; i < stream->options.n_observers; i++) {
		const struct ct_observer *o = &stream->options.observers[i];
		int st = o->end ? o->end(o->arg, stream) : CT_OK;

		if (st != CT_OK)
			return st;
	}
	return CT_OK;
}
