/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/html/diff_page.h"

#include <math.h>
#include <string.h>

#include "analyzer/charts/plot.h"
#include "analyzer/model/report_rows.h"
#include "analyzer/render/html/escape.h"
#include "trace/status.h"

/* size: of a chart, in pixels: two fit a laptop's screen side by side; of its margins: the longest
 * text of a tick */
enum { WIDTH = 560, HEIGHT = 300, LEFT = 80, RIGHT = 32, TOP = 12, BOTTOM = 44 };

static const char head[] =
	"<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'\">\n<style>\n"
	":root{color-scheme:light dark;--line:light-dark(#8b909b,#6b7382);"
	"--orange:light-dark(#b45309,#f0bd5b);--blue:light-dark(#1f4fbf,#8fb4ff)}\n"
	"body{font:1rem/1.5 system-ui,sans-serif;margin:1.5rem}\n"
	"pre{overflow-x:auto;font-size:.875rem}\n"
	".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,30rem),1fr));"
	"gap:1rem}\nfigure{margin:0}\nsvg{width:100%;height:auto;font-size:12px}\n"
	"text{fill:currentColor}\n.axis{stroke:var(--line);fill:none}\n"
	".orange{color:var(--orange)}.blue{color:var(--blue)}\n"
	"polyline{fill:none;stroke:currentColor;stroke-width:2}\ncircle{fill:currentColor}\n"
	/* the base shows where both are the same */
	".orange polyline{stroke-width:7}.orange circle{r:6px}\n"
	"</style>\n";

static double across(double at)
{
	return LEFT + at * (WIDTH - LEFT - RIGHT);
}

static double down(double at)
{
	return HEIGHT - BOTTOM - at * (HEIGHT - TOP - BOTTOM);
}

static void put_axes(const struct ct_plot *plot, FILE *out)
{
	fprintf(out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, HEIGHT - BOTTOM,
		WIDTH - RIGHT);
	for (size_t i = 0; i < plot->x.ticks.n; i++) {
		fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
			across(plot->x.ticks.items[i].at), HEIGHT - BOTTOM + 16);
		ct_html_text(plot->x.ticks.items[i].text, out);
		fputs("</text>\n", out);
	}
	for (size_t i = 0; i < plot->y.ticks.n; i++) {
		fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 6,
			down(plot->y.ticks.items[i].at) + 4);
		ct_html_text(plot->y.ticks.items[i].text, out);
		fputs("</text>\n", out);
	}
	fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
		HEIGHT - 8);
	ct_html_text(plot->x.title, out);
	fputs("</text>\n", out);
}

static void put_series(const struct ct_plot *plot, const struct ct_plot_series *series, FILE *out)
{
	fprintf(out, "<g class=\"%s\"><polyline points=\"", series->colour);
	for (size_t i = 0; i < plot->n; i++) {
		if (!isnan(series->y[i]))
			fprintf(out, "%.1f,%.1f ", across(plot->at[i]), down(series->y[i]));
	}
	fputs("\"/>\n", out);
	for (size_t i = 0; i < plot->n; i++) {
		if (!isnan(series->y[i]))
			fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n",
				across(plot->at[i]), down(series->y[i]));
	}
	fputs("</g>\n", out);
}

static void put_chart(const struct ct_plot *plot, const char *comm, FILE *out)
{
	fputs("<figure><figcaption>", out);
	ct_html_text(plot->title, out);
	fputs(", ", out);
	ct_html_text(comm, out);
	fputs(": bus bandwidth, median, by size", out);
	for (size_t s = 0; s < plot->n_series; s++) {
		fprintf(out, " <span class=\"%s\">&#9679; ", plot->series[s].colour);
		ct_html_text(plot->series[s].text, out);
		fputs("</span>", out);
	}
	fprintf(out, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
		HEIGHT);
	ct_html_text(plot->title, out);
	fputs("\">\n", out);
	put_axes(plot, out);
	for (size_t s = 0; s < plot->n_series; s++)
		put_series(plot, &plot->series[s], out);
	fputs("</svg></figure>\n", out);
}

/* As diff aligns communicators: the role, else the name, else the number of ranks. */
static const char *name_comm(const struct ct_report *report, const struct ct_report_curve *c,
			     struct ct_arena *memory)
{
	const struct ct_report_comm *comm = ct_report_row_of_comm(report, c->comm_hash, c->n_ranks);

	if (comm && (comm->role || comm->name))
		return comm->role ? comm->role : comm->name;
	return ct_arena_printf(memory, "%u ranks", c->n_ranks);
}

/* The base's curve that is about the same; NULL: none is. */
static const struct ct_report_curve *same_in(const struct ct_report *base, const char *op,
					     const char *comm, struct ct_arena *memory)
{
	for (size_t i = 0; op && comm && i < base->n_curves; i++) {
		const struct ct_report_curve *c = &base->curves[i];
		const char *name = name_comm(base, c, memory);

		if (name && c->op_name && strcmp(c->op_name, op) == 0 && strcmp(name, comm) == 0)
			return c;
	}
	return NULL;
}

static int put_charts(const struct ct_report *base, const struct ct_report *run,
		      struct ct_arena *memory, FILE *out)
{
	for (size_t i = 0; i < run->n_curves; i++) {
		const struct ct_report_curve *c = &run->curves[i];
		const char *comm = name_comm(run, c, memory);
		const struct ct_report_curve *before = same_in(base, c->op_name, comm, memory);
		struct ct_plot plot;
		int st = before ? ct_plot_two_curves(before, c, memory, &plot) : CT_EMPTY;

		if (st == CT_NOMEM)
			return st;
		if (st == CT_OK)
			put_chart(&plot, comm, out);
	}
	return ct_arena_failed(memory) ? CT_NOMEM : CT_OK;
}

int ct_diff_page(const struct ct_diff_page_run *runs, size_t n, struct ct_arena *memory, FILE *out)
{
	int st = CT_OK;

	fputs(head, out);
	fputs("<title>", out);
	ct_html_text(runs[0].path, out);
	fputs(" &middot; commtrace diff</title>\n<main><h1>Against ", out);
	ct_html_text(runs[0].path, out);
	fputs("</h1>\n", out);
	for (size_t i = 0; i < n && st == CT_OK; i++) {
		if (!runs[i].text)
			continue;
		fputs("<section><h2>", out);
		ct_html_text(runs[i].path, out);
		fputs("</h2>\n<pre tabindex=\"0\">", out);
		ct_html_text(runs[i].text, out);
		fputs("</pre>\n<div class=\"charts\">\n", out);
		st = put_charts(runs[0].report, runs[i].report, memory, out);
		fputs("</div></section>\n", out);
	}
	fputs("</main></html>\n", out);
	return st;
}
