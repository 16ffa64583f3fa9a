/* SPDX-License-Identifier: Apache-2.0 */
/* json_value.h — values of a report as JSON: what is unknown becomes null, never 0. New references;
 * NULL when out of memory, which json_object_set_new and json_array_append_new pass on as an error.
 * Pure. */
#ifndef CT_ANALYZER_RENDER_JSON_VALUE_H
#define CT_ANALYZER_RENDER_JSON_VALUE_H

#include <jansson.h>

#include "analyzer/model/report.h"

json_t *ct_json_u64(uint64_t value);	/* CT_UNKNOWN: null */
json_t *ct_json_double(double value);	/* NAN: null */
json_t *ct_json_text(const char *text); /* NULL: null */
json_t *ct_json_hex(uint64_t key);	/* 16 digits; 0: null */
json_t *ct_json_rank(int rank);		/* -1: null */
json_t *ct_json_ranks(const int *ranks, size_t n);
json_t *ct_json_texts(const char *const *texts, size_t n);

/* CT_JSON({ "rank", ct_json_rank(3) }, { "text", ct_json_text(text) }): an object of these values,
 * which are stolen, also on failure. NULL where one of them is. */
struct ct_json_pair {
	const char *key;
	json_t *value;
};
json_t *ct_json_object(const struct ct_json_pair *pairs); /* the last one's key is NULL */
#define CT_JSON(...) ct_json_object((const struct ct_json_pair[]){ __VA_ARGS__, { NULL, NULL } })

/* An array of `value`, an expression of `i`, for each i from 0 to n - 1; NULL where one is. */
#define CT_JSON_ARRAY(i, n, value)                                                                 \
	({                                                                                         \
		json_t *array_ = json_array();                                                     \
		int failed_ = !array_;                                                             \
                                                                                                   \
		for (size_t i = 0; i < (n); i++)                                                   \
			ct_json_append(array_, (value), &failed_);                                 \
		ct_json_done(array_, failed_);                                                     \
	})

/* object[key] = value (stolen, also on failure); *failed is set when something was NULL. */
void ct_json_set(json_t *object, const char *key, json_t *value, int *failed);
void ct_json_append(json_t *array, json_t *value, int *failed);

/* The object itself, or NULL (and it is freed) if something failed. */
json_t *ct_json_done(json_t *object, int failed);

#endif
