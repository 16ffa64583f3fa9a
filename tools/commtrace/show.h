/* SPDX-License-Identifier: Apache-2.0 */
/* show.h — the commands that analyze a run and render it as text, JSON or HTML: report and info. */
#ifndef CT_TOOLS_COMMTRACE_SHOW_H
#define CT_TOOLS_COMMTRACE_SHOW_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/render/render.h"
#include "tools/commtrace/base/command_table.h"

struct ct_show {
	enum ct_command_id command;
	void (*text)(const struct ct_report *report, const struct ct_text_style *style, FILE *out);
	/* the same as key=value; NULL: it has none */
	void (*kv)(const struct ct_report *report, const struct ct_text_style *style, FILE *out);
	json_t *(*json)(const struct ct_report *report);
	/* 0 or a negative status; NULL: not as HTML */
	int (*html)(const struct ct_report *report, FILE *out);
	int judges; /* 0: shows an outline, unless --whole was given */
};

/* The whole command; returns its exit status. */
int ct_show_main(const struct ct_show *show, int argc, char **argv);

#endif
