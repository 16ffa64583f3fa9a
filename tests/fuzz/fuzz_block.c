/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a block. The first byte decides: even, the columns of an unpacked frame, behind six
 * numbers for the header; odd, a whole block whose checksums are made right, since no fuzzer
 * guesses a CRC. */
#include <stdint.h>
#include <string.h>

#include "trace/block_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void columns(struct ct_decoder *decoder, const uint8_t *data, size_t len)
{
	uint16_t n[6];
	struct ct_block_header h = { .magic = CT_BLOCK_MAGIC };
	struct ct_block block = { 0 };
	struct ct_err err;

	if (len < sizeof(n))
		return;
	memcpy(n, data, sizeof(n));
	h.type = n[0] & 7;
	h.n_ops = n[1] % (CT_BLOCK_MAX_RECORDS + 1);
	h.n_launches = n[2] % (CT_BLOCK_MAX_RECORDS + 1);
	h.n_rares = n[3] % (CT_BLOCK_MAX_RECORDS + 1);
	h.n_extents = n[4] % (CT_BLOCK_MAX_RECORDS + 1);
	h.quantum_ns = n[5] ? n[5] : 1;
	h.raw_bytes = (uint32_t)(len - sizeof(n));
	ct_block_decode_raw(decoder, &h, data + sizeof(n), len - sizeof(n), &block, &err);
	ct_block_fini(&block);
}

static void whole(struct ct_decoder *decoder, const uint8_t *data, size_t len)
{
	struct ct_block block = { 0 };
	struct ct_block_header h;
	struct ct_err err;

	if (len < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	h.bytes = (uint32_t)(len - sizeof(h));
	h.crc = ct_crc32c(0, data + sizeof(h), h.bytes);
	h.header_crc = 0;
	h.header_crc = ct_crc32c(0, &h, sizeof(h));
	if (ct_block_header_check(&h, 0, &err) == CT_OK)
		ct_block_decode(decoder, &h, data + sizeof(h), &block, &err);
	ct_block_fini(&block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct ct_decoder *decoder = ct_decoder_new();

	if (decoder && len) {
		if (data[0] & 1)
			whole(decoder, data + 1, len - 1);
		else
			columns(decoder, data + 1, len - 1);
	}
	ct_decoder_free(decoder);
	return 0;
}
