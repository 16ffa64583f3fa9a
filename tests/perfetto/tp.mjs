// SPDX-License-Identifier: Apache-2.0
// tp.mjs ENGINE TRACE SQL...: loads a trace into Perfetto's trace processor (its WebAssembly build, in the folder ENGINE; see
// fetch.sh) and prints the rows of each query, columns separated by tabs, a line "--" after each. Exit 1 on any error.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const CHUNK = 32 << 20;
const [dir, trace, ...queries] = process.argv.slice(2);

// The engine's glue expects to be a worker of a browser: it asks for its program and takes a port to talk through.
function pretendWorker() {
	const wasm = fs.readFileSync(path.join(dir, 'trace_processor.wasm'));
	const set = (name, value) =>
		Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

	set('self', globalThis);
	set('WorkerGlobalScope', function () {});
	set('location', { href: pathToFileURL(path.resolve(dir)).href + '/' });
	set('XMLHttpRequest', class {
		response = new Uint8Array(wasm).buffer;
		open() {}
		send() {}
	});

	// It finds out whether there is 64-bit memory by compiling a program that has some (memory section, flag 4) and
	// nothing else; only the 32-bit engine is here.
	const Module = WebAssembly.Module;
	WebAssembly.Module = function (bytes) {
		if (bytes.byteLength < 32 && bytes[8] === 5 && bytes[11] === 4)
			throw new Error('no 64-bit memory');
		return new Module(bytes);
	};
}

// Its own words on stderr are kept, and shown if something goes wrong.
const said = [];
console.warn = (...words) => said.push(words.join(' '));

function fail(error) {
	for (const line of said.slice(-20))
		process.stderr.write(line + '\n');
	process.stderr.write(`tp.mjs: ${error && error.message || error}\n`);
	process.exit(1);
}
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

async function start() {
	pretendWorker();
	const { EngineBase } = await import(pathToFileURL(path.resolve(dir, 'engine.mjs')).href);
	vm.runInThisContext(fs.readFileSync(path.join(dir, 'engine_bundle.node.js'), 'utf8'),
		{ filename: 'engine_bundle.node.js' });
	// It has compiled its program by now; what it does on that is due in this turn.
	await new Promise((resolve) => setTimeout(resolve, 10));

	let engine;
	const port = { postMessage: (bytes) => engine.onRpcResponseBytes(bytes) };
	class Engine extends EngineBase {
		mode = 'WASM';
		id = 'test';
		rpcSendRequestBytes(data) {
			queueMicrotask(() => port.onmessage({ data }));
		}
		dispose() {}
	}
	engine = new Engine();
	globalThis.onmessage({ data: port });
	return engine;
}

async function load(engine) {
	const fd = fs.openSync(trace, 'r');

	for (;;) {
		const chunk = Buffer.alloc(CHUNK);
		const n = fs.readSync(fd, chunk, 0, CHUNK, null);
		if (n === 0)
			break;
		await engine.parse(new Uint8Array(chunk.buffer, chunk.byteOffset, n));
	}
	fs.closeSync(fd);
	await engine.notifyEof();
}

async function run(engine, sql) {
	const result = await engine.query(sql);
	const columns = result.columns();
	let lines = [];

	if (result.error && result.error())
		throw new Error(`${result.error()}\nin: ${sql}`);
	for (const row = result.iter({}); row.valid(); row.next()) {
		lines.push(columns.map((column) => {
			const value = row.get(column);
			return value === null ? 'NULL' : String(value);
		}).join('\t'));
		if (lines.length === 65536) {
			fs.writeSync(1, lines.join('\n') + '\n');
			lines = [];
		}
	}
	fs.writeSync(1, lines.concat('--').join('\n') + '\n');
}

if (!trace || !queries.length)
	fail('usage: tp.mjs ENGINE TRACE SQL...');
const engine = await start();
await load(engine);
for (const sql of queries)
	await run(engine, sql);
process.exit(0);
