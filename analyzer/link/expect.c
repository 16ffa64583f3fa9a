/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/expect.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/link/expect_private.h"
#include "trace/ops.h"

static const char *const scopes[] = { "any", "host", "cross" };
static const char *const vias[] = { "nvlink", "pcie", "infiniband", "ethernet" };

enum expect_kind {
	KIND_OP,
	KIND_BACKEND,
	KIND_SCOPE,
	KIND_VIA,
	KIND_TEXT,
	KIND_COUNT,
	KIND_LIMIT,
	KIND_FLAG
};

/* Every key that a rule may have, and where it goes. */
static const struct key {
	const char *name;
	enum expect_kind kind;
	size_t to; /* a limit's metric; where a text or a flag is kept */
} keys[] = {
	{ "op", KIND_OP, 0 },
	{ "backend", KIND_BACKEND, 0 },
	{ "scope", KIND_SCOPE, 0 },
	{ "via", KIND_VIA, 0 },
	{ "name", KIND_TEXT, offsetof(struct ct_expect_rule, name) },
	{ "comm", KIND_TEXT, offsetof(struct ct_expect_rule, comm) },
	{ "source", KIND_TEXT, offsetof(struct ct_expect_rule, source) },
	{ "not_for", KIND_TEXT, offsetof(struct ct_expect_rule, not_for) },
	{ "min_bytes", KIND_COUNT, 0 },
	{ "max_bytes", KIND_COUNT, 0 },
	{ "min_op_count", KIND_COUNT, 0 },
	{ "min_busbw_GBps", KIND_LIMIT, CT_EXPECT_BUSBW },
	{ "min_algbw_GBps", KIND_LIMIT, CT_EXPECT_ALGBW },
	{ "max_latency_us", KIND_LIMIT, CT_EXPECT_LATENCY },
	{ "min_utilization_pct", KIND_LIMIT, CT_EXPECT_UTILIZATION },
	{ "required", KIND_FLAG, offsetof(struct ct_expect_rule, required) },
	{ "declared", KIND_FLAG, offsetof(struct ct_expect_rule, declared) },
};

static int bad(struct ct_err *err, size_t rule, const char *key, const char *why)
{
	return ct_fail(err, CT_FORMAT, "rule %zu: \"%.40s\" %s", rule, key, why);
}

/* The words that a text may be; -1: none of them, or no text. */
static int word(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; text && i < n; i++)
		if (strcmp(text, words[i]) == 0)
			return (int)i;
	return -1;
}

static int take_text(struct ct_expect_rule *r, const struct key *key, const char *text,
		     struct ct_err *err)
{
	int at;

	switch (key->kind) {
	case KIND_OP:
		r->op = ct_op_by_name(text);
		return r->op ? CT_OK : bad(err, r->number, key->name, "is not an operation's name");
	case KIND_BACKEND:
		r->backend = ct_backend_by_name(text);
		return r->backend ? CT_OK
				  : bad(err, r->number, key->name, "is not a backend's name");
	case KIND_SCOPE:
		at = word(text, scopes, sizeof(scopes) / sizeof(scopes[0]));
		if (at < 0)
			return bad(err, r->number, key->name, "is none of any, host, cross");
		r->scope = (enum ct_expect_scope)at;
		return CT_OK;
	case KIND_VIA:
		at = word(text, vias, sizeof(vias) / sizeof(vias[0]));
		if (at < 0)
			return bad(err, r->number, key->name,
				   "is none of nvlink, pcie, infiniband, ethernet");
		r->via = vias[at];
		return CT_OK;
	default:
		*(const char **)((char *)r + key->to) = text;
		return CT_OK;
	}
}

static int take_number(struct ct_expect_rule *r, const struct key *key, double value,
		       struct ct_err *err)
{
	if (!(value >= 0) || value > 1e15)
		return bad(err, r->number, key->name, "is not a number of at least 0");
	if (key->kind == KIND_LIMIT) {
		if (value == 0)
			return bad(err, r->number, key->name, "is 0, which says nothing");
		r->limits[key->to] = value;
		r->has[key->to] = 1;
		return CT_OK;
	}
	if (strcmp(key->name, "min_bytes") == 0)
		r->min_bytes = (uint64_t)value;
	else if (strcmp(key->name, "max_bytes") == 0)
		r->max_bytes = (uint64_t)value;
	else
		r->min_op_count = (uint64_t)value;
	return CT_OK;
}

static int take_key(struct ct_expect_rule *r, const char *name, const json_t *value,
		    struct ct_err *err)
{
	const struct key *key = NULL;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].name, name) == 0)
			key = &keys[i];
	if (!key)
		return bad(err, r->number, name, "is not a key of a rule");
	if (key->kind <= KIND_TEXT)
		return json_is_string(value) ? take_text(r, key, json_string_value(value), err)
					     : bad(err, r->number, name, "is not a text");
	if (key->kind == KIND_FLAG) {
		*(int *)((char *)r + key->to) = json_is_true(value);
		return json_is_boolean(value) ? CT_OK
					      : bad(err, r->number, name, "is not true or false");
	}
	return json_is_number(value) ? take_number(r, key, json_number_value(value), err)
				     : bad(err, r->number, name, "is not a number");
}

static int take_rule(struct ct_expect_rule *r, json_t *rule, struct ct_err *err)
{
	const char *name;
	json_t *value;
	int any = 0;

	if (!json_is_object(rule))
		return ct_fail(err, CT_FORMAT, "rule %zu: not an object", r->number);
	r->max_bytes = UINT64_MAX;
	r->min_op_count = CT_FEW_SAMPLES;
	json_object_foreach(rule, name, value)
	{
		int st = take_key(r, name, value, err);

		if (st != CT_OK)
			return st;
	}
	for (int m = 0; m < CT_EXPECT_METRICS; m++)
		any |= r->has[m];
	if (!any)
		return ct_fail(err, CT_FORMAT,
			       "rule %zu: has no limit (min_busbw_GBps, min_algbw_GBps, "
			       "max_latency_us, min_utilization_pct)",
			       r->number);
	if (r->max_bytes < r->min_bytes)
		return bad(err, r->number, "max_bytes", "is less than \"min_bytes\"");
	return CT_OK;
}

static int take_peak(struct ct_expect_peak *peak, size_t number, json_t *from, struct ct_err *err)
{
	const json_t *Bps = json_object_get(from, "busbw_GBps");
	const json_t *scope = json_object_get(from, "scope");
	int at = scope ? word(json_string_value(scope), scopes, sizeof(scopes) / sizeof(scopes[0]))
		       : CT_EXPECT_ANY;

	if (json_object_size(from) != (Bps != NULL) + (size_t)(scope != NULL))
		return ct_fail(err, CT_FORMAT,
			       "peak %zu: not an object of \"busbw_GBps\" and \"scope\"", number);
	if (at < 0)
		return ct_fail(err, CT_FORMAT, "peak %zu: \"scope\" is none of any, host, cross",
			       number);
	if (!json_is_number(Bps) || json_number_value(Bps) <= 0 || json_number_value(Bps) > 1e9)
		return ct_fail(err, CT_FORMAT, "peak %zu: \"busbw_GBps\" is not a number above 0",
			       number);
	*peak = (struct ct_expect_peak){ .scope = (enum ct_expect_scope)at,
					 .Bps = 1e9 * json_number_value(Bps) };
	return CT_OK;
}

static int take_peaks(struct ct_expect *e, struct ct_err *err)
{
	json_t *peaks = json_object_get(e->json, "peaks");
	size_t n = json_array_size(peaks);
	int st = CT_OK;

	if (!peaks)
		return CT_OK;
	if (!n || n > CT_EXPECT_RULES)
		return ct_fail(err, CT_FORMAT,
			       "\"peaks\" is not an array of 1 to %u: [{\"busbw_GBps\": 45}]",
			       CT_EXPECT_RULES);
	e->peaks = calloc(n, sizeof(*e->peaks));
	if (!e->peaks)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	for (; e->n_peaks < n && st == CT_OK; e->n_peaks += st == CT_OK)
		st = take_peak(&e->peaks[e->n_peaks], e->n_peaks + 1,
			       json_array_get(peaks, e->n_peaks), err);
	return st;
}

static int take_rules(struct ct_expect *e, struct ct_err *err)
{
	json_t *rules = json_object_get(e->json, "rules");
	const char *name;
	json_t *value;
	size_t n = json_array_size(rules);

	json_object_foreach(e->json, name, value)
	{
		if (strcmp(name, "rules") != 0 && strcmp(name, "peaks") != 0)
			return ct_fail(err, CT_FORMAT, "\"%.40s\" is not a key of a profile", name);
	}
	if (!rules && e->n_peaks)
		return CT_OK;
	if (!json_is_array(rules) || !n)
		return ct_fail(err, CT_FORMAT,
			       "no \"rules\": a profile is {\"rules\": [{...}, ...]}");
	if (n > CT_EXPECT_RULES)
		return ct_fail(err, CT_FORMAT, "%zu rules are more than %u", n, CT_EXPECT_RULES);
	e->rules = calloc(n, sizeof(*e->rules));
	if (!e->rules)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	for (e->n = 0; e->n < n; e->n++) {
		int st;

		e->rules[e->n].number = e->n + 1;
		st = take_rule(&e->rules[e->n], json_array_get(rules, e->n), err);
		if (st != CT_OK)
			return st;
	}
	return CT_OK;
}

int ct_expect_read(const char *text, size_t len, struct ct_expect **out, struct ct_err *err)
{
	struct ct_expect *e = calloc(1, sizeof(*e));
	json_error_t why;
	int st = CT_OK;

	*out = NULL;
	if (!e)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	if (len > CT_EXPECT_BYTES)
		st = ct_fail(err, CT_FORMAT, "offset %u: longer than a profile may be",
			     CT_EXPECT_BYTES);
	if (st == CT_OK) {
		e->json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
		if (!e->json)
			st = ct_fail(err, CT_FORMAT, "offset %d (line %d): %.120s", why.position,
				     why.line, why.text);
	}
	if (st == CT_OK && !json_is_object(e->json))
		st = ct_fail(err, CT_FORMAT, "offset 0: not an object");
	st = st ?: take_peaks(e, err) ?: take_rules(e, err);
	if (st != CT_OK) {
		ct_expect_free(e);
		return st;
	}
	*out = e;
	return CT_OK;
}

void ct_expect_free(struct ct_expect *e)
{
	if (!e)
		return;
	json_decref(e->json);
	free(e->rules);
	free(e->peaks);
	free(e);
}

double ct_expect_peak(const struct ct_expect *e, uint32_t n_hosts)
{
	enum ct_expect_scope scope = n_hosts > 1 ? CT_EXPECT_CROSS : CT_EXPECT_HOST;

	for (size_t i = 0; e && i < e->n_peaks; i++) {
		if (e->peaks[i].scope == CT_EXPECT_ANY || e->peaks[i].scope == scope)
			return e->peaks[i].Bps;
	}
	return NAN;
}

const char *ct_expect_scope_name(enum ct_expect_scope scope)
{
	return scopes[scope];
}
