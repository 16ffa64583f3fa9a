/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that do not call the same: what is said of jobs whose calls are written down, one line each
 * (order_script.h), from the files on. What is expected are the words of the findings' lines, and
 * nothing else may be found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/table.h"
#include "analyzer/hang/hang_run.h"
#include "tests/unit/order_script.h"

struct order_case {
	const char *name;
	const char *job;
	const char *verdict; /* or the beginning of "VERDICT: text"; NULL: any that is not about
				order */
	const char *found;   /* a line each */
};

/* Ten equal steps of four ranks; then operations of different sizes, which begin at seq 10. */
#define FOUR "ranks 4\n0-3 w 0-9 AllReduce 100 float32 sum - step\n"
#define OF(ranks, seq, count) ranks " w " #seq " AllReduce " #count " float32 sum - step\n"
#define IN(ranks, seq, count) ranks " w " #seq " AllReduce " #count " float32 sum - step in\n"

/* Four steps of three operations, and the first of the fifth. */
#define THREE(ranks, a, b, c) OF(ranks, a, 500) OF(ranks, b, 600) OF(ranks, c, 700)
#define LOOP(ranks)                                                                                \
	THREE(ranks, 0, 1, 2)                                                                      \
	THREE(ranks, 3, 4, 5) THREE(ranks, 6, 7, 8) THREE(ranks, 9, 10, 11) OF(ranks, 12, 500)

#define SITES(a, b, c)                                                                             \
	"0-3 w " #a " AllReduce 5 float32 sum - a\n"                                               \
	"0-3 w " #b " AllReduce 6 float32 sum - b\n"                                               \
	"0-3 w " #c " AllReduce 7 float32 sum - c\n"

/* Rank 3 sends five messages to 0 and to 1, who ask for six; 2 waits for one of 1's. */
#define AWAITED                                                                                    \
	"3 w 0-4 Send 100 float32 - 0 -\n0 w 0-4 Recv 100 float32 - 3 -\n"                         \
	"3 w 0-4 Send 100 float32 - 1 -\n1 w 0-4 Recv 100 float32 - 3 -\n"                         \
	"0 w 5 Recv 100 float32 - 3 - in\n1 w 5 Recv 100 float32 - 3 - in\n"                       \
	"2 w 0 Recv 100 float32 - 1 - in\n"

static const struct order_case cases[] = {
	{ "nothing_is_said_of_equal_calls", FOUR, NULL, "" },

	/* ---- another call ---- */
	{ "another_operation",
	  FOUR "0,1,3 w 10 AllReduce 5 float32 sum - a\n2 w 10 Barrier 0 - - - a\n", "MISMATCH",
	  "MISMATCH ranks=2 seq=10 field=op theirs=Barrier others=AllReduce op_count=1 "
	  "confidence=high" },
	{ "another_count", FOUR OF("0-2", 10, 500) OF("3", 10, 501) OF("0-3", 11, 700), "MISMATCH",
	  "MISMATCH ranks=3 seq=10 field=count theirs=501 others=500 op_count=1 confidence=high" },
	{ "another_type",
	  FOUR "1-3 w 10 AllReduce 5 float32 sum - a\n0 w 10 AllReduce 5 int32 sum - a\n",
	  "MISMATCH", "MISMATCH ranks=0 seq=10 field=dtype theirs=int32 others=float32" },
	{ "another_type_of_another_width",
	  FOUR "1-3 w 10 AllReduce 5 float32 sum - a\n0 w 10 AllReduce 5 bfloat16 sum - a\n",
	  "MISMATCH", "MISMATCH ranks=0 seq=10 field=dtype theirs=bfloat16 others=float32" },
	{ "another_reduction",
	  FOUR "1-3 w 10 AllReduce 5 float32 sum - a\n0 w 10 AllReduce 5 float32 max - a\n",
	  "MISMATCH", "MISMATCH ranks=0 seq=10 field=redop theirs=max others=sum" },
	{ "another_root",
	  FOUR "0,2,3 w 10 Broadcast 5 float32 - 0 a\n1 w 10 Broadcast 5 float32 - 2 a\n",
	  "MISMATCH", "MISMATCH ranks=1 seq=10 field=root theirs=2 others=0" },
	{ "two_against_two_name_both", FOUR OF("0,2", 10, 500) OF("1,3", 10, 600), "MISMATCH",
	  "MISMATCH ranks=0-3 seq=10 field=count one=600 others=500 ranks_one=1,3 "
	  "ranks_others=0,2 "
	  "confidence=medium" },
	{ "a_difference_once_is_no_shift",
	  FOUR OF("0,2,3", 10, 500)
		  OF("1", 10, 100) "0-3 w 11-40 AllReduce 100 float32 sum - step\n",
	  "MISMATCH", "MISMATCH ranks=1 seq=10 field=count theirs=100 others=500 op_count=1" },
	{ "nor_where_all_that_follows_is_of_one_site",
	  FOUR
	  "0,2,3 w 10 AllReduce 500 float32 sum - log\n1 w 10 AllReduce 100 float32 sum - step\n"
	  "0-3 w 11-40 AllReduce 100 float32 sum - step\n",
	  "MISMATCH", "MISMATCH ranks=1 seq=10 field=count theirs=100 others=500" },
	{ "who_left_no_trace_makes_it_less_sure",
	  "absent 3\n" FOUR OF("0,2", 10, 500) OF("1", 10, 600), "MISMATCH",
	  "MISMATCH ranks=1 seq=10 field=count theirs=600 others=500 confidence=medium" },
	{ "who_did_not_come_may_be_of_the_other_opinion",
	  "ranks 6\n0-5 w 0-9 AllReduce 100 float32 sum - step\n" IN("0,2", 10, 500)
		  IN("1", 10, 600) "end 0-5 lost\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllReduce #10 on ranks 0-2 (host0)",
	  "MISMATCH ranks=0-2 seq=10 field=count ranks_one=1 ranks_others=0,2 "
	  "confidence=medium" },
	{ "an_error_path_against_the_usual_one",
	  "ranks 2\n0,1 w 0-2 AllReduce 10 float32 sum - step\n0 w 3 AllReduce 10 float32 sum - "
	  "step in\n"
	  "1 w 3 AllReduce 1 uint8 sum - oom\nend 0 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllReduce #3 on ranks 0,1 (host0)",
	  "MISMATCH ranks=0,1 seq=3 field=count one=1 others=10 site_one=oom site_others=step "
	  "first_site_seq=3" },
	{ "what_came_later_is_not_the_first",
	  FOUR OF("0-2", 10, 500) OF("3", 10, 501) OF("0-3", 11, 7) OF("1-3", 12, 5) OF("0", 12, 6),
	  "MISMATCH", "MISMATCH ranks=3 seq=10 field=count op_count=2" },

	/* ---- one too few, one too many ---- */
	{ "one_left_out",
	  FOUR OF("0-3", 10, 500) OF("0,2,3", 11, 600) OF("0,2,3", 12, 700) OF("0,2,3", 13, 800)
		  IN("0,2,3", 14, 900) OF("1", 11, 700) OF("1", 12, 800)
			  IN("1", 13, 900) "end 0-3 killed\n",
	  "HANG: SKIPPED_OP: rank 1 (host0) skipped AllReduce #11",
	  "SKIPPED_OP ranks=1 seq=11 op=AllReduce count=600 left_out=1 fits=3 op_count=3 "
	  "confidence=high" },
	{ "one_too_many",
	  FOUR OF("0-3", 10, 500) OF("0,2,3", 11, 600) OF("0,2,3", 12, 700) IN("0,2,3", 13, 800)
		  OF("1", 11, 50) OF("1", 12, 600) OF("1", 13, 700)
			  IN("1", 14, 800) "end 0-3 killed\n",
	  "HANG: EXTRA_OP: rank 1 (host0) called an extra AllReduce #11",
	  "EXTRA_OP ranks=1 seq=11 op=AllReduce count=50 more=1 fits=3 confidence=high" },
	{ "two_left_out",
	  FOUR OF("0,2,3", 10, 600) OF("0,2,3", 11, 700) OF("0,2,3", 12, 800) OF("0,2,3", 13, 900)
		  IN("0,2,3", 14, 950) OF("1", 10, 800) OF("1", 11, 900)
			  IN("1", 12, 950) "end 0-3 killed\n",
	  "HANG: SKIPPED_OP: rank 1 (host0) skipped AllReduce #10",
	  "SKIPPED_OP ranks=1 seq=10 count=600 left_out=2 fits=3" },
	{ "two_ranks_left_out_the_same",
	  "ranks 6\n0-5 w 0-4 AllReduce 100 float32 sum - step\n" OF("0,2,3,5", 5, 600)
		  OF("0,2,3,5", 6, 700) OF("0,2,3,5", 7, 800) IN("0,2,3,5", 8, 900)
			  OF("1,4", 5, 700) OF("1,4", 6, 800) IN("1,4", 7, 900) "end 0-5 killed\n",
	  "HANG: SKIPPED_OP: ranks 1,4 (host0) skipped AllReduce #5",
	  "SKIPPED_OP ranks=1,4 seq=5 count=600 left_out=1 fits=3" },
	{ "shifted_from_the_start",
	  "ranks 4\n" OF("1-3", 0, 600) OF("1-3", 1, 700) OF("1-3", 2, 800) IN("1-3", 3, 900)
		  OF("0", 0, 700) OF("0", 1, 800) IN("0", 2, 900) "end 0-3 killed\n",
	  "HANG: SKIPPED_OP: rank 0 (host0) skipped AllReduce #0",
	  "SKIPPED_OP ranks=0 seq=0 count=600 left_out=1" },
	{ "shifted_to_the_end_of_a_long_run",
	  "ranks 3\n"
	  "0,2 w 0-19 AllReduce 100 float32 sum - step\n0,2 w 20 AllReduce 5 float32 sum - log\n"
	  "0,2 w 21-29 AllReduce 100 float32 sum - step\n0,2 w 30 AllReduce 5 float32 sum - log\n"
	  "0,2 w 31-39 AllReduce 100 float32 sum - step\n0,2 w 40 AllReduce 5 float32 sum - log\n"
	  "1 w 0-14 AllReduce 100 float32 sum - step\n"
	  "1 w 15-18 AllReduce 100 float32 sum - step\n1 w 19 AllReduce 5 float32 sum - log\n"
	  "1 w 20-28 AllReduce 100 float32 sum - step\n1 w 29 AllReduce 5 float32 sum - log\n"
	  "1 w 30-38 AllReduce 100 float32 sum - step\n1 w 39 AllReduce 5 float32 sum - log\n",
	  "MISMATCH", "SKIPPED_OP ranks=1 seq=19 left_out=1 op_count=5" },
	{ "shifted_without_majority_names_both",
	  "ranks 2\n0,1 w 0-4 AllReduce 100 float32 sum - step\n" OF("0", 5, 600) OF("0", 6, 700)
		  OF("0", 7, 800) IN("0", 8, 900) OF("1", 5, 700) OF("1", 6, 800)
			  IN("1", 7, 900) "end 0,1 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllReduce #5 on ranks 0,1 (host0)",
	  "MISMATCH ranks=0,1 seq=5 field=count ranks_one=1 ranks_others=0 shifted=behind" },
	{ "one_operation_after_it_is_too_little_for_a_shift",
	  FOUR OF("0,2,3", 10, 600) IN("0,2,3", 11, 700) IN("1", 10, 700) "end 0-3 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllReduce #10 on rank 1 (host0)",
	  "MISMATCH ranks=1 seq=10 field=count theirs=700 others=600" },
	{ "left_out_in_a_loop_in_which_all_stand",
	  "ranks 4\n" LOOP("0-3") "0-2 w 13 AllReduce 600 float32 sum - step in\n"
				  "3 w 13 AllReduce 700 float32 sum - step in\nend 0-3 killed\n",
	  "HANG: SKIPPED_OP: rank 3 (host0) skipped AllReduce #13",
	  "SKIPPED_OP ranks=3 seq=13 count=600 left_out=1 confidence=medium" },
	{ "without_a_loop_there_is_no_habit",
	  FOUR OF("0-3", 10, 500) OF("0-3", 11, 700) OF("0-3", 12, 600) IN("0-2", 13, 900)
		  IN("3", 13, 700) "end 0-3 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllReduce #13 on rank 3 (host0)",
	  "MISMATCH ranks=3 seq=13 field=count theirs=700 others=900" },
	{ "once_more_in_a_loop_and_then_the_one_in_which_all_stand",
	  "ranks 4\n" LOOP("0-3") IN("0-2", 13, 600) OF("3", 13, 500)
		  IN("3", 14, 600) "end 0-3 killed\n",
	  "HANG: EXTRA_OP: rank 3 (host0) called an extra AllReduce #13",
	  "EXTRA_OP ranks=3 seq_max=13 count=500 more=1 confidence=medium" },
	{ "once_more_in_a_loop_and_then_another_is_no_habit",
	  "ranks 4\n" LOOP("0-3") IN("0-2", 13, 600) OF("3", 13, 500)
		  IN("3", 14, 700) "end 0-3 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllReduce #13 on rank 3 (host0)",
	  "MISMATCH ranks=3 seq=13 field=count theirs=500 others=600" },
	{ "left_out_in_a_loop_and_then_the_next",
	  "ranks 4\n" LOOP("0-3") IN("0-2", 13, 600) OF("3", 13, 700)
		  IN("3", 14, 500) "end 0-3 killed\n",
	  "HANG: SKIPPED_OP: rank 3 (host0) skipped AllReduce #13",
	  "SKIPPED_OP ranks=3 seq=13 count=600 left_out=1 confidence=medium" },
	{ "left_out_in_a_loop_and_then_another_is_no_habit",
	  "ranks 4\n" LOOP("0-3") IN("0-2", 13, 600) OF("3", 13, 700)
		  IN("3", 14, 601) "end 0-3 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllReduce #13 on rank 3 (host0)",
	  "MISMATCH ranks=3 seq=13 field=count theirs=700 others=600" },
	{ "left_out_by_habit_is_never_sure",
	  "ranks 4\n" SITES(0, 1, 2) SITES(3, 4, 5) SITES(6, 7, 8)
		  SITES(9, 10, 11) "0-2 w 12 AllReduce 5 float32 sum - a in\n3 w 12 AllReduce 6 "
				   "float32 sum - b in\n"
				   "end 0-3 killed\n",
	  "HANG: SKIPPED_OP: rank 3 (host0) skipped AllReduce #12",
	  "SKIPPED_OP ranks=3 seq=12 count=5 left_out=1 site_theirs=b site_others=a "
	  "confidence=medium" },
	{ "where_the_same_came_before_and_behind_habit_tells_nothing",
	  "ranks 4\n" THREE("0-3", 0, 1, 2) OF("0-3", 3, 600) THREE("0-3", 4, 5, 6)
		  OF("0-3", 7, 600) THREE("0-3", 8, 9, 10) OF("0-3", 11, 600) OF("0-3", 12, 500)
			  OF("0-3", 13, 600) "0-2 w 14 AllReduce 700 float32 sum - step in\n3 w 14 "
					     "AllReduce 600 float32 sum - step in\n"
					     "end 0-3 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllReduce #14 on rank 3 (host0)",
	  "MISMATCH ranks=3 seq=14 field=count theirs=600 others=700" },
	{ "once_more_in_a_loop_fits_a_loop_left_out_but_for_that",
	  "ranks 4\n" SITES(0, 1, 2) SITES(3, 4, 5) SITES(6, 7, 8) SITES(
		  9, 10,
		  11) "0-2 w 12 AllReduce 5 float32 sum - a\n0-2 w 13 AllReduce 6 float32 sum - b\n"
		      "0-2 w 14 AllReduce 7 float32 sum - c in\n3 w 12 AllReduce 7 float32 sum - c "
		      "in\n"
		      "end 0-3 killed\n",
	  "HANG: EXTRA_OP: rank 3 (host0) called an extra AllReduce #12",
	  "EXTRA_OP ranks=3 seq=12 count=7 more=1 confidence=medium" },
	{ "another_call_in_a_loop_in_which_all_stand",
	  "ranks 4\n" LOOP("0-3") "0-2 w 13 AllReduce 600 float32 sum - step in\n"
				  "3 w 13 AllReduce 601 float32 sum - step in\nend 0-3 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllReduce #13 on rank 3 (host0)",
	  "MISMATCH ranks=3 seq=13 field=count theirs=601 others=600" },
	{ "once_more_in_a_loop_in_which_all_stand",
	  "ranks 4\n" LOOP("0-3") "0-2 w 13 AllReduce 600 float32 sum - step in\n"
				  "3 w 13 AllReduce 500 float32 sum - step in\nend 0-3 killed\n",
	  "HANG: EXTRA_OP: rank 3 (host0) called an extra AllReduce #13",
	  "EXTRA_OP ranks=3 seq_max=13 count=500 more=1 confidence=medium" },
	{ "what_fits_the_loop_for_once_is_left_out_by_habit_only_if_it_came_no_further",
	  "ranks 4\n" LOOP("0-3") "0-2 w 13 AllReduce 600 float32 sum - step\n"
				  "3 w 13 AllReduce 700 float32 sum - step\n0-3 w 14 AllReduce 700 "
				  "float32 sum - step in\n"
				  "end 0-3 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllReduce #13 on rank 3 (host0)",
	  "MISMATCH ranks=3 seq=13 field=count theirs=700 others=600" },
	{ "a_loop_of_two_tells_by_how_far_they_came",
	  "ranks 3\n" OF("0-2", 0, 5) OF("0-2", 1, 6) OF("0,2", 2, 5) OF("0,2", 3, 6)
		  OF("0,2", 4, 5) IN("0,2", 5, 6) OF("1", 2, 6) OF("1", 3, 5)
			  IN("1", 4, 6) "end 0-2 killed\n",
	  "HANG: SKIPPED_OP: rank 1 (host0) skipped AllReduce #2",
	  "SKIPPED_OP ranks=1 seq=2 count=5 left_out=1" },
	{ "a_loop_of_two_that_came_equally_far_tells_nothing",
	  "ranks 3\n" OF("0-2", 0, 5) OF("0-2", 1, 6) OF("0,2", 2, 5) OF("0,2", 3, 6)
		  OF("0,2", 4, 5) OF("1", 2, 6) OF("1", 3, 5) OF("1", 4, 6),
	  "MISMATCH", "MISMATCH ranks=1 seq=2 field=count" },
	{ "one_too_many_among_equal_ones_tells_by_how_far_they_came",
	  FOUR "0-2 w 10 AllGather 9 float32 - - step\n3 w 10 AllReduce 100 float32 sum - step\n"
	       "0-2 w 11-20 AllReduce 100 float32 sum - step\n3 w 11 AllGather 9 float32 - - step\n"
	       "3 w 12-21 AllReduce 100 float32 sum - step\n",
	  "MISMATCH", "EXTRA_OP ranks=3 seq_max=10 op=AllReduce count=100 more=1" },
	{ "one_left_out_among_equal_ones_tells_by_how_far_they_came",
	  FOUR "3 w 10 AllGather 9 float32 - - step\n0-2 w 10 AllReduce 100 float32 sum - step\n"
	       "3 w 11-20 AllReduce 100 float32 sum - step\n0-2 w 11 AllGather 9 float32 - - step\n"
	       "0-2 w 12-21 AllReduce 100 float32 sum - step\n",
	  "MISMATCH", "SKIPPED_OP ranks=3 seq_max=10 op=AllReduce count=100 left_out=1" },
	{ "one_too_many_among_equal_ones_tells_by_what_comes_much_later",
	  FOUR "0-2 w 10 AllGather 9 float32 - - step\n3 w 10 AllReduce 100 float32 sum - step\n"
	       "0-2 w 11-40 AllReduce 100 float32 sum - step\n3 w 11 AllGather 9 float32 - - step\n"
	       "3 w 12-41 AllReduce 100 float32 sum - step\n0-2 w 41 AllGather 9 float32 - - step\n"
	       "0-2 w 42-70 AllReduce 100 float32 sum - step\n3 w 42 AllGather 9 float32 - - step\n"
	       "3 w 43-71 AllReduce 100 float32 sum - step\n",
	  "MISMATCH", "EXTRA_OP ranks=3 seq_max=10 op=AllReduce count=100 more=1 op_count=4" },
	{ "two_that_are_exchanged_among_equal_ones_are_other_calls",
	  FOUR "0-2 w 10 AllGather 9 float32 - - step\n3 w 10 AllReduce 100 float32 sum - step\n"
	       "0-2 w 11-20 AllReduce 100 float32 sum - step\n3 w 11 AllGather 9 float32 - - step\n"
	       "3 w 12-20 AllReduce 100 float32 sum - step\n",
	  "MISMATCH",
	  "MISMATCH ranks=3 seq=10 field=op theirs=AllReduce others=AllGather op_count=2" },
	{ "two_that_are_exchanged_in_a_long_run_too",
	  FOUR "0-2 w 10 AllReduce 100 float32 sum - step\n3 w 10 AllGather 9 float32 - - step\n"
	       "0-2 w 11 AllGather 9 float32 - - step\n3 w 11 AllReduce 100 float32 sum - step\n"
	       "0-3 w 12-90 AllReduce 100 float32 sum - step\n",
	  "MISMATCH",
	  "MISMATCH ranks=3 seq=10 field=op theirs=AllGather others=AllReduce op_count=2" },
	{ "what_does_not_fit_shifted_is_another_call",
	  FOUR OF("0,2,3", 10, 600) OF("0,2,3", 11, 700) OF("0,2,3", 12, 800) IN("0,2,3", 13, 900)
		  OF("1", 10, 700) OF("1", 11, 800) IN("1", 12, 901) "end 0-3 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllReduce #10 on rank 1 (host0)",
	  "MISMATCH ranks=1 seq=10 field=count theirs=700 others=600" },
	{ "two_ranks_that_went_two_ways",
	  "ranks 5\n0-4 w 0-4 AllReduce 100 float32 sum - step\n" OF("0,3,4", 5, 600)
		  OF("1", 5, 700) OF("2", 5, 800),
	  "MISMATCH", "MISMATCH ranks=1,2 seq=5 field=count others=600" },

	/* ---- records that are missing ---- */
	{ "a_lost_head_is_no_difference",
	  "ranks 4\n0,1,3 w 0-30 AllReduce 100 float32 sum - step\n2 w 8-30 AllReduce 100 float32 "
	  "sum - step\n",
	  NULL, "" },
	{ "a_lost_head_makes_what_is_left_less_sure",
	  "ranks 4\n0 w 0-4 AllReduce 7 float32 sum - step\n1,3 w 0-4 AllReduce 100 float32 sum - "
	  "step\n"
	  "0,1,3 w 5-30 AllReduce 100 float32 sum - step\n2 w 8-29 AllReduce 100 float32 sum - "
	  "step\n"
	  "2 w 30 AllReduce 9 float32 sum - step\n",
	  "MISMATCH",
	  "MISMATCH ranks=0 seq=0 field=count theirs=7 others=100 op_count=6 confidence=medium" },
	{ "a_lost_tail_is_no_difference",
	  "ranks 4\n0-2 w 0-30 AllReduce 100 float32 sum - step\n3 w 0-20 AllReduce 100 float32 "
	  "sum - step\nend 3 lost\n",
	  NULL, "" },
	{ "who_left_no_trace_is_no_difference", "absent 2\n" FOUR, NULL, "" },

	/* ---- several communicators ---- */
	{ "the_other_communicator_is_not_touched",
	  "ranks 4\ncomm a 0-2\n0-3 w 0-9 AllReduce 100 float32 sum - step\n0-2 a 0-4 AllGather 5 "
	  "float32 - - eval\n"
	  "0,2 a 5 AllGather 5 float32 - - eval\n1 a 5 AllGather 6 float32 - - eval\n0-2 a 6 "
	  "AllGather 7 float32 - - eval\n",
	  "MISMATCH",
	  "MISMATCH ranks=1 comm=00000000000000c2 seq=5 field=count theirs=6 others=5" },
	{ "each_communicator_has_its_own_numbers",
	  "ranks 4\ncomm a 0-3\n0-3 w 0-9 AllReduce 100 float32 sum - step\n0-3 a 0-9 AllReduce "
	  "200 float32 sum - step\n",
	  NULL, "" },

	/* ---- call sites ---- */
	{ "a_barrier_of_rank_0_alone_hidden_by_pairing",
	  FOUR "0 w 10 AllReduce 1 float32 sum - save_checkpoint\n1-3 w 10 AllReduce 1 float32 sum "
	       "- finalize\n"
	       "0 w 11 AllReduce 1 float32 sum - finalize in\nend 0 killed\n",
	  "HANG: EXTRA_OP: rank 0 (host0) called an extra AllReduce #10",
	  "EXTRA_OP ranks=0 seq=10 op=AllReduce count=1 more=1 site_theirs=save_checkpoint "
	  "site_others=finalize "
	  "first_site_seq=10 confidence=high" },
	{ "the_same_where_the_others_live_on_elsewhere",
	  "ranks 4\ncomm a 1-3\n0-3 w 0-9 AllReduce 100 float32 sum - step\n"
	  "0 w 10 AllReduce 1 float32 sum - save_checkpoint\n1-3 w 10 AllReduce 1 float32 sum - "
	  "finalize\n"
	  "0 w 11 AllReduce 1 float32 sum - finalize in\n1-3 a 12 AllReduce 1 float32 sum - eval "
	  "in\nend 0-3 killed\n",
	  "HANG: EXTRA_OP: rank 0 (host0) called an extra AllReduce #10",
	  "EXTRA_OP ranks=0 seq=10 more=1 site_theirs=save_checkpoint site_others=finalize" },
	{ "an_operation_left_out_among_equal_ones",
	  "ranks 4\n0-3 w 0-4 AllReduce 100 float32 sum - a\n0,1,3 w 5 AllReduce 100 float32 sum - "
	  "b\n"
	  "0,1,3 w 6 AllReduce 100 float32 sum - c\n0,1,3 w 7 AllReduce 100 float32 sum - d in\n"
	  "2 w 5 AllReduce 100 float32 sum - c\n2 w 6 AllReduce 100 float32 sum - d\nend 0,1,3 "
	  "killed\n",
	  "HANG: SKIPPED_OP: rank 2 (host0) skipped AllReduce #5",
	  "SKIPPED_OP ranks=2 seq=5 left_out=1 site_theirs=c site_others=b" },
	{ "of_two_nobody_can_tell_which_one_is_right",
	  "ranks 2\n0,1 w 0-4 AllReduce 100 float32 sum - a\n0 w 5 AllReduce 1 float32 sum - save\n"
	  "1 w 5 AllReduce 1 float32 sum - b\n0 w 6 AllReduce 1 float32 sum - b in\nend 0 killed\n",
	  "HANG: MISMATCH_OP: ranks 0,1 (host0) disagree on AllReduce #5",
	  "MISMATCH ranks=0,1 seq=5 field=site ranks_one=0 ranks_others=1 site_one=save "
	  "site_others=b" },
	{ "a_pair_that_fits_by_chance_before_the_contradiction",
	  FOUR "0 w 10 AllReduce 1 float32 sum - save\n1-3 w 10 AllReduce 1 float32 sum - b\n"
	       "0 w 11 AllReduce 1 float32 sum - b\n1-3 w 11 AllReduce 900 float32 sum - c\n"
	       "0 w 12 AllReduce 900 float32 sum - c\n1-3 w 12 AllReduce 800 float32 sum - d in\n"
	       "0 w 13 AllReduce 800 float32 sum - d in\nend 0-3 killed\n",
	  "HANG: EXTRA_OP: rank 0 (host0) called an extra AllReduce #10",
	  "EXTRA_OP ranks=0 seq=10 op=AllReduce count=1 more=1 site_theirs=save site_others=b "
	  "first_site_seq=10" },
	{ "what_lies_before_is_kept_however_long_the_run_goes_on",
	  FOUR
	  "0 w 10 AllReduce 1 float32 sum - save\n1-3 w 10 AllReduce 1 float32 sum - b\n"
	  "0 w 11 AllReduce 1 float32 sum - b\n1-3 w 11 AllReduce 900 float32 sum - c\n"
	  "0 w 12 AllReduce 900 float32 sum - c\n1-3 w 12 AllReduce 800 float32 sum - d\n"
	  "0 w 13 AllReduce 800 float32 sum - d\n1-3 w 13-90 AllReduce 100 float32 sum - step\n"
	  "0 w 14-91 AllReduce 100 float32 sum - step in\nend 0-3 killed\n",
	  "HANG: EXTRA_OP: rank 0 (host0) called an extra AllReduce #10",
	  "EXTRA_OP ranks=0 seq=10 more=1 site_theirs=save site_others=b first_site_seq=10" },
	{ "sizes_differ_and_so_do_sites",
	  "ranks 3\n0-2 w 0-9 AllGather 64 float32 - - generate\n0,1 w 10 AllGather 64 float32 - - "
	  "generate in\n"
	  "2 w 10 AllGather 9000 float32 - - teacher_forward in\nend 0-2 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllGather #10 on rank 2 (host0)",
	  "MISMATCH ranks=2 seq=10 field=count theirs=9000 others=64 site_theirs=teacher_forward "
	  "site_others=generate "
	  "first_site_seq=10" },
	{ "sites_that_always_differ_tell_nothing",
	  "ranks 4\n0 w 0-9 Broadcast 100 float32 - 0 load\n1-3 w 0-9 Broadcast 100 float32 - 0 "
	  "receive\n"
	  "0-2 w 10 Broadcast 200 float32 - 0 receive\n3 w 10 Broadcast 300 float32 - 0 receive\n",
	  "MISMATCH",
	  "MISMATCH ranks=3 seq=10 field=count theirs=300 others=200 site_theirs=receive "
	  "site_others=receive" },
	{ "nor_do_sites_that_differ_between_the_sides_all_along",
	  "ranks 3\n0,1 w 0-9 AllReduce 100 float32 sum - a\n2 w 0-9 AllReduce 100 float32 sum - "
	  "b\n"
	  "0,1 w 10 AllReduce 200 float32 sum - a\n2 w 10 AllReduce 300 float32 sum - b\n",
	  "MISMATCH", "MISMATCH ranks=2 seq=10 field=count theirs=300 others=200 !first_site_seq" },
	{ "nor_do_sites_of_their_own",
	  "ranks 12\n0 w 0 AllReduce 1 float32 sum - a\n1 w 0 AllReduce 1 float32 sum - b\n"
	  "2 w 0 AllReduce 1 float32 sum - c\n3 w 0 AllReduce 1 float32 sum - d\n"
	  "4 w 0 AllReduce 1 float32 sum - e\n5 w 0 AllReduce 1 float32 sum - f\n"
	  "6 w 0 AllReduce 1 float32 sum - g\n7 w 0 AllReduce 1 float32 sum - h\n"
	  "8 w 0 AllReduce 1 float32 sum - i\n9 w 0 AllReduce 1 float32 sum - j\n"
	  "10 w 0 AllReduce 1 float32 sum - k\n11 w 0 AllReduce 2 float32 sum - a\n",
	  "MISMATCH", "MISMATCH ranks=11 seq=0 field=count theirs=2 others=1" },
	{ "nor_do_sites_that_differ_within_the_majority",
	  "ranks 4\n0 w 0-9 Broadcast 100 float32 - 0 load\n1-3 w 0-9 Broadcast 100 float32 - 0 "
	  "receive\n"
	  "0 w 10 Broadcast 200 float32 - 0 load\n1,2 w 10 Broadcast 200 float32 - 0 receive\n"
	  "3 w 10 Broadcast 300 float32 - 0 receive\n",
	  "MISMATCH",
	  "MISMATCH ranks=3 seq=10 field=count theirs=300 others=200 site_theirs=receive "
	  "site_others=n/a" },
	{ "sites_differ_by_right",
	  "ranks 4\n0-3 w 0-9 AllReduce 100 float32 sum - step\n0 w 10 Broadcast 100 float32 - 0 "
	  "load\n"
	  "1-3 w 10 Broadcast 100 float32 - 0 receive\n0-3 w 11-20 AllReduce 100 float32 sum - "
	  "step\n",
	  NULL, "" },
	{ "sites_differ_by_right_before_a_crash",
	  "ranks 4\n0-3 w 0-9 AllReduce 100 float32 sum - step\n0 w 10 Broadcast 100 float32 - 0 "
	  "load\n"
	  "1-3 w 10 Broadcast 100 float32 - 0 receive\n0,2,3 w 11 AllReduce 100 float32 sum - step "
	  "in\n"
	  "end 1 fail\nend 0,2,3 killed\n",
	  NULL, "" },

	/* ---- uneven inputs ---- */
	{ "who_exits_in_order_stopped_early", FOUR IN("0,1,3", 10, 100) "end 0,1,3 killed\n",
	  "HANG: EXITED_RANK: rank 2 (host0) exited early; ",
	  "UNEVEN_INPUT ranks=2 last_seq=9 stopped=2 by=exit waiting=0,1,3 next_op=AllReduce "
	  "beyond=1 "
	  "confidence=high" },
	{ "who_exits_by__exit_is_not_said_to_have_ended_in_order",
	  FOUR IN("0,1,3", 10, 100) "end 0,1,3 killed\nend 2 _exit\n", NULL, "" },
	{ "who_runs_ahead_waits_in_the_first",
	  FOUR IN("0,1,3", 10, 100) IN("0,1,3", 11, 200) "end 0,1,3 killed\n",
	  "HANG: EXITED_RANK: rank 2 (host0) exited early; ",
	  "UNEVEN_INPUT ranks=2 last_seq=9 stopped=2 by=exit waiting=0,1,3 beyond=2" },
	{ "who_destroyed_the_communicator_stopped_early",
	  FOUR IN("0,1,3", 10, 100) "call 2 w ncclCommDestroy\nend 0-3 killed\n",
	  "HANG: NEVER_ENTERED: rank 2 (host0) never entered AllReduce #10",
	  "UNEVEN_INPUT ranks=2 last_seq=9 stopped=2 by=leaving waiting=0,1,3" },
	{ "who_stands_in_finalize_stopped_early",
	  "ranks 4 mpi\n0-3 w 0-9 AllReduce 100 float32 sum - step\n" IN(
		  "0,1,3", 10, 100) "call 2 w MPI_Finalize\nend 0-3 killed\n",
	  "HANG: NEVER_ENTERED: rank 2 (host0) never entered AllReduce #10",
	  "UNEVEN_INPUT ranks=2 last_seq=9 stopped=2 by=leaving waiting=0,1,3" },
	{ "the_others_may_get_an_error",
	  FOUR "0,1,3 w 10 AllReduce 100 float32 sum - step bad\nend 0,1,3 fail\n",
	  "HANG: EXITED_RANK: rank 2 (host0) exited early; ",
	  "UNEVEN_INPUT ranks=2 last_seq=9 stopped=2 by=exit" },
	{ "where_most_stopped_the_one_that_went_on_is_odd", FOUR IN("1", 10, 100) "end 1 killed\n",
	  "HANG: EXITED_RANK: ranks 0,2,3 (host0) exited; 1 rank waiting ",
	  "UNEVEN_INPUT ranks=1 last_seq=9 stopped=0,2,3 by=exit waiting=1 confidence=medium" },
	{ "of_two_nobody_can_tell_who_is_odd",
	  "ranks 2\n0,1 w 0-9 AllReduce 100 float32 sum - step\n" IN("1", 10, 100) "end 1 killed\n",
	  "HANG: EXITED_RANK: rank 0 (host0) exited; 1 rank waiting ",
	  "UNEVEN_INPUT ranks=0,1 last_seq=9 stopped=0 waiting=1 confidence=medium" },
	{ "but_the_rest_of_the_job_can",
	  "ranks 5\ncomm a 3,4\n0-4 w 0-4 AllReduce 100 float32 sum - step\n"
	  "3,4 a 5-9 AllReduce 100 float32 sum - step\n4 a 10 AllReduce 100 float32 sum - step in\n"
	  "end 0-2,4 killed\n",
	  "HANG: EXITED_RANK: rank 3 (host0) exited; 1 rank waiting ",
	  "UNEVEN_INPUT ranks=3 last_seq=9 stopped=3 waiting=4 confidence=medium" },
	{ "a_failure_is_no_uneven_input",
	  FOUR IN("0,1,3", 10, 100) "end 0,1,3 killed\nend 2 fail\n", NULL, "" },
	{ "an_abort_is_no_uneven_input",
	  FOUR IN("0,1,3", 10, 100) "end 0,1,3 killed\nend 2 abort\n", NULL, "" },
	{ "a_kill_is_no_uneven_input", FOUR IN("0,1,3", 10, 100) "end 0-3 killed\n", NULL, "" },
	{ "who_destroyed_and_then_failed_is_no_uneven_input",
	  FOUR IN("0,1,3", 10, 100) "call 2 w ncclCommDestroy\nend 0,1,3 killed\nend 2 fail\n",
	  NULL, "" },
	{ "who_waits_for_a_moment_only_is_no_uneven_input",
	  FOUR IN("0,1,3", 10, 100) "end 0,1,3 lost\n", NULL, "" },
	{ "who_stopped_inside_an_operation_is_no_uneven_input",
	  FOUR "2 w 10 AllReduce 100 float32 sum - step in\n" IN("0,1,3", 10, 100)
		  IN("0,1,3", 11, 100) "end 0,1,3 killed\n",
	  NULL, "" },
	{ "who_lost_records_may_have_gone_on",
	  FOUR IN("0,1,3", 10, 100) "loses 2\nend 0,1,3 killed\n", NULL, "" },
	{ "what_ended_on_some_was_called_by_all",
	  FOUR OF("1", 10, 100) IN("0,3", 10, 100) "end 0,1,3 killed\n", NULL, "" },
	{ "but_a_root_needs_nobody",
	  FOUR "1 w 10 Broadcast 100 float32 - 1 step\n0,3 w 10 Broadcast 100 float32 - 1 step in\n"
	       "end 0,1,3 killed\n",
	  "HANG: EXITED_RANK: rank 2 (host0) exited early; ",
	  "UNEVEN_INPUT ranks=2 last_seq=9 waiting=0,1,3 next_op=Broadcast" },
	{ "who_never_called_anything_did_not_stop",
	  "ranks 4\n0,1,3 w 0-4 AllReduce 100 float32 sum - step in\nend 0,1,3 killed\n", NULL,
	  "" },
	{ "a_smaller_last_step",
	  "ranks 4\n0-3 w 0-40 AllGather 64 float32 - - eval\n0-2 w 41 AllGather 64 float32 - - "
	  "eval\n"
	  "3 w 41 AllGather 17 float32 - - eval\n",
	  "UNEVEN_INPUT", "UNEVEN_INPUT ranks=3 seq=41 field=count theirs=17 others=64" },
	{ "a_smaller_size_at_which_the_job_hangs",
	  "ranks 4\n0-3 w 0-40 AllGather 64 float32 - - eval\n0-2 w 41 AllGather 64 float32 - - "
	  "eval in\n"
	  "3 w 41 AllGather 17 float32 - - eval in\nend 0-3 killed\n",
	  "HANG: MISMATCH_COUNT: size mismatch in AllGather #41 on rank 3 (host0)",
	  "MISMATCH ranks=3 seq=41 field=count theirs=17 others=64" },

	/* ---- what may differ ---- */
	{ "shares_of_an_all_to_all_differ",
	  "ranks 4\n0 w 0-9 AllToAll 7 float32 - - moe\n1 w 0-9 AllToAll 900 float32 - - moe\n"
	  "2,3 w 0-9 AllToAll 12 float32 - - moe\n",
	  NULL, "" },
	{ "many_different_shares_are_one_call",
	  "ranks 10\n0-9 w 0-4 AllReduce 100 float32 sum - step\n0 w 5 AllToAll 1 float32 - - moe\n"
	  "1 w 5 AllToAll 2 float32 - - moe\n2 w 5 AllToAll 3 float32 - - moe\n"
	  "3 w 5 AllToAll 4 float32 - - moe\n4 w 5 AllToAll 5 float32 - - moe\n"
	  "5 w 5 AllToAll 6 float32 - - moe\n6 w 5 AllToAll 7 float32 - - moe\n"
	  "7 w 5 AllToAll 8 float32 - - moe\n8 w 5 AllToAll 9 float32 - - moe\n"
	  "9 w 5 Barrier 0 - - - moe\n",
	  "MISMATCH", "MISMATCH ranks=9 seq=5 field=op theirs=Barrier others=AllToAll" },
	{ "more_calls_than_are_told_apart_name_nobody_wrongly",
	  "ranks 10\n0-9 w 0-4 AllReduce 100 float32 sum - step\n0 w 5 AllReduce 1 float32 sum - "
	  "a\n"
	  "1 w 5 AllReduce 2 float32 sum - a\n2 w 5 AllReduce 3 float32 sum - a\n"
	  "3 w 5 AllReduce 4 float32 sum - a\n4 w 5 AllReduce 5 float32 sum - a\n"
	  "5 w 5 AllReduce 6 float32 sum - a\n6 w 5 AllReduce 7 float32 sum - a\n"
	  "7-9 w 5 AllReduce 8 float32 sum - a\n",
	  "MISMATCH", "MISMATCH ranks=0-9 seq=5 field=count confidence=medium" },
	{ "but_a_majority_among_them_is_one",
	  "ranks 20\n0-19 w 0-4 AllReduce 100 float32 sum - step\n0 w 5 AllReduce 1 float32 sum - "
	  "a\n"
	  "1 w 5 AllReduce 2 float32 sum - a\n2 w 5 AllReduce 3 float32 sum - a\n"
	  "3 w 5 AllReduce 4 float32 sum - a\n4 w 5 AllReduce 5 float32 sum - a\n"
	  "5 w 5 AllReduce 6 float32 sum - a\n6 w 5 AllReduce 7 float32 sum - a\n"
	  "7-19 w 5 AllReduce 8 float32 sum - a\n",
	  "MISMATCH", "MISMATCH ranks=0-6 seq=5 field=count others=8 confidence=high" },
	{ "an_unknown_type_contradicts_nothing",
	  "ranks 3\n0 w 0-9 AllReduce 7 float32 sum - a\n1 w 0-9 AllReduce 7 elem4 sum - a\n2 w "
	  "0-9 AllReduce 7 float32 - - a\n",
	  NULL, "" },
	{ "launches_of_graphs_are_not_compared",
	  "ranks 3\n0-2 w 0-9 AllReduce 7 float32 sum - a\n0 w 10 GraphLaunch 2 - - - a\n1,2 w "
	  "10-11 AllReduce 9 float32 sum - a\n"
	  "1,2 w 12 AllReduce 7 float32 sum - a in\nend 1,2 killed\n",
	  NULL, "" },

	/* ---- messages ---- */
	{ "a_graph_holds_more_than_one",
	  "ranks 3\n0-2 w 0-9 AllReduce 7 float32 sum - a\n0 w 10 GraphLaunch 2 - - - a\n"
	  "1,2 w 10 AllReduce 9 float32 sum - a in\nend 1,2 killed\n",
	  NULL, "" },
	{ "a_receive_of_another_size",
	  "ranks 2 nccl\n0 w 0-5 Send 100 float32 - 1 send\n1 w 0-5 Recv 100 float32 - 0 recv\n"
	  "0 w 6 Send 100 float32 - 1 send\n1 w 6 Recv 90 float32 - 0 recv\n0 w 7 Send 100 float32 "
	  "- 1 send\n"
	  "1 w 7 Recv 90 float32 - 0 recv\n",
	  "MISMATCH",
	  "MISMATCH ranks=0,1 seq=6 field=count send=100:float32 recv=90:float32 op_count=2 "
	  "site_send=send site_recv=recv" },
	{ "a_receive_of_another_width",
	  "ranks 2 nccl\n0 w 0 Send 100 float32 - 1 -\n1 w 0 Recv 100 float16 - 0 -\n", "MISMATCH",
	  "MISMATCH ranks=0,1 seq=0 field=dtype send=100:float32 recv=100:float16" },
	{ "who_has_all_the_pairs_that_do_not_fit_is_it",
	  "ranks 4 nccl\n0 w 0 Send 5 float32 - 1 -\n1 w 0 Recv 5 float32 - 0 -\n"
	  "0 w 0 Send 6 float32 - 2 -\n2 w 0 Recv 7 float32 - 0 -\n"
	  "1 w 0 Send 6 float32 - 2 -\n2 w 0 Recv 8 float32 - 1 -\n"
	  "2 w 0 Send 6 float32 - 3 -\n3 w 0 Recv 9 float32 - 2 -\n"
	  "3 w 0 Send 6 float32 - 0 -\n0 w 0 Recv 6 float32 - 3 -\n",
	  "MISMATCH", "MISMATCH ranks=2 field=count src=0 dst=2 pairs=3" },
	{ "of_two_pairs_both_ends_may_be_it",
	  "ranks 3 nccl\n0 w 0 Send 6 float32 - 2 -\n2 w 0 Recv 7 float32 - 0 -\n"
	  "1 w 0 Send 6 float32 - 2 -\n2 w 0 Recv 8 float32 - 1 -\n",
	  "MISMATCH", "MISMATCH ranks=0,2 field=count src=0 dst=2 pairs=2" },
	{ "a_contradiction_comes_before_a_message_that_was_not_received",
	  "ranks 3 nccl\n0 w 0-3 Send 6 float32 - 1 -\n1 w 0-2 Recv 6 float32 - 0 -\n"
	  "0 w 0 Send 6 float32 - 2 -\n2 w 0 Recv 7 float32 - 0 -\n",
	  "MISMATCH", "MISMATCH ranks=0,2 field=count send=6:float32 recv=7:float32" },
	{ "bytes_are_bytes",
	  "ranks 2 nccl\n0 w 0-5 Send 100 float32 - 1 -\n1 w 0-5 Recv 400 uint8 - 0 -\n", NULL,
	  "" },
	{ "numbers_of_another_kind_are_taken_for_what_they_are_not",
	  "ranks 2 nccl\n0 w 0-5 Send 100 float16 - 1 -\n1 w 0-5 Recv 100 bfloat16 - 0 -\n", NULL,
	  "MISMATCH ranks=0,1 seq=0 field=dtype send=100:float16 recv=100:bfloat16" },
	{ "integers_are_integers",
	  "ranks 2 nccl\n0 w 0-5 Send 100 int64 - 1 -\n1 w 0-5 Recv 100 uint64 - 0 -\n", NULL, "" },
	{ "bytes_are_numbers_of_any_kind",
	  "ranks 2 nccl\n0 w 0-5 Send 100 float8e4m3 - 1 -\n1 w 0-5 Recv 100 uint8 - 0 -\n", NULL,
	  "" },
	{ "mpi_may_have_room_for_more",
	  "ranks 2 mpi\n0 w 0-5 Send 100 float32 - 1 -\n1 w 0-5 Recv 1000 float32 - 0 -\n", NULL,
	  "" },
	{ "a_message_that_nobody_received",
	  "ranks 2 nccl\n0 w 0-6 Send 100 float32 - 1 -\n1 w 0-5 Recv 100 float32 - 0 -\n", NULL,
	  "MISMATCH ranks=0,1 seq=6 field=unreceived op_count=1" },
	{ "whose_messages_others_wait_for_stopped_early",
	  "ranks 4 nccl\n" AWAITED "end 0-2 killed\n",
	  "HANG: EXITED_RANK: rank 3 (host0) exited early; ",
	  "UNEVEN_INPUT ranks=3 stopped=3 waiting=0,1 next_op=Recv by=exit confidence=medium" },
	{ "but_not_by_a_failure", "ranks 4 nccl\n" AWAITED "end 0-2 killed\nend 3 fail\n", NULL,
	  "" },
	{ "nor_where_the_end_of_its_trace_is_lost",
	  "ranks 4 nccl\n" AWAITED "loses 3\nend 0-2 killed\n", NULL, "" },
	{ "nor_where_nobody_waits_for_long", "ranks 4 nccl\n" AWAITED "end 0-2 lost\n", NULL, "" },
	{ "whose_receiver_was_killed_is_not_lost",
	  "ranks 2 nccl\n0 w 0-6 Send 100 float32 - 1 -\n1 w 0-5 Recv 100 float32 - 0 -\nend 1 "
	  "lost\n",
	  NULL, "" },
};

/* Does `line` hold every word of `words`, up to the end of its line, and nothing of what stands
 * behind a '!'? */
static int holds(const char *line, size_t len, const char *words, size_t words_len)
{
	char have[1200], want[600], *word, *rest = want;

	assert_true(len + 3 < sizeof(have) && words_len < sizeof(want));
	snprintf(have, sizeof(have), " %.*s ", (int)len, line);
	snprintf(want, sizeof(want), "%.*s", (int)words_len, words);
	while ((word = strsep(&rest, " "))) {
		if (*word == '!' && strstr(have, word + 1))
			return 0;
		char spaced[200];

		snprintf(spaced, sizeof(spaced), " %s ", word);
		if (*word && *word != '!' && !strstr(have, spaced))
			return 0;
	}
	return 1;
}

static int is_about_order(const struct ct_report *report)
{
	return report->verdict.code == CT_VERDICT_MISMATCH ||
	       report->verdict.code == CT_VERDICT_UNEVEN_INPUT;
}

static const char *first_hang(const struct ct_report *report)
{
	return ct_hang_code_name(report->hang->result->verdicts[0].code);
}

static void is_known_lag(void **state)
{
	const struct order_case *c = *state;
	struct ct_report *report = order_script(c->job);
	char *found = order_found(report);
	const char *have = found, *want = c->found;
	char verdict[2000];

	while (*have && *want) {
		size_t n = strcspn(have, "\n"), w = strcspn(want, "\n");

		if (!holds(have, n, want, w))
			fail_msg("%s: found\n%swanted\n%s", c->name, found, c->found);
		have += n + (have[n] != 0);
		want += w + (want[w] != 0);
	}
	if (*have || *want)
		fail_msg("%s: found\n%swanted\n%s", c->name, found, c->found);
	snprintf(verdict, sizeof(verdict), "%s: %s%s%s", ct_verdict_name(report->verdict.code),
		 report->verdict.code == CT_VERDICT_HANG ? first_hang(report) : "",
		 report->verdict.code == CT_VERDICT_HANG ? ": " : "", report->verdict.text);
	if (c->verdict && strncmp(verdict, c->verdict, strlen(c->verdict)) != 0)
		fail_msg("%s: verdict %s, wanted %s", c->name, verdict, c->verdict);
	if (!c->verdict)
		assert_false(is_about_order(report));
	free(found);
	ct_report_free(report);
}

static int set_up(void **state)
{
	void *own = NULL;

	(void)state;
	return fx_setup(&own);
}

static int tear_down(void **state)
{
	void *own = NULL;

	(void)state;
	return fx_teardown(&own);
}

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

int main(void)
{
	struct CMUnitTest tests[N_CASES];

	for (size_t i = 0; i < N_CASES; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = is_known_lag,
						.setup_func = set_up,
						.teardown_func = tear_down,
						.initial_state = (void *)(uintptr_t)&cases[i] };
	return _cmocka_run_group_tests("order", tests, N_CASES, NULL, NULL);
}
