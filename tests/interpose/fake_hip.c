/* SPDX-License-Identifier: Apache-2.0 */
/* fake_hip.c — a library with the name of AMD's runtime. */
int hipRuntimeGetVersion(int *version);
int hipRuntimeGetVersion(int *version)
{
	*version = 60000000;
	return 0;
}
