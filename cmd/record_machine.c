/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_machine: what `record` is told of the whole machine: rules, and clocks of CPUs.
 */
#include "cmd/record_machine.h"

#include "cmd/cmd.h"
#include "collector/live/perf_events.h"
#include "recording/machine.h"

#define GO_ON (-1)

/* Where one of a CPU sees all that one of each thread does, and may be had. */
static enum record_clock machine_choose_clock(const struct record_options *options)
{
	bool is_plain =
		options->argv && !options->is_machine && !options->raw && !options->wall && !options->off_cpu;

	return is_plain && perf_events_may_watch_cpus() ? RECORD_CLOCK_CPU : RECORD_CLOCK_THREAD;
}

int record_machine_check(struct record_options *options, const struct command_line *line)
{
	bool has_rules = options->allow.values.n + options->deny.values.n > 0;
	struct diag diag = { 0 };

	if (options->clock == RECORD_CLOCK_AUTO)
		options->clock = machine_choose_clock(options);
	if (!options->is_machine && (has_rules || options->cgroup || options->with_commands))
		return cmd_usage(line->command, "--cgroup, --allow, --deny and --command-lines are for -a");
	if (options->clock == RECORD_CLOCK_CPU && (options->is_machine || !options->argv))
		return cmd_usage(line->command,
				 "--clock is for a command: cpprof record --clock cpu -- COMMAND");
	if (options->raw && (has_rules || options->clock == RECORD_CLOCK_CPU))
		return cmd_usage(line->command, "--raw keeps every record of every process; leave out %s",
				 has_rules ? "--allow and --deny" : "--clock cpu");
	if ((options->is_machine || options->clock == RECORD_CLOCK_CPU) &&
	    (options->wall || options->off_cpu))
		return cmd_usage(line->command,
				 "--wall and --off-cpu are for chosen processes: -p, -n or a command");
	for (size_t i = 0; i < options->allow.values.n + options->deny.values.n; i++) {
		const char *rule = i < options->allow.values.n
					   ? options->allow.values.at[i]
					   : options->deny.values.at[i - options->allow.values.n];
		if (machine_check_rule(rule, &diag) < 0)
			return cmd_usage(line->command, "%s", diag.what);
	}
	return GO_ON;
}
