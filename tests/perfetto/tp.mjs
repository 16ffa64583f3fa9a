// SPDX-License-Identifier: Apache-2.0
// tp.mjs ENGINE TRACE SQL...: loads a trace into Perfetto's trace processor (in the folder ENGINE; see fetch.sh) and prints the
// rows of each query, columns separated by tabs, a line "--" after each. Exit 1 on any error.
import fs from 'node:fs';
import { start } from './trace_processor.mjs';

const [folder, trace, ...queries] = process.argv.slice(2);
let processor;

function fail(error) {
	for (const line of processor ? processor.said() : [])
		process.stderr.write(line + '\n');
	process.stderr.write(`tp.mjs: ${error && error.message || error}\n`);
	process.exit(1);
}
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

if (!trace || !queries.length)
	fail('usage: tp.mjs ENGINE TRACE SQL...');
processor = await start(folder);
await processor.load(trace);
for (const sql of queries) {
	const rows = await processor.rows(sql);
	const lines = rows.map((values) => values.map((v) => v === null ? 'NULL' : String(v)).join('\t'));
	fs.writeSync(1, lines.concat('--').join('\n') + '\n');
}
process.exit(0);
