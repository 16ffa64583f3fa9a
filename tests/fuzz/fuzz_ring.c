/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a ring file: everything that readers do with one. */
#include <stdint.h>
#include <stdlib.h>

#include "trace/drain.h"
#include "trace/ring_read.h"
#include "trace/ring_snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void drain(const struct ct_ring *ring, enum ct_drain_mode mode)
{
	struct ct_drain d = { 0 };
	struct ct_block block = { 0 };
	int more = 1;

	if (ct_drain_begin(&d, ring) == CT_OK) {
		while (more == 1) {
			ct_block_reset(&block, CT_BLOCK_DATA);
			more = ct_drain_next(&d, ring, &block, 50, mode);
		}
	}
	ct_drain_fini(&d);
	ct_block_fini(&block);
}

static void leftover(const uint8_t *data, size_t len)
{
	struct ct_block block = { 0 };
	struct ct_ring_snapshot *left;
	struct ct_err err;

	if (ct_ring_snapshot_memory(data, len, &left, &err) != CT_OK)
		return;
	for (uint64_t lap = 0; lap < 4; lap++)
		ct_ring_snapshot_strike(
			left, &(struct ct_extent){ .lap = lap, .first = 3, .n_slots = 5 });
	while (ct_ring_snapshot_next(left, &block) == 1)
		;
	ct_ring_snapshot_free(left);
	ct_block_fini(&block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct ct_block state = { 0 };
	struct ct_ring_view view;
	struct ct_err err;
	uint32_t sum = 0;

	if (ct_ring_view_memory(data, len, &view, &err) != CT_OK)
		return 0;
	ct_block_reset(&state, CT_BLOCK_DATA);
	ct_ring_view_state(&view, &state);
	ct_block_fini(&state);
	for (uint32_t id = 0; id < 300; id++) {
		size_t n;
		const char *text = ct_ring_view_string(&view, id, &n);

		for (size_t i = 0; text && i <= n; i++)
			sum += (uint8_t)text[i];
	}
	drain(&view.ring, CT_DRAIN_RETURNED);
	drain(&view.ring, CT_DRAIN_ALL);
	ct_ring_view_close(&view);
	leftover(data, len);
	return sum == UINT32_MAX; /* so that reading the strings is not optimised away */
}
