/* SPDX-License-Identifier: Apache-2.0 */
/* png.h — a PNG of an SVG, by rsvg-convert of librsvg, which draws it as a browser does, with the
 * fonts of this machine. It is a program of its own because commtrace is linked statically and runs
 * where there is no librsvg. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_PNG_H
#define CT_TOOLS_COMMTRACE_PNG_H

#include <stdio.h>

/* Reads the SVG `svg` from its start, appends the PNG to `out` (whose errors the caller looks for),
 * two pixels to a unit. 0; CT_CODE_USAGE: no librsvg; CT_CODE_FAILED; after a message. */
int ct_png_of_svg(FILE *svg, FILE *out);

#endif
