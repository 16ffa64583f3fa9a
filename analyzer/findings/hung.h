/* SPDX-License-Identifier: Apache-2.0 */
/* hung.h — does the job hang, or did it die of that? What `hang` says of the same start of the job, for the report's verdict. */
#ifndef CT_VERDICT_HUNG_H
#define CT_VERDICT_HUNG_H

#include "analyzer/model/model.h"

/* The run is read once more, and only if operations had not ended or processes did not end well (report->ended). */
struct ct_hung {
	const char *
		text; /* code and sentence of the first verdict about what ranks wait in; NULL: there is none. The report's */
	enum ct_confidence confidence;
};

/* Nothing where `hang` only says UNKNOWN, and nothing where a run cannot be read. report->hang is set where it says anything. 0 or
 * CT_NOMEM. */
int ct_hung_find(const struct ct_model *model, struct ct_report *report, struct ct_hung *hung);

#endif
