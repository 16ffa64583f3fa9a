/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_keys.c — keys of communicators, for nccl_hash.py to compare. Each line on stdin is VERSION
 * ID NTH COLOR with the 128 bytes of a unique id in hexadecimal; the answer is the key of the id,
 * NCCL's hash of what is split from that, and that child's key. */
#include <inttypes.h>
#include <stdio.h>

#include "interpose/nccl/key.h"

int main(void)
{
	char hex[2 * NCCL_UNIQUE_ID_BYTES + 1];
	int version, nth, color;

	while (scanf("%d %256s %d %d", &version, hex, &nth, &color) == 4) {
		ncclUniqueId id;
		uint64_t key;

		for (int i = 0; i < NCCL_UNIQUE_ID_BYTES; i++) {
			unsigned byte = 0;

			sscanf(hex + 2 * i, "%2x", &byte);
			id.internal[i] = (char)byte;
		}
		key = ct_nccl_key_of_id(&id, version);
		printf("%016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", key,
		       ct_nccl_hash_of_split(key, nth, color, version),
		       ct_nccl_key_of_split(key, nth, color, version));
	}
	return 0;
}
