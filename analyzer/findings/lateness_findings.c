/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/lateness_findings.h"

#include "analyzer/environment/environment.h"
#include "analyzer/findings/environment_finding.h"
#include "analyzer/findings/order_findings.h"
#include "analyzer/findings/straggler_findings.h"
#include "analyzer/lateness/lateness.h"
#include "analyzer/model/model.h"

int ct_lateness_findings(const struct ct_lateness *late, const struct ct_order_book *book,
			 const struct ct_charge *charges, const struct ct_report *report,
			 struct ct_findings *list)
{
	int ordered = ct_model_order_lost(late->model) == 0;
	int st = ordered ? ct_order_findings(late->model, book, list) : CT_OK;
	int losses = 0;

	for (uint32_t s = 0; s < late->model->n_seats && st == CT_OK; s++) {
		if (ordered && charges[s].guilty)
			st = ct_finding_straggler(late, s, &charges[s], list);
	}
	for (size_t i = 0; i < report->n_losses; i++)
		losses |= report->losses[i].is_loss_of_records;
	if (st == CT_OK && losses)
		st = ct_finding_losses(late->model, report, list);
	return st == CT_OK ? ct_finding_environment(report, list) : st;
}
