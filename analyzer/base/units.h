/* SPDX-License-Identifier: Apache-2.0 */
/* units.h — figures with three digits and their unit. ct_text_*() are one word, for key=value;
 * ct_prose_*() have a space before the unit, for cells of tables and sentences. Pure. */
#ifndef CT_ANALYZER_BASE_UNITS_H
#define CT_ANALYZER_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define CT_UNIT_TEXT 24	 /* size: characters of a value with its unit */
#define CT_UNIT_RANGE 48 /* size: characters of two of them */

struct ct_unit_text {
	char s[CT_UNIT_TEXT];
};

/* A figure with its error. */
struct ct_unit_range {
	char s[CT_UNIT_RANGE];
};

/* "410us", "1.21s"; "n/a" for CT_UNKNOWN. */
struct ct_unit_text ct_text_ns(uint64_t ns);
/* "64KiB", powers of two, as most sizes are; "n/a" for CT_UNKNOWN. */
struct ct_unit_text ct_text_bytes(uint64_t bytes);
/* "1.23GB/s", powers of ten, as rates of links are given */
struct ct_unit_text ct_text_Bps(uint64_t bytes_per_second);
/* All digits; "n/a" for CT_UNKNOWN. */
struct ct_unit_text ct_text_exact(uint64_t n);
/* "12345", "1.23M" above 99999 */
struct ct_unit_text ct_text_count(uint64_t n);
/* "3"; "?" for a rank that is not known, -1 */
struct ct_unit_text ct_text_rank(int rank);
/* "10.1%"; "n/a" for NAN */
struct ct_unit_text ct_text_pct(double pct);

/* "410 us", "64 KiB", "1.23 GB/s", "10.1 %" */
struct ct_unit_text ct_prose_ns(uint64_t ns);
struct ct_unit_text ct_prose_bytes(uint64_t bytes);
struct ct_unit_text ct_prose_Bps(uint64_t bytes_per_second);
struct ct_unit_text ct_prose_pct(double pct);
/* "15.4 ± 2.3 ms": one unit and the same decimals for both, "n/a" for a figure that is NAN, and
 * without an error if that is. The value has three digits, the error two at most, and both have the
 * decimals of whichever has fewer: digits of a value below its error say nothing, nor do those of
 * an error below the last digit of its value. Such an error is "<" that digit: "22.9 ± <0.1 %". */
struct ct_unit_range ct_prose_ns_err(double ns, double err);
struct ct_unit_range ct_prose_Bps_err(double bytes_per_second, double err);
struct ct_unit_range ct_prose_pct_err(double pct, double err);
struct ct_unit_range ct_prose_rate_err(double samples_per_s, double err);
/* "+14.0 % (13.9 to 14.1)" */
struct ct_unit_range ct_prose_change(double pct, double low, double high);

#endif
