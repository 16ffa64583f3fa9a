/* SPDX-License-Identifier: Apache-2.0 */
/* bitmap_font.h — letters for pictures made of pixels: five dots wide and seven high, ASCII and ±. Pure. */
#ifndef CT_BITMAP_FONT_H
#define CT_BITMAP_FONT_H

#include <stdint.h>

#define CT_GLYPH_WIDTH 5u
#define CT_GLYPH_HEIGHT 7u

/* The rows of the next character of a UTF-8 text, from the top, the left dot being 0x10; *text goes on behind it. What the font
 * has not is a box. */
const uint8_t *ct_glyph_next(const char **text);

#endif
