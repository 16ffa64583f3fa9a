/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ops.h"

#include <stddef.h>
#include <string.h>

#include "trace/format.h"

/* Tables indexed by id; holes are rows without a name. */
static const struct {
	const char *name;
	int per_rank;
	enum ct_bus bus;
} ops[] = {
#define X(NAME, id, class, per_rank, bus, text) [id] = { #NAME, per_rank, CT_BUS_##bus },
#include "trace/ops.def"
#undef X
};

static const struct {
	const char *name;
	uint32_t bytes;
} dtypes[] = {
#define X(name, id, size_bytes) [id] = { #name, size_bytes },
#include "trace/dtypes.def"
#undef X
};

static const char *const redops[] = {
#define X(name, id) [id] = #name,
#include "trace/redops.def"
#undef X
};

static const char *const backends[] = {
	[CT_BACKEND_NCCL] = "nccl",
	[CT_BACKEND_MPI] = "mpi",
	[CT_BACKEND_GLOO] = "gloo",
	[CT_BACKEND_IMPORT] = "import",
};

static const char *const losses[][2] = {
#define X(NAME, id, text) [id] = { #NAME, text },
#include "trace/losses.def"
#undef X
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

const char *ct_op_name(unsigned op)
{
	return op < ROWS(ops) ? ops[op].name : NULL;
}

const char *ct_dtype_name(unsigned dtype)
{
	return dtype < ROWS(dtypes) ? dtypes[dtype].name : NULL;
}

const char *ct_redop_name(unsigned redop)
{
	return redop < ROWS(redops) ? redops[redop] : NULL;
}

const char *ct_backend_name(unsigned backend)
{
	return backend < ROWS(backends) ? backends[backend] : NULL;
}

const char *ct_loss_name(unsigned reason)
{
	return reason < ROWS(losses) ? losses[reason][0] : NULL;
}

const char *ct_loss_text(unsigned reason)
{
	return reason < ROWS(losses) ? losses[reason][1] : NULL;
}

/* The four look-ups by name walk the tables through their name functions. */
static unsigned by_name(const char *(*name_of)(unsigned), unsigned rows, const char *name)
{
	for (unsigned id = 1; name && id < rows; id++) {
		const char *row = name_of(id);

		if (row && strcmp(row, name) == 0)
			return id;
	}
	return 0;
}

unsigned ct_op_by_name(const char *name)
{
	return by_name(ct_op_name, ROWS(ops), name);
}

unsigned ct_dtype_by_name(const char *name)
{
	return by_name(ct_dtype_name, ROWS(dtypes), name);
}

unsigned ct_redop_by_name(const char *name)
{
	return by_name(ct_redop_name, ROWS(redops), name);
}

unsigned ct_backend_by_name(const char *name)
{
	return by_name(ct_backend_name, ROWS(backends), name);
}

uint32_t ct_op_program_tag(unsigned backend, uint32_t tag)
{
	return backend == CT_BACKEND_MPI && tag != CT_TAG_ANY ? tag & ~CT_TAG_PARTITIONED : tag;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t ct_op_total_bytes(unsigned op, uint64_t count, unsigned dtype, uint32_t nranks)
{
	uint64_t bytes = times(count, ct_dtype_bytes(dtype));

	return op < ROWS(ops) && ops[op].per_rank ? times(bytes, nranks) : bytes;
}

double ct_op_bus_factor(unsigned op, uint32_t nranks)
{
	double n = nranks;

	if (op >= ROWS(ops) || nranks < 2)
		return 0;
	switch (ops[op].bus) {
	case CT_BUS_ALLREDUCE:
		return 2 * (n - 1) / n;
	case CT_BUS_SHARE:
		return (n - 1) / n;
	case CT_BUS_ONE:
		return 1;
	case CT_BUS_NONE:
		break;
	}
	return 0;
}

static int is_width_only(unsigned dtype)
{
	return dtype >= CT_DTYPE_elem1 && dtype <= CT_DTYPE_elem16;
}

int ct_dtypes_differ(unsigned a, unsigned b)
{
	if (!a || !b || a == b || a == CT_DTYPE_elem1 || b == CT_DTYPE_elem1)
		return 0;
	if (is_width_only(a) || is_width_only(b))
		return ct_dtype_bytes(a) != ct_dtype_bytes(b);
	return 1;
}
