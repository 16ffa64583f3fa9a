/* SPDX-License-Identifier: Apache-2.0 */
/* unpack_blocks SEGMENT: the header and the content of every block, unpacked, on standard output.
 * Knows the outermost layer of the format only, so that nothing that lies in it can be passed over.
 */
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "trace/format.h"

static int unpack(FILE *file)
{
	struct ct_block_header head;

	while (fread(&head, sizeof(head), 1, file) == 1) {
		char *packed = malloc(head.bytes), *raw = malloc(head.raw_bytes + 1);

		if (head.magic != CT_BLOCK_MAGIC || !packed || !raw ||
		    fread(packed, 1, head.bytes, file) != head.bytes ||
		    ZSTD_decompress(raw, head.raw_bytes, packed, head.bytes) != head.raw_bytes ||
		    fwrite(raw, 1, head.raw_bytes, stdout) != head.raw_bytes)
			return 1;
		free(packed);
		free(raw);
	}
	return !feof(file);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	struct ct_segment_header head;

	if (!file || fread(&head, sizeof(head), 1, file) != 1 ||
	    fwrite(&head, sizeof(head), 1, stdout) != 1)
		return 1;
	return unpack(file);
}
