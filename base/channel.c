/* SPDX-License-Identifier: Apache-2.0 */
#include "base/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
	pthread_mutex_init(&channel->lock, NULL);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static bool channel_send(int socket, struct bytes bytes)
{
	while (bytes.len > 0) {
		ssize_t n = send(socket, bytes.at, bytes.len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes = bytes_from(bytes, (uint64_t)n);
	}
	return true;
}

/* The header carries the descriptor: it is small enough to be sent in one piece. */
static bool channel_send_header(int socket, const struct channel_header *header, int fd)
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
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*header);
}

static bool channel_read(int socket, void *to, size_t len)
{
	for (char *at = to; len > 0;) {
		ssize_t n = recv(socket, at, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool channel_read_header(int socket, struct channel_header *ret, int *ret_fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { ret, sizeof(*ret) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	const struct cmsghdr *first = CMSG_FIRSTHDR(&message);
	if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS &&
	    first->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(first), sizeof(*ret_fd));
	return channel_read(socket, (char *)ret + n, sizeof(*ret) - (size_t)n);
}

static bool channel_read_rest(int socket, uint64_t len, struct writer *ret)
{
	writer_clear(ret);
	if (len == 0)
		return true;
	size_t before = ret->len;
	void *at = write_space(ret, (size_t)len);
	if (!channel_read(socket, at, (size_t)len))
		return false;
	ret->len = before + (size_t)len;
	return true;
}

/* ---- in the child --------------------------------------------------------------------------- */

static bool channel_write(struct channel *channel, enum channel_kind kind, struct bytes bytes)
{
	struct channel_header header = { .kind = (int32_t)kind, .len = bytes.len };

	return channel_send_header(channel->socket, &header, -1) && channel_send(channel->socket, bytes);
}

bool channel_tell(struct channel *channel, enum channel_kind kind, struct bytes bytes)
{
	pthread_mutex_lock(&channel->lock);
	bool is_sent = channel_write(channel, kind, bytes);
	pthread_mutex_unlock(&channel->lock);
	return is_sent;
}

int channel_ask(struct channel *channel, enum channel_kind kind, struct bytes bytes, struct writer *ret)
{
	struct channel_header answer;
	struct writer ignored = { 0 };
	int fd = -1;

	pthread_mutex_lock(&channel->lock);
	bool is_answered = channel_write(channel, kind, bytes) &&
			   channel_read_header(channel->socket, &answer, &fd) && answer.len <= CHANNEL_MAX &&
			   channel_read_rest(channel->socket, answer.len, ret ? ret : &ignored);
	pthread_mutex_unlock(&channel->lock);
	writer_done(&ignored);
	if (is_answered && answer.kind == 0)
		return fd >= 0 || ret ? fd : -EPROTO;
	if (fd >= 0)
		close(fd);
	return is_answered && answer.kind < 0 ? answer.kind : -EPIPE;
}

/* ---- in the parent -------------------------------------------------------------------------- */

int channel_receive(int socket, struct writer *ret)
{
	struct channel_header header;
	int fd;

	if (!channel_read_header(socket, &header, &fd))
		return 0;
	if (fd >= 0)
		close(fd); /* none was asked for */
	if (header.kind <= 0 || header.kind > CHANNEL_RESULT || header.len > CHANNEL_MAX)
		return -EPROTO;
	return channel_read_rest(socket, header.len, ret) ? header.kind : 0;
}

bool channel_answer(int socket, int error, int fd, struct bytes bytes)
{
	struct channel_header header = { .kind = error, .len = bytes.len };

	return channel_send_header(socket, &header, fd) && channel_send(socket, bytes);
}
