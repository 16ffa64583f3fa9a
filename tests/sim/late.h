/* SPDX-License-Identifier: Apache-2.0 */
/* late.h — a library whose end comes after that of the simulated driver: it stands behind it among
 * the program's. */
#ifndef CT_TESTS_SIM_LATE_H
#define CT_TESTS_SIM_LATE_H

/* Called then, unless NULL. */
extern void (*late_call)(void);

#endif
