/* SPDX-License-Identifier: Apache-2.0 */
/* judge_private.h — shared by the files that judge instances: judge.c takes them from the matcher,
 * judge_messages.c and judge_collectives.c judge each kind, judge_sums.c adds up. One thread.
 * Functions return 0 or CT_NOMEM unless noted. */
#ifndef CT_ANALYZER_STREAM_JUDGE_PRIVATE_H
#define CT_ANALYZER_STREAM_JUDGE_PRIVATE_H

#include "analyzer/stream/stream_private.h"

/* What the matcher hands out (a ct_match_fn; `stream` is a struct ct_stream): compare, classify,
 * judge, hand on. */
int ct_judge(void *stream, struct ct_instance *instance, int complete);

/* A message with its ends in `members`; a collective; groups that exchange as much with every rank,
 * one of each member. Each adds to the event what is found out. */
int ct_judge_message(struct ct_stream *stream, struct ct_instance_event *event);
int ct_judge_collective(struct ct_stream *stream, struct ct_instance_event *event);
int ct_judge_exchange(struct ct_stream *stream, struct ct_instance_event *event);

/* A collective was judged: its members have met. */
void ct_judge_met(struct ct_stream *stream, const struct ct_instance *instance);

/* An op of `group` (NULL: of none) that has no partners is done with; passes `st` on. */
int ct_judge_alone(struct ct_stream *stream, int st, struct ct_group *group);

/* A group has one pending operation less. If it will not be judged as a whole, it is handed out by
 * itself. */
int ct_judge_group_settled(struct ct_stream *stream, struct ct_group *group);

/* Can its members be compared: launched all of them a graph or none, and one of as many
 * collectives? */
int ct_judge_is_comparable(const struct ct_instance *instance);

/* Were all its members timed? 1 for an incomplete one: unknown. */
int ct_judge_timed_by_all(const struct ct_instance *instance, int complete);

/* Waits and transfer of an instance into stream->waits; `skew_ns`: see ct_waits_judge(). */
int ct_judge_waits(struct ct_stream *stream, const struct ct_instance *instance, uint64_t skew_ns);

/* A member's span and its error; an instance's transfer, ns; a member's wait, ns: into their class
 * and the sums of the rank. */
int ct_judge_add_span(struct ct_stream *stream, struct ct_class *class,
		      const struct ct_member *member);
int ct_judge_add_transfer(struct ct_class *class, uint64_t bytes, uint64_t transfer_ns);
int ct_judge_add_wait(struct ct_stream *stream, struct ct_class *class,
		      const struct ct_member *member, uint64_t wait_ns);

#endif
