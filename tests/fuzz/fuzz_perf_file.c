/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_perf_file: a whole perf.data, file or stream, is read to its end.
 *
 * No file of this machine is read: images are searched in a directory that does not exist.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/perfdata/perf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void touch_sample(const struct source *source, const struct sample *sample)
{
	if (sample->event >= source->info.events.n)
		abort();
	for (uint32_t i = 0; i < sample->n_kernel_pc; i++)
		sink += sample->kernel_pc[i];
	for (uint32_t i = 0; i < sample->n_user_pc; i++)
		sink += sample->user_pc[i];
	for (size_t i = 0; i < sample->stack.len; i++)
		sink += sample->stack.at[i];
}

static void touch(const struct source *source, const struct event *event)
{
	switch (event->kind) {
	case EVENT_SAMPLE:
		touch_sample(source, &event->sample);
		break;
	case EVENT_MAPPING:
		sink += strlen(event->mapping.path);
		if (event->mapping.image != IMAGE_NONE && !images_get(source->images, event->mapping.image))
			abort();
		break;
	case EVENT_COMM:
	case EVENT_EXEC:
		sink += strlen(event->comm);
		break;
	default:
		break;
	}
}

static void touch_info(const struct source_info *info)
{
	if (!info->isa || info->events.n == 0)
		abort();
	for (size_t i = 0; i < info->notes.n; i++)
		sink += strlen(info->notes.at[i]);
	for (size_t i = 0; i < info->events.n; i++)
		sink += strlen(info->events.at[i].name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct perf_file_options options = { .symfs = "/nonexistent" };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct images *images = images_new();
	struct source *source;
	struct event event;
	struct diag diag = { 0 };

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	lseek(fd, 0, SEEK_SET);
	if (perf_file_open_fd(fd, "fuzz", &options, images, &source, &diag) == 0) {
		touch_info(&source->info);
		while (source_next(source, &event, -1, &diag) > 0)
			touch(source, &event);
		touch_info(&source->info);
		source_close(source);
	}
	images_free(images);
	return 0;
}
