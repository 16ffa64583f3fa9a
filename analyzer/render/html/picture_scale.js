// SPDX-License-Identifier: Apache-2.0
// picture_scale.js: where a value stands between 0 and 1, and which colour that is.
//
// A scale takes a value of the report and returns its place 0..1 for colouring; NaN where the value is
// null (not known). Nothing here is ever shown as a number.
//
// Sequential ramps get further from the background as values grow, so they run the other way round on a dark page. Values are
// told by lightness, which nobody's colour vision takes away; the two hues that are shown together are blue and orange.
(function () {
	const ramps = {
		// Light: pale green to dark blue, after ColorBrewer's YlGnBu. Dark: matplotlib's viridis (CC0) from its second tenth on.
		amount: {
			light: ['#dff0b0', '#b9e2b1', '#86cfb9', '#55bcc2', '#329fbf', '#227fb4', '#235fa6', '#24418f', '#182a6e', '#08194d'],
			dark: ['#46337f', '#414487', '#365d8d', '#2a788e', '#21918c', '#22a884', '#44bf70', '#7ad151', '#bddf26', '#e2e418', '#fde725'],
		},
		wait: {
			light: ['#f1f6fc', '#d3e4f5', '#a9cdea', '#74b0dd', '#4592cc', '#2274b6', '#0f5699', '#083a73', '#06264f'],
			dark: ['#1b2430', '#1c3148', '#1c4467', '#1f5c8c', '#2b78b3', '#4a97d3', '#78b5e8', '#abd4f6', '#def0ff'],
		},
		late: {
			light: ['#fdd9b0', '#fdba78', '#f8953f', '#ea7315', '#cc5a08', '#a54306', '#7a2f05'],
			dark: ['#6b3208', '#8f430a', '#b4560e', '#d76d17', '#ee8b34', '#f9ad66', '#ffd09f'],
		},
		// Around the middle: blue is less, orange more.
		ratio: {
			light: ['#0b4a8f', '#2274b6', '#74b0dd', '#c6dcf0', '#f4f5f7', '#fbd9b5', '#f39a4a', '#cc5a08', '#7f3204'],
			dark: ['#a8d3f8', '#5fa6e0', '#2b6fa8', '#1f3f5e', '#232932', '#5e3a18', '#b4600f', '#f39a4a', '#ffd3a6'],
		},
	};

	function rgb(hex) {
		const n = parseInt(hex.slice(1), 16);
		return [n >> 16, (n >> 8) & 255, n & 255];
	}

	// The colour at `place` 0..1 of `ramp` (hex colours at equal distances): [r, g, b].
	function colour(ramp, place) {
		const at = Math.min(Math.max(place, 0), 1) * (ramp.length - 1);
		const low = Math.min(Math.floor(at), ramp.length - 2);
		const a = rgb(ramp[low]);
		const b = rgb(ramp[low + 1]);
		return a.map((v, i) => Math.round(v + (b[i] - v) * (at - low)));
	}

	function css(channels) {
		return '#' + channels.map((v) => v.toString(16).padStart(2, '0')).join('');
	}

	// `share` 0..1 of `over` on top of `under`, both [r, g, b].
	function mix(under, over, share) {
		return under.map((v, i) => Math.round(v + (over[i] - v) * share));
	}

	// 256 colours of a ramp as [r, g, b].
	function table(ramp) {
		return Array.from({ length: 256 }, (_, i) => colour(ramp, i / 255));
	}

	// Black or white, whichever is read better on [r, g, b]: by relative luminance (WCAG 2.1), then the contrast is at least 4.5.
	function inkOn(channels) {
		const [r, g, b] = channels.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));

		return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000000' : '#ffffff';
	}

	// Each factor of ten takes the same room, from `low` to `high` (> 0). 0 is at the very start.
	function log(low, high) {
		const from = Math.log(low);
		const over = Math.max(Math.log(high) - from, 1e-9);
		return (v) => (v === null || v === undefined ? NaN : v <= low ? 0 : Math.min((Math.log(v) - from) / over, 1));
	}

	// Up to `high`, as the root: small shares are seen too.
	function root(high) {
		return (v) => (v === null || v === undefined ? NaN : Math.sqrt(Math.min(Math.max(v, 0) / high, 1)));
	}

	function linear(low, high) {
		const over = high > low ? high - low : 1;
		return (v) => (v === null || v === undefined ? NaN : Math.min(Math.max((v - low) / over, 0), 1));
	}

	// Ratios from 1/limit to limit with 1 in the middle; as the root of the logarithm, so that a few percent are seen too.
	function ratio(limit) {
		const over = Math.log(limit);
		return (v) => {
			if (v === null || v === undefined)
				return NaN;
			const x = Math.min(Math.max(Math.log(Math.max(v, 1e-12)) / over, -1), 1);
			return 0.5 + Math.sign(x) * Math.sqrt(Math.abs(x)) / 2;
		};
	}

	ct.scale = { ramps, rgb, colour, css, mix, table, inkOn, log, root, linear, ratio };
})();
