/* SPDX-License-Identifier: Apache-2.0 */
/* json_value.h — values of a report as JSON: what is unknown becomes null, never 0. New references; NULL when out
 * of memory, which json_object_set_new and json_array_append_new pass on as an error. Pure. */
#ifndef CT_JSON_VALUE_H
#define CT_JSON_VALUE_H

#include <jansson.h>

#include "analyzer/model/report.h"

json_t *ct_json_u64(uint64_t value);	/* CT_UNKNOWN: null */
json_t *ct_json_double(double value);	/* NAN: null */
json_t *ct_json_text(const char *text); /* NULL: null */
json_t *ct_json_hex(uint64_t key);	/* 16 digits; 0: null */
json_t *ct_json_rank(int rank);		/* -1: null */
json_t *ct_json_ranks(const int *ranks, size_t n);
json_t *ct_json_texts(const char *const *texts, size_t n);

/* Parts that report and info have in common. */
json_t *ct_json_run(const struct ct_report *report);
json_t *ct_json_comms(const struct ct_report *report);
json_t *ct_json_losses(const struct ct_report *report);
json_t *ct_json_costs(const struct ct_report *report);
json_t *ct_json_clocks(const struct ct_report *report);
json_t *ct_json_cycles(const struct ct_report_cycles *cycles);
json_t *ct_json_links(const struct ct_report *report);
json_t *ct_json_score(const struct ct_report_score *score);
json_t *ct_json_exposed(const struct ct_report_exposed *exposed);
json_t *ct_json_gaps(const struct ct_report *report);
json_t *ct_json_stages(const struct ct_report *report);
json_t *ct_json_environment(const struct ct_report *report);
json_t *ct_json_expect(const struct ct_report *report); /* null: nothing was expected */
json_t *ct_json_heat(const struct ct_report *report);
json_t *ct_json_histogram(const struct ct_report *report);
json_t *ct_json_curves(const struct ct_report *report);
json_t *ct_json_transport(const struct ct_report *report);
json_t *ct_json_traffic(const struct ct_report_traffic *traffic);
json_t *ct_json_ended(const struct ct_report *report);
json_t *ct_json_inflight(const struct ct_report *report);
json_t *ct_json_invisible(const struct ct_report *report);
json_t *ct_json_omitted(const struct ct_report *report);

/* object[key] = value (stolen, also on failure); *failed is set when something was NULL. */
void ct_json_set(json_t *object, const char *key, json_t *value, int *failed);
void ct_json_append(json_t *array, json_t *value, int *failed);

/* The object itself, or NULL (and it is freed) if something failed. */
json_t *ct_json_done(json_t *object, int failed);

#endif
