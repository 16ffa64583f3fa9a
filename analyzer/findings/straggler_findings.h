/* SPDX-License-Identifier: Apache-2.0 */
/* straggler_findings.h — one finding of each kind, made from the weighed evidence, into a list. All return 0 or CT_NOMEM. */
#ifndef CT_FINDINGS_H
#define CT_FINDINGS_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/lateness/lateness.h"
#include "analyzer/model/model.h"

/* One rank, guilty by `charge`. */
int ct_finding_straggler(const struct ct_lateness *late, uint32_t seat,
			 const struct ct_charge *charge, struct ct_findings *list);

/* Who, by rank, and where: what this finding is about. */
int ct_finding_seats(const struct ct_model *model, const uint32_t *seats, size_t n,
		     struct ct_findings *list, struct ct_finding *finding);

/* What the losses of the report come to. */
int ct_finding_losses(const struct ct_model *model, const struct ct_report *report,
		      struct ct_findings *list);

#endif
