/* SPDX-License-Identifier: Apache-2.0 */
/* format_lines.c — many values as the report's text writes them, a line each: name of the function
 * in format.js, value as in JSON, text. Values: what rounding turns on (halves, ends of units), and
 * random ones of all sizes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/base/units.h"

/* Numbers of JSON are doubles in a browser: whole up to here, and above nearly so. */
#define MOST (1ull << 62)

static uint64_t random_state = 1;

/* xorshift64*, Vigna 2016 */
static uint64_t random_bits(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

static void integer(uint64_t v)
{
	printf("ns\t%" PRIu64 "\t%s\n", v, ct_prose_ns(v).s);
	printf("bytes\t%" PRIu64 "\t%s\n", v, ct_prose_bytes(v).s);
	printf("Bps\t%" PRIu64 "\t%s\n", v, ct_prose_Bps(v).s);
	printf("count\t%" PRIu64 "\t%s\n", v, ct_text_count(v).s);
}

static void real(double v)
{
	char text[64];

	printf("pct\t%.17g\t%s\n", v, ct_prose_pct(v).s);
	/* as the score and the drift of clocks are written */
	printf("integer\t%.17g\t%.0f\n", v, v);
	/* as rates of samples are written; beyond these, %g has an exponent */
	snprintf(text, sizeof(text), "%.3g", v);
	if (fabs(v) >= 0.001 && fabs(v) < 999.5 && floor(v) < v)
		printf("number\t%.17g\t%s\n", v, text);
}

int main(void)
{
	static const uint64_t heads[] = { 0,	  1,	  5,	  995,	  999,	  1000,	 1005,
					  1115,	  1125,	  1135,	  9994,	  9995,	  9996,	 9985,
					  12250,  12350,  99949,  99950,  99951,  99999, 100000,
					  112500, 113500, 999499, 999500, 999501, 999999 };

	puts("ns\tnull\tn/a\nbytes\tnull\tn/a\nBps\tnull\tn/a\ncount\tnull\tn/"
	     "a\npct\tnull\tn/"
	     "a\ninteger\tnull\tn/a\nnumber\tnull\tn/a");
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		for (uint64_t v = heads[i]; v && v < MOST / 10; v *= 10) {
			integer(v - 1);
			integer(v);
			integer(v + 1);
		}
		integer(heads[i] << 10 | heads[i] << 20);
		integer(heads[i] << 30);
		for (int eighths = 0; eighths < 8; eighths++)
			real((double)heads[i] / 1000 + eighths / 8.);
	}
	for (int i = 0; i < 6000; i++) {
		uint64_t v = random_bits() >> (2 + random_bits() % 62);

		integer(v);
		integer(v / 10 * 10 + 5);
		real(ldexp((double)(random_bits() >> 11), -53 + (int)(random_bits() % 18)));
		real((double)(random_bits() % 800000) / 8000); /* exact halves among them */
	}
	return 0;
}
