/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/nvtx/nvtx.h"

#include <sched.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "interpose/identity.h"
#include "interpose/nvtx/marker_names.h"
#include "interpose/nvtx/open_ranges.h"
#include "interpose/real.h"
#include "interpose/setup.h"

#define DOMAINS 256u /* size: one for each library that has any, a handful */

/* Nothing is kept of a domain: its handle is an address that no other has. The default one's is
 * NULL. */
static char domains[DOMAINS];
static _Atomic uint32_t n_domains;

/* ---- names ---- */

/* Of a range with attributes; NULL: none. `narrow` is space for it. */
static inline const char *name_of(const struct ct_nvtx_attributes *a,
				  char narrow[CT_MARKER_NAME_BYTES])
{
	if (!a || a->size < sizeof(*a))
		return NULL;
	if (a->message_type == NVTX_MESSAGE_TYPE_ASCII)
		return a->message;
	if (a->message_type == NVTX_MESSAGE_TYPE_REGISTERED)
		return ct_marker_registered(a->message);
	if (a->message_type == NVTX_MESSAGE_TYPE_UNICODE)
		return ct_marker_narrow(a->message, narrow);
	return NULL;
}

static inline int push(const void *domain, const char *name)
{
	if (ct_marker_matches(name))
		ct_range_push(domain, name);
	else if (__builtin_expect(
			 atomic_load_explicit(&ct_ranges_pushed, memory_order_relaxed) != 0, 0))
		ct_range_push_other(domain);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static inline int pop(const void *domain)
{
	if (__builtin_expect(atomic_load_explicit(&ct_ranges_pushed, memory_order_relaxed) != 0, 0))
		ct_range_pop(domain);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static inline uint64_t start(const char *name)
{
	return ct_marker_matches(name) ? ct_range_start(name) : 0;
}

static inline void mark(const char *name)
{
	if (ct_marker_matches(name))
		ct_range_mark(name);
}

static void *register_name(const char *name)
{
	int lost;
	const void *handle = ct_marker_register(name, &lost);

	if (lost)
		ct_ranges_lose();
	return (void *)(uintptr_t)handle;
}

/* ---- callbacks of NVTX_CB_MODULE_CORE ---- */

static void mark_ex(const struct ct_nvtx_attributes *a)
{
	char narrow[CT_MARKER_NAME_BYTES];

	mark(name_of(a, narrow));
}

static void mark_a(const char *name)
{
	mark(name);
}

static void mark_w(const wchar_t *name)
{
	char narrow[CT_MARKER_NAME_BYTES];

	mark(ct_marker_narrow(name, narrow));
}

static uint64_t start_ex(const struct ct_nvtx_attributes *a)
{
	char narrow[CT_MARKER_NAME_BYTES];

	return start(name_of(a, narrow));
}

static uint64_t start_a(const char *name)
{
	return start(name);
}

static uint64_t start_w(const wchar_t *name)
{
	char narrow[CT_MARKER_NAME_BYTES];

	return start(ct_marker_narrow(name, narrow));
}

static void end(uint64_t id)
{
	if (id)
		ct_range_end(id);
}

static int push_ex(const struct ct_nvtx_attributes *a)
{
	char narrow[CT_MARKER_NAME_BYTES];

	return push(NULL, name_of(a, narrow));
}

static int push_a(const char *name)
{
	return push(NULL, name);
}

static int push_w(const wchar_t *name)
{
	char narrow[CT_MARKER_NAME_BYTES];

	return push(NULL, ct_marker_narrow(name, narrow));
}

static int pop_default(void)
{
	return pop(NULL);
}

/* ---- callbacks of NVTX_CB_MODULE_CORE2 ---- */

static void domain_mark_ex(const void *domain, const struct ct_nvtx_attributes *a)
{
	(void)domain;
	mark_ex(a);
}

static uint64_t domain_start_ex(const void *domain, const struct ct_nvtx_attributes *a)
{
	(void)domain;
	return start_ex(a);
}

static void domain_end(const void *domain, uint64_t id)
{
	(void)domain;
	end(id);
}

static int domain_push_ex(const void *domain, const struct ct_nvtx_attributes *a)
{
	char narrow[CT_MARKER_NAME_BYTES];

	return push(domain, name_of(a, narrow));
}

static int domain_pop(const void *domain)
{
	return pop(domain);
}

static void *register_a(const void *domain, const char *name)
{
	(void)domain;
	return register_name(name);
}

static void *register_w(const void *domain, const wchar_t *name)
{
	char narrow[CT_MARKER_NAME_BYTES];

	(void)domain;
	return register_name(ct_marker_narrow(name, narrow));
}

/* Those beyond the table share the last slot, and perhaps pop one another's ranges. */
static void *create(const void *name)
{
	uint32_t at = atomic_load_explicit(&n_domains, memory_order_relaxed);

	(void)name;
	while (at < DOMAINS - 1 &&
	       !atomic_compare_exchange_weak_explicit(&n_domains, &at, at + 1, memory_order_relaxed,
						      memory_order_relaxed))
		continue;
	return &domains[at];
}

static void *create_a(const char *name)
{
	return create(name);
}

static void *create_w(const wchar_t *name)
{
	return create(name);
}

/* ---- setting them ---- */

struct callback {
	unsigned id;
	ct_nvtx_fn fn;
};
#define CORE(name, body)                                                                           \
	{                                                                                          \
		NVTX_CBID_CORE_##name, (ct_nvtx_fn)(void *)(body)                                  \
	}
#define CORE2(name, body)                                                                          \
	{                                                                                          \
		NVTX_CBID_CORE2_##name, (ct_nvtx_fn)(void *)(body)                                 \
	}

static const struct callback core[] = {
	CORE(MarkEx, mark_ex),	      CORE(MarkA, mark_a),	   CORE(MarkW, mark_w),
	CORE(RangeStartEx, start_ex), CORE(RangeStartA, start_a),  CORE(RangeStartW, start_w),
	CORE(RangeEnd, end),	      CORE(RangePushEx, push_ex),  CORE(RangePushA, push_a),
	CORE(RangePushW, push_w),     CORE(RangePop, pop_default),
};

static const struct callback core2[] = {
	CORE2(DomainMarkEx, domain_mark_ex),	  CORE2(DomainRangeStartEx, domain_start_ex),
	CORE2(DomainRangeEnd, domain_end),	  CORE2(DomainRangePushEx, domain_push_ex),
	CORE2(DomainRangePop, domain_pop),	  CORE2(DomainRegisterStringA, register_a),
	CORE2(DomainRegisterStringW, register_w), CORE2(DomainCreateA, create_a),
	CORE2(DomainCreateW, create_w),
};

static int set_callbacks(const struct ct_nvtx_callbacks *tables, int module,
			 const struct callback *callbacks, size_t n)
{
	ct_nvtx_table table = NULL;
	unsigned size = 0;

	if (!tables->get_table(module, &table, &size) || !table)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (callbacks[i].id < size && table[callbacks[i].id])
			*table[callbacks[i].id] = callbacks[i].fn;
	return 1;
}

/* The default of COMMTRACE_NVTX. */
static const char *default_words(void)
{
	static const struct {
#define X(NAME, type, value, text) const char *NAME;
#include "trace/settings.def"
#undef X
	} defaults = {
#define X(NAME, type, value, text) .NAME = (value),
#include "trace/settings.def"
#undef X
	};

	return defaults.NVTX;
}

static unsigned read_words(void)
{
	const char *list = ct_identity_env(environ, "COMMTRACE_NVTX");

	if (!list || !*list)
		list = default_words();
	return ct_setup_wanted() && strcasecmp(list, "off") != 0 ? ct_marker_words_read(list) : 0;
}

/* Several copies of NVTX may begin at the same time: the words are read by one. */
static unsigned words_once(void)
{
	enum { UNREAD, READING, READ };
	static _Atomic int state;
	static unsigned n;
	int was = UNREAD;

	if (atomic_compare_exchange_strong_explicit(&state, &was, READING, memory_order_relaxed,
						    memory_order_relaxed)) {
		n = read_words();
		/* release: pairs with the acquire below, `n` is there */
		atomic_store_explicit(&state, READ, memory_order_release);
	}
	for (uint32_t tries = 0; atomic_load_explicit(&state, memory_order_acquire) != READ;
	     tries++) {
		if (tries == 1u << 20)
			return 0;
		sched_yield();
	}
	return n;
}

int ct_nvtx_inject(ct_nvtx_export_fn export_table)
{
	const struct ct_nvtx_callbacks *tables = export_table ? export_table(NVTX_ETID_CALLBACKS)
							      : NULL;

	if (!tables || tables->struct_size < sizeof(*tables) || !words_once())
		return 0;
	/* The older copies have no domains. */
	if (!set_callbacks(tables, NVTX_CB_MODULE_CORE, core, sizeof(core) / sizeof(core[0])))
		return 0;
	set_callbacks(tables, NVTX_CB_MODULE_CORE2, core2, sizeof(core2) / sizeof(core2[0]));
	return 1;
}

#define NVTX_CALL(symbol)                                                                          \
	int ct_nvtx_initialize(ct_nvtx_export_fn export_table) __asm__(symbol) CT_EXPORT;          \
	int ct_nvtx_initialize(ct_nvtx_export_fn export_table)                                     \
	{                                                                                          \
		return ct_nvtx_inject(export_table);                                               \
	}
#define MARK_CALL(symbol)                                                                          \
	void ct_nvtx_mark_step(uint64_t step, uint64_t samples) __asm__(symbol) CT_EXPORT;         \
	void ct_nvtx_mark_step(uint64_t step, uint64_t samples)                                    \
	{                                                                                          \
		ct_range_mark_step(step, samples);                                                 \
	}
#include "interpose/nvtx/nvtx_calls.def"
