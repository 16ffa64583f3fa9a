/* SPDX-License-Identifier: Apache-2.0 */
/* jsonl.h — the keys of a dumped op, one object a line. dump writes these, import reads exactly
 * these; what each means is in docs/reference/INTERFACES.md.
 *
 * KEY(name, type): the type that import accepts; every key may be null or missing except those that
 * import requires. Order is the order in which dump writes. */
#ifndef CT_TOOLS_COMMTRACE_JSONL_JSONL_H
#define CT_TOOLS_COMMTRACE_JSONL_JSONL_H

#define CT_JSONL_KEYS(KEY)                                                                         \
	KEY(rank, INT)                                                                             \
	KEY(host, TEXT)                                                                            \
	KEY(pid, INT)                                                                              \
	KEY(restart, INT)                                                                          \
	KEY(world_size, INT)                                                                       \
	KEY(clock_offset_ns, INT)                                                                  \
	KEY(tid, INT)                                                                              \
	KEY(lane, INT)                                                                             \
	KEY(backend, TEXT)                                                                         \
	KEY(call, TEXT)                                                                            \
	KEY(op, TEXT)                                                                              \
	KEY(comm, TEXT)                                                                            \
	KEY(comm_name, TEXT)                                                                       \
	KEY(nranks, INT)                                                                           \
	KEY(comm_rank, INT)                                                                        \
	KEY(seq, INT)                                                                              \
	KEY(peer, INT)                                                                             \
	KEY(peer_seq, INT)                                                                         \
	KEY(tag, INT)                                                                              \
	KEY(root, INT)                                                                             \
	KEY(count, INT)                                                                            \
	KEY(dtype, TEXT)                                                                           \
	KEY(redop, TEXT)                                                                           \
	KEY(bytes, INT)                                                                            \
	KEY(stream, INT)                                                                           \
	KEY(device, INT)                                                                           \
	KEY(group, INT)                                                                            \
	KEY(state, TEXT)                                                                           \
	KEY(result, INT)                                                                           \
	KEY(enter_ns, INT)                                                                         \
	KEY(return_ns, INT)                                                                        \
	KEY(start_ns, INT)                                                                         \
	KEY(start_err_ns, INT)                                                                     \
	KEY(end_ns, INT)                                                                           \
	KEY(end_err_ns, INT)                                                                       \
	KEY(timing, TEXT)                                                                          \
	KEY(captured, BOOL)                                                                        \
	KEY(site, TEXT)                                                                            \
	KEY(stack, ANY)                                                                            \
	KEY(seen_by, TEXT)                                                                         \
	KEY(algo, TEXT)                                                                            \
	KEY(proto, TEXT)                                                                           \
	KEY(channels, INT)                                                                         \
	KEY(warps, INT)                                                                            \
	KEY(submit_ns, INT)                                                                        \
	KEY(submit_tid, INT)                                                                       \
	KEY(error, TEXT)

enum ct_jsonl_key {
#define CT_JSONL_ENUM(name, type) CT_JSONL_##name,
	CT_JSONL_KEYS(CT_JSONL_ENUM)
#undef CT_JSONL_ENUM
		CT_JSONL_N_KEYS
};

#endif
