/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/witness/witness.h"

#include <errno.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file_open.h"
#include "base/sanitizer.h"
#include "symbolize/witness/witness_message.h"
#include "symbolize/witness/witness_unit.h"

#define MAX_CPU_S 300
#define MAX_NS (2 * MAX_CPU_S * CLOCK_NS_PER_S)
#define MAX_RESULT ((size_t)1 << 30)
#define MAX_MEMORY (HAS_ADDRESS_SANITIZER ? 0 : 8ull << 30)

struct witness_library {
	const char *name;
	bool (*run)(struct witness_session *session);
};

static const struct witness_library libraries[LIBRARY_N] = {
#ifdef CPPROF_LIBDWARF
	[LIBRARY_LIBDWARF] = { "libdwarf", witness_libdwarf_run },
#else
	[LIBRARY_LIBDWARF] = { "libdwarf", NULL },
#endif
#ifdef CPPROF_LIBDW
	[LIBRARY_LIBDW] = { "libdw", witness_libdw_run },
#else
	[LIBRARY_LIBDW] = { "libdw", NULL },
#endif
};

const char *witness_library_name(enum library_kind kind)
{
	return libraries[kind].name;
}

void witness_load(void)
{
#ifdef CPPROF_LIBDWARF
	witness_libdwarf_load();
#endif
}

bool witness_is_built(enum library_kind kind)
{
	return libraries[kind].run != NULL;
}

/* ---- in the child ------------------------------------------------------------------------------- */

struct witness_job {
	const struct witness_question *question;
	const struct witness_library *library;
	int files[2]; /* of the question */
};

static int witness_run(void *context, int result)
{
	const struct witness_job *job = context;
	struct witness_session session = { .question = job->question,
					   .files = { job->files[0], job->files[1] },
					   .fd = result };
	uint8_t end = MESSAGE_END;

	intern_init(&session.strings);
	if (!job->library->run(&session))
		return 1;
	return write(result, &end, 1) == 1 ? 0 : 1;
}

/* ---- its output: foreign input ------------------------------------------------------------------ */

static void witness_take_answer(struct testimony *testimony, struct reader *r)
{
	uint32_t index = read_u32(r), n = read_u32(r);
	struct witness_answer *answer = index < testimony->answers.n ? &testimony->answers.at[index] : NULL;
	uint32_t first = (uint32_t)testimony->frames.n;

	if (!answer || n > WITNESS_MAX_DEPTH)
		reader_fail(r);
	for (uint32_t i = 0; i < n && !r->failed; i++) {
		struct witness_frame frame = { read_u32(r), read_u32(r), read_u32(r), false, false };
		frame.is_inlined = read_u8(r) != 0;
		frame.is_primary = read_u8(r) != 0;
		if (frame.function >= testimony->strings.strings.n ||
		    frame.file >= testimony->strings.strings.n)
			reader_fail(r);
		else
			vec_push(&testimony->frames, frame);
	}
	if (r->failed)
		return;
	/* A unit that has a function there is preferred to one that has only a line. */
	if (!answer->n || !testimony->frames.at[answer->first].function)
		*answer = (struct witness_answer){ first, n };
}

/* Strings may be equal here, because they were cut at a zero: ids are assigned in the order of arrival. */
static void witness_take_string(struct testimony *testimony, uint32_t *n_strings, struct reader *r)
{
	struct bytes text = read_bytes(r, read_u32(r));

	if (r->failed)
		return;
	uint32_t id = intern_add_n(&testimony->strings, (const char *)text.at, text.len);
	if (id != (*n_strings)++)
		reader_fail(r); /* each is sent once */
}

/* Was it complete? */
static bool witness_read(struct testimony *testimony, struct bytes said)
{
	struct reader r = reader_of(said);
	uint32_t n_strings = 0;

	while (reader_left(&r) > 0 && !r.failed) {
		switch (read_u8(&r)) {
		case MESSAGE_STRING:
			witness_take_string(testimony, &n_strings, &r);
			break;
		case MESSAGE_ANSWER:
			witness_take_answer(testimony, &r);
			break;
		case MESSAGE_VERSION:
			testimony->version = read_u32(&r);
			break;
		case MESSAGE_END:
			return reader_left(&r) == 0;
		default:
			return false;
		}
	}
	return false;
}

static const char *witness_why(int status)
{
	switch (status) {
	case -ECANCELED:
		return "it crashed or reached its limit of memory";
	case -ETIME:
		return "it took too long";
	case -EMSGSIZE:
		return "it printed too much";
	case CHILD_REFUSED:
		return "the system does not allow resource limits for its process";
	case 1:
		return "it is not installed, or cannot read the file";
	default:
		return "it did not finish";
	}
}

void witness_ask(enum library_kind kind, const struct witness_question *question, struct testimony *ret)
{
	struct witness_job job = { question, &libraries[kind], { -1, -1 } };
	struct child_options options = { .run = witness_run,
					 .context = &job,
					 .has_result = true,
					 .is_unprivileged = true,
					 .max_memory = MAX_MEMORY,
					 .max_cpu_s = MAX_CPU_S,
					 .max_ns = MAX_NS,
					 .max_result = MAX_RESULT };
	struct child child = { 0 };

	*ret = (struct testimony){ 0 };
	intern_init(&ret->strings);
	for (size_t i = 0; i < question->n; i++)
		vec_push(&ret->answers, (struct witness_answer){ 0, 0 });
	if (!job.library->run) {
		ret->why = "cpprof was built without it";
		return;
	}
	/* Before the child is started: this process may itself have to request files. */
	job.files[0] = file_open(question->path, 0);
	job.files[1] = question->alt_path ? file_open(question->alt_path, 0) : -1;
	int status = child_start(&child, &options);
	if (status == 0)
		status = child_wait(&child);
	for (unsigned i = 0; i < 2; i++)
		if (job.files[i] >= 0)
			close(job.files[i]);
	if (!witness_read(ret, child_result(&child)))
		ret->why = witness_why(status);
	child_done(&child);
}

void testimony_done(struct testimony *testimony)
{
	intern_done(&testimony->strings);
	vec_done(&testimony->frames);
	vec_done(&testimony->answers);
}
