// SPDX-License-Identifier: Apache-2.0
// recipes.mjs ENGINE PAGE TRACE...: runs each query of a page (its ```sql blocks, whose first line "-- NAME" names them) on each
// trace and prints {TRACE: {NAME: [row, ...]}}, a row by the names of its columns. Exit 1 on any error.
import fs from 'node:fs';
import { start } from './trace_processor.mjs';

const [folder, page, ...traces] = process.argv.slice(2);
const recipes = [...fs.readFileSync(page, 'utf8').matchAll(/^```sql\n-- (\w+)\n([^`]*)^```$/gm)];
const blocks = fs.readFileSync(page, 'utf8').match(/^```sql$/gm) ?? [];
if (!recipes.length || recipes.length !== blocks.length)
	throw new Error(`${page}: ${blocks.length} queries, of which ${recipes.length} have a name`);

const processor = await start(folder);
const answers = {};
for (const trace of traces) {
	await processor.load(trace);
	answers[trace] = {};
	for (const [, name, sql] of recipes) {
		const columns = await processor.columns(sql);
		const rows = await processor.rows(sql);

		answers[trace][name] = rows.map((row) => Object.fromEntries(row.map((value, i) =>
			[columns[i], typeof value === 'bigint' ? Number(value) : value])));
	}
}
fs.writeSync(1, JSON.stringify(answers) + '\n');
process.exit(0);
