/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/timeline/timeline_options.h"

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"

int ct_timeline_options(struct ct_timeline_request *timeline, int argc, char **argv)
{
	const struct ct_cli *args = &timeline->args;
	int code;

	*timeline = (struct ct_timeline_request){ 0 };
	code = ct_cli_parse(&timeline->args, CT_COMMAND_timeline, argc, argv);
	if (code >= 0)
		return code;
	timeline->out_path = ct_cli_text(args, CT_OPTION_OUTPUT);
	timeline->force = ct_cli_has(args, CT_OPTION_FORCE);
	timeline->format = ct_cli_format(args);
	code = timeline->format < 0 ? CT_CODE_USAGE : ct_selection_read(&timeline->selection, args);
	if (code)
		return code;
	if (!timeline->out_path && timeline->format == CT_TIMELINE_PFTRACE)
		return ct_usage("timeline", "'timeline' needs -o FILE: the timeline to write");
	timeline->chart = (struct ct_chart_options){
		.restart = -1,
		.from_ns = timeline->selection.from_ns,
		.to_ns = timeline->selection.to_ns,
		.ranks = timeline->selection.ranks,
		.n_ranks = timeline->selection.n_ranks,
		.threads = ct_open_threads(args),
		.max_slices = (uint64_t)ct_cli_number(args, CT_OPTION_MAX_SLICES, 0),
		.flows = (enum ct_chart_flows)ct_cli_word(args, CT_OPTION_FLOWS),
		.keeps_end = timeline->selection.has_window || timeline->selection.ranks,
		.color = (enum ct_chart_color)ct_cli_word(args, CT_OPTION_COLOR_BY),
	};
	return -1;
}

void ct_timeline_options_fini(struct ct_timeline_request *timeline)
{
	ct_selection_fini(&timeline->selection);
	ct_cli_fini(&timeline->args);
}
