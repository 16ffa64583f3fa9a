/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/choice/options.h"

#include <string.h>

/* tuning: windows of a block, so that each untimed one has timed ones on both sides. */
#define FEWEST_WINDOWS 4u

/* Digits, and perhaps a point and more of them, in millionths; what follows is *end. UINT64_MAX: no
 * number, or too large a one. Not strtod(), which reads what the program's locale says. */
static uint64_t parse_decimal(const char *text, const char **end)
{
	uint64_t value = 0, digit = 100000;
	const char *p = text;

	for (; *p >= '0' && *p <= '9' && value < 1000000000; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	if (p == text || (*p >= '0' && *p <= '9'))
		return UINT64_MAX;
	value *= 1000000;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++, digit /= 10)
			value += digit * (uint64_t)(*p - '0');
	*end = p;
	return value;
}

/* "10": one in ten; "0.1": the same; "1": all. */
static int parse_sample(const char *text, uint64_t *share)
{
	const char *end = text;
	uint64_t millionths = parse_decimal(text, &end);

	if (millionths == UINT64_MAX || *end || !millionths)
		return 0;
	if (millionths >= 1000000) {
		if (millionths % 1000000)
			return 0;
		*share = CT_GPU_ALL / (millionths / 1000000);
	} else {
		*share = millionths * CT_GPU_ALL / 1000000;
	}
	return *share > 0;
}

/* "1%", "0.25%"; "off". */
static int parse_budget(const char *text, uint32_t *millionths)
{
	const char *end = text;
	uint64_t percent = parse_decimal(text, &end);

	if (strcmp(text, "off") == 0) {
		*millionths = 0;
		return 1;
	}
	if (percent == UINT64_MAX || strcmp(end, "%") != 0 || percent < 100 || percent > 100000000)
		return 0;
	*millionths = (uint32_t)(percent / 100);
	return 1;
}

/* "10s", "500ms", "2m"; what follows is *end. */
static uint64_t parse_ms(const char *text, const char **end)
{
	uint64_t value = parse_decimal(text, end);
	uint64_t factor = 0;

	if (value == UINT64_MAX)
		return 0;
	if (strncmp(*end, "ms", 2) == 0) {
		factor = 1;
		++*end;
	} else if (**end == 's') {
		factor = 1000;
	} else if (**end == 'm') {
		factor = 60000;
	}
	*end += factor != 0;
	return factor ? value * factor / 1000000 : 0;
}

/* "10s/60s": the first of every second; "off". */
static int parse_duty(const char *text, uint32_t *on_ms, uint32_t *all_ms)
{
	const char *end = text;
	uint64_t on, all;

	*on_ms = *all_ms = 0;
	if (strcmp(text, "off") == 0)
		return 1;
	on = parse_ms(text, &end);
	if (!on || *end != '/')
		return 0;
	all = parse_ms(end + 1, &end);
	if (*end || all <= on || all > CT_GPU_LONGEST_MS)
		return 0;
	*on_ms = (uint32_t)on;
	*all_ms = (uint32_t)all;
	return 1;
}

/* "2m,10s/2m": after two minutes, ten seconds of every two minutes; "off": the same, but never. */
static int parse_guard(const char *text, struct ct_gpu_options *o)
{
	const char *end = text;
	uint64_t after, off, all;

	o->guard_after_ms = 120000;
	o->guard_off_ms = 10000;
	o->guard_ms = 0;
	if (strcmp(text, "off") == 0)
		return 1;
	o->guard_ms = 120000;
	after = parse_ms(text, &end);
	/* a number without a unit is nothing, and 0 of one is something */
	if (end == text || end[-1] < 'a' || *end != ',')
		return 0;
	text = end + 1;
	off = parse_ms(text, &end);
	if (!off || *end != '/')
		return 0;
	all = parse_ms(end + 1, &end);
	if (*end || all % off || all / off < FEWEST_WINDOWS || all > CT_GPU_LONGEST_MS ||
	    after > CT_GPU_LONGEST_MS)
		return 0;
	o->guard_after_ms = (uint32_t)after;
	o->guard_off_ms = (uint32_t)off;
	o->guard_ms = (uint32_t)all;
	return 1;
}

/* As the driver reads it: 1 to 32, 8 if it says nothing. */
unsigned ct_gpu_connections(const char *variable)
{
	uint64_t n = 0;

	for (const char *p = variable; p && *p >= '0' && *p <= '9' && n <= 32; p++)
		n = n * 10 + (uint64_t)(*p - '0');
	return !n ? 8 : n < 32 ? (unsigned)n : 32;
}

/* A timed event holds up what comes later on other streams of its connection: with one for all,
 * communication and computing take turns. */
static void choose_timing(struct ct_gpu_options *o, const char *timing)
{
	int one_connection = o->connections == 1;
	int few_connections = o->connections < CT_GPU_FEW_CONNECTIONS;

	o->is_auto = o->may_rise = 0;
	o->why = CT_TIMED_WHY_ASKED;
	if (strcmp(timing, "off") == 0) {
		o->timing = CT_GPU_UNTIMED;
	} else if (strcmp(timing, "host") == 0) {
		o->timing = CT_GPU_HOST;
	} else if (strcmp(timing, "plugin") == 0) {
		o->timing = CT_GPU_PLUGIN;
	} else if (strcmp(timing, "events") == 0) {
		o->timing = one_connection ? CT_GPU_UNANCHORED : CT_GPU_TIMED;
	} else {
		o->is_auto = 1;
		o->may_rise = !few_connections;
		o->timing = few_connections ? CT_GPU_PLUGIN_OR_HOST : CT_GPU_HOST;
		o->why = one_connection	   ? CT_TIMED_WHY_ONE_CONNECTION
			 : few_connections ? CT_TIMED_WHY_STREAMS
					   : CT_TIMED_WHY_EARLY;
	}
}

void ct_gpu_options_read(struct ct_gpu_options *options, const struct ct_settings *settings,
			 const char *connections, struct ct_notes *notes)
{
	options->connections = ct_gpu_connections(connections);
	choose_timing(options, settings->TIMING);
	options->sample = CT_GPU_ALL;
	options->budget_millionths = 10000;
	if (!parse_sample(settings->SAMPLE, &options->sample)) {
		options->sample = CT_GPU_ALL;
		ct_notes_add(
			notes,
			"COMMTRACE_SAMPLE=%.40s is neither a number such as 10 (one in ten) nor "
			"a share such as 0.1: using 1",
			settings->SAMPLE);
	}
	if (!parse_budget(settings->BUDGET, &options->budget_millionths))
		ct_notes_add(notes,
			     "COMMTRACE_BUDGET=%.40s is not a percentage such as 0.5%% or off: "
			     "using 1%%",
			     settings->BUDGET);
	if (!parse_duty(settings->DUTY, &options->duty_on_ms, &options->duty_ms))
		ct_notes_add(notes,
			     "COMMTRACE_DUTY=%.40s is not a window such as 10s/60s: using off",
			     settings->DUTY);
	if (!parse_guard(settings->GUARD, options))
		ct_notes_add(notes,
			     "COMMTRACE_GUARD=%.40s is neither a beginning and windows such as "
			     "2m,10s/2m (the second at least four of the first) nor off: using "
			     "2m,10s/2m",
			     settings->GUARD);
}
