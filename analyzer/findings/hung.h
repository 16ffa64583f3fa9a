/* SPDX-License-Identifier: Apache-2.0 */
/* hung.h — the result of `hang` (report->hang), for the report's verdict. */
#ifndef CT_ANALYZER_FINDINGS_HUNG_H
#define CT_ANALYZER_FINDINGS_HUNG_H

#include "analyzer/model/report.h"

struct ct_hung {
	const char *
		text; /* code and sentence of the first verdict with waiting ranks; NULL: none. In the report's memory */
	enum ct_confidence confidence;
};

/* Empty if `hang` has no verdict, or only UNKNOWN. */
void ct_hung_find(const struct ct_report *report, struct ct_hung *hung);

#endif
