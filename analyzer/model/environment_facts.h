/* SPDX-License-Identifier: Apache-2.0 */
/* environment_facts.h — what one process said about where it runs (ENV records) and what of it
 * passes unseen (INVISIBLE). Texts come from an untrusted file: numbers and lengths are bounded,
 * text other than "key=value" is skipped. Memory is an arena's, but for the index, which is the
 * owner's to give back. */
#ifndef CT_ANALYZER_MODEL_ENVIRONMENT_FACTS_H
#define CT_ANALYZER_MODEL_ENVIRONMENT_FACTS_H

#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/table.h"
#include "analyzer/model/report.h"

#define CT_FACTS_MOST 2048u	  /* size: facts of a process */
#define CT_FACTS_KEY_MOST 128u	  /* size: characters of a key ... */
#define CT_FACTS_VALUE_MOST 4096u /* size: ... and of a value */
#define CT_UNSEEN_MOST 64u	  /* size: names of what was not seen */

struct ct_environment_facts {
	struct ct_report_fact
		*facts; /* in the order in which they came; a key once, with its latest value */
	uint32_t n, cap;
	uint32_t n_changed;	       /* values reported again */
	struct ct_report_fact *unseen; /* ID of invisible.def, and the object */
	uint32_t n_unseen;
	struct ct_table index; /* by hash of the key; empty in a copy */
};

/* The payload of a record. 0 or CT_NOMEM. */
int ct_facts_take(struct ct_environment_facts *facts, struct ct_arena *memory, const uint8_t *bytes,
		  size_t len);
int ct_facts_take_unseen(struct ct_environment_facts *facts, struct ct_arena *memory,
			 const uint8_t *bytes, size_t len);

/* With texts that live in `memory`, without the index. 0 or CT_NOMEM. */
int ct_facts_copy(struct ct_environment_facts *to, struct ct_arena *memory,
		  const struct ct_environment_facts *from);

/* NULL: not reported. */
const char *ct_facts_value(const struct ct_environment_facts *facts, const char *key);

/* Whatever the arena does not hold. */
void ct_facts_fini(struct ct_environment_facts *facts);

#endif
