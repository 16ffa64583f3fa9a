/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/merge_options.h"

#include "tools/commtrace/codes.h"

int ct_merge_options(struct ct_merge *merge, int argc, char **argv)
{
	const struct ct_cli *args = &merge->args;
	int code;

	*merge = (struct ct_merge){ 0 };
	code = ct_cli_parse(&merge->args, CT_COMMAND_merge, argc, argv);
	if (code >= 0)
		return code;
	merge->out_path = ct_cli_text(args, CT_OPTION_OUTPUT);
	merge->force = ct_cli_has(args, CT_OPTION_FORCE);
	merge->format = ct_cli_format(args);
	code = merge->format < 0 ? CT_CODE_USAGE : ct_selection_read(&merge->selection, args);
	if (code)
		return code;
	if (!merge->out_path && merge->format == CT_MERGE_PFTRACE)
		return ct_usage("merge", "'merge' needs -o FILE: the timeline to write");
	merge->chart = (struct ct_chart_options){
		.attempt = -1,
		.from_ns = merge->selection.from_ns,
		.to_ns = merge->selection.to_ns,
		.ranks = merge->selection.ranks,
		.n_ranks = merge->selection.n_ranks,
		.max_slices = (uint64_t)ct_cli_number(args, CT_OPTION_MAX_SLICES, 0),
		.split = CT_SPLIT_DETAILS,
		.flows = (enum ct_chart_flows)ct_cli_word(args, CT_OPTION_FLOWS),
		.color = (enum ct_chart_color)ct_cli_word(args, CT_OPTION_COLOR_BY),
	};
	if (merge->selection.has_window || merge->selection.ranks)
		merge->chart.split = CT_SPLIT_END;
	return -1;
}

void ct_merge_options_fini(struct ct_merge *merge)
{
	ct_selection_fini(&merge->selection);
	ct_cli_fini(&merge->args);
}
