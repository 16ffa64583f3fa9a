/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/lateness_findings.h"

#include "analyzer/environment/environment.h"
#include "analyzer/findings/environment_finding.h"
#include "analyzer/findings/order_findings.h"
#include "analyzer/findings/straggler_findings.h"
#include "analyzer/lateness/lateness.h"
#include "analyzer/model/model.h"

int ct_lateness_findings(const struct ct_lateness *late, const struct ct_order_book *book,
			 const struct ct_charge *charges, struct ct_set_result *set,
			 const struct ct_report *report, struct ct_findings *list)
{
	int ordered = ct_model_order_lost(late->model) == 0;
	int use_set = ordered && set->in_set ? ct_lateness_weigh_set(late, charges, set) : 0;
	int losses = 0;
	int st = use_set < 0 ? use_set : CT_OK;

	if (ordered && st == CT_OK)
		st = ct_order_findings(late->model, book, list);
	if (st == CT_OK && use_set)
		st = ct_finding_set(late, set->blame, &set->charge, list);
	for (uint32_t s = 0; s < late->model->n_seats && st == CT_OK; s++) {
		if (ordered && charges[s].guilty && !(use_set && set->in_set[s]))
			st = ct_finding_straggler(late, s, &charges[s], list);
	}
	for (size_t i = 0; i < report->n_losses; i++)
		losses |= report->losses[i].is_loss_of_records;
	if (st == CT_OK && losses)
		st = ct_finding_losses(late->model, report, list);
	return st == CT_OK ? ct_finding_environment(report, list) : st;
}
