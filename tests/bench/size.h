/* SPDX-License-Identifier: Apache-2.0 */
/* size.h — parts of bench_size: the entropy of what a run stores of its times, and the same
 * operations as JSON. One thread; memory is never given back. */
#ifndef CT_TESTS_BENCH_SIZE_H
#define CT_TESTS_BENCH_SIZE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/block.h"

_Noreturn void ct_size_fail(const char *what);
size_t ct_size_packed(const void *data, size_t bytes, int level);

enum { CT_SIZE_FIELDS = 12, CT_SIZE_CONTEXTS = 4096, CT_SIZE_CLASSES = 260 };

struct ct_size_floor {
	/* residuals of a field in a context, by class */
	uint32_t (*counts[CT_SIZE_FIELDS])[CT_SIZE_CLASSES];
	double low_bits[CT_SIZE_FIELDS];
	uint64_t n[CT_SIZE_FIELDS];
	struct ct_size_state *state;
};

/* The records that follow are of another process. */
void ct_size_floor_process(struct ct_size_floor *floor);
void ct_size_floor_block(struct ct_size_floor *floor, const struct ct_block *block);
double ct_size_floor_bytes(const struct ct_size_floor *floor);
void ct_size_floor_print(const struct ct_size_floor *floor, double n_ops);

/* As the Inspector writes it; and with the times of call and kernel, as it does if it is asked for
 * all. */
enum ct_size_json_of { CT_SIZE_JSON, CT_SIZE_JSON_TIMES, CT_SIZE_JSONS };

struct ct_size_json {
	struct ct_size_text {
		char *text;
		size_t used;
		double packed;
	} texts[CT_SIZE_JSONS];
	struct ct_size_json_state *state;
};
void ct_size_json_process(struct ct_size_json *json, const struct ct_process *process);
void ct_size_json_block(struct ct_size_json *json, const struct ct_block *block);
double ct_size_json_bytes(struct ct_size_json *json, enum ct_size_json_of which);

#endif
