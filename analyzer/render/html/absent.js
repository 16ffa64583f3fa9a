// SPDX-License-Identifier: Apache-2.0
// absent.js: sections that are not on the page, with the reason. Read last: it lists what ct.dropEmpty() took out before it.
ct.section('absent', (body) => ct.add(body, [ct.facts(ct.absent.map(([heading, why]) => [heading, ct.sentence(why)]))]),
	() => (ct.absent.length ? null : ''));
