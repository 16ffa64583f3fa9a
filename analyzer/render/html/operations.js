// SPDX-License-Identifier: Apache-2.0
// operations.js: kinds of operations, by communicator and size.
ct.section('ops', (body, report) => {
	if (!report.ops.length) {
		ct.empty(body, 'No operation is on record.');
		return;
	}
	ct.table(body, { path: 'ops', label: 'Operations', rows: report.ops, columns: [
		{ key: 'op', title: 'operation', words: true, value: (row) => row.op || row.group || '?', show: (row, path) =>
			row.op === null ? [ct.value(path + '.group', row.group, 'text'), ct.el('span', { class: 'label' }, 'in one launch')] :
				ct.value(path + '.op', row.op, 'text') },
		{ key: 'dtype', title: 'type', unit: 'text' },
		{ key: 'comm', title: 'communicator', unit: 'comm' },
		{ key: 'backend', title: 'backend', unit: 'text' },
		{ key: 'bytes_class', title: 'size from', unit: 'bytes', help: 'sizes from here up to twice as much' },
		{ key: 'instances', title: 'count', unit: 'count' },
		{ key: 'bytes', title: 'bytes', unit: 'bytes', help: 'of all of them together' },
		{ key: 'span_p50_ns', title: 'p50', unit: 'ns', err: 'time_err_ns', help: 'how long a rank was in it, median' },
		{ key: 'span_p99_ns', title: 'p99', unit: 'ns', help: 'how long a rank was in it, 99th percentile' },
		{ key: 'transfer_p50_ns', title: 'transfer p50', unit: 'ns', help: 'without waiting for others, median' },
		{ key: 'transfer_p99_ns', title: 'transfer p99', unit: 'ns', help: 'without waiting for others, 99th percentile' },
		{ key: 'wait_ns', title: 'waited', unit: 'ns', help: 'for others, summed over ranks and instances' },
		{ key: 'transfer_ns', title: 'transferred', unit: 'ns', help: 'summed over ranks and instances' },
		{ key: 'algbw_p50_Bps', title: 'alg. bandwidth', unit: 'Bps', help: 'bytes of a call by the time of the transfer, median' },
		{ key: 'busbw_p50_Bps', title: 'bus bandwidth', unit: 'Bps', help: 'what each link carries, median' },
		{ key: 'exposed_ns', title: 'exposed', unit: 'ns', err: 'exposed_err_ns', help: 'ranks stood waiting for it, summed' },
		{ key: 'gap_ns', title: 'gap before', unit: 'ns', err: 'gap_err_ns', help: 'its stream stood idle before it, summed over ranks and the cycles on record' },
		{ key: 'gap_host_late_ns', title: 'host late', unit: 'ns', help: 'of the gap: the call came late' },
		{ key: 'gap_not_ready_ns', title: 'not ready', unit: 'ns', help: 'of the gap: its input was not ready' },
		{ key: 'late_or_slow', title: 'late or slow', unit: 'count', help: 'of which nobody knows whether a rank came late or the transfer was slow' },
	] });
});
