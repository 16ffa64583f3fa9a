/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/e2e/real_nccl.h"

#include <stdio.h>
#include <string.h>

#ifdef REAL_NCCL_TABLE
#define CALL(name) f->name
#else
#define CALL(name) name
#endif

static int write_id(const ncclUniqueId *id, const char *path)
{
	FILE *file = fopen(path, "w");

	for (int i = 0; file && i < NCCL_UNIQUE_ID_BYTES; i++)
		fprintf(file, "%02x", (unsigned char)id->internal[i]);
	return file ? fputs("\n", file) < 0 || fclose(file) : -1;
}

static void groups(const struct real_nccl *f)
{
	int start = CALL(ncclGroupStart)(), end = CALL(ncclGroupEnd)();

	(void)f;
	printf("group %d %d\n", start, end);
	start = CALL(ncclGroupStart)() + CALL(ncclGroupStart)();
	end = CALL(ncclGroupEnd)();
	printf("group in a group %d %d %d\n", start, end, CALL(ncclGroupEnd)());
	printf("end of no group %d\n", CALL(ncclGroupEnd)());
}

static void wrong_arguments(const struct real_nccl *f)
{
	float buffer[4] = { 1, 2, 3, 4 };
	ncclResult_t async = ncclSuccess;
	ncclComm_t child = NULL;
	int number = -7, send, recv;

	(void)f;
	printf("allreduce %d\n",
	       CALL(ncclAllReduce)(buffer, buffer, 4, ncclFloat, ncclSum, NULL, NULL));
	printf("bcast %d\n", CALL(ncclBcast)(buffer, 4, ncclFloat, 0, NULL, NULL));
	printf("start %d\n", CALL(ncclGroupStart)());
	send = CALL(ncclSend)(buffer, 4, ncclFloat, 1, NULL, NULL);
	recv = CALL(ncclRecv)(buffer, 4, ncclFloat, 1, NULL, NULL);
	printf("send %d recv %d\n", send, recv);
	printf("end %d\n", CALL(ncclGroupEnd)());
	send = CALL(ncclCommCount)(NULL, &number);
	printf("count %d %d\n", send, number);
	send = CALL(ncclCommGetAsyncError)(NULL, &async);
	printf("async error %d %d\n", send, async);
	printf("destroy %d\n", CALL(ncclCommDestroy)(NULL));
	send = CALL(ncclCommSplit)(NULL, 0, 0, &child, NULL);
	printf("split %d %d\n", send, child == NULL);
	printf("buffer %g %g %g %g\n", (double)buffer[0], (double)buffer[1], (double)buffer[2],
	       (double)buffer[3]);
}

static void inits(const struct real_nccl *f, ncclUniqueId id)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclComm_t comm = NULL;
	int r;

	(void)f;
	r = CALL(ncclCommInitRank)(&comm, 2, id, 5);
	printf("init of rank 5 of 2 %d %d\n", r, comm == NULL);
	r = CALL(ncclCommInitRank)(&comm, 1, id, 0);
	printf("init %d %d\n", r, comm == NULL);
	r = CALL(ncclCommInitRankConfig)(&comm, 1, id, 0, &config);
	printf("init with config %d %d\n", r, comm == NULL);
	r = CALL(ncclCommInitAll)(&comm, 1, NULL);
	printf("init of all %d %d\n", r, comm == NULL);
	r = CALL(ncclGroupEnd)();
	printf("end of what they left open %d %d\n", r, CALL(ncclGroupEnd)());
}

int real_nccl_calls(const struct real_nccl *f, const char *path)
{
	ncclUniqueId id, zero;
	int version = 0, r;

	(void)f;
	memset(&id, 0, sizeof(id));
	memset(&zero, 0, sizeof(zero));
	r = CALL(ncclGetVersion)(&version);
	printf("version %d %d\n", r, version);
	printf("error string %s\n", CALL(ncclGetErrorString)(ncclInvalidArgument));
	r = CALL(ncclGetUniqueId)(&id);
	printf("id %d %d\n", r, memcmp(&id, &zero, sizeof(id)) != 0);
	groups(f);
	wrong_arguments(f);
	inits(f, id);
	return write_id(&id, path);
}
