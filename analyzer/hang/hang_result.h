/* SPDX-License-Identifier: Apache-2.0 */
/* hang_result.h — the result of a diagnosis: verdicts, their evidence, and differences that are not
 * blamed. Plain values of an arena, with indices into the case (hang_case.h) and pointers into it. */
#ifndef CT_ANALYZER_HANG_HANG_RESULT_H
#define CT_ANALYZER_HANG_HANG_RESULT_H

#include "analyzer/hang/hang_case.h"

enum ct_hang_code {
#define HANG_CODE(CODE, precedence, headline, cause, advice, host_advice, command, host_command,   \
		  anchor)                                                                          \
	CT_HANG_IS_##CODE,
#include "analyzer/hang/hang_texts.def"
	CT_HANG_CODES
};

enum ct_hang_text {
#define HANG_TEXT(NAME, text) CT_HANG_TEXT_##NAME,
#include "analyzer/hang/hang_texts.def"
	CT_HANG_TEXTS
};

/* One fact that supports a verdict. */
struct ct_hang_fact {
	const char *name; /* snake_case, stable */
	const char *text; /* NULL: `value` is it */
	const char *unit; /* of value: "ns", "count"; NULL with text */
	uint64_t value;	  /* CT_UNKNOWN with text */
	int rank;	  /* -1: of none in particular */
};

/* Where ranks diverged, by their call sites. */
struct ct_hang_divergence {
	uint64_t seq;		       /* the first that differs, in the verdict's communicator */
	const char *site, *usual_site; /* of these ranks, and of their peers */
	int *ranks;
	uint32_t n_ranks;
	int more; /* 1: they have one op more than the others, -1: one less, 0: unknown */
};

struct ct_hang_verdict {
	enum ct_hang_code code;
	enum ct_confidence confidence;
	const int *ranks; /* ascending; docs/reference/HANG.md has the meaning for each code */
	uint32_t n_ranks;
	const int *victims; /* ranks that wait for it, directly or through others, ascending,
			       without `ranks` */
	uint32_t n_victims;
	uint32_t comm; /* index; UINT32_MAX none */
	uint32_t op;   /* index: of those that wait in the first line, the one that has waited
			  longest, or else one of   `ranks`; UINT32_MAX none */
	const char
		*call; /* the function that does not return, or that others are in; NULL unknown */
	const char *site;  /* of that call, or of `op`; NULL unknown */
	uint64_t seq;	   /* of the operation; CT_UNKNOWN none */
	uint64_t since_ns; /* when the first one began to wait; CT_UNKNOWN */
	uint64_t since_err_ns;
	uint64_t age_ns;      /* until the last tracer heartbeat of the run; CT_UNKNOWN */
	const char *headline; /* rank, host, operation, how long: 80 columns behind "Hang: ", if
				 names are not long */
	const char *cause;
	const char **notes; /* the evidence, a sentence each */
	uint32_t n_notes;
	const char *advice;
	const char *command;  /* to paste; NULL: none */
	const char *anchor;   /* of the section in docs/reference/HANG.md */
	const char **reasons; /* why the confidence is lower, one clause each */
	uint32_t n_reasons;
	struct ct_hang_fact *facts;
	uint32_t n_facts;
	const struct ct_hang_divergence *divergence; /* NULL: none was found */
};

/* Not finished, and not for long: no reason for a verdict. */
struct ct_hang_slow {
	uint32_t op; /* index */
	uint64_t age_ns;
};

struct ct_hang_missing {
	int rank;
	const char *text; /* "left no trace", "records end 12 s before the last of the run" */
};

struct ct_hang_result {
	struct ct_hang_verdict *verdicts; /* most victims first, then by begin */
	uint32_t n_verdicts;
	struct ct_hang_slow *not_stalled; /* the oldest first, at most CT_HANG_SLOW */
	uint32_t n_not_stalled, all_not_stalled;
	struct ct_hang_missing *missing;
	uint32_t n_missing;
};
#define CT_HANG_SLOW 10u /* size: operations in the list */

/* "NEVER_ENTERED"; NULL: no such code. */
const char *ct_hang_code_name(enum ct_hang_code code);

/* A row of hang_texts.def, with its words as they are. */
const char *ct_hang_text_of(enum ct_hang_text text);

/* "Hang", or "Crash" where no rank is known to wait for the one that died. */
const char *ct_hang_title(const struct ct_hang_verdict *verdict);

/* Is a rank among those that a verdict names, or its victims? `ranks` ascending, as a verdict has
 * them. */
int ct_hang_is_among(int rank, const int *ranks, uint32_t n);

#endif
