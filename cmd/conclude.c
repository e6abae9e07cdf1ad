/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/conclude.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"

void conclude_say_quality(const struct profile *profile)
{
	struct text line = { 0 };

	quality_line(profile, &line);
	fprintf(stderr, "cpprof: %s\n", line.at);
	text_done(&line);
	if (quality_hint(profile))
		fprintf(stderr, "cpprof: %s\n", quality_hint(profile));
	if (!profile->quality.samples)
		fprintf(stderr, "cpprof: no samples: %s\n", quality_no_samples(profile));
}

static void conclude_say_export(const char *path, const struct exporter *exporter)
{
	if (exporter == &exporter_html || exporter == &exporter_svg)
		fprintf(stderr, "cpprof: wrote %s; open it in a browser\n", path);
	else
		fprintf(stderr, "cpprof: wrote %s (%s)\n", path, exporter->name);
}

void conclude_say_output(const struct output *output, const struct profile *profile,
			 const struct exporter *exporter)
{
	struct stat st;

	if (output_is_stdout(output))
		return;
	if (output->is_left) {
		fprintf(stderr, "cpprof: %s was not changed\n", output->path);
		return;
	}
	if (exporter) {
		conclude_say_export(output->path, exporter);
		return;
	}
	bool is_file = stat(output->path, &st) == 0 && S_ISREG(st.st_mode);
	if (!profile->quality.samples || !is_file) {
		fprintf(stderr, "cpprof: wrote %s%s\n", output->path,
			profile->quality.samples ? "" : ", without samples");
		return;
	}
	fprintf(stderr, "cpprof: wrote %s; look at it with: cpprof report%s%s\n", output->path,
		output->keeps_last ? "" : " ", output->keeps_last ? "" : output->path);
}

int conclude_exit_code(const struct profile *profile, const struct quality_bar *min_quality)
{
	CLEANUP(text_done) struct text why = { 0 };

	if (!profile->quality.samples)
		return EXIT_NO_SAMPLES;
	if (quality_meets(profile, min_quality, &why))
		return EXIT_OK;
	fprintf(stderr, "cpprof: %s\n", why.at);
	return EXIT_UNTRUSTWORTHY;
}
