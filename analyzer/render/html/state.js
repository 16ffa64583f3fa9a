// SPDX-License-Identifier: Apache-2.0
// state.js: which rank, host and communicator the page is about at the moment; at most one of each, all null: everything.
//
//   ct.state.get()                 { rank, host, comm }
//   ct.state.toggle('rank', 5)     chosen, or no longer if it was
//   ct.state.clear()               everything again
//   ct.state.on(listener)          listener(state), after each change
//   ct.state.relates(thing)        does a thing with rank, ranks, host, hosts, comm, src, dst (ranks) have to do with what is
//                                  chosen? What it does not say of itself is no reason against it.
(function () {
	const listeners = [];
	let state = Object.freeze({ rank: null, host: null, comm: null });

	function set(next) {
		state = Object.freeze(next);
		for (const listener of listeners)
			listener(state);
	}

	function list(one, many) {
		return one !== undefined && one !== null ? [one] : many || [];
	}

	function ranksOf(thing) {
		const ends = [thing.src, thing.dst].filter((rank) => rank !== undefined && rank !== null);

		return ends.length ? ends : list(thing.rank, thing.ranks);
	}

	// The most useful of ranks, communicator and host of the thing is asked; one without any relates to everything.
	function relates(thing) {
		const ranks = ranksOf(thing), hosts = list(thing.host, thing.hosts);
		const comm = thing.comm === undefined ? null : thing.comm;

		if (state.rank !== null) {
			if (ranks.length ? !ranks.includes(state.rank) :
			    comm !== null ? !ct.membersOf(comm).has(state.rank) :
			    hosts.length && !hosts.includes(ct.hostOf(state.rank)))
				return false;
		}
		if (state.host !== null) {
			if (hosts.length ? !hosts.includes(state.host) :
			    ranks.length ? !ranks.some((rank) => ct.hostOf(rank) === state.host) :
			    comm !== null && ![...ct.membersOf(comm)].some((rank) => ct.hostOf(rank) === state.host))
				return false;
		}
		if (state.comm !== null) {
			if (comm !== null ? comm !== state.comm :
			    ranks.length && !ranks.some((rank) => ct.membersOf(state.comm).has(rank)))
				return false;
		}
		return true;
	}

	ct.state = {
		get: () => state,
		isAny: () => state.rank !== null || state.host !== null || state.comm !== null,
		toggle: (kind, value) => set({ ...state, [kind]: state[kind] === value ? null : value }),
		clear: () => set({ rank: null, host: null, comm: null }),
		on: (listener) => listeners.push(listener),
		relates,
	};
})();
