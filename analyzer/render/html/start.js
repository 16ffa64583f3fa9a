// SPDX-License-Identifier: Apache-2.0
// start.js: what all scripts of the page share. Each file adds one thing to `ct` and touches nothing else that is global.
'use strict';

const ct = {};
