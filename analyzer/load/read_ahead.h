/* SPDX-License-Identifier: Apache-2.0 */
/* read_ahead.h — loads of several processes, continued by other threads while this one takes their
 * results. The caller asks for the next block of a load that it will need soon. A thread of the
 * tasks decodes it and joins its operations into a batch. ct_ahead_next() passes the batch to the
 * sink in the caller's thread, so sinks get the same in the same order for any number of threads. A
 * load belongs to a worker or to the caller: between ct_ahead_ask() and ct_ahead_next() the caller
 * does not touch it. One batch per thread and one more are kept. One thread calls. */
#ifndef CT_ANALYZER_LOAD_READ_AHEAD_H
#define CT_ANALYZER_LOAD_READ_AHEAD_H

#include "analyzer/base/tasks.h"
#include "analyzer/load/load.h"

struct ct_ahead;
struct ct_ahead_load;

/* Both are borrowed. Without tasks (NULL) nothing is read ahead, and nothing is copied. NULL: out
 * of memory. */
struct ct_ahead *ct_ahead_new(struct ct_tasks *tasks, struct ct_op_names *names);
void ct_ahead_free(struct ct_ahead *ahead); /* after all its loads */

/* As ct_load_open(); `shared` of the sink counts for nothing. */
int ct_ahead_open(struct ct_ahead *ahead, const struct ct_run *run, size_t index,
		  const struct ct_load_sink *sink, struct ct_ahead_load **load, struct ct_err *err);
void ct_ahead_close(struct ct_ahead_load *load);

/* Would a load that asks get a batch? */
int ct_ahead_has_room(const struct ct_ahead *ahead);

/* Its next block will be wanted. Nothing happens if it was asked for, or there is no space. */
void ct_ahead_ask(struct ct_ahead_load *load);
int ct_ahead_is_asked(const struct ct_ahead_load *load);

/* As ct_load_next(). */
int ct_ahead_next(struct ct_ahead_load *load, struct ct_err *err);

/* The load itself; not while it is asked for. */
struct ct_load *ct_ahead_load(struct ct_ahead_load *load);

#endif
