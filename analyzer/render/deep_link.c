/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/deep_link.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* So many ranks are pinned; more fill the screen. */
#define PINNED_RANKS 8u
/* A finding that lasts for more steps than this is shown by its worst one. */
#define FEW_STEPS 5u

/* ---- when ---- */

static const struct ct_deep_range nowhere = { CT_UNKNOWN, CT_UNKNOWN };

/* With a tenth before and after. */
static struct ct_deep_range widen(struct ct_deep_range range)
{
	uint64_t pad = (range.to_ns - range.from_ns) / 10;

	range.from_ns -= pad < range.from_ns ? pad : range.from_ns;
	range.to_ns += pad;
	return range;
}

static int is_its_rank(const struct ct_finding *finding, int rank)
{
	for (size_t i = 0; i < finding->n_ranks; i++) {
		if (finding->ranks[i] == rank)
			return 1;
	}
	return 0;
}

/* Those that waited for the finding's ranks before all others, then the longest wait. */
static int is_worse(const struct ct_finding *finding, const struct ct_report_step *a,
		    const struct ct_report_step *b)
{
	int for_a = is_its_rank(finding, a->last_rank), for_b = is_its_rank(finding, b->last_rank);

	if (a->wait_ns == CT_UNKNOWN || for_a != for_b)
		return a->wait_ns != CT_UNKNOWN && for_a;
	return b->wait_ns == CT_UNKNOWN || a->wait_ns > b->wait_ns;
}

static int is_inside(const struct ct_report_step *step, struct ct_deep_range range)
{
	return step->begin_at_ns != CT_UNKNOWN && step->time_ns != CT_UNKNOWN &&
	       step->begin_at_ns + step->time_ns > range.from_ns && step->begin_at_ns < range.to_ns;
}

/* The worst of the steps in `range`, with its neighbors; `range` itself if there are few. */
static struct ct_deep_range worst_step(const struct ct_report_steps *steps,
				       const struct ct_finding *finding, struct ct_deep_range range)
{
	const struct ct_report_step *worst = NULL;
	size_t n = 0;

	for (size_t i = 0; i < steps->n_items; i++) {
		const struct ct_report_step *step = &steps->items[i];

		if (!is_inside(step, range))
			continue;
		n++;
		if (!worst || is_worse(finding, step, worst))
			worst = step;
	}
	if (n <= FEW_STEPS || worst->wait_ns == CT_UNKNOWN)
		return range;
	range.from_ns = worst->begin_at_ns > worst->time_ns ? worst->begin_at_ns - worst->time_ns
							    : 0;
	range.to_ns = worst->begin_at_ns + 2 * worst->time_ns;
	return range;
}

struct ct_deep_range ct_deep_range_within(struct ct_deep_range range, struct ct_deep_range bounds)
{
	if (range.from_ns == CT_UNKNOWN || bounds.from_ns == CT_UNKNOWN)
		return nowhere;
	if (range.from_ns < bounds.from_ns)
		range.from_ns = bounds.from_ns;
	if (range.to_ns > bounds.to_ns)
		range.to_ns = bounds.to_ns;
	return range.from_ns < range.to_ns ? range : nowhere;
}

struct ct_deep_range ct_deep_range(const struct ct_report *report, const struct ct_finding *finding)
{
	const struct ct_deep_range drawn = { report->run.first_at_ns, report->run.last_at_ns };
	struct ct_deep_range range = { finding->begin_at_ns, finding->end_at_ns };

	if (range.from_ns == CT_UNKNOWN || range.to_ns == CT_UNKNOWN || range.from_ns > range.to_ns)
		return nowhere;
	/* something that happened at one moment: a thousandth of the run around it */
	if (range.from_ns == range.to_ns) {
		uint64_t around = report->run.duration_ns / 2000 + 1;

		range.from_ns -= around < range.from_ns ? around : range.from_ns;
		range.to_ns += around;
	}
	return ct_deep_range_within(widen(worst_step(&report->steps, finding, range)), drawn);
}

/* ---- the address ---- */

/* Everything but what RFC 3986 calls unreserved is escaped. NULL: out of memory, or `text` is NULL.
 */
static const char *escaped(struct ct_arena *memory, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~";
	char *to = text ? ct_arena_calloc(memory, 3 * strlen(text) + 1, 1) : NULL;
	char *start = to;

	for (; to && *text; text++) {
		if (strchr(plain, *text)) {
			*to++ = *text;
			continue;
		}
		snprintf(to, 4, "%%%02X", (unsigned char)*text);
		to += 3;
	}
	return start;
}

/* What is to be pinned, as JSON: a list of commands. Names of tracks are those that analyzer/chart/
 * makes. */
static const char *commands(struct ct_arena *memory, const struct ct_finding *finding)
{
	const char *pin = "{\"id\":\"dev.perfetto.PinTracksByRegex\",\"args\":[\"";
	const char *text = ct_arena_printf(memory, "[%s^Findings$\"]}", pin);
	size_t n = finding ? finding->n_ranks : 0;

	for (size_t i = 0, pinned = 0; text && i < n && pinned < PINNED_RANKS; i++) {
		if (finding->ranks[i] < 0)
			continue;
		pinned++;
		text = ct_arena_printf(memory, "%s,%s^rank %04d( |$)\"]}", text, pin,
				       finding->ranks[i]);
	}
	if (text && finding && finding->comm_hash)
		text = ct_arena_printf(memory, "%s,%s:%04" PRIx64 " [(][0-9]+ ranks[)]$\"]}", text,
				       pin, finding->comm_hash & 0xffff);
	return text ? ct_arena_printf(memory, "%s]", text) : NULL;
}

const char *ct_deep_link(struct ct_arena *memory, unsigned port, struct ct_deep_range range,
			 const struct ct_finding *finding)
{
	const char *file = escaped(memory, ct_arena_printf(memory, "http://127.0.0.1:%u/%s", port,
							   CT_DEEP_LINK_FILE));
	const char *startup = escaped(memory, commands(memory, finding));
	const char *part = "";

	if (range.from_ns != CT_UNKNOWN)
		part = ct_arena_printf(memory, "&visStart=%" PRIu64 "&visEnd=%" PRIu64,
				       range.from_ns, range.to_ns);
	if (!file || !startup || !part)
		return NULL;
	return ct_arena_printf(memory, "%s/#!/?url=%s%s&startupCommands=%s", CT_DEEP_LINK_ORIGIN,
			       file, part, startup);
}
