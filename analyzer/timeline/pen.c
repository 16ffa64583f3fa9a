/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/draw.h"

int ct_pen_track(struct ct_pen *pen, struct ct_timeline_track *track)
{
	track->id = ++pen->tracks;
	return pen->sink->track(pen->sink->arg, track);
}

int ct_pen_slice(struct ct_pen *pen, struct ct_timeline_slice *slice, const struct ct_args *args)
{
	if (pen->tl_index->texts.failed)
		return CT_NOMEM;
	slice->args = args ? args->all : NULL;
	slice->n_args = args ? args->n : 0;
	pen->result->slices++;
	pen->result->unfinished += slice->end_ns == CT_TIMELINE_OPEN;
	return pen->sink->slice(pen->sink->arg, slice);
}

int ct_pen_counter(struct ct_pen *pen, uint32_t track, uint64_t at_ns, double gbps)
{
	pen->result->counters++;
	return pen->sink->counter(pen->sink->arg, track, at_ns, gbps);
}

int ct_pen_lanes(struct ct_pen *pen, const struct ct_draw_lanes *lanes, struct ct_lane_item *items,
		 uint32_t n)
{
	struct ct_timeline_track track = {
		.parent = lanes->parent,
		.name = lanes->name,
		.description = lanes->description,
		.order = lanes->order,
		.kind = CT_TRACK_SLICES,
	};
	uint32_t n_lanes, lane = UINT32_MAX;
	int64_t kept = ct_lanes_lay(items, n, lanes->nest, &n_lanes);
	int st = kept < 0 ? CT_NOMEM : CT_OK;

	track.merged = n_lanes > 1;
	if (kept >= 0)
		pen->result->not_drawn += n - (uint64_t)kept;
	for (int64_t i = 0; i < kept && st == CT_OK; i++) {
		if (items[i].lane != lane) {
			lane = items[i].lane;
			st = ct_pen_track(pen, &track);
		}
		st = st ?: lanes->draw(lanes->arg, &items[i], track.id);
	}
	return st;
}

static struct ct_timeline_arg *next(struct ct_args *args, enum ct_timeline_key key,
				    enum ct_timeline_type type)
{
	static struct ct_timeline_arg
		nowhere; /* more than there is space for is a mistake in the caller */
	struct ct_timeline_arg *arg = args->n < CT_TIMELINE_ARGS ? &args->all[args->n++] : &nowhere;

	*arg = (struct ct_timeline_arg){ .key = (uint8_t)key, .type = (uint8_t)type };
	return arg;
}

void ct_args_uint(struct ct_args *args, enum ct_timeline_key key, uint64_t value)
{
	if (value != CT_UNKNOWN)
		next(args, key, CT_VALUE_UINT)->u = value;
}

void ct_args_int(struct ct_args *args, enum ct_timeline_key key, int64_t value)
{
	next(args, key, CT_VALUE_INT)->i = value;
}

void ct_args_double(struct ct_args *args, enum ct_timeline_key key, double value)
{
	if (value > 0)
		next(args, key, CT_VALUE_DOUBLE)->d = value;
}

void ct_args_text(struct ct_args *args, enum ct_timeline_key key, uint32_t text)
{
	if (text)
		next(args, key, CT_VALUE_TEXT)->text = text;
}

void ct_args_ints(struct ct_args *args, enum ct_timeline_key key, const int *values, size_t n)
{
	struct ct_timeline_arg *arg = n ? next(args, key, CT_VALUE_INTS) : NULL;

	if (!arg)
		return;
	arg->n = (uint16_t)(n < CT_TIMELINE_LIST ? n : CT_TIMELINE_LIST);
	arg->ints = values;
}

void ct_args_word(struct ct_args *args, struct ct_pen *pen, enum ct_timeline_key key,
		  const char *word)
{
	ct_args_text(args, key, ct_texts_add(&pen->tl_index->texts, word));
}

double ct_draw_gbps(uint64_t bytes, uint64_t ns)
{
	return ns && ns != UINT64_MAX && bytes != UINT64_MAX ? (double)bytes / (double)ns : 0;
}
