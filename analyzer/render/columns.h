/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h — the rows of a report, each described once (columns.def): which member is under which
 * key, in which unit, when it is unknown, and what its column is called in text and on the page.
 * JSON, text tables and the tables of report.html are all written from it. Constant data; any
 * thread. */
#ifndef CT_ANALYZER_RENDER_COLUMNS_H
#define CT_ANALYZER_RENDER_COLUMNS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/render/text.h"

/* As scripts/format.js of the page calls them. rank, host, comm, ranks and hosts are names of
 * things, which it can filter by. */
#define CT_UNIT_MAP(XX)                                                                            \
	XX(text)                                                                                   \
	XX(yes)                                                                                    \
	XX(integer)                                                                                \
	XX(count)                                                                                  \
	XX(number)                                                                                 \
	XX(ns)                                                                                     \
	XX(bytes) XX(Bps) XX(pct) XX(date) XX(rank) XX(host) XX(comm) XX(ranks) XX(hosts)

enum ct_unit {
#define CT_UNIT_ENUM(name) CT_UNIT_##name,
	CT_UNIT_MAP(CT_UNIT_ENUM)
#undef CT_UNIT_ENUM
};

/* The C type of a member. */
enum ct_store {
	CT_STORE_NONE,
	CT_STORE_INT,
	CT_STORE_U32,
	CT_STORE_U64,
	CT_STORE_I64,
	CT_STORE_DOUBLE,
	CT_STORE_TEXT,
	CT_STORE_ROW,  /* a struct inside */
	CT_STORE_ROWS, /* an array of structs inside ... */
	CT_STORE_LIST, /* ... or at the other end of a pointer */
};

struct ct_columns;

struct ct_report_column {
	const char *key;
	unsigned at;	   /* of the member in the struct */
	unsigned n_at;	   /* of the one that says how many there are; 0: it is one */
	unsigned only_at;  /* of one that is 0 where nothing is known ... */
	unsigned only_len; /* ... and its bytes; 0: there is none */
	int is_unless;	   /* 1: of one that is not */
	enum ct_store store;
	enum ct_unit unit;
	int is_for_text;		     /* 1: not in the JSON */
	const char *constant;		     /* its value, always */
	const char *(*name)(unsigned value); /* the word for a value; NULL: unknown */
	json_t *(*json)(const void *row,
			const void *outer);	/* outer: what the outermost row is in */
	const struct ct_columns *(*rows)(void); /* of the structs inside */
	/* on the page */
	const char *title; /* NULL: it is not a column there */
	const char *err;   /* key of its error */
	const char *help;
	/* in text */
	const char *head, *none;			     /* none: for NULL; NULL: n/a */
	int width;					     /* below 0: from the left */
	void (*cell)(char *to, size_t cap, const void *row); /* NULL: by unit */
};

struct ct_columns {
	const struct ct_report_column *all;
	size_t n, size;	  /* of the struct */
	const char *page; /* keys in the order of the page; "": it has no such table */
};

/* One for each ROWS() of columns.def. */
#define ROWS(name, type, page) const struct ct_columns *ct_columns_##name(void);
#define COLUMN(...)
#define END
#include "analyzer/render/columns.def"

/* 0: ONLY() or UNLESS() says that nothing is known of it in this row. */
int ct_column_is_known(const struct ct_report_column *column, const void *row);

/* The column of the first of `keys`, which then begin after it; NULL: no more. */
const struct ct_report_column *ct_columns_next(const struct ct_columns *columns, const char **keys);

/* An object, an array of `n`. New references, NULL when out of memory. */
json_t *ct_columns_json(const struct ct_columns *columns, const void *row, const void *outer);
json_t *ct_columns_json_all(const struct ct_columns *columns, const void *rows, size_t n,
			    const void *outer);

/* All tables of the page, by their path in a report ("steps.items"): [{key, title, unit, err,
 * help}]. As above. */
json_t *ct_columns_page(void);

/* Lines of a table with these columns ("comm bytes"), at most 100 columns wide. */
void ct_columns_head(struct ct_text *text, const struct ct_columns *columns, const char *keys);
void ct_columns_row(struct ct_text *text, enum ct_color color, const struct ct_columns *columns,
		    const char *keys, const void *row);

/* A line of these keys of an object, NULL: of what the page shows, "steps     39; median
 * 39.5 ± 0.002 ms". It says why it has none, if that is known, and is left out where its `key` is
 * not. */
void ct_columns_facts(struct ct_text *text, const char *word, const struct ct_columns *columns,
		      const char *keys, const char *key, const void *row);

/* The same of the one of n rows that has most of the key, a uint64_t; NULL: of the first. */
void ct_columns_most(struct ct_text *text, const char *word, const struct ct_columns *columns,
		     const char *keys, const char *key, const void *rows, size_t n);

/* "rank 3, nic 9.00 GB, in 30.0 s": heads and cells. */
void ct_columns_pairs(char *to, size_t cap, const struct ct_columns *columns, const char *keys,
		      const void *row);

#endif
