/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/json_value.h"
#include "analyzer/render/render.h"

static json_t *process(const struct ct_report_process *p)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "host", ct_json_text(p->host), &failed);
	ct_json_set(o, "hostkey", ct_json_hex(p->hostkey), &failed);
	ct_json_set(o, "pid", json_integer(p->pid), &failed);
	ct_json_set(o, "start_unix_ns", ct_json_u64(p->start_unix_ns), &failed);
	ct_json_set(o, "restart", json_integer(p->restart), &failed);
	ct_json_set(o, "ranks", ct_json_ranks(p->ranks, p->n_ranks), &failed);
	ct_json_set(o, "exe", ct_json_text(p->exe), &failed);
	ct_json_set(o, "segments", json_integer(p->segments), &failed);
	ct_json_set(o, "bytes", ct_json_u64(p->bytes), &failed);
	ct_json_set(o, "ring", ct_json_text(p->ring), &failed);
	ct_json_set(o, "end", ct_json_text(p->end), &failed);
	ct_json_set(o, "signal", p->how.signal ? json_integer(p->how.signal) : json_null(),
		    &failed);
	ct_json_set(o, "for_memory", p->how.for_memory ? json_true() : json_null(), &failed);
	ct_json_set(o, "exit_code",
		    p->how.exit_code >= 0 ? json_integer(p->how.exit_code) : json_null(), &failed);
	ct_json_set(o, "last_heartbeat_ns",
		    ct_json_u64(p->imported ? CT_UNKNOWN : p->last_heartbeat_ns), &failed);
	return ct_json_done(o, failed);
}

static json_t *processes(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_processes; i++)
		ct_json_append(array, process(&report->processes[i]), &failed);
	return ct_json_done(array, failed);
}

static json_t *hash(uint64_t value)
{
	return value == CT_UNKNOWN ? json_null() : ct_json_hex(value);
}

/* Up to which sequence number the members of each communicator called the same things. */
static json_t *order(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_comms; i++) {
		const struct ct_report_comm *comm = &report->comms[i];
		json_t *o = json_object();

		ct_json_set(o, "comm", ct_json_hex(comm->key), &failed);
		ct_json_set(o, "equal_to_seq", ct_json_u64(comm->equal_to_seq), &failed);
		ct_json_set(o, "first_difference", ct_json_u64(comm->first_difference), &failed);
		ct_json_set(o, "differs_to_seq", ct_json_u64(comm->differs_to_seq), &failed);
		ct_json_set(o, "hash", hash(comm->order_hash), &failed);
		ct_json_append(array, o, &failed);
	}
	return ct_json_done(array, failed);
}

json_t *ct_json_invisible(const struct ct_report *report)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < report->n_invisible; i++) {
		const struct ct_report_invisible *from = &report->invisible[i];
		json_t *o = json_object();

		ct_json_set(o, "what", ct_json_text(from->what), &failed);
		ct_json_set(o, "why", ct_json_text(from->why), &failed);
		ct_json_set(o, "remedy", ct_json_text(from->remedy), &failed);
		ct_json_append(array, o, &failed);
	}
	return ct_json_done(array, failed);
}

json_t *ct_info_json(const struct ct_report *report)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "schema", json_string("commtrace.info/1"), &failed);
	ct_json_set(o, "run", ct_json_run(report), &failed);
	ct_json_set(o, "processes", processes(report), &failed);
	ct_json_set(o, "comms", ct_json_comms(report), &failed);
	ct_json_set(o, "losses", ct_json_losses(report), &failed);
	ct_json_set(o, "clocks", ct_json_clocks(report), &failed);
	ct_json_set(o, "cost", ct_json_costs(report), &failed);
	ct_json_set(o, "order", order(report), &failed);
	ct_json_set(o, "invisible", ct_json_invisible(report), &failed);
	ct_json_set(o, "environment", ct_json_environment(report), &failed);
	ct_json_set(o, "transport", ct_json_transport(report), &failed);
	return ct_json_done(o, failed);
}
