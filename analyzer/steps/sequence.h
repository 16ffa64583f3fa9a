/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.h — the calls of one rank, in order, for the whole run in bounded memory. An operation
 * is an entry and a symbol: (communicator, operation, element type, bytes of the call). For
 * messages the peer replaces the bytes; varying sizes have neither. When memory is full, the most
 * frequent symbol is dropped: step markers are rare. Each entry has its number among all
 * operations, so distances stay right. One thread; borrows the communicators. */
#ifndef CT_ANALYZER_STEPS_SEQUENCE_H
#define CT_ANALYZER_STEPS_SEQUENCE_H

#include "analyzer/base/table.h"
#include "analyzer/model/comms.h"
#include "analyzer/steps/step_anchor.h"

#define CT_SEQUENCE_OPS (1u << 19) /* size: entries that are kept, 16 MB */
#define CT_SEQUENCE_SYMBOLS 8192u  /* size: beyond, sizes differ by their power of two only */

/* One call. */
struct ct_call_seen {
	const struct ct_comm *comm;
	unsigned op, dtype;
	int32_t peer;	/* of a message; else -1 */
	uint64_t bytes; /* of the call */
	int varies;	/* its size is another one each time */
	uint64_t at_ns, end_ns, err_ns;
};

struct ct_sequence_kind {
	const struct ct_comm *comm;
	uint64_t bytes; /* of each, if is_sized */
	int32_t peer;
	uint8_t op, dtype, is_sized;
};

struct ct_sequence {
	uint32_t slot;
	struct ct_anchor_op *ops;
	struct ct_anchor_symbol *symbols;
	struct ct_sequence_kind *kinds; /* by symbol */
	uint32_t n, n_symbols;
	uint64_t n_ops;	 /* all there were, as far as they were looked at */
	uint64_t err_ns; /* largest of an end */
	int cut_short;	 /* there were more, of one symbol */
	/* private */
	uint32_t cap, cap_symbols, most, listed;
	struct ct_table by_key;
};

/* most 0: CT_SEQUENCE_OPS. */
void ct_sequence_init(struct ct_sequence *sequence, uint32_t slot, uint32_t most);
void ct_sequence_fini(struct ct_sequence *sequence);

/* One more call; about in order of entry. 0 or CT_NOMEM. */
int ct_sequence_add(struct ct_sequence *sequence, const struct ct_call_seen *call);

/* No more comes: put them in order. */
void ct_sequence_close(struct ct_sequence *sequence);

#endif
