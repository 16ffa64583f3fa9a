/* SPDX-License-Identifier: Apache-2.0 */
/* A hang as a message to paste, and the hosts to exclude. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/model/exit_order.h"
#include "analyzer/render/hang.h"

/* Chats and trackers read these as markup. */
static void write_plain(const char *text, FILE *out)
{
	for (const char *c = text; *c; c++) {
		if (strchr("\\`*_<>[]|#", *c))
			fputc('\\', out);
		fputc((unsigned char)*c < ' ' ? ' ' : *c, out);
	}
}

static void write_item(const char *label, const char *text, FILE *out)
{
	if (!text || !*text)
		return;
	fprintf(out, "* %s: ", label);
	write_plain(text, out);
	fputc('\n', out);
}

static void write_verdict(const struct ct_hang_verdict *v, FILE *out)
{
	fprintf(out, "**%s: ", ct_hang_title(v));
	write_plain(v->headline, out);
	fprintf(out, "** (confidence %s)\n\n", ct_confidence_name(v->confidence));
	write_item("Cause", v->cause, out);
	for (uint32_t i = 0; i < v->n_notes; i++)
		write_item("Evidence", v->notes[i], out);
	for (uint32_t i = 0; i < v->n_reasons; i++)
		write_item("Doubt", v->reasons[i], out);
	write_item("Call site", v->site, out);
	write_item("Do", v->advice, out);
	if (v->command)
		fprintf(out, "\n```\n%s\n```\n", v->command);
	fputc('\n', out);
}

void ct_hang_markdown(const struct ct_hang_run *run, const struct ct_text_style *style, FILE *out)
{
	const char *path = style && style->n_paths ? style->paths[0] : run->dir;

	for (uint32_t i = 0; i < run->result->n_verdicts; i++)
		write_verdict(&run->result->verdicts[i], out);
	if (!run->result->n_verdicts)
		fputs("**No hang found**\n\n", out);
	fputs("Job ", out);
	write_plain(run->job ? run->job : "of unknown name", out);
	fprintf(out, ": %s, %" PRIu32 " ranks on %" PRIu32 " host%s", ct_job_state_word(run->state),
		run->ranks_seen, run->hosts, run->hosts == 1 ? "" : "s");
	if (path) {
		fputs("; recording: ", out);
		write_plain(path, out);
	}
	fputc('\n', out);
}

/* May another host cure it? */
static int may_be_the_host(enum ct_hang_code code, const struct ct_hang_rank *rank)
{
	static const struct {
		enum ct_hang_code code;
		enum { ALWAYS, MACHINE } when;
	} faults[] = {
#define HOST_FAULT(code, when, why) { CT_HANG_IS_##code, when },
#include "analyzer/hang/host_faults.def"
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (faults[i].code == code)
			return faults[i].when == ALWAYS || rank->by_machine;
	return 0;
}

int ct_hang_hosts(const struct ct_hang_run *run, FILE *out)
{
	const struct ct_hang_case *c = &run->hang_case;
	const char **hosts = calloc(c->n_ranks + 1u, sizeof(*hosts));
	int n = 0;

	if (!hosts)
		return -1;
	for (uint32_t r = 0; r < c->n_ranks; r++) {
		const struct ct_hang_rank *rank = &c->ranks[r];
		int blamed = 0, listed = 0;

		for (uint32_t i = 0; i < run->result->n_verdicts; i++) {
			const struct ct_hang_verdict *v = &run->result->verdicts[i];

			blamed |= v->confidence >= CT_CONFIDENCE_MEDIUM &&
				  may_be_the_host(v->code, rank) &&
				  ct_hang_is_among(rank->rank, v->ranks, v->n_ranks);
		}
		for (int i = 0; rank->host && i < n; i++)
			listed |= strcmp(hosts[i], rank->host) == 0;
		if (blamed && rank->host && !listed)
			hosts[n++] = rank->host;
	}
	for (int i = 0; i < n; i++)
		fprintf(out, "%s%s%s", i ? "," : "", hosts[i], i + 1 == n ? "\n" : "");
	free(hosts);
	return n;
}
