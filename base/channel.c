/* SPDX-License-Identifier: Apache-2.0 */
#include "base/channel.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define PIECE (1u << 20)

struct channel_header {
	int32_t kind; /* in an answer: 0 or a negative errno */
	uint32_t unused;
	uint64_t len;
};

int channel_pair(int ret_ends[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret_ends) == 0 ? 0 : -errno;
}

void channel_init(struct channel *channel, int socket)
{
	channel->socket = socket;
	channel->max_ns = 0;
	pthread_mutex_init(&channel->lock, NULL);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Until something can be read or sent; false if that takes too long. The call that follows does not wait
 * then.
 */
static bool channel_await(const struct channel_end *end, short events)
{
	struct pollfd ready = { .fd = end->socket, .events = events };
	int n = 0;

	while (end->deadline_ns && n <= 0) {
		uint64_t now = clock_now_ns();
		if (now >= end->deadline_ns)
			return false;
		n = poll(&ready, 1, (int)((end->deadline_ns - now) / CLOCK_NS_PER_MS % INT_MAX) + 1);
		if (n < 0 && errno != EINTR)
			return false;
	}
	return true;
}

/* Whether a call that failed is to be repeated. */
static bool channel_may_repeat(const struct channel_end *end)
{
	return errno == EINTR || (end->deadline_ns && errno == EAGAIN);
}

static int channel_flags(const struct channel_end *end)
{
	return end->deadline_ns ? MSG_DONTWAIT : 0;
}

static bool channel_send(const struct channel_end *end, struct bytes bytes)
{
	while (bytes.len > 0) {
		if (!channel_await(end, POLLOUT))
			return false;
		ssize_t n = send(end->socket, bytes.at, bytes.len, MSG_NOSIGNAL | channel_flags(end));
		if (n < 0 && channel_may_repeat(end))
			continue;
		if (n <= 0)
			return false;
		bytes = bytes_from(bytes, (uint64_t)n);
	}
	return true;
}

/* The header carries the descriptor: it is small enough to be sent in one piece. */
static bool channel_send_header(const struct channel_end *end, const struct channel_header *header, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)header, sizeof(*header) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof(control.room);
		control.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS,
						   .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	ssize_t n;
	do
		n = channel_await(end, POLLOUT)
			    ? sendmsg(end->socket, &message, MSG_NOSIGNAL | channel_flags(end))
			    : 0;
	while (n < 0 && channel_may_repeat(end));
	return n == sizeof(*header);
}

static bool channel_read(const struct channel_end *end, void *to, size_t len)
{
	for (char *at = to; len > 0;) {
		ssize_t n = channel_await(end, POLLIN) ? recv(end->socket, at, len, channel_flags(end)) : 0;
		if (n < 0 && channel_may_repeat(end))
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* Every descriptor that came with a message; only one is expected, and the first one is kept. */
static void channel_take_files(struct msghdr *message, int *ret_fd)
{
	for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
		if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= at->cmsg_len; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(at) + i * sizeof(int), sizeof(fd));
			if (*ret_fd < 0)
				*ret_fd = fd;
			else
				close(fd);
		}
	}
}

/* *ret_fd is set even if it fails. */
static bool channel_read_header(const struct channel_end *end, struct channel_header *ret, int *ret_fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 }; /* of more descriptors, the kernel closes those that do not fit */
	struct iovec part = { ret, sizeof(*ret) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	ssize_t n;

	*ret_fd = -1;
	do
		n = channel_await(end, POLLIN)
			    ? recvmsg(end->socket, &message, MSG_CMSG_CLOEXEC | channel_flags(end))
			    : 0;
	while (n < 0 && channel_may_repeat(end));
	if (n <= 0)
		return false;
	channel_take_files(&message, ret_fd);
	return channel_read(end, (char *)ret + n, sizeof(*ret) - (size_t)n);
}

/* Memory is used as bytes arrive: the length is only a claim. */
static bool channel_read_rest(const struct channel_end *end, uint64_t len, struct writer *ret)
{
	writer_clear(ret);
	while (len > 0) {
		size_t before = ret->len, piece = len < PIECE ? (size_t)len : PIECE;
		if (!channel_read(end, write_space(ret, piece), piece))
			return false;
		ret->len = before + piece;
		len -= piece;
	}
	return true;
}

/* ---- in the child --------------------------------------------------------------------------- */

static struct channel_end channel_end(const struct channel *channel)
{
	return (struct channel_end){ .socket = channel->socket,
				     .deadline_ns = channel->max_ns ? clock_now_ns() + channel->max_ns : 0 };
}

static bool channel_write(const struct channel_end *end, enum channel_kind kind, struct bytes bytes)
{
	struct channel_header header = { .kind = (int32_t)kind, .len = bytes.len };

	return channel_send_header(end, &header, -1) && channel_send(end, bytes);
}

bool channel_tell(struct channel *channel, enum channel_kind kind, struct bytes bytes)
{
	pthread_mutex_lock(&channel->lock);
	const struct channel_end end = channel_end(channel);
	bool is_sent = channel_write(&end, kind, bytes);
	pthread_mutex_unlock(&channel->lock);
	return is_sent;
}

int channel_ask(struct channel *channel, enum channel_kind kind, struct bytes bytes, struct writer *ret)
{
	struct channel_header answer;
	struct writer ignored = { 0 };
	int fd = -1;

	pthread_mutex_lock(&channel->lock);
	const struct channel_end end = channel_end(channel);
	bool is_answered = channel_write(&end, kind, bytes) && channel_read_header(&end, &answer, &fd) &&
			   answer.len <= CHANNEL_MAX &&
			   channel_read_rest(&end, answer.len, ret ? ret : &ignored);
	pthread_mutex_unlock(&channel->lock);
	writer_done(&ignored);
	if (is_answered && answer.kind == 0)
		return fd >= 0 || ret ? fd : -EPROTO;
	if (fd >= 0)
		close(fd);
	if (is_answered && answer.kind < 0)
		return answer.kind;
	return end.deadline_ns && clock_now_ns() >= end.deadline_ns ? -ETIME : -EPIPE;
}

/* ---- in the parent -------------------------------------------------------------------------- */

int channel_receive(const struct channel_end *end, struct writer *ret)
{
	struct channel_header header;
	int fd;
	bool is_there = channel_read_header(end, &header, &fd);

	if (fd >= 0)
		close(fd); /* none was asked for */
	if (!is_there)
		return 0;
	if (header.kind <= 0 || header.kind > CHANNEL_RESULT || header.len > CHANNEL_MAX)
		return -EPROTO;
	return channel_read_rest(end, header.len, ret) ? header.kind : 0;
}

bool channel_answer(const struct channel_end *end, int error, int fd, struct bytes bytes)
{
	struct channel_header header = { .kind = error, .len = bytes.len };

	return channel_send_header(end, &header, fd) && channel_send(end, bytes);
}
