/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/run/run_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/say.h"
#include "trace/settings.h"

#define PREFIX "COMMTRACE_"

int ct_run_env_add(struct ct_run_env *env, const char *name, const char *value)
{
	struct ct_run_setting *grown = reallocarray(env->settings, env->n_settings + 1,
						    sizeof(*grown));

	if (!grown) {
		ct_say("cannot set %s%s: %s", PREFIX, name, ct_status_text(CT_NOMEM));
		return CT_CODE_RUN_FAILED;
	}
	env->settings = grown;
	grown += env->n_settings++;
	snprintf(grown->name, sizeof(grown->name), PREFIX "%s", name);
	grown->value = value;
	return 0;
}

int ct_run_env_set(struct ct_run_env *env, const char *assignment)
{
	const char *equals = strchr(assignment, '=');
	char name[sizeof(((struct ct_run_setting *)0)->name) - sizeof(PREFIX) + 1], *variable;
	struct ct_settings settings;
	struct ct_notes notes = { .n = 0 };

	if (!equals || equals == assignment) {
		ct_say("bad value '%s' of option '--set' of 'run': not NAME=VALUE", assignment);
		ct_hint("for example --set FLUSH=1s");
		return CT_CODE_USAGE;
	}
	if (strncmp(assignment, PREFIX, strlen(PREFIX)) == 0)
		assignment += strlen(PREFIX);
	if (asprintf(&variable, PREFIX "%s", assignment) < 0) {
		ct_say("cannot set %s: %s", assignment, ct_status_text(CT_NOMEM));
		return CT_CODE_RUN_FAILED;
	}
	/* As the library would read it: what it would only note is an error here. */
	ct_settings_read(&settings, (char *[]){ variable, NULL }, &notes);
	free(variable);
	if (notes.n) {
		char *instead = strstr(notes.text[0], ": using ");

		if (instead)
			*instead = '\0';
		ct_say("option '--set' of 'run': %s", notes.text[0]);
		ct_hint("man commtrace lists the settings");
		return CT_CODE_USAGE;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(equals - assignment), assignment);
	return ct_run_env_add(env, name, equals + 1);
}

const char *ct_run_env_get(const struct ct_run_env *env, const char *name)
{
	char full[64];

	snprintf(full, sizeof(full), PREFIX "%s", name);
	for (size_t i = env->n_settings; i > 0; i--) {
		if (strcmp(env->settings[i - 1].name, full) == 0)
			return env->settings[i - 1].value;
	}
	return getenv(full);
}

/* The runtime of AddressSanitizer wants to be loaded first, before anything that is preloaded, and
 * else ends the program. The library wraps none of the functions that the runtime wraps, except for
 * those that both forward to the next. */
static int allow_before_asan(void)
{
	static const char allow[] = "verify_asan_link_order=0";
	const char *before = getenv("ASAN_OPTIONS");
	char *options = NULL;
	int failed;

	if (!before || !before[0])
		return setenv("ASAN_OPTIONS", allow, 1);
	if (strstr(before, "verify_asan_link_order="))
		return 0;
	if (asprintf(&options, "%s:%s", before, allow) < 0)
		return -1;
	failed = setenv("ASAN_OPTIONS", options, 1);
	free(options);
	return failed;
}

int ct_run_env_apply(void *arg)
{
	const struct ct_run_env *env = arg;
	const char *before = getenv("LD_PRELOAD");
	char *preload = NULL;
	int failed = 0;

	for (size_t i = 0; i < env->n_settings; i++)
		failed |= setenv(env->settings[i].name, env->settings[i].value, 1);
	/* Ranges of NVTX that mark steps; another tool that listens to them keeps its setting. */
	failed |= setenv("NVTX_INJECTION64_PATH", env->preload, 0);
	if (env->has_asan)
		failed |= allow_before_asan();
	if (env->plugin)
		failed |= setenv("NCCL_PROFILER_PLUGIN", env->preload, 0);
	if (!before || !before[0])
		return failed | setenv("LD_PRELOAD", env->preload, 1);
	if (strstr(before, env->preload))
		return failed; /* a run within a run */
	if (asprintf(&preload, "%s:%s", env->preload, before) < 0)
		return -1;
	failed |= setenv("LD_PRELOAD", preload, 1);
	free(preload);
	return failed;
}

void ct_run_env_fini(struct ct_run_env *env)
{
	free(env->settings);
	env->settings = NULL;
	env->n_settings = 0;
}

/* ---- names ---- */

static const char *nonempty(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

/* As it goes into file names. */
static void sanitise(char *name)
{
	for (char *c = name; *c; c++) {
		int plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
			    (*c >= '0' && *c <= '9') || strchr("-_.+", *c);

		if (!plain || (c == name && *c == '.'))
			*c = '_';
	}
}

int ct_run_env_job(const struct ct_run_env *env, char *job, size_t size)
{
	const char *given = ct_run_env_get(env, "JOB"), *step = nonempty("SLURM_STEP_ID");
	const char *elastic = nonempty("TORCHELASTIC_RUN_ID"), *port = nonempty("MASTER_PORT");
	const char *name;

	if (given && given[0])
		snprintf(job, size, "%s", given);
	else if ((name = nonempty("SLURM_JOB_ID")))
		snprintf(job, size, "%.90s.%.90s", name, step ? step : "0");
	else if ((name = nonempty("PMIX_NAMESPACE")))
		snprintf(job, size, "%s", name);
	else if (elastic && strcmp(elastic, "none") != 0)
		snprintf(job, size, "%s", elastic);
	else if ((name = nonempty("MASTER_ADDR")) && port)
		snprintf(job, size, "%.90s-%.90s", name, port);
	else
		return 0;
	sanitise(job);
	return 1;
}

void ct_run_env_host(const struct ct_run_env *env, char host[64])
{
	const char *given = ct_run_env_get(env, "HOST");
	char name[256] = "";

	if (given && given[0])
		snprintf(name, sizeof(name), "%.200s", given);
	else
		gethostname(name, sizeof(name) - 1);
	snprintf(host, 64, "%.63s", name[0] ? name : "host");
	sanitise(host);
}
