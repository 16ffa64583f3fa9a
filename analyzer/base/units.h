/* SPDX-License-Identifier: Apache-2.0 */
/* units.h — figures with three digits and their unit, as every text of the analyzer spells them. Pure. */
#ifndef CT_UNITS_H
#define CT_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define CT_UNIT_TEXT 24

struct ct_unit_text {
	char s[CT_UNIT_TEXT];
};

/* "410us", "1.21s"; "n/a" for CT_UNKNOWN. */
struct ct_unit_text ct_text_ns(uint64_t ns);
/* "4.19MB", powers of ten; "n/a" for CT_UNKNOWN. */
struct ct_unit_text ct_text_bytes(uint64_t bytes);
/* "64 KiB", powers of two, for the size of a message: most are such a power; "n/a" for CT_UNKNOWN. */
struct ct_unit_text ct_text_size(uint64_t bytes);
/* "1.23GB/s" */
struct ct_unit_text ct_text_Bps(uint64_t bytes_per_second);
/* "12345", "1.23M" above 99999 */
/* All digits; "n/a" for CT_UNKNOWN. */
struct ct_unit_text ct_text_exact(uint64_t n);
struct ct_unit_text ct_text_count(uint64_t n);
/* "3"; "?" for a rank that is not known, -1 */
struct ct_unit_text ct_text_rank(int rank);
/* "10.1%"; "n/a" for NAN */
struct ct_unit_text ct_text_pct(double pct);

#endif
