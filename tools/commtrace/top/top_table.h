/* SPDX-License-Identifier: Apache-2.0 */
/* top_table.h — the rows of `commtrace top`, as cells and as JSON: what its text and its screen
 * have in common. Pure. */
#ifndef CT_TOOLS_COMMTRACE_TOP_TOP_TABLE_H
#define CT_TOOLS_COMMTRACE_TOP_TOP_TABLE_H

#include <jansson.h>

#include "analyzer/live/live.h"

enum ct_top_column {
#define COLUMN(NAME, key, heading, width, sort) CT_TOP_##NAME,
#include "tools/commtrace/top/top_columns.def"
#undef COLUMN
	CT_TOP_COLUMNS
};

struct ct_top_column_of {
	const char *key, *heading;
	int width, sort;
};
extern const struct ct_top_column_of ct_top_columns[CT_TOP_COLUMNS];

enum ct_top_state {
	CT_TOP_IS_ENDED,
	CT_TOP_IS_RUNNING,
	CT_TOP_IS_SLOW,	       /* it costs the job time, surely: a straggler */
	CT_TOP_IS_NOT_ENTERED, /* others wait in an operation of this machine's ranks that it has
			      not entered */
	CT_TOP_IS_STALLED,     /* in one operation for long */
};
const char *ct_top_state_name(enum ct_top_state state);

struct ct_top_row {
	const struct ct_live_rank *rank;
	enum ct_top_state state;
	/* NAN unknown */
	double ops, bytes;    /* a second */
	double wait, exposed; /* share of time */
	uint64_t behind;
};

struct ct_top_table {
	struct ct_top_row *rows; /* of the caller: free() */
	uint32_t n;
	uint32_t n_stalled;
	uint64_t stall_ns; /* in flight for longer: stalled */
};

/* `stall_ns` 0: as the view has it. The ranks that `filter` fits (NULL: all): part of the host, of
 * the state, of the operation or communicator, or the rank itself. In order of `sort`, reversed if
 * `reverse`. 0 or CT_NOMEM. */
int ct_top_fill(struct ct_top_table *table, const struct ct_live_view *view, uint64_t stall_ns,
		enum ct_top_column sort, int reverse, const char *filter);

/* size: the text of a cell, which is narrower than a line. */
#define CT_TOP_CELL 96u
void ct_top_cell(const struct ct_top_row *row, enum ct_top_column column, char text[CT_TOP_CELL]);

/* The column of this name, CT_TOP_COLUMNS: there is none. */
enum ct_top_column ct_top_column_named(const char *key);

/* "16 ranks, 3 stalled ..." */
void ct_top_headline(const struct ct_top_table *table, const struct ct_live_view *view, char *text,
		     size_t size);

json_t *ct_top_json(const struct ct_top_table *table, const struct ct_live_view *view);

#endif
