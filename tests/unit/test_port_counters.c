/* SPDX-License-Identifier: Apache-2.0 */
/* COUNTERS records: what goes in comes out, and nothing that comes in does harm. With --measure:
 * what an hour of them takes in a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trace/block.h"
#include "trace/port_counters.h"
#include "trace/status.h"

static struct ct_port_sample base, later, got;
static uint8_t bytes[CT_PORT_SAMPLE_BYTES];

static uint64_t any64(void)
{
	return (uint64_t)random() << 62 ^ (uint64_t)random() << 31 ^ (uint64_t)random();
}

static void seed_it(void)
{
	const char *text = getenv("CT_SEED");
	unsigned seed = text ? (unsigned)atoi(text) : (unsigned)time(NULL);

	print_message("CT_SEED=%u\n", seed);
	srandom(seed);
}

static void fill(struct ct_port_sample *s, uint32_t number)
{
	s->head = (struct ct_counters_rec){ any64(), any64(), number, 0 };
	s->ports = any64() & any64();
	for (unsigned p = 0; p < CT_PORTS_MOST; p++) {
		s->values[p].present = any64() & any64();
		for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++)
			s->values[p].value[id] = any64() >> random() % 64;
	}
}

static void assert_same(const struct ct_port_sample *a, const struct ct_port_sample *b)
{
	assert_int_equal(a->head.begin_ns, b->head.begin_ns);
	assert_int_equal(a->head.end_ns, b->head.end_ns);
	assert_int_equal(a->head.number, b->head.number);
	assert_int_equal(a->ports, b->ports);
	for (unsigned p = 0; p < CT_PORTS_MOST; p++) {
		if (!(a->ports >> p & 1))
			continue;
		assert_int_equal(a->values[p].present, b->values[p].present);
		for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++)
			if (a->values[p].present >> id & 1)
				assert_int_equal(a->values[p].value[id], b->values[p].value[id]);
	}
}

/* Some counters grow, some go back or away, some come; so do ports. */
static void change(struct ct_port_sample *s)
{
	for (int i = 0; i < 200; i++) {
		struct ct_port_values *v = &s->values[random() % CT_PORTS_MOST];
		unsigned id = (unsigned)random() % CT_PORT_COUNTER_IDS;

		if (random() % 8 == 0)
			v->present ^= UINT64_C(1) << id;
		else
			v->value[id] += any64() >> random() % 64;
	}
	s->ports ^= UINT64_C(1) << random() % 64;
}

static void what_was_sampled_is_what_is_read(void **state)
{
	size_t whole, less;

	(void)state;
	seed_it();
	for (int i = 0; i < 200; i++) {
		fill(&base, 7);
		whole = ct_port_sample_encode(&base, NULL, bytes);
		assert_in_range(whole, 1, sizeof(bytes));
		assert_int_equal(ct_port_sample_decode(&got, NULL, bytes, whole), 1);
		assert_same(&got, &base);
		assert_int_equal(got.head.base, 0);
		later = base;
		later.head.number = 9;
		change(&later);
		less = ct_port_sample_encode(&later, &base, bytes);
		assert_true(less < whole);
		assert_int_equal(ct_port_sample_decode(&got, &base, bytes, less), 1);
		assert_same(&got, &later);
		assert_int_equal(got.head.base, 7);
	}
}

static void the_largest_sample_has_room(void **state)
{
	(void)state;
	memset(&base, 0xff, sizeof(base));
	assert_in_range(ct_port_sample_encode(&base, NULL, bytes), 1, sizeof(bytes));
	assert_true(sizeof(bytes) <= UINT16_MAX); /* a rare record */
}

static void without_its_base_nothing_is_read(void **state)
{
	size_t len;

	(void)state;
	fill(&base, 7);
	later = base;
	later.head.number = 8;
	len = ct_port_sample_encode(&later, &base, bytes);
	assert_int_equal(ct_port_sample_decode(&got, NULL, bytes, len), 0);
	base.head.number = 6;
	assert_int_equal(ct_port_sample_decode(&got, &base, bytes, len), 0);
	base.head.number = 7;
	assert_int_equal(ct_port_sample_decode(&got, &base, bytes, len), 1);
}

/* Ports and counters of a later version. */
static void what_is_not_known_is_passed_over(void **state)
{
	struct ct_counters_rec head = { 1, 2, 3, 0 };
	static const uint8_t body[] = {
		100, 1, 2,    4,	     /* port 100: counter 1 */
		1,   2, 0xd4, 0x01, 6, 4, 8, /* port 1: counter 106, counter 2 = 4 */
	};
	uint8_t *copy = malloc(sizeof(head) + sizeof(body));

	(void)state;
	memcpy(copy, &head, sizeof(head));
	memcpy(copy + sizeof(head), body, sizeof(body));
	assert_int_equal(ct_port_sample_decode(&got, NULL, copy, sizeof(head) + sizeof(body)), 1);
	assert_int_equal(got.ports, 1);
	assert_int_equal(got.values[0].present, 4);
	assert_int_equal(got.values[0].value[2], 4);
	free(copy);
}

/* Truncated and changed records, and pure noise, in memory with nothing behind it. */
static void whatever_a_record_holds_is_survived(void **state)
{
	(void)state;
	seed_it();
	fill(&base, 7);
	for (int i = 0; i < 20000; i++) {
		size_t len;
		uint8_t *copy;

		if (i % 200 == 0) {
			later = base;
			later.head.number = 8;
			change(&later);
		}
		len = ct_port_sample_encode(&later, i % 2 ? &base : NULL, bytes);
		len = (size_t)random() % (len + 1);
		copy = malloc(len ? len : 1);
		memcpy(copy, bytes, len);
		for (int k = 0; len > 24 && k < i % 5; k++)
			copy[24 + (size_t)random() % (len - 24)] = (uint8_t)random();
		ct_port_sample_decode(&got, &base, copy, len);
		free(copy);
	}
}

static void ids_are_within_bounds_and_used_once(void **state)
{
	static const unsigned ids[] = {
#define X(NAME, id, of, file, class, scale, bits, noise) id,
#include "trace/port_counters.def"
#undef X
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_in_range(ids[i], 1, CT_PORT_COUNTER_IDS - 1);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(ids[i], ids[k]);
	}
	assert_int_equal(ct_port_counters[CT_PORT_COUNTER_link_downed].largest, 255);
	assert_int_equal(ct_port_counters[CT_PORT_COUNTER_port_rcv_data].largest, UINT64_MAX);
	assert_int_equal(ct_port_counters[CT_PORT_COUNTER_port_rcv_data].scale, 4);
}

/* ---- an hour ---- */

static size_t block_bytes(struct ct_encoder *encoder, const struct ct_port_sample *sample,
			  const struct ct_port_sample *whole)
{
	struct ct_block block = { 0 };
	const void *out;
	size_t len;

	ct_block_reset(&block, CT_BLOCK_DATA);
	if (sample)
		ct_block_add_rare(&block, CT_KIND_COUNTERS, bytes,
				  ct_port_sample_encode(sample, whole, bytes));
	assert_int_equal(ct_block_encode(encoder, &block, &out, &len), CT_OK);
	ct_block_fini(&block);
	return len;
}

/* Every counter of the table on each port; of these data, and one in four of the rest, move. */
static void measure(unsigned n_net, unsigned n_ib)
{
	struct ct_encoder *encoder = ct_encoder_new();
	size_t nothing = block_bytes(encoder, NULL, NULL), sum = 0;

	memset(&later, 0, sizeof(later));
	for (unsigned p = 0; p < n_net + n_ib; p++) {
		later.ports |= UINT64_C(1) << p;
		for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++) {
			if (ct_port_counters[id].of != (p < n_net ? CT_PORT_NET : CT_PORT_IB))
				continue;
			later.values[p].present |= UINT64_C(1) << id;
			later.values[p].value[id] = any64() >> 20;
		}
	}
	for (uint32_t i = 0; i < 360; i++) {
		later.head = (struct ct_counters_rec){
			.begin_ns = i * 10000000000ull + any64() % 1000000, .number = i + 1
		};
		later.head.end_ns = later.head.begin_ns + 5000000 + any64() % 1000000;
		for (unsigned p = 0; p < n_net + n_ib; p++)
			for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++) {
				enum ct_port_counter_class class = ct_port_counters[id].class;

				if (ct_port_counters[id].of == CT_PORT_UNKNOWN)
					continue;
				if (class == CT_PORT_RX || class == CT_PORT_TX)
					later.values[p].value[id] += any64() % 100000000000ull;
				else if (id % 4 == 0)
					later.values[p].value[id] += any64() % 1000;
			}
		if (i % 60 == 0)
			base = later;
		sum += block_bytes(encoder, &later, i % 60 ? &base : NULL) - nothing;
	}
	printf("%u network devices, %u InfiniBand ports: %zu bytes an hour, one sample each 10 s\n",
	       n_net, n_ib, sum);
	ct_encoder_free(encoder);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_sampled_is_what_is_read),
		cmocka_unit_test(the_largest_sample_has_room),
		cmocka_unit_test(without_its_base_nothing_is_read),
		cmocka_unit_test(what_is_not_known_is_passed_over),
		cmocka_unit_test(whatever_a_record_holds_is_survived),
		cmocka_unit_test(ids_are_within_bounds_and_used_once),
	};

	if (argc > 1 && strcmp(argv[1], "--measure") == 0) {
		measure(1, 0);
		measure(2, 8);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
