/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/json_value.h"

static json_t *numbers(const uint64_t *values, size_t n)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < n; i++)
		ct_json_append(array, ct_json_u64(values[i]), &failed);
	return ct_json_done(array, failed);
}

static json_t *matrix_of(const struct ct_report_traffic *t)
{
	json_t *rows = json_array();
	int failed = !rows;

	for (size_t from = 0; from < t->n_ranks; from++)
		ct_json_append(rows, numbers(t->matrix + from * t->n_ranks, t->n_ranks), &failed);
	return ct_json_done(rows, failed);
}

static json_t *layer_of(const struct ct_traffic_layer *layer)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "scope", ct_json_text(layer->scope), &failed);
	ct_json_set(o, "kind", ct_json_text(layer->kind), &failed);
	ct_json_set(o, "name", ct_json_text(layer->name), &failed);
	ct_json_set(o, "backend", ct_json_text(layer->backend), &failed);
	ct_json_set(o, "role", ct_json_text(layer->role), &failed);
	ct_json_set(o, "comm", ct_json_hex(layer->comm_key), &failed);
	ct_json_set(o, "model", ct_json_text(layer->model), &failed);
	ct_json_set(o, "exact_bytes", ct_json_u64(layer->exact_bytes), &failed);
	ct_json_set(o, "modelled_bytes", ct_json_u64(layer->modelled_bytes), &failed);
	ct_json_set(o, "max_bytes", ct_json_u64(layer->max_bytes), &failed);
	ct_json_set(o, "max_count", ct_json_u64(layer->max_count), &failed);
	ct_json_set(o, "max_bandwidth_Bps", ct_json_u64(layer->max_bandwidth_Bps), &failed);
	ct_json_set(o, "src", ct_json_ranks(layer->src, layer->n), &failed);
	ct_json_set(o, "dst", ct_json_ranks(layer->dst, layer->n), &failed);
	ct_json_set(o, "bytes", numbers(layer->bytes, layer->n), &failed);
	ct_json_set(o, "count", numbers(layer->count, layer->n), &failed);
	ct_json_set(o, "time_ns", numbers(layer->time_ns, layer->n), &failed);
	ct_json_set(o, "time_err_ns", numbers(layer->time_err_ns, layer->n), &failed);
	ct_json_set(o, "bandwidth_Bps", numbers(layer->bandwidth_Bps, layer->n), &failed);
	ct_json_set(o, "bandwidth_err_Bps", numbers(layer->bandwidth_err_Bps, layer->n), &failed);
	return ct_json_done(o, failed);
}

/* The matrix's model: exact only where every byte is. */
static const char *model_of(const struct ct_report_traffic *t)
{
	if (!t->n_ranks)
		return NULL;
	return t->modelled_bytes ? ct_traffic_model_name(t->model) : "exact";
}

json_t *ct_json_traffic(const struct ct_report_traffic *t)
{
	json_t *o = json_object(), *layers = json_array();
	int failed = !o || !layers;

	for (size_t i = 0; i < t->n_layers; i++)
		ct_json_append(layers, layer_of(&t->layers[i]), &failed);
	ct_json_set(o, "unit", json_string("bytes"), &failed);
	ct_json_set(o, "model", ct_json_text(model_of(t)), &failed);
	ct_json_set(o, "ranks", ct_json_ranks(t->ranks, t->n_ranks), &failed);
	ct_json_set(o, "matrix", matrix_of(t), &failed);
	ct_json_set(o, "why", ct_json_text(t->why), &failed);
	ct_json_set(o, "note", ct_json_text(t->note), &failed);
	ct_json_set(o, "at_least", json_boolean(t->at_least), &failed);
	ct_json_set(o, "exact_bytes", ct_json_u64(t->exact_bytes), &failed);
	ct_json_set(o, "modelled_bytes", ct_json_u64(t->modelled_bytes), &failed);
	ct_json_set(o, "unplaced_bytes", ct_json_u64(t->unplaced_bytes), &failed);
	ct_json_set(o, "hosts", ct_json_texts(t->hosts, t->n_hosts), &failed);
	ct_json_set(o, "comms_left_out", ct_json_u64(t->comms_left_out), &failed);
	ct_json_set(o, "layers", layers, &failed);
	return ct_json_done(o, failed);
}
