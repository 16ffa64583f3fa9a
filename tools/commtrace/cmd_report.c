/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/html/html.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/show.h"

int ct_cmd_report(int argc, char **argv)
{
	const struct ct_show show = {
		.command = CT_COMMAND_report,
		.text = ct_report_text,
		.kv = ct_report_kv,
		.json = ct_report_json,
		.html = ct_report_html,
		.judges = 1,
	};

	return ct_show_main(&show, argc, argv);
}
