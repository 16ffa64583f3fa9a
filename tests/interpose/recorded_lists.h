/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_lists.h — what a small recorded process left behind, record by record. */
#ifndef CT_TESTS_INTERPOSE_RECORDED_LISTS_H
#define CT_TESTS_INTERPOSE_RECORDED_LISTS_H

#include "tests/interpose/recorded.h"

enum { LIST_MAX = 512 };

struct recorded_lists {
	struct ct_op ops[LIST_MAX]; /* in the order in which they were entered */
	struct ct_launch launches[LIST_MAX];
	struct ct_host_rec begins[LIST_MAX];
	struct ct_host_rec ends[LIST_MAX];
	struct ct_comm_rec
		comms[LIST_MAX]; /* the last that is known of each, by id from 1: at id - 1 */
	uint32_t n_ops, n_launches, n_begins, n_ends, n_comms;
	char names[LIST_MAX][64]; /* of strings, by id modulo */
	/* of the start record: "key=value", and "ID=object" of what passes unseen */
	char facts[LIST_MAX][128];
	char unseen[LIST_MAX][128];
	uint32_t n_facts, n_unseen;
	struct ct_error_rec errors[LIST_MAX];
	uint32_t n_errors;
	struct ct_vcounts_rec vcounts[LIST_MAX];
	uint32_t n_vcounts;
	uint64_t losses[CT_LOSS_MAX];
	size_t processes;
};

/* Of the process `index` of the last recorded_run(). Static: the next call overwrites it. */
const struct recorded_lists *recorded_lists(size_t index);

/* The only launch record with this id; NULL if there is none or there are several. */
const struct ct_launch *recorded_launch(const struct recorded_lists *r, uint32_t id);

/* The nth finished host call of this name, from 0; NULL if there are fewer. */
const struct ct_host_rec *recorded_host(const struct recorded_lists *r, const char *call, int nth);

/* The nth error in the order in which the process's thread reported them, from 0; NULL if there are
 * fewer. */
const struct ct_error_rec *recorded_error(const struct recorded_lists *r, uint32_t nth);

/* The value of a key among facts or unseen, NULL: it is not there. Long ones are cut. */
const char *recorded_fact(const struct recorded_lists *r, const char *key);
const char *recorded_unseen(const struct recorded_lists *r, const char *id);

const char *recorded_name(const struct recorded_lists *r, uint32_t id);

#endif
