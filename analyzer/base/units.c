/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/units.h"

#include <math.h>
#include <stdio.h>

static struct ct_unit_text none(void)
{
	return (struct ct_unit_text){ "n/a" };
}

/* Three digits: 1.23, 12.3, 123. */
static struct ct_unit_text three(double value, const char *unit)
{
	struct ct_unit_text text;
	int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(text.s, sizeof(text.s), "%.*f%s", digits, value, unit);
	return text;
}

/* `units` go up by 1000, the first takes whole numbers only. */
static struct ct_unit_text scaled(uint64_t value, const char *const *units, unsigned n)
{
	struct ct_unit_text text;
	double v = (double)value;
	unsigned u = 0;

	while (u + 1 < n && v >= 999.5) {
		v /= 1000;
		u++;
	}
	if (u > 0)
		return three(v, units[u]);
	snprintf(text.s, sizeof(text.s), "%llu%s", (unsigned long long)value, units[0]);
	return text;
}

struct ct_unit_text ct_text_ns(uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	return ns == UINT64_MAX ? none() : scaled(ns, units, 4);
}

struct ct_unit_text ct_text_bytes(uint64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };

	return bytes == UINT64_MAX ? none() : scaled(bytes, units, 6);
}

struct ct_unit_text ct_text_size(uint64_t bytes)
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
	snprintf(text.s, sizeof(text.s), "%.*f %s", digits, v, units[u]);
	return text;
}

struct ct_unit_text ct_text_Bps(uint64_t bytes_per_second)
{
	static const char *const units[] = { "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s" };

	return bytes_per_second == UINT64_MAX ? none() : scaled(bytes_per_second, units, 6);
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
		return scaled(n, units, 5);
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

struct ct_unit_text ct_text_pct(double pct)
{
	struct ct_unit_text text;

	if (isnan(pct))
		return none();
	/* Below a hundredth of a percent the digits say nothing. */
	if (pct > 0 && pct < 0.01)
		return (struct ct_unit_text){ "<0.01%" };
	snprintf(text.s, sizeof(text.s), "%.*f%%", pct < 9.995 ? 2 : 1, pct);
	return text;
}
