/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/report.h"

#include <stdlib.h>

#include "analyzer/base/arena.h"

const char *ct_verdict_name(enum ct_verdict_code code)
{
	switch (code) {
#define CT_VERDICT_CASE(name, level, title)                                                        \
	case CT_VERDICT_##name:                                                                    \
		return #name;
		CT_VERDICT_MAP(CT_VERDICT_CASE)
#undef CT_VERDICT_CASE
	}
	return "NOT_ENOUGH_EVIDENCE";
}

enum ct_verdict_level ct_verdict_level(enum ct_verdict_code code)
{
	switch (code) {
#define CT_VERDICT_CASE(name, level, title)                                                        \
	case CT_VERDICT_##name:                                                                    \
		return CT_VERDICT_IS_##level;
		CT_VERDICT_MAP(CT_VERDICT_CASE)
#undef CT_VERDICT_CASE
	}
	return CT_VERDICT_IS_UNSURE;
}

const char *ct_finding_name(enum ct_finding_kind kind)
{
	switch (kind) {
#define CT_FINDING_CASE(name, is_share, title)                                                     \
	case CT_FINDING_##name:                                                                    \
		return #name;
		CT_FINDING_MAP(CT_FINDING_CASE)
#undef CT_FINDING_CASE
	}
	return "?";
}

const char *ct_verdict_title(enum ct_verdict_code code)
{
	static const char *const titles[] = {
#define CT_VERDICT_TITLE(name, level, title) [CT_VERDICT_##name] = title,
		CT_VERDICT_MAP(CT_VERDICT_TITLE)
#undef CT_VERDICT_TITLE
	};

	return titles[code];
}

const char *ct_finding_title(enum ct_finding_kind kind)
{
	static const char *const titles[] = {
#define CT_FINDING_TITLE(name, is_share, title) [CT_FINDING_##name] = title,
		CT_FINDING_MAP(CT_FINDING_TITLE)
#undef CT_FINDING_TITLE
	};

	return titles[kind];
}

const char *ct_severity_name(enum ct_severity severity)
{
	static const char *const names[] = { "info", "warning", "critical" };

	return names[severity];
}

const char *ct_confidence_name(enum ct_confidence confidence)
{
	static const char *const names[] = { "none", "low", "medium", "high" };

	return names[confidence];
}

const char *ct_timed_by_name(enum ct_timed_by by)
{
	switch (by) {
	case CT_TIMED_BY_NOTHING:
		return "off";
	case CT_TIMED_BY_EVENTS:
		return "events";
	case CT_TIMED_BY_HOST:
		return "host";
	case CT_TIMED_BY_PLUGIN:
		return "plugin";
	case CT_TIMED_BY_UNKNOWN:
		break;
	}
	return "?";
}

const char *ct_timed_why_name(enum ct_timed_why why)
{
	static const char *const names[] = {
		[CT_TIMED_WHY_ONE_CONNECTION] = "CUDA_DEVICE_MAX_CONNECTIONS=1",
		[CT_TIMED_WHY_STREAMS] = "too many streams for CUDA_DEVICE_MAX_CONNECTIONS",
		[CT_TIMED_WHY_CLOCK] = "times of a GPU's events contradict each other",
		[CT_TIMED_WHY_EARLY] = "too early for events",
		[CT_TIMED_WHY_SLOWER] = "timed events made steps longer",
	};

	return (unsigned)why < sizeof(names) / sizeof(names[0]) ? names[why] : NULL;
}

const char *ct_step_kind_name(enum ct_step_kind kind)
{
	static const char *const names[] = {
		[CT_STEP_PERIOD] = "period",
		[CT_STEP_OPERATIONS] = "operations",
		[CT_STEP_COLLECTIVE] = "collective",
	};

	return (unsigned)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}

enum ct_timing ct_timing_of(enum ct_source source)
{
	switch (source) {
	case CT_SOURCE_CALL:
	case CT_SOURCE_WAIT:
		return CT_TIMING_CALL;
	case CT_SOURCE_POLL:
		return CT_TIMING_HOST;
	case CT_SOURCE_PLUGIN:
		return CT_TIMING_PLUGIN;
	case CT_SOURCE_EVENT:
		return CT_TIMING_EVENTS;
	case CT_SOURCE_NONE:
		break;
	}
	return CT_TIMING_OFF;
}

const char *ct_timing_name(enum ct_timing timing)
{
	static const char *const names[] = { "off", "call", "host", "plugin", "events" };

	return names[timing];
}

void ct_report_free(struct ct_report *report)
{
	if (!report)
		return;
	ct_arena_free(report->memory);
	free(report);
}

int ct_report_failed(const struct ct_report_process *p)
{
	const struct ct_end *end = &p->how;

	return p->aborted || (p->left && p->ended_badly) || end->how == CT_END_SIGNAL ||
	       ((end->how == CT_END_CLEAN || end->how == CT_END_EXIT) && end->exit_code > 0);
}
