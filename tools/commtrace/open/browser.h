/* SPDX-License-Identifier: Apache-2.0 */
/* browser.h — the user's web browser, where there is a screen to show it on. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_OPEN_BROWSER_H
#define CT_TOOLS_COMMTRACE_OPEN_BROWSER_H

/* Is there a screen (DISPLAY, WAYLAND_DISPLAY), and xdg-open in PATH? */
int ct_browser_is_there(void);

/* Have xdg-open open the address. It runs on its own; what it prints is thrown away. 0, or -1: it
 * could not be started. */
int ct_browser_open(const char *address);

#endif
