/* SPDX-License-Identifier: Apache-2.0 */
/* source_id.h: the commit that was built, as `git describe --always --dirty` names it; "unknown"
 * outside git. The build writes it (tools/cmake/SourceId.cmake). */
#ifndef CT_TOOLS_COMMTRACE_SOURCE_ID_H
#define CT_TOOLS_COMMTRACE_SOURCE_ID_H

extern const char ct_source_id[];

#endif
