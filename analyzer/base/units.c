/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/units.h"

#include <math.h>
#include <stdio.h>

static struct ct_unit_text none(void)
{
	return (struct ct_unit_text){ "n/a" };
}

/* Of three: 1.23, 12.3, 123. */
static int decimals_of(double value)
{
	return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

static struct ct_unit_text three(double value, const char *space, const char *unit)
{
	struct ct_unit_text text;

	snprintf(text.s, sizeof(text.s), "%.*f%s%s", decimals_of(value), value, space, unit);
	return text;
}

/* `units` go up by 1000, the first takes whole numbers only. */
static struct ct_unit_text scaled(uint64_t value, const char *space, const char *const *units,
				  unsigned n)
{
	struct ct_unit_text text;
	double v = (double)value;
	unsigned u = 0;

	while (u + 1 < n && v >= 999.5) {
		v /= 1000;
		u++;
	}
	if (u > 0)
		return three(v, space, units[u]);
	snprintf(text.s, sizeof(text.s), "%llu%s%s", (unsigned long long)value, space, units[0]);
	return text;
}

static const char *const times[] = { "ns", "us", "ms", "s" };
static const char *const rates[] = { "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s" };

#define SCALED(value, space, units)                                                                \
	((value) == UINT64_MAX ? none()                                                            \
			       : scaled(value, space, units, sizeof(units) / sizeof((units)[0])))

struct ct_unit_text ct_text_ns(uint64_t ns)
{
	return SCALED(ns, "", times);
}

struct ct_unit_text ct_prose_ns(uint64_t ns)
{
	return SCALED(ns, " ", times);
}

/* Most sizes are a whole number of a unit, which needs no decimals. */
static struct ct_unit_text size(uint64_t bytes, const char *space)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	struct ct_unit_text text;
	double v = (double)bytes;
	unsigned u = 0;
	int digits;

	if (bytes == UINT64_MAX)
		return none();
	for (; v >= 1024; u++)
		v /= 1024;
	digits = floor(v) >= v ? 0 : v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
	snprintf(text.s, sizeof(text.s), "%.*f%s%s", digits, v, space, units[u]);
	return text;
}

struct ct_unit_text ct_text_bytes(uint64_t bytes)
{
	return size(bytes, "");
}

struct ct_unit_text ct_prose_bytes(uint64_t bytes)
{
	return size(bytes, " ");
}

struct ct_unit_text ct_text_Bps(uint64_t bytes_per_second)
{
	return SCALED(bytes_per_second, "", rates);
}

struct ct_unit_text ct_prose_Bps(uint64_t bytes_per_second)
{
	return SCALED(bytes_per_second, " ", rates);
}

/* The rules are in units.h. */
static void with_error(struct ct_unit_range *text, double value, double err, const char *unit)
{
	static const double last_digits[] = { 1, 0.1, 0.01 };
	int decimals = decimals_of(fmax(value, err)), of_err = err < 0.995 ? 2 : err < 9.95 ? 1 : 0;

	decimals = of_err < decimals ? of_err : decimals;
	if (err > 0 && err < last_digits[decimals] / 2)
		snprintf(text->s, sizeof(text->s), "%.*f ± <%.*f %s", decimals, value, decimals,
			 last_digits[decimals], unit);
	else
		snprintf(text->s, sizeof(text->s), "%.*f ± %.*f %s", decimals, value, decimals,
			 err < 99.5 ? err : 10 * round(err / 10), unit);
}

/* Both in the unit of the larger; `units` as of scaled(). */
static struct ct_unit_range scaled_err(double value, double err, const char *const *units,
				       unsigned n)
{
	struct ct_unit_range text = { "n/a" };
	unsigned u = 0;

	if (isnan(value))
		return text;
	if (isnan(err)) {
		snprintf(text.s, sizeof(text.s), "%s",
			 scaled(value > 0 ? (uint64_t)value : 0, " ", units, n).s);
		return text;
	}
	while (u + 1 < n && fmax(value, err) >= 999.5) {
		value /= 1000;
		err /= 1000;
		u++;
	}
	with_error(&text, value, err, units[u]);
	return text;
}

struct ct_unit_range ct_prose_ns_err(double ns, double err)
{
	return scaled_err(ns, err, times, sizeof(times) / sizeof(times[0]));
}

struct ct_unit_range ct_prose_Bps_err(double bytes_per_second, double err)
{
	return scaled_err(bytes_per_second, err, rates, sizeof(rates) / sizeof(rates[0]));
}

struct ct_unit_range ct_prose_pct_err(double pct, double err)
{
	struct ct_unit_range text = { "n/a" };

	if (isnan(pct))
		return text;
	if (isnan(err))
		snprintf(text.s, sizeof(text.s), "%s", ct_prose_pct(pct).s);
	else
		with_error(&text, pct, err, "%");
	return text;
}

struct ct_unit_range ct_prose_rate_err(double samples_per_s, double err)
{
	struct ct_unit_range text = { "n/a" };

	if (isnan(samples_per_s))
		return text;
	if (isnan(err))
		snprintf(text.s, sizeof(text.s), "%.*f samples/s", decimals_of(samples_per_s),
			 samples_per_s);
	else
		with_error(&text, samples_per_s, err, "samples/s");
	return text;
}

struct ct_unit_range ct_prose_change(double pct, double low, double high)
{
	int decimals = decimals_of(fabs(pct));
	struct ct_unit_range text;

	snprintf(text.s, sizeof(text.s), "%+.*f %% (%.*f to %.*f)", decimals, pct, decimals, low,
		 decimals, high);
	return text;
}

struct ct_unit_text ct_text_exact(uint64_t n)
{
	struct ct_unit_text text;

	if (n == UINT64_MAX)
		return none();
	snprintf(text.s, sizeof(text.s), "%llu", (unsigned long long)n);
	return text;
}

struct ct_unit_text ct_text_count(uint64_t n)
{
	static const char *const units[] = { "", "k", "M", "G", "T" };
	struct ct_unit_text text;

	if (n == UINT64_MAX)
		return none();
	if (n > 99999)
		return scaled(n, "", units, 5);
	snprintf(text.s, sizeof(text.s), "%llu", (unsigned long long)n);
	return text;
}

struct ct_unit_text ct_text_rank(int rank)
{
	struct ct_unit_text text = { "?" };

	if (rank >= 0)
		snprintf(text.s, sizeof(text.s), "%d", rank);
	return text;
}

static struct ct_unit_text percent(double pct, const char *space)
{
	struct ct_unit_text text;

	if (isnan(pct))
		return none();
	/* Below a hundredth of a percent the digits say nothing. */
	if (pct > 0 && pct < 0.01)
		snprintf(text.s, sizeof(text.s), "<0.01%s%%", space);
	else
		snprintf(text.s, sizeof(text.s), "%.*f%s%%", pct < 9.995 ? 2 : 1, pct, space);
	return text;
}

struct ct_unit_text ct_text_pct(double pct)
{
	return percent(pct, "");
}

struct ct_unit_text ct_prose_pct(double pct)
{
	return percent(pct, " ");
}
