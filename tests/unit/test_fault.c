/* SPDX-License-Identifier: Apache-2.0 */
/* unit.fault — the spelling of faults: what is understood, and what is said about what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/workload/fault.h"

static char why[512];

static struct ct_fault parsed(const char *text)
{
	struct ct_fault fault;

	why[0] = '\0';
	if (ct_fault_parse(text, &fault, why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	return fault;
}

static void refused(const char *text, const char *because)
{
	struct ct_fault fault;

	why[0] = '\0';
	assert_int_equal(ct_fault_parse(text, &fault, why, sizeof(why)), -1);
	if (!strstr(why, because))
		fail_msg("%s: says \"%s\", not \"%s\"", text, why, because);
}

static void every_fault_of_the_contract_is_understood(void **state)
{
	static const char *const all[] = {
		"slow-rank:rank=5,pct=5",
		"slow-rank:rank=5,ms=20",
		"slow-host:host=2,pct=5",
		"slow-link:src=0,dst=8,factor=0.5",
		"late-host:rank=3,ms=40",
		"pause:rank=3,every=50,ms=300",
		"rotating:every=265,ms=1400",
		"missing:rank=2,op=120",
		"skip:rank=1,op=50",
		"extra:rank=1,op=50",
		"mismatch:rank=1,op=50,field=op",
		"mismatch:rank=1,op=50,field=count",
		"mismatch:rank=1,op=50,field=dtype",
		"mismatch:rank=1,op=50,field=redop",
		"mismatch:rank=1,op=50,field=root",
		"kill:rank=2,op=77,signal=9",
		"exit:rank=3,op=90",
		"block-stream:rank=2,op=40",
		"order-inversion:ranks=0+1",
		"async-error:rank=1,op=60",
		"drop-trace:rank=4",
		"truncate:rank=4,keep=0.5",
		"starve-sm:rank=2,ms=30",
		"run-ahead:ms=24",
		"driver-lock:rank=1,s=5",
		"slow-write:rank=1,s=10",
		"abort-completes:rank=1,op=60",
		"abort-completes:rank=1,op=60,ms=300,after=120000",
		"gpu-pause:rank=3,ms=300",
		"skip-init:rank=3",
		"skip-send:rank=0,peer=1,op=9",
		"host-inversion:ranks=0+1",
		"host-stall:rank=0,call=groupend,op=20",
		"host-stall:rank=0,call=init",
		"host-stall:rank=0,call=split",
		"host-stall:rank=0,call=finalize",
		"unbatched-p2p:ranks=0+1",
		"transport-stall:rank=1,op=60",
		"kernel-inversion:ranks=0+1",
		"never-ends:rank=1,op=60",
		"stray-split:rank=1,op=60",
	};
	uint64_t seen = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		seen |= 1ULL << parsed(all[i]).kind;
	assert_int_equal(seen, (1ULL << CT_FAULT_KINDS) - 1);
}

static void values_arrive_in_their_members(void **state)
{
	struct ct_fault fault = parsed("slow-link:src=0,dst=8,factor=0.25,from=3,to=9");

	(void)state;
	assert_int_equal(fault.src, 0);
	assert_int_equal(fault.dst, 8);
	assert_true(fault.factor == 0.25);
	assert_int_equal(fault.from, 3);
	assert_int_equal(fault.to, 9);
	assert_true(ct_fault_has(&fault, CT_KEY_from));
	assert_false(ct_fault_has(&fault, CT_KEY_rank));

	fault = parsed("order-inversion:ranks=7+2");
	assert_int_equal(fault.ranks[0], 7);
	assert_int_equal(fault.ranks[1], 2);

	fault = parsed("host-stall:rank=1,call=finalize");
	assert_int_equal(fault.call, CT_CALL_finalize);
	fault = parsed("mismatch:rank=1,op=4,field=root");
	assert_int_equal(fault.field, CT_FIELD_root);
	assert_int_equal(fault.op, 4);
}

static void without_a_range_a_fault_lasts(void **state)
{
	struct ct_fault fault = parsed("late-host:rank=3,ms=40");

	(void)state;
	assert_int_equal(fault.from, 0);
	assert_true(fault.to == UINT64_MAX);
	assert_true(fault.factor == 1);
}

static void nonsense_is_refused_in_words(void **state)
{
	(void)state;
	refused("slow-rnk:rank=5,pct=5", "no fault 'slow-rnk'; there are slow-rank, ");
	refused("", "no fault ''");
	refused("slow-rank", "fault slow-rank needs rank");
	refused("slow-rank:", "'' is not key=value");
	refused("slow-rank:rank=5", "needs one of pct, ms");
	refused("slow-rank:rank=5,pct=5,ms=20", "needs one of pct, ms");
	refused("slow-rank:rank=five,pct=5", "'five' is not valid for rank");
	refused("slow-rank:rank=-1,pct=5", "'-1' is not valid for rank");
	refused("slow-rank:rank=5,pct=nan", "'nan' is not valid for pct");
	refused("slow-rank:rank=5,pct=5%", "'5%' is not valid for pct");
	refused("slow-rank:rank=5,rank=6,pct=5", "'rank' is there twice");
	refused("slow-rank:rank=5,pct=5,op=7", "has no 'op', it has rank, from, to, pct, ms");
	refused("slow-rank:rank=5,pct", "'pct' is not key=value");
	refused("slow-rank:rank=5,pct=5,from=9,to=3", "from is behind to");
	refused("slow-rank:rank=99999999999,pct=5", "'99999999999' is not valid for rank");
	refused("kill:rank=1,op=99999999999999999999", "is not valid for op");
	refused("kill:rank=1,op=3,signal=65", "'65' is not valid for signal");
	refused("pause:rank=1,every=0,ms=3", "'0' is not valid for every");
	refused("truncate:rank=1,keep=2", "'2' is not valid for keep");
	refused("order-inversion:ranks=1+1", "'1+1' is not valid for ranks: two global ranks, A+B");
	refused("order-inversion:ranks=1", "'1' is not valid for ranks");
	refused("order-inversion:ranks=1+2+3", "'1+2+3' is not valid for ranks");
	refused("mismatch:rank=1,op=3,field=size", "op, count, dtype, redop or root");
	refused("host-stall:rank=1,call=groupend", "op goes with call=groupend");
	refused("host-stall:rank=1,call=init,op=3", "op goes with call=groupend");
}

static void a_fault_must_fit_its_job(void **state)
{
	static const struct {
		const char *fault, *because;
	} bad[] = {
		{ "slow-rank:rank=8,pct=5", "there is no rank 8, only 0 to 7" },
		{ "slow-link:src=0,dst=9,factor=0.5", "there is no rank 9" },
		{ "order-inversion:ranks=0+11", "there is no rank 11" },
		{ "slow-host:host=2,pct=5", "there is no node 2, only 0 to 1" },
		{ "slow-rank:rank=1,pct=5,from=20", "step 20 does not come, there are 20 steps" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ct_fault fault = parsed(bad[i].fault);

		assert_int_equal(ct_fault_fits(&fault, 8, 2, 20, why, sizeof(why)), -1);
		if (!strstr(why, bad[i].because))
			fail_msg("%s: says \"%s\"", bad[i].fault, why);
	}
	struct ct_fault good = parsed("slow-host:host=1,pct=5,from=19,to=400");

	assert_int_equal(ct_fault_fits(&good, 8, 2, 20, why, sizeof(why)), 0);
}

static void help_spells_every_fault_as_the_parser_wants_it(void **state)
{
	char spelling[256];
	unsigned n = 0;

	(void)state;
	while (ct_fault_help(n, spelling, sizeof(spelling))) {
		assert_int_equal(strncmp(spelling, ct_fault_name(n), strlen(ct_fault_name(n))), 0);
		n++;
	}
	assert_int_equal(n, CT_FAULT_KINDS);
	ct_fault_help(CT_FAULT_SLOW_RANK, spelling, sizeof(spelling));
	assert_string_equal(spelling, "slow-rank:rank=,pct=|ms=[,from=,to=]");
	ct_fault_help(CT_FAULT_RUN_AHEAD, spelling, sizeof(spelling));
	assert_string_equal(spelling, "run-ahead:ms=");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fault_of_the_contract_is_understood),
		cmocka_unit_test(values_arrive_in_their_members),
		cmocka_unit_test(without_a_range_a_fault_lasts),
		cmocka_unit_test(nonsense_is_refused_in_words),
		cmocka_unit_test(a_fault_must_fit_its_job),
		cmocka_unit_test(help_spells_every_fault_as_the_parser_wants_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
