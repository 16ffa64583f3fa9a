// SPDX-License-Identifier: Apache-2.0
// trace_processor.mjs — Perfetto's trace processor, its WebAssembly build, in this process. The folder that it lies in is what
// fetch.sh prints.
//   const processor = await start(folder);
//   await processor.load(file);               forgets what was loaded before
//   await processor.each(sql, (values) => …); for each row, an array, integers as BigInt; throws what the engine says of wrong SQL
//   await processor.rows(sql);                all of them
//   await processor.columns(sql);             their names
//   processor.said()                          the last lines that it wrote on stderr
// Its program is compiled once, which takes longer than loading a small file: so one start for many files.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const CHUNK = 32 << 20;
const said = [];

// The engine's glue expects to be a worker of a browser: it asks for its program and takes a port to talk through.
function pretendWorker(folder) {
	const wasm = fs.readFileSync(path.join(folder, 'trace_processor.wasm'));
	const set = (name, value) =>
		Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

	set('self', globalThis);
	set('WorkerGlobalScope', function () {});
	set('location', { href: pathToFileURL(path.resolve(folder)).href + '/' });
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
	console.warn = (...words) => {
		said.push(words.join(' '));
		if (said.length > 20)
			said.shift();
	};
}

async function load(engine, file) {
	const fd = fs.openSync(file, 'r');
	const size = Math.min(CHUNK, fs.fstatSync(fd).size);

	await engine.resetTraceProcessor({ cropTrackEvents: false, ingestFtraceInRawTable: false,
		analyzeTraceProtoContent: false, ftraceDropUntilAllCpusValid: false });
	try {
		for (;;) {
			const chunk = new Uint8Array(size);
			const n = fs.readSync(fd, chunk, 0, size, null);
			if (n === 0)
				break;
			await engine.parse(chunk.subarray(0, n));
		}
	} finally {
		fs.closeSync(fd);
	}
	await engine.notifyEof();
}

async function each(engine, sql, take) {
	const result = await engine.query(sql);
	const columns = result.columns();

	if (result.error && result.error())
		throw new Error(`${result.error()}\nin: ${sql}`);
	for (const row = result.iter({}); row.valid(); row.next())
		take(columns.map((column) => row.get(column)));
}

async function rows(engine, sql) {
	const all = [];

	await each(engine, sql, (values) => all.push(values));
	return all;
}

export async function start(folder) {
	pretendWorker(folder);
	const { EngineBase } = await import(pathToFileURL(path.resolve(folder, 'engine.mjs')).href);
	vm.runInThisContext(fs.readFileSync(path.join(folder, 'engine_bundle.node.js'), 'utf8'),
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
	return {
		load: (file) => load(engine, file),
		each: (sql, take) => each(engine, sql, take),
		rows: (sql) => rows(engine, sql),
		columns: async (sql) => (await engine.query(sql)).columns(),
		said: () => said,
	};
}
