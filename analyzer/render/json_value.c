/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/json_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "trace/ops.h"

json_t *ct_json_u64(uint64_t value)
{
	if (value == CT_UNKNOWN)
		return json_null();
	return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

json_t *ct_json_double(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *ct_json_text(const char *text)
{
	return text ? json_string(text) : json_null();
}

json_t *ct_json_hex(uint64_t key)
{
	char digits[17];

	if (!key)
		return json_null();
	snprintf(digits, sizeof(digits), "%016" PRIx64, key);
	return json_string(digits);
}

json_t *ct_json_rank(int rank)
{
	return rank < 0 ? json_null() : json_integer(rank);
}

void ct_json_set(json_t *object, const char *key, json_t *value, int *failed)
{
	if (!value || !object || json_object_set_new(object, key, value) != 0)
		*failed = 1;
}

void ct_json_append(json_t *array, json_t *value, int *failed)
{
	if (!value || !array || json_array_append_new(array, value) != 0)
		*failed = 1;
}

json_t *ct_json_done(json_t *object, int failed)
{
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

json_t *ct_json_object(const struct ct_json_pair *pairs)
{
	json_t *object = json_object();
	int failed = !object;

	for (; pairs->key; pairs++)
		ct_json_set(object, pairs->key, pairs->value, &failed);
	return ct_json_done(object, failed);
}

json_t *ct_json_ranks(const int *ranks, size_t n)
{
	return CT_JSON_ARRAY(i, n, ct_json_rank(ranks[i]));
}

json_t *ct_json_texts(const char *const *texts, size_t n)
{
	return CT_JSON_ARRAY(i, n, ct_json_text(texts[i]));
}
