/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/bitmap_font.h"

#include <string.h>

static const uint8_t glyphs[][CT_GLYPH_HEIGHT] = {
#define GLYPH(character, ...) [(character) - ' '] = { __VA_ARGS__ },
#include "analyzer/render/glyphs.def"
#undef GLYPH
};

static const uint8_t plus_minus[CT_GLYPH_HEIGHT] = { 0x04, 0x04, 0x1f, 0x04, 0x04, 0x00, 0x1f };
static const uint8_t box[CT_GLYPH_HEIGHT] = { 0x1f, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1f };

const uint8_t *ct_glyph_next(const char **text)
{
	const char *at = *text;

	*text = at + 1;
	if (*at >= ' ' && *at <= '~')
		return glyphs[*at - ' '];
	while (((unsigned char)**text & 0xc0) == 0x80)
		(*text)++;
	return strncmp(at, "±", 2) == 0 ? plus_minus : box;
}
