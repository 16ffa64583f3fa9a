/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interpose/recorded_lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct recorded_lists lists;

static void take_string(const struct ct_block *block, const struct ct_rare *rare)
{
	struct {
		uint32_t id;
		char text[60];
	} s;

	ct_rare_get(block, rare, &s, sizeof(s));
	s.text[sizeof(s.text) - 1] = '\0';
	snprintf(lists.names[s.id % LIST_MAX], sizeof(lists.names[0]), "%.*s",
		 (int)(rare->len > 4 ? rare->len - 4 : 0), s.text);
}

static void take_text(const struct ct_block *block, const struct ct_rare *rare, char *text)
{
	size_t room = sizeof(lists.facts[0]) - 1;
	size_t len = rare->len < room ? rare->len : room;

	memcpy(text, block->bytes + rare->at, len);
	text[len] = '\0';
}

static void take_rare(const struct ct_block *block, const struct ct_rare *rare)
{
	struct ct_comm_rec comm;

	switch (rare->kind) {
	case CT_KIND_COMM:
		ct_rare_get(block, rare, &comm, sizeof(comm));
		if (comm.id < 1 || comm.id > LIST_MAX)
			abort();
		lists.comms[comm.id - 1] = comm;
		lists.n_comms = comm.id > lists.n_comms ? comm.id : lists.n_comms;
		break;
	case CT_KIND_HOST_BEGIN:
		ct_rare_get(block, rare, &lists.begins[lists.n_begins++ % LIST_MAX],
			    sizeof(lists.begins[0]));
		break;
	case CT_KIND_HOST_END:
		ct_rare_get(block, rare, &lists.ends[lists.n_ends++ % LIST_MAX],
			    sizeof(lists.ends[0]));
		break;
	case CT_KIND_VCOUNTS:
		ct_rare_get(block, rare, &lists.vcounts[lists.n_vcounts++ % LIST_MAX],
			    sizeof(lists.vcounts[0]));
		break;
	case CT_KIND_ERROR:
		ct_rare_get(block, rare, &lists.errors[lists.n_errors++ % LIST_MAX],
			    sizeof(lists.errors[0]));
		break;
	case CT_KIND_ENV:
		take_text(block, rare, lists.facts[lists.n_facts++ % LIST_MAX]);
		break;
	case CT_KIND_INVISIBLE:
		take_text(block, rare, lists.unseen[lists.n_unseen++ % LIST_MAX]);
		break;
	case CT_KIND_STRING:
		take_string(block, rare);
		break;
	default:
		break;
	}
}

static void take_block(const struct ct_block *block)
{
	for (uint32_t i = 0; i < block->n_ops; i++)
		lists.ops[lists.n_ops++ % LIST_MAX] = block->ops[i];
	for (uint32_t i = 0; i < block->n_launches; i++)
		lists.launches[lists.n_launches++ % LIST_MAX] = block->launches[i];
	for (uint32_t i = 0; i < block->n_rares; i++)
		take_rare(block, &block->rares[i]);
}

static int by_enter(const void *a, const void *b)
{
	const struct ct_op *x = a, *y = b;

	return x->enter_ns < y->enter_ns ? -1 : x->enter_ns > y->enter_ns;
}

const struct recorded_lists *recorded_lists(size_t index)
{
	memset(&lists, 0, sizeof(lists));
	lists.processes = recorded_walk(index, take_block, lists.losses);
	if (lists.n_ops > LIST_MAX || lists.n_launches > LIST_MAX || lists.n_ends > LIST_MAX)
		abort();
	qsort(lists.ops, lists.n_ops, sizeof(lists.ops[0]), by_enter);
	return &lists;
}

const struct ct_launch *recorded_launch(const struct recorded_lists *r, uint32_t id)
{
	const struct ct_launch *found = NULL;

	for (uint32_t i = 0; i < r->n_launches; i++) {
		if (r->launches[i].id != id)
			continue;
		if (found)
			return NULL;
		found = &r->launches[i];
	}
	return found;
}

static const char *value_of(const char texts[][sizeof(lists.facts[0])], uint32_t n, const char *key)
{
	size_t len = strlen(key);

	for (uint32_t i = 0; i < n && i < LIST_MAX; i++)
		if (strncmp(texts[i], key, len) == 0 && texts[i][len] == '=')
			return texts[i] + len + 1;
	return NULL;
}

const struct ct_error_rec *recorded_error(const struct recorded_lists *r, uint32_t nth)
{
	return nth < r->n_errors && r->n_errors <= LIST_MAX ? &r->errors[nth] : NULL;
}

const char *recorded_fact(const struct recorded_lists *r, const char *key)
{
	return value_of(r->facts, r->n_facts, key);
}

const char *recorded_unseen(const struct recorded_lists *r, const char *id)
{
	return value_of(r->unseen, r->n_unseen, id);
}

const char *recorded_name(const struct recorded_lists *r, uint32_t id)
{
	return r->names[id % LIST_MAX];
}

const struct ct_host_rec *recorded_host(const struct recorded_lists *r, const char *call, int nth)
{
	for (uint32_t i = 0; i < r->n_ends; i++)
		if (strcmp(recorded_name(r, r->ends[i].call), call) == 0 && nth-- == 0)
			return &r->ends[i];
	return NULL;
}
