// SPDX-License-Identifier: Apache-2.0
// node format_same.mjs format.js <LINES: "function TAB value TAB text", as format_lines writes them. Fails where format.js writes
// another text.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';

const page = vm.createContext({ ct: {} });

vm.runInContext(readFileSync(process.argv[2], 'utf8'), page);
const { format } = page.ct;
const lines = readFileSync(0, 'utf8').trimEnd().split('\n');
let wrong = 0;

for (const line of lines) {
	const [name, value, text] = line.split('\t');
	const got = format[name](JSON.parse(value)).replaceAll('\u00a0', ' ');

	if (got !== text && wrong++ < 20)
		console.log(`${name}(${value}): '${got}', C writes '${text}'`);
}
console.log(`${lines.length} values, ${wrong} written in another way`);
process.exit(wrong || lines.length < 50000 ? 1 : 0);
