/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a segment file, read from the front, skimmed in part or in whole, and read from the
 * back: as they are, and with the checksums of everything that starts like a header made right. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/segment_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_it(const uint8_t *data, size_t len, uint32_t skim_before)
{
	struct ct_segment_reader *reader;
	struct ct_block block = { 0 };
	struct ct_err err;
	uint64_t bytes;

	if (ct_segment_open_memory(data, len, &reader, &err) != CT_OK)
		return;
	bytes = ct_segment_header(reader)->header_bytes;
	if (skim_before)
		ct_segment_skim(reader, skim_before);
	while (ct_segment_next_block(reader, &block, &err) == 1) {
		if (!block.is_again)
			bytes += sizeof(struct ct_block_header) +
				 ct_segment_block_header(reader)->bytes;
	}
	/* every byte is accounted for, once */
	bytes += ct_segment_damage(reader)->skipped_bytes + ct_segment_damage(reader)->torn_bytes;
	if (bytes < len || (bytes > len && bytes != ct_segment_header(reader)->header_bytes))
		abort();
	if (ct_segment_seek_last(reader, &err) == 1)
		ct_segment_next_block(reader, &block, &err);
	ct_segment_close_read(reader);
	ct_block_fini(&block);
}

static void make_right(uint8_t *data, size_t len)
{
	const uint32_t magic = CT_BLOCK_MAGIC;
	struct ct_segment_header h;
	struct ct_block_header b;

	if (len >= sizeof(h)) {
		memcpy(&h, data, sizeof(h));
		h.crc = 0;
		h.crc = ct_crc32c(0, &h, sizeof(h));
		memcpy(data, &h, sizeof(h));
	}
	for (size_t at = sizeof(h); at + sizeof(b) <= len; at++) {
		if (memcmp(data + at, &magic, sizeof(magic)) != 0)
			continue;
		memcpy(&b, data + at, sizeof(b));
		if (b.bytes <= len - at - sizeof(b))
			b.crc = ct_crc32c(0, data + at + sizeof(b), b.bytes);
		b.header_crc = 0;
		b.header_crc = ct_crc32c(0, &b, sizeof(b));
		memcpy(data + at, &b, sizeof(b));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint32_t skims[] = { 0, 2, CT_SKIM_ALL };
	uint8_t *copy;

	for (size_t i = 0; i < 3; i++)
		read_it(data, len, skims[i]);
	copy = malloc(len ? len : 1);
	if (!copy)
		return 0;
	memcpy(copy, data, len);
	make_right(copy, len);
	for (size_t i = 0; i < 3; i++)
		read_it(copy, len, skims[i]);
	free(copy);
	return 0;
}
