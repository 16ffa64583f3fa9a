/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "interpose/nccl_key.h"

/* The key of an id of 128 sevens, as NCCL's own hash has it, and of what is split from it: the first split's colour 0, the second's
 * colour 5, and of the first child's first split colour 3. */
#define KEY_7 0x2258c19d731308ebull
#define KEY_7_SPLIT_1_0 0x95ec41b4c672ed61ull
#define KEY_7_SPLIT_2_5 0xede03086b946608eull
#define KEY_7_SPLIT_1_0_SPLIT_1_3 0x5c531c5b4bd7ee11ull

static void keys_are_those_that_nccl_computes(void **state)
{
	static const int ranks[] = { 3, 1 }, same[] = { 1, 3 }, others[] = { 1, 2 };
	ncclUniqueId id;
	uint64_t set = ct_nccl_hash_of_ranks(ranks, 2);

	(void)state;
	memset(&id, 7, sizeof(id));
	assert_true(ct_nccl_key_of_id(&id) == KEY_7);
	assert_true(ct_nccl_key_of_split(KEY_7, 1, 0) == KEY_7_SPLIT_1_0);
	assert_true(ct_nccl_key_of_split(KEY_7, 2, 5) == KEY_7_SPLIT_2_5);
	assert_true(ct_nccl_key_of_split(KEY_7_SPLIT_1_0, 1, 3) == KEY_7_SPLIT_1_0_SPLIT_1_3);
	assert_true(set == ct_nccl_hash_of_ranks(same, 2));
	assert_true(set != ct_nccl_hash_of_ranks(others, 2));
	assert_true(ct_nccl_key_of_shrink(KEY_7, set, 0) != ct_nccl_key_of_shrink(KEY_7, set, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_those_that_nccl_computes),
	};

	return cmocka_run_group_tests_name("nccl_key", tests, NULL, NULL);
}
