/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite_recording: copies a perf.data file record by record through perf_writer, to test that perf can
 * read what cpprof writes. The copy names the architecture of the original.
 *
 * usage: rewrite_recording FROM TO
 */
#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/perfdata/perf_file.h"
#include "collector/perfdata/perf_input.h"
#include "collector/perfdata/perf_writer.h"

#define MAX_EVENTS 4

struct events {
	struct perf_event_attr attr[MAX_EVENTS];
	struct perf_writer_event event[MAX_EVENTS];
	struct perf_section ids[MAX_EVENTS];
	size_t n;
};

static void check(int status, const struct diag *diag)
{
	if (status >= 0)
		return;
	fprintf(stderr, "%s: %s\n", diag->what, diag->why);
	exit(1);
}

static const char *machine; /* architecture of the recording, as in uname -m; NULL: this machine's */

/* perf_writer calls uname() for the architecture; for the copies it gets the original's. */
int uname(struct utsname *ret)
{
	long status = syscall(SYS_uname, ret);

	if (status == 0 && machine)
		snprintf(ret->machine, sizeof(ret->machine), "%s", machine);
	return (int)status;
}

static const char *machine_of(const char *path)
{
	struct images *images = images_new();
	struct source *source = NULL;
	struct diag diag = { 0 };

	check(perf_file_open(path, &(struct perf_file_options){ 0 }, images, &source, &diag), &diag);
	const char *name = source->info.isa->elf_machine == EM_X86_64 ? "x86_64" : "aarch64";
	source_close(source);
	images_free(images);
	return name;
}

static void read_events(struct perf_input *input, struct events *ret)
{
	static const char *const names[] = { "first", "second", "third", "fourth" };
	const struct perf_file_header *header = perf_input_header(input);
	struct buffer attrs;

	perf_input_section(input, header->attrs, 1 << 20, &attrs);
	for (; ret->n < MAX_EVENTS && (ret->n + 1) * header->attr_entry_size <= attrs.len; ret->n++) {
		const uint8_t *entry = attrs.at + ret->n * header->attr_entry_size;
		size_t size = header->attr_entry_size - 16;
		memcpy(&ret->attr[ret->n], entry, size < sizeof(ret->attr[0]) ? size : sizeof(ret->attr[0]));
		memcpy(&ret->ids[ret->n], entry + size, 16);
		ret->event[ret->n] = (struct perf_writer_event){ &ret->attr[ret->n], names[ret->n] };
	}
	free(attrs.at);
}

static void copy_ids(struct perf_input *input, const struct events *events, struct perf_writer *writer)
{
	for (size_t i = 0; i < events->n; i++) {
		struct buffer ids;
		perf_input_section(input, events->ids[i], 1 << 20, &ids);
		for (size_t at = 0; at + 8 <= ids.len; at += 8) {
			uint64_t id;
			memcpy(&id, ids.at + at, 8);
			perf_writer_add_id(writer, i, id);
		}
		free(ids.at);
	}
}

int main(int argc, char **argv)
{
	struct events events = { 0 };
	struct perf_input *input = NULL;
	struct perf_writer *writer = NULL;
	struct diag diag = { 0 };
	struct bytes record;
	int status;

	if (argc != 3)
		return 2;
	machine = machine_of(argv[1]);
	check(perf_input_open(open(argv[1], O_RDONLY), argv[1], &input, &diag), &diag);
	read_events(input, &events);
	int fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0644);
	check(perf_writer_open(fd, argv[2], events.event, events.n, &writer, &diag), &diag);
	copy_ids(input, &events, writer);
	while ((status = perf_input_next(input, &record, &diag)) > 0) {
		struct reader r = reader_of(record);
		if (read_u32(&r) < 64) /* the kernel's own */
			perf_writer_record(writer, record);
	}
	check(status, &diag);
	check(perf_writer_close(writer, NULL, "rewrite_recording", &diag), &diag);
	perf_input_close(input);
	return 0;
}
