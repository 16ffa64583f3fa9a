/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h — a list of "key=value" texts that one thread fills and the write thread copies into
 * segments.
 *
 * Fixed memory, so that any thread may be the one that fills, also the poll thread. Entries are
 * never changed or taken back: a reader sees those that were there when it began. What finds no
 * space is counted.
 */
#ifndef CT_TRACE_FACTS_H
#define CT_TRACE_FACTS_H

#include <stdatomic.h>
#include <stdint.h>

/* size: of one list, 300 facts of 100 bytes; more are counted. */
#define CT_FACTS_BYTES (32u << 10)
/* size: longer keys are left out; only names of environment variables can be longer. */
#define CT_FACT_KEY 80u
/* size: longer values are cut and end in "...", so that one long path leaves space for the others. */
#define CT_FACT_VALUE 512u

struct ct_facts {
	_Atomic uint32_t used; /* bytes of text; stored (release) after them */
	_Atomic uint32_t left_out;
	char text[CT_FACTS_BYTES];
};

/* By the one thread that fills the list, or before there are others. */
void ct_facts_clear(struct ct_facts *facts);
void ct_facts_add(struct ct_facts *facts, const char *key, const char *value);
void ct_facts_addf(struct ct_facts *facts, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Any thread: the entry at *at, which moves on; NULL after the last one. Begin with 0. */
const char *ct_facts_next(const struct ct_facts *facts, uint32_t *at);

/* The value of a key, NULL without; any thread. */
const char *ct_facts_find(const struct ct_facts *facts, const char *key);

#endif
