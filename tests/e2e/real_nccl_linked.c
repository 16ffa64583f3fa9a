/* SPDX-License-Identifier: Apache-2.0 */
/* real_nccl_linked.c — a program that is linked with libnccl. real_nccl_linked ID */
#include <stdio.h>

#include "tests/e2e/real_nccl.h"

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	return argc == 2 ? real_nccl_calls(NULL, argv[1]) : 2;
}
