/* SPDX-License-Identifier: Apache-2.0 */
/* finding_text.h — the words of findings that share none with others (finding_texts.def). Texts are
 * in the list's memory, which records failed allocations, so nothing here fails. One thread. */
#ifndef CT_ANALYZER_FINDINGS_FINDING_TEXT_H
#define CT_ANALYZER_FINDINGS_FINDING_TEXT_H

#include "analyzer/base/template.h"
#include "analyzer/findings/finding_list.h"

enum ct_finding_text {
#define FINDING(name, headline, cause, advice, command) CT_TEXT_##name,
#include "analyzer/findings/finding_texts.def"
};
enum ct_finding_part {
#define PART(name, text) CT_PART_##name,
#include "analyzer/findings/finding_texts.def"
};

/* Sets what the row has of headline, cause, advice and command. The words are copied; those of
 * commands (command.h) are left for ct_findings_advise(). */
void ct_finding_say(struct ct_findings *list, struct ct_finding *f, enum ct_finding_text row,
		    const struct ct_word *words, size_t n);

/* A note, or a part of a sentence that a row takes as a word. */
const char *ct_finding_part(struct ct_arena *memory, enum ct_finding_part part,
			    const struct ct_word *words, size_t n);

#endif
