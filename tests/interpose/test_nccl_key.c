/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "interpose/nccl/key.h"

/* The key of an id of 128 sevens, as NCCL's own hash has it, and of what is split from it: the
 * first split's colour 0, the second's colour 5, and of the first child's first split colour 3. */
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
	assert_true(ct_nccl_key_of_id(&id, 0) == KEY_7);
	assert_true(ct_nccl_key_of_split(KEY_7, 1, 0, 0) == KEY_7_SPLIT_1_0);
	assert_true(ct_nccl_key_of_split(KEY_7, 2, 5, 0) == KEY_7_SPLIT_2_5);
	assert_true(ct_nccl_key_of_split(KEY_7_SPLIT_1_0, 1, 3, 0) == KEY_7_SPLIT_1_0_SPLIT_1_3);
	assert_true(set == ct_nccl_hash_of_ranks(same, 2));
	assert_true(set != ct_nccl_hash_of_ranks(others, 2));
	assert_true(ct_nccl_key_of_shrink(KEY_7, set, 0) != ct_nccl_key_of_shrink(KEY_7, set, 1));
}

/* The first that is grown from the one of sevens, to six ranks: NCCL's hash of its magic and the
 * size; and NCCL's own hash of what is shrunk from it, computed apart from this. */
#define GROWN_MAGIC 0xd3311033d163a1e4ull
#define GROWN_TO_6 0x5b947bbb8c42627eull
#define SHRUNK 0x7f54bccecf8f5422ull

static void members_and_newcomers_come_to_one_key(void **state)
{
	ncclUniqueId id;

	(void)state;
	memset(&id, 7, sizeof(id));
	assert_true(ct_nccl_magic_of_id(&id) == 0x0707070707070707ull);
	assert_true(ct_nccl_magic_of_grown(ct_nccl_magic_of_id(&id), 1) == GROWN_MAGIC);
	assert_true(ct_nccl_key_of_grown(GROWN_MAGIC, 6) == GROWN_TO_6);
	assert_true(ct_nccl_magic_of_grown(ct_nccl_magic_of_id(&id), 2) != GROWN_MAGIC);
	assert_true(ct_nccl_hash_of_shrunk(KEY_7) == SHRUNK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_those_that_nccl_computes),
		cmocka_unit_test(members_and_newcomers_come_to_one_key),
	};

	return cmocka_run_group_tests_name("nccl_key", tests, NULL, NULL);
}
