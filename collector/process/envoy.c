/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/envoy.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/channel.h"
#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/vec.h"
#include "collector/process/target.h"

#define PATIENCE_NS 2000000000ull /* a page may come from a slow disk, and the machine may be busy */
#define MAX_LEFT 8               /* children left behind; after that, no other user is asked about anything */
#define MAX_PIECE (256u << 10)   /* bytes of memory in one answer */
#define FOREIGN_NS 1000000000ull /* for so long, another user's process is taken for one */
#define N_FOREIGN 64             /* a power of two */

enum envoy_kind { ENVOY_MEMORY = 1, ENVOY_MAP, ENVOY_FILE, ENVOY_OPEN, ENVOY_COMMAND };

struct envoy_question {
	enum envoy_kind kind;
	pid_t pid;
	uint64_t addr;
	size_t len;
	const char *path; /* "" = not needed */
};

/* That a process is ours is never remembered: it may become another user's at any time. */
struct envoy_foreign {
	pid_t pid;
	uint64_t until_ns;
	uid_t uid;
};

struct envoy {
	pthread_mutex_t lock; /* guards all that follows */
	pthread_t owner;
	pid_t owner_pid; /* our own children must not use our end of the channel */
	struct child child;
	struct channel channel;
	bool is_there, is_wanted;
	unsigned n_left;
	VEC(uid_t) refused;
	struct envoy_foreign foreign[N_FOREIGN];
};

/* Like file_open's channel: set while there are no other threads. */
static struct envoy *envoy_used;

void envoy_use(struct envoy *envoy)
{
	envoy_used = envoy;
}

/* ---- in the child ------------------------------------------------------------------------------- */

/* status: 0 or a negative errno. */
static bool envoy_say(const struct channel_end *end, int status, int fd, struct bytes bytes)
{
	struct writer answer = { 0 };

	write_u32(&answer, (uint32_t)status);
	write_bytes(&answer, bytes);
	bool is_heard = channel_answer(end, 0, fd, writer_bytes(&answer));
	writer_done(&answer);
	return is_heard;
}

static bool envoy_answer_memory(const struct channel_end *end, const struct envoy_question *question)
{
	size_t len = question->len < MAX_PIECE ? question->len : MAX_PIECE;
	CLEANUP(freep) uint8_t *bytes = alloc_zero(1, len + 1);
	ssize_t n = target_read_memory(question->pid, question->addr, bytes, len);

	return envoy_say(end, n < 0 ? (int)n : 0, -1, (struct bytes){ bytes, n < 0 ? 0 : (size_t)n });
}

static bool envoy_answer_map(const struct channel_end *end, const struct envoy_question *question)
{
	struct target_range map = target_map_at(question->pid, question->addr);

	return envoy_say(end, 0, -1, (struct bytes){ (const uint8_t *)&map, sizeof(map) });
}

static bool envoy_answer_file(const struct channel_end *end, const struct envoy_question *question)
{
	size_t len = 0;
	CLEANUP(freep) char *text = target_read_file(question->path, &len);

	return envoy_say(end, text ? 0 : -errno, -1, (struct bytes){ (uint8_t *)text, len });
}

static bool envoy_answer_open(const struct channel_end *end, const struct envoy_question *question)
{
	CLEANUP(close_fd) int fd = open(question->path, O_PATH | O_CLOEXEC);

	return envoy_say(end, fd < 0 ? -errno : 0, fd, (struct bytes){ 0 });
}

static bool envoy_answer_command(const struct channel_end *end, const struct envoy_question *question)
{
	CLEANUP(freep) char *line = target_command_line(question->pid);

	return envoy_say(end, 0, -1, (struct bytes){ (const uint8_t *)line, strlen(line) });
}

static bool envoy_answer(const struct channel_end *end, struct bytes message)
{
	struct reader r = reader_of(message);
	struct envoy_question question = { .kind = read_u32(&r), .pid = (pid_t)read_u32(&r) };

	question.addr = read_u64(&r);
	question.len = read_u64(&r);
	question.path = read_cstr(&r);
	switch (question.kind) {
	case ENVOY_MEMORY:
		return envoy_answer_memory(end, &question);
	case ENVOY_MAP:
		return envoy_answer_map(end, &question);
	case ENVOY_FILE:
		return envoy_answer_file(end, &question);
	case ENVOY_OPEN:
		return envoy_answer_open(end, &question);
	case ENVOY_COMMAND:
		return envoy_answer_command(end, &question);
	}
	return false;
}

/* What we have open must not stay open with a child that was left behind: rings would go on being filled. */
static int envoy_run(void *context, int result)
{
	const int *socket = context;
	struct channel_end end = { .socket = STDIN_FILENO };
	struct writer message = { 0 };

	(void)result;
	envoy_use(NULL);
	if (dup2(*socket, STDIN_FILENO) < 0)
		return 1;
	child_close_from(STDIN_FILENO + 1);
	while (channel_receive(&end, &message) > 0 && envoy_answer(&end, writer_bytes(&message)))
		;
	writer_done(&message);
	return 0;
}

/* ---- its life ----------------------------------------------------------------------------------- */

struct envoy *envoy_new(void)
{
	struct envoy *envoy = alloc_zero(1, sizeof(*envoy));

	pthread_mutex_init(&envoy->lock, NULL);
	envoy->owner = pthread_self();
	envoy->owner_pid = getpid();
	return envoy;
}

void envoy_free(struct envoy *envoy)
{
	if (!envoy)
		return;
	if (envoy_used == envoy)
		envoy_use(NULL);
	if (envoy->is_there)
		close(envoy->channel.socket);
	child_done(&envoy->child);
	vec_done(&envoy->refused);
	pthread_mutex_destroy(&envoy->lock);
	free(envoy);
}

static void envoy_start(struct envoy *envoy)
{
	int ends[2];
	struct child_options options = { .run = envoy_run, .context = &ends[1] };

	envoy->is_wanted = false;
	if (envoy->n_left >= MAX_LEFT || channel_pair(ends) < 0)
		return;
	envoy->is_there = child_start(&envoy->child, &options) == 0;
	close(ends[1]);
	if (!envoy->is_there) {
		close(ends[0]);
		return;
	}
	channel_init(&envoy->channel, ends[0]);
	envoy->channel.max_ns = PATIENCE_NS;
}

/* It may be waiting where no signal ends it. */
static void envoy_leave(struct envoy *envoy)
{
	close(envoy->channel.socket);
	child_forget(&envoy->child);
	envoy->is_there = false;
	envoy->n_left++;
}

static bool envoy_is_there(struct envoy *envoy)
{
	if (envoy->is_there)
		return true;
	if (pthread_equal(envoy->owner, pthread_self()))
		envoy_start(envoy);
	else
		envoy->is_wanted = envoy->n_left < MAX_LEFT;
	return envoy->is_there;
}

void envoy_tend(struct envoy *envoy)
{
	pthread_mutex_lock(&envoy->lock);
	if (envoy->is_wanted && !envoy->is_there)
		envoy_start(envoy);
	pthread_mutex_unlock(&envoy->lock);
}

size_t envoy_n_refused(struct envoy *envoy)
{
	pthread_mutex_lock(&envoy->lock);
	size_t n = envoy->refused.n;
	pthread_mutex_unlock(&envoy->lock);
	return n;
}

/* ---- asking it ---------------------------------------------------------------------------------- */

static bool envoy_is_refused(const struct envoy *envoy, uid_t uid)
{
	for (size_t i = 0; i < envoy->refused.n; i++)
		if (envoy->refused.at[i] == uid)
			return true;
	return false;
}

static struct envoy_foreign *envoy_slot(struct envoy *envoy, pid_t pid)
{
	return &envoy->foreign[(unsigned)pid % N_FOREIGN];
}

/* Whose process it is, if not ours; false if it is, or has ended. */
static bool envoy_find_user(struct envoy *envoy, pid_t pid, uid_t *ret)
{
	struct envoy_foreign *slot = envoy_slot(envoy, pid);
	uint64_t now = clock_now_ns();
	struct user user;

	if (slot->pid != pid || now >= slot->until_ns) {
		if (!target_user(pid, &user) || user.uid == geteuid())
			return false;
		*slot = (struct envoy_foreign){ pid, now + FOREIGN_NS, user.uid };
	}
	*ret = slot->uid;
	return true;
}

struct envoy_reply {
	struct writer message; /* a status, and what was asked for: foreign input, but for the status */
	int fd;                /* -1 = none */
};

static struct bytes envoy_bytes(const struct envoy_reply *reply)
{
	return bytes_from(writer_bytes(&reply->message), sizeof(uint32_t));
}

static int envoy_ask_child(struct envoy *envoy, const struct envoy_question *question,
			   struct envoy_reply *reply)
{
	struct writer message = { 0 };

	write_u32(&message, question->kind);
	write_u32(&message, (uint32_t)question->pid);
	write_u64(&message, question->addr);
	write_u64(&message, question->len);
	write_bytes(&message, (struct bytes){ (const uint8_t *)question->path, strlen(question->path) + 1 });
	int got = channel_ask(&envoy->channel, CHANNEL_ASK, writer_bytes(&message), &reply->message);
	writer_done(&message);
	struct reader r = reader_of(writer_bytes(&reply->message));
	int status = (int)read_u32(&r);
	reply->fd = got >= 0 ? got : -1;
	return got == -ETIME || got == -EPIPE ? got : r.failed ? -EPIPE : status;
}

static int envoy_ask_now(struct envoy *envoy, const struct envoy_question *question, uid_t uid,
			 struct envoy_reply *reply)
{
	if (envoy_is_refused(envoy, uid) || envoy->n_left >= MAX_LEFT)
		return -ETIME;
	if (!envoy_is_there(envoy))
		return -EAGAIN;
	int error = envoy_ask_child(envoy, question, reply);
	if (error == -ETIME)
		vec_push(&envoy->refused, uid);
	if (error == -ETIME || error == -EPIPE)
		envoy_leave(envoy);
	return error;
}

/* False: the caller does it. Otherwise *ret_error is 0 or a negative errno. The caller frees the reply. */
static bool envoy_asks(const struct envoy_question *question, struct envoy_reply *ret, int *ret_error)
{
	struct envoy *envoy = envoy_used;
	uid_t uid;

	*ret = (struct envoy_reply){ .fd = -1 };
	if (!envoy || question->pid == getpid())
		return false;
	if (getpid() != envoy->owner_pid) {
		*ret_error = -EIO;
		return true;
	}
	pthread_mutex_lock(&envoy->lock);
	bool is_foreign = envoy_find_user(envoy, question->pid, &uid);
	if (is_foreign)
		*ret_error = envoy_ask_now(envoy, question, uid, ret);
	pthread_mutex_unlock(&envoy->lock);
	return is_foreign;
}

/* ---- what can be asked -------------------------------------------------------------------------- */

/* As target_read_memory, of one piece. */
static ssize_t envoy_read_piece(pid_t pid, uint64_t addr, void *to, size_t len)
{
	struct envoy_question question = { ENVOY_MEMORY, pid, addr, len, "" };
	struct envoy_reply reply;
	int error = 0;

	if (!envoy_asks(&question, &reply, &error))
		return target_read_memory(pid, addr, to, len);
	struct bytes bytes = envoy_bytes(&reply);
	size_t n = error < 0 ? 0 : bytes.len < len ? bytes.len : len;
	if (n)
		memcpy(to, bytes.at, n);
	writer_done(&reply.message);
	return error < 0 ? error : (ssize_t)n;
}

ssize_t envoy_read_memory(pid_t pid, uint64_t addr, void *to, size_t len)
{
	size_t done = 0;
	ssize_t n = 1;

	while (done < len && n > 0) {
		size_t piece = len - done < MAX_PIECE ? len - done : MAX_PIECE;
		n = envoy_read_piece(pid, addr + done, (uint8_t *)to + done, piece);
		done += n > 0 ? (size_t)n : 0;
	}
	return done ? (ssize_t)done : n > 0 ? 0 : n;
}

/* Nothing is at address 0, but the kernel first waits for the process's exec. */
bool envoy_is_silent(pid_t pid)
{
	uint8_t byte;
	ssize_t n = envoy_read_memory(pid, 0, &byte, sizeof(byte));

	return n == -ETIME;
}

struct target_range envoy_map_at(pid_t pid, uint64_t addr)
{
	struct envoy_question question = { ENVOY_MAP, pid, addr, 0, "" };
	struct target_range map = { 0 };
	struct envoy_reply reply;
	int error = 0;

	if (!envoy_asks(&question, &reply, &error))
		return target_map_at(pid, addr);
	if (!error && envoy_bytes(&reply).len == sizeof(map))
		memcpy(&map, envoy_bytes(&reply).at, sizeof(map));
	writer_done(&reply.message);
	return map;
}

char *envoy_read_file(pid_t pid, const char *path, size_t *ret_len)
{
	struct envoy_question question = { ENVOY_FILE, pid, 0, 0, path };
	struct envoy_reply reply;
	int error = 0;

	if (!envoy_asks(&question, &reply, &error))
		return target_read_file(path, ret_len);
	struct bytes bytes = envoy_bytes(&reply);
	char *text = error < 0 ? NULL : alloc_text_n((const char *)bytes.at, bytes.len);
	writer_done(&reply.message);
	if (ret_len)
		*ret_len = bytes.len;
	errno = -error;
	return text;
}

char *envoy_command_line(pid_t pid)
{
	struct envoy_question question = { ENVOY_COMMAND, pid, 0, 0, "" };
	struct envoy_reply reply;
	int error = 0;

	if (!envoy_asks(&question, &reply, &error))
		return target_command_line(pid);
	struct bytes bytes = envoy_bytes(&reply);
	char *line = error < 0 ? alloc_text("") : alloc_text_n((const char *)bytes.at, bytes.len);
	writer_done(&reply.message);
	return line;
}

int envoy_open(pid_t pid, const char *path)
{
	struct envoy_question question = { ENVOY_OPEN, pid, 0, 0, path };
	struct envoy_reply reply;
	int error = 0;

	if (envoy_asks(&question, &reply, &error)) {
		writer_done(&reply.message);
		return reply.fd >= 0 ? reply.fd : error ? error : -EIO;
	}
	int fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
