/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/result.h"

#include "profile/resolve_apart.h"

static struct functions *result_functions(void *workers, image_id image)
{
	return workers_functions(workers, image);
}

struct resolve_options result_names(const struct resolve_options *options, struct workers *workers)
{
	struct resolve_options names = *options;

	names.functions = result_functions;
	names.context = workers;
	return names;
}

int result_resolve(struct workers *workers, struct profile *profile, struct images *images,
		   const struct resolve_options *options, struct diag *diag)
{
	workers_save(workers); /* before: resolving finds out more about functions than unwinding would */
	return resolve_apart(profile, images, options, diag);
}
