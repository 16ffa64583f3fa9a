/* SPDX-License-Identifier: Apache-2.0 */
/* status.h — how the trace and analyzer libraries say that something failed.
 *
 * Functions return 0 (CT_OK) or a negative code of the map below. Where a caller can say more to a
 * person, the last parameter is a struct ct_err, filled where the failure happened (which file,
 * which offset, why) and extended by callers that know what they were doing. Nothing here allocates
 * or prints.
 */
#ifndef CT_TRACE_STATUS_H
#define CT_TRACE_STATUS_H

#include <stdint.h>

#define CT_STATUS_MAP(XX)                                                                          \
	XX(0, OK, "no error")                                                                      \
	XX(-1, NOMEM, "out of memory")                                                             \
	XX(-2, IO, "the system refused an input or output call")                                   \
	XX(-3, FORMAT, "not a commtrace file, or damaged")                                         \
	XX(-4, VERSION, "made by another version of commtrace")                                    \
	XX(-5, TORN, "ends in the middle of a block")                                              \
	XX(-6, EMPTY, "holds no record")                                                           \
	XX(-7, RANGE, "a value is outside its range")                                              \
	XX(-8, FULL, "no space left")                                                              \
	XX(-9, BUSY, "in use by another process")                                                  \
	XX(-10, NOTFOUND, "no such thing")

enum ct_status {
#define CT_STATUS_ENUM(code, name, text) CT_##name = (code),
	CT_STATUS_MAP(CT_STATUS_ENUM)
#undef CT_STATUS_ENUM
};

struct ct_err {
	int status;
	char text[480]; /* "FILE: offset N: why", extended from the front by callers */
};

/* The sentence that belongs to a code; "unknown status" for a code that is not in the map. */
const char *ct_status_text(int status);

/* Fill *err (may be NULL) and return `status`, so that a failure reads `return ct_fail(err, CT_IO,
 * ...)`. printf-style; the text is cut at the size of err->text. */
int ct_fail(struct ct_err *err, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "doing what: " in front of the text of *err (may be NULL); returns err->status or `status`. */
int ct_fail_while(struct ct_err *err, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* CT_VERSION, and in *err why a file of this format is not read. */
int ct_format_refuse(uint32_t version, struct ct_err *err);

#endif
