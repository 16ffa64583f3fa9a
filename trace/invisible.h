/* SPDX-License-Identifier: Apache-2.0 */
/* invisible.h — the table of what the tracer cannot see (invisible.def), for detection and for
 * reports. Constant data; any thread. */
#ifndef CT_TRACE_INVISIBLE_H
#define CT_TRACE_INVISIBLE_H

enum ct_invisible {
#define X(ID, what, why, remedy) CT_INVISIBLE_##ID,
#include "trace/invisible.def"
#undef X
	CT_INVISIBLE_COUNT
};

enum ct_mark_kind { CT_MARK_FILE, CT_MARK_IMPORTS, CT_MARK_EXPORTS, CT_MARK_CONTAINS };

struct ct_invisible_row {
	const char *id, *what, *why, *remedy;
};

struct ct_mark {
	enum ct_invisible of;
	enum ct_mark_kind kind;
	const char *text;
};

extern const struct ct_invisible_row ct_invisible_rows[CT_INVISIBLE_COUNT];
extern const struct ct_mark ct_marks[];
extern const unsigned ct_n_marks;

/* The row that is called so, NULL: a newer version's. */
const struct ct_invisible_row *ct_invisible_by_id(const char *id);

/* Do the marks of `of` not count in an object of this path? */
int ct_invisible_excepts(enum ct_invisible of, const char *path);

#endif
