/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: instants on a track of their own, and on those of the ranks that they name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/timeline/draw.h"
#include "analyzer/timeline/texts.h"

uint64_t ct_draw_finding_at(const struct ct_timeline_index *tl_index, const struct ct_finding *f)
{
	uint64_t at = f->begin_at_ns == CT_UNKNOWN ? 0 : f->begin_at_ns;

	return at > tl_index->from_ns ? at : tl_index->from_ns;
}

static int is_inside(const struct ct_timeline_index *tl_index, const struct ct_finding *f)
{
	return (f->begin_at_ns == CT_UNKNOWN || f->begin_at_ns <= tl_index->to_ns) &&
	       (f->end_at_ns == CT_UNKNOWN || f->end_at_ns >= tl_index->from_ns);
}

/* free() it; NULL: it has no figures, or out of memory. */
static char *text_of(const struct ct_finding *f)
{
	char *text = NULL;
	size_t size;
	FILE *out = f->n_pairs ? open_memstream(&text, &size) : NULL;

	if (out) {
		ct_finding_write(f, out);
		fclose(out);
	}
	return text;
}

/* Words of a finding, each under its key. */
static void add_words(struct ct_args *args, struct ct_pen *pen, const struct ct_finding *f,
		      const char *text)
{
	char hosts[512];
	const struct {
		enum ct_timeline_key key;
		const char *word;
	} words[] = {
		{ CT_ARG_severity, ct_severity_name(f->severity) },
		{ CT_ARG_confidence, ct_confidence_name(f->confidence) },
		{ CT_ARG_op, f->op_name },
		{ CT_ARG_cause, f->cause },
		{ CT_ARG_advice, f->advice },
		{ CT_ARG_command, f->command },
		{ CT_ARG_text, text },
		{ CT_ARG_hosts, f->n_hosts ? hosts : NULL },
	};
	size_t at = 0;

	hosts[0] = '\0';
	for (size_t h = 0; h < f->n_hosts && at + strlen(f->hosts[h]) + 2 < sizeof(hosts); h++)
		at += (size_t)snprintf(hosts + at, sizeof(hosts) - at, "%s%s", h ? " " : "",
				       f->hosts[h]);
	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
		ct_args_word(args, pen, words[w].key, words[w].word);
}

/* Where those that contradict each other made the call: as one stack, for an event has no two.
 * Returns how many frames. */
static uint8_t add_sites(struct ct_pen *pen, const struct ct_finding *f,
			 struct ct_timeline_frame frames[2])
{
	uint8_t n = 0;

	for (int i = 0; i < 2; i++) {
		if (f->sites[i].site)
			ct_frame_of(&pen->tl_index->texts, f->sites[i].whose, f->sites[i].site,
				    &frames[n++]);
	}
	return n;
}

uint32_t ct_draw_comm_label(const struct ct_timeline_index *tl_index, uint64_t key)
{
	for (uint32_t c = 0; c < tl_index->n_comms && key; c++) {
		if (tl_index->comms[c].id == ct_cached_comm(key, tl_index->comms[c].nranks))
			return tl_index->comms[c].label;
	}
	return 0;
}

int ct_draw_finding(struct ct_pen *pen, const struct ct_finding *f, uint32_t track, unsigned depth)
{
	struct ct_args args = { .n = 0 };
	struct ct_timeline_frame frames[2];
	struct ct_timeline_slice slice = {
		.track = track,
		.name = ct_texts_add(&pen->tl_index->texts, ct_finding_name(f->kind)),
		.frames = frames,
		.begin_ns = ct_draw_finding_at(pen->tl_index, f),
		.end_ns = ct_draw_finding_at(pen->tl_index, f),
		.depth = (uint8_t)depth,
		.category = CT_CATEGORY_FINDING,
		.instant = 1,
	};
	char *text;

	text = text_of(f);
	add_words(&args, pen, f, text);
	free(text);
	slice.n_frames = add_sites(pen, f, frames);
	ct_args_int(&args, CT_ARG_finding, f->id);
	ct_args_text(&args, CT_ARG_comm, ct_draw_comm_label(pen->tl_index, f->comm_hash));
	ct_args_uint(&args, CT_ARG_begin_ns, f->begin_at_ns);
	ct_args_uint(&args, CT_ARG_end_ns, f->end_at_ns);
	ct_args_uint(&args, CT_ARG_step_first, f->step_first);
	ct_args_uint(&args, CT_ARG_step_last, f->step_last);
	ct_args_uint(&args, CT_ARG_time_lost_ns, f->time_lost_ns);
	ct_args_uint(&args, CT_ARG_time_lost_err_ns, f->time_lost_err_ns);
	if (!isnan(f->time_lost_pct))
		ct_args_double(&args, CT_ARG_time_lost_pct, f->time_lost_pct);
	if (!isnan(f->gpu_seconds))
		ct_args_double(&args, CT_ARG_gpu_seconds, f->gpu_seconds);
	if (f->n_ranks) {
		ct_args_uint(&args, CT_ARG_n_ranks, f->n_ranks);
		ct_args_ints(&args, CT_ARG_ranks, f->ranks, f->n_ranks);
	}
	return ct_pen_slice(pen, &slice, &args);
}

/* ---- which ---- */

static int by_time(const void *a, const void *b, void *tl_index)
{
	const struct ct_finding *x = *(const struct ct_finding *const *)a;
	const struct ct_finding *y = *(const struct ct_finding *const *)b;
	uint64_t s = ct_draw_finding_at(tl_index, x), t = ct_draw_finding_at(tl_index, y);

	return CT_CMP(s, t) ?: CT_UP(id);
}

CT_SORT_BY(by_rank, struct ct_named, CT_UP(rank) ?: CT_UP(finding))

int ct_pen_findings(struct ct_pen *pen, const struct ct_report *report)
{
	size_t n_named = 0;

	pen->findings = calloc(report->n_findings + 1, sizeof(*pen->findings));
	if (!pen->findings)
		return CT_NOMEM;
	for (size_t i = 0; i < report->n_findings; i++) {
		if (!is_inside(pen->tl_index, &report->findings[i]))
			continue;
		pen->findings[pen->n_findings++] = &report->findings[i];
		n_named += report->findings[i].n_ranks;
	}
	qsort_r(pen->findings, pen->n_findings, sizeof(*pen->findings), by_time, pen->tl_index);
	pen->named = calloc(n_named + 1, sizeof(*pen->named));
	if (!pen->named)
		return CT_NOMEM;
	for (size_t i = 0; i < pen->n_findings; i++) {
		for (size_t r = 0; r < pen->findings[i]->n_ranks; r++)
			pen->named[pen->n_named++] = (struct ct_named){ pen->findings[i]->ranks[r],
									(uint32_t)i };
	}
	qsort(pen->named, pen->n_named, sizeof(*pen->named), by_rank);
	return CT_OK;
}

void ct_pen_fini(struct ct_pen *pen)
{
	free(pen->findings);
	free(pen->named);
	pen->findings = NULL;
	pen->named = NULL;
}

int ct_draw_findings(struct ct_pen *pen)
{
	struct ct_timeline_track track = { .name = "Findings", .kind = CT_TRACK_SLICES };
	int st = pen->n_findings ? ct_pen_track(pen, &track) : CT_OK;

	for (size_t i = 0, first = 0; i < pen->n_findings && st == CT_OK; i++) {
		/* instants of one moment are nested */
		if (ct_draw_finding_at(pen->tl_index, pen->findings[i]) !=
		    ct_draw_finding_at(pen->tl_index, pen->findings[first]))
			first = i;
		st = ct_draw_finding(pen, pen->findings[i], track.id, (unsigned)(i - first));
	}
	return st;
}
