/* SPDX-License-Identifier: Apache-2.0 */
/* decode_run RUN — decodes all blocks of a run, one process after the other, and does nothing with
 * them: what a verdict is measured against (synthetic.py --big). Prints how many operations there
 * are. */
#include <inttypes.h>
#include <stdio.h>

#include "trace/reader.h"

int main(int argc, char **argv)
{
	const char *const paths[] = { argc == 2 ? argv[1] : "" };
	const struct ct_run_options none = { 0 };
	const struct ct_block *block;
	struct ct_err err = { 0 };
	struct ct_run *run;
	uint64_t ops = 0;

	if (ct_run_open(paths, 1, &none, &run, &err)) {
		fprintf(stderr, "decode_run: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < run->n_processes; i++) {
		struct ct_process_reader *reader;

		if (ct_process_open(run, i, &reader, &err)) {
			fprintf(stderr, "decode_run: %s\n", err.text);
			return 1;
		}
		while (ct_process_next(reader, &block, &err) > 0)
			ops += block->n_ops;
		ct_process_close(reader);
	}
	ct_run_close(run);
	printf("%" PRIu64 " operations\n", ops);
	return 0;
}
