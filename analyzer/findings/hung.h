/* SPDX-License-Identifier: Apache-2.0 */
/* hung.h — does the job hang, or did it die of that? What `hang` says of it (report->hang), for the report's verdict. */
#ifndef CT_VERDICT_HUNG_H
#define CT_VERDICT_HUNG_H

#include "analyzer/model/report.h"

struct ct_hung {
	const char *
		text; /* code and sentence of the first verdict about what ranks wait in; NULL: there is none. The report's */
	enum ct_confidence confidence;
};

/* Nothing where `hang` says nothing, or only UNKNOWN. */
void ct_hung_find(const struct ct_report *report, struct ct_hung *hung);

#endif
