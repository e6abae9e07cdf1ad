/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect events: a perf.data as the pipeline sees it, one line per event.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "cmd/inspect.h"
#include "cmd/options.h"
#include "collector/perfdata/perf_file.h"

static void print_pcs(const char *name, const uint64_t *pc, uint32_t n, bool is_verbose)
{
	if (n == 0)
		return;
	printf("  %s %u", name, n);
	for (uint32_t i = 0; is_verbose && i < n; i++)
		printf("%s0x%" PRIx64, i ? "," : ": ", pc[i]);
}

static void inspect_events_print_regs(const struct regs *regs, const struct isa *isa, bool is_verbose)
{
	if (!regs->known)
		return;
	if (regs_known(regs, isa->pc))
		printf("  pc 0x%" PRIx64, regs->value[isa->pc]);
	if (regs_known(regs, isa->sp))
		printf("  sp 0x%" PRIx64, regs->value[isa->sp]);
	printf("  regs %d", __builtin_popcountll(regs->known));
	for (unsigned i = 0; is_verbose && i < REG_MAX; i++)
		if (regs_known(regs, i))
			printf(" %u=0x%" PRIx64, i, regs->value[i]);
}

static void print_sample(const struct source *source, const struct sample *sample, bool is_verbose)
{
	printf("cpu %u  ", sample->cpu);
	cmd_print_name(stdout, source->info.events.at[sample->event].name);
	printf(" %" PRIu64, sample->weight);
	for (uint32_t i = 0; i < sample->n_more && sample->event + i + 1 < source->info.events.n; i++) {
		printf("  ");
		cmd_print_name(stdout, source->info.events.at[sample->event + 1 + i].name);
		printf(" %" PRIu64, sample->more[i]);
	}
	printf("  %s", sample->in_kernel ? "kernel" : "user");
	inspect_events_print_regs(&sample->regs, source->info.isa, is_verbose);
	if (sample->stack.len)
		printf("  stack %zu%s", sample->stack.len, sample->stack_was_full ? "+" : "");
	print_pcs("kernel pcs", sample->kernel_pc, sample->n_kernel_pc, is_verbose);
	print_pcs("user pcs", sample->user_pc, sample->n_user_pc, is_verbose);
}

static void print_mapping(const struct source *source, const struct mapping *mapping)
{
	static const char *const kinds[] = {
		[IMAGE_ELF] = "elf", [IMAGE_VDSO] = "vdso",       [IMAGE_KERNEL] = "kernel",
		[IMAGE_JIT] = "jit", [IMAGE_UNKNOWN] = "unknown",
	};
	const struct image *image = images_get(source->images, mapping->image);

	printf("0x%" PRIx64 "-0x%" PRIx64 "  offset 0x%" PRIx64 "  %s  %s", mapping->start,
	       mapping->start + mapping->len, mapping->file_offset, mapping->is_executable ? "code" : "data",
	       image ? kinds[image->kind] : "anonymous");
	if (image && image->kind != IMAGE_JIT)
		printf("  bias 0x%" PRIx64, mapping->bias);
	if (image && image->build_id.len) {
		char hex[2 * BUILD_ID_MAX + 1];
		build_id_format(&image->build_id, hex);
		printf("  build-id %s", hex);
	}
	printf("  ");
	cmd_print_name(stdout, mapping->path ? mapping->path : "");
}

struct event_list {
	const struct source *source;
	bool is_verbose;
};

static void print_event(void *context, const struct event *event)
{
	const struct event_list *list = context;
	const struct source *source = list->source;

	printf("%6" PRIu64 ".%09" PRIu64 "  %-10s %d/%d  ", event->time_ns / 1000000000,
	       event->time_ns % 1000000000, event_route(event->kind)->name, event->pid, event->tid);
	switch (event->kind) {
	case EVENT_SAMPLE:
		print_sample(source, &event->sample, list->is_verbose);
		break;
	case EVENT_MAPPING:
		print_mapping(source, &event->mapping);
		break;
	case EVENT_FORK:
		printf("from %d/%d", event->fork.parent_pid, event->fork.parent_tid);
		break;
	case EVENT_EXEC:
	case EVENT_COMM:
		cmd_print_name(stdout, event->comm ? event->comm : "");
		break;
	case EVENT_LOST:
		printf("%" PRIu64 " records", event->lost);
		break;
	case EVENT_SWITCH:
		printf("%s%s", event->sw.is_out ? "out" : "in", event->sw.is_preempted ? ", preempted" : "");
		break;
	case EVENT_CODE:
		printf("0x%" PRIx64 "  %zu bytes", event->code.addr, event->code.bytes.len);
		break;
	case EVENT_EXIT:
	case EVENT_THROTTLE:
	case EVENT_UNTHROTTLE:
		break;
	}
	putchar('\n');
}

static void print_header(const struct source_info *info)
{
	printf("# %s", info->isa->name);
	const struct {
		const char *name, *value;
	} lines[] = { { "host", info->host },
		      { "kernel", info->kernel },
		      { "cpu", info->cpu },
		      { "command", info->command } };

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		if (!lines[i].value)
			continue;
		printf("\n# %s: ", lines[i].name);
		cmd_print_name(stdout, lines[i].value);
	}
	for (size_t i = 0; i < info->events.n; i++) {
		const struct source_event *event = &info->events.at[i];
		printf("\n# event: ");
		cmd_print_name(stdout, event->name);
		if (event->frequency)
			printf(", %" PRIu64 " Hz", event->frequency);
		else
			printf(", every %" PRIu64, event->period);
		printf(" (%s)%s", event->unit, event->excludes_kernel ? ", user only" : "");
	}
	if (info->stack_size)
		printf("\n# stack: %u bytes", info->stack_size);
	putchar('\n');
}

static void print_notes(const struct source_info *info)
{
	for (size_t i = 0; i < info->notes.n; i++) {
		printf("# note: ");
		cmd_print_name(stdout, info->notes.at[i]);
		putchar('\n');
	}
}

static int inspect_events_print_all(struct source *source, bool is_verbose)
{
	struct event_list list = { source, is_verbose };
	struct diag diag = { 0 };

	print_header(&source->info);
	int status = source_each(source, print_event, &list, &diag);
	print_notes(&source->info);
	return status < 0 ? cmd_fail(&diag) : EXIT_OK;
}

int inspect_events(int argc, char **argv)
{
	struct perf_file_options options = { 0 };
	bool is_verbose = false;
	const struct option_spec specs[] = {
		{ 0, "symfs", OPTION_TEXT, &options.symfs, "DIR",
		  "look for the recorded binaries under DIR" },
		{ 'v', "verbose", OPTION_FLAG, &is_verbose, NULL,
		  "print all registers and every pc of call chains" },
		{ 0 },
	};
	struct command_line line = {
		.command = "inspect events",
		.usage = "[options] PERF.DATA",
		.about = "Prints the contents of a perf.data recording, in time order, one line per event. "
			 "'-' is standard input.",
		.specs = specs,
	};
	struct source *source;
	struct diag diag = { 0 };

	int code = options_parse(&line, argc, argv);
	if (code >= 0)
		return code;
	if (line.n_operands != 1)
		return cmd_usage("inspect events", "give one recording");

	struct images *images = images_new();
	if (perf_file_open(line.operands[0], &options, images, &source, &diag) < 0) {
		code = cmd_fail(&diag);
	} else {
		code = inspect_events_print_all(source, is_verbose);
		source_close(source);
	}
	images_free(images);
	return code;
}
