/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/metrics_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

#define WAITING_MAX 16
#define REQUEST_MAX 4096
#define PATIENCE_MS 2000 /* for a client: until it has sent its request, and until it has read the answer */
#define OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define PROMETHEUS "text/plain; version=0.0.4; charset=utf-8"

static const struct port_page {
	const char *path, *type;
} port_pages[PORT_TEXT_N] = {
	[PORT_METRICS] = { "/metrics", PROMETHEUS },
	[PORT_FUNCTIONS] = { "/functions", OPENMETRICS },
};

struct metrics_port {
	int socket, end; /* end: readable when the port is closed */
	pthread_t thread;
	pthread_mutex_t lock;
	char *texts[PORT_TEXT_N];
};

/* ---- where -------------------------------------------------------------------------------------- */

union port_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool port_parse(const char *text, union port_address *ret, socklen_t *ret_len)
{
	const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
	char *end, host[64] = "127.0.0.1";
	size_t len = colon ? (size_t)(colon - text) : 0;
	unsigned long number = strtoul(digits, &end, 10);

	if (!*digits || *end || number == 0 || number > 65535 || len >= sizeof(host))
		return false;
	if (len)
		snprintf(host, sizeof(host), "%.*s", (int)len, text);
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)number);
		*ret_len = sizeof(ret->v4);
		return true;
	}
	if (len < 3 || host[0] != '[' || host[len - 1] != ']')
		return false;
	host[len - 1] = '\0';
	ret->v6.sin6_family = AF_INET6;
	ret->v6.sin6_port = htons((uint16_t)number);
	*ret_len = sizeof(ret->v6);
	return inet_pton(AF_INET6, host + 1, &ret->v6.sin6_addr) == 1;
}

int port_check(const char *address, struct diag *diag)
{
	union port_address at;
	socklen_t len;

	if (port_parse(address, &at, &len))
		return 0;
	diag_set(diag, -EINVAL, "cannot listen on '%s'", address);
	diag_why(diag, "it must be PORT, ADDRESS:PORT or [ADDRESS]:PORT, with a numeric address");
	return -EINVAL;
}

/* ---- answers ------------------------------------------------------------------------------------ */

/* Waits until the client's socket is ready. False: the client took too long, or the port is closed. */
static bool port_wait(const struct metrics_port *port, int fd, short events, uint64_t deadline_ns)
{
	struct pollfd fds[2] = { { .fd = fd, .events = events }, { .fd = port->end, .events = POLLIN } };
	uint64_t now = clock_now_ns();
	int n = now < deadline_ns ? poll(fds, 2, (int)((deadline_ns - now) / 1000000) + 1) : 0;

	return n > 0 && !fds[1].revents;
}

static uint64_t port_deadline(void)
{
	return clock_now_ns() + PATIENCE_MS * 1000000ull;
}

/* Up to the empty line that ends the header. */
static bool port_read(const struct metrics_port *port, int fd, char *request)
{
	uint64_t deadline = port_deadline();
	size_t len = 0;

	while (len < REQUEST_MAX && port_wait(port, fd, POLLIN, deadline)) {
		ssize_t n = recv(fd, request + len, REQUEST_MAX - len, 0);
		if (n <= 0)
			return false;
		len += (size_t)n;
		request[len] = '\0';
		if (strstr(request, "\r\n\r\n"))
			return true;
	}
	return false;
}

static void port_send(const struct metrics_port *port, int fd, const char *status, const char *type,
		      const char *body)
{
	CLEANUP(text_done) struct text answer = { 0 };
	uint64_t deadline = port_deadline();

	text_printf(&answer,
		    "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
		    status, type, strlen(body), body);
	for (size_t at = 0; at < answer.len && port_wait(port, fd, POLLOUT, deadline);) {
		ssize_t n = send(fd, answer.at + at, answer.len - at, MSG_NOSIGNAL);
		if (n <= 0)
			return;
		at += (size_t)n;
	}
}

static void port_answer(struct metrics_port *port, int fd)
{
	char request[REQUEST_MAX + 1], path[64] = "";

	if (!port_read(port, fd, request))
		return;
	if (sscanf(request, "GET %63s HTTP/", path) != 1) {
		port_send(port, fd, "405 Method Not Allowed", "text/plain", "only GET\n");
		return;
	}
	for (size_t i = 0; i < PORT_TEXT_N; i++) {
		if (strcmp(path, port_pages[i].path) != 0)
			continue;
		pthread_mutex_lock(&port->lock);
		CLEANUP(freep) char *text = alloc_text(port->texts[i] ? port->texts[i] : "# EOF\n");
		pthread_mutex_unlock(&port->lock);
		port_send(port, fd, "200 OK", port_pages[i].type, text);
		return;
	}
	port_send(port, fd, "404 Not Found", "text/plain", "available: /metrics and /functions\n");
}

static void *port_run(void *context)
{
	struct metrics_port *port = context;
	struct pollfd fds[2] = { { .fd = port->socket, .events = POLLIN },
				 { .fd = port->end, .events = POLLIN } };

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[1].revents)
			return NULL;
		int fd = accept4(port->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			continue;
		port_answer(port, fd);
		close(fd);
	}
}

/* ---- opening ------------------------------------------------------------------------------------ */

static int port_bind(const char *address)
{
	union port_address at;
	socklen_t len;
	int one = 1;

	if (!port_parse(address, &at, &len))
		return -EINVAL;
	int fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &at.any, len) == 0 && listen(fd, WAITING_MAX) == 0)
		return fd;
	int error = -errno;
	close(fd);
	return error;
}

int port_open(const char *address, struct metrics_port **ret, struct diag *diag)
{
	int fd = port_bind(address), error;
	sigset_t all, before;

	if (fd < 0)
		return diag_set(diag, fd, "cannot listen on '%s'", address);
	struct metrics_port *port = alloc_zero(1, sizeof(*port));
	port->socket = fd;
	port->end = eventfd(0, EFD_CLOEXEC);
	pthread_mutex_init(&port->lock, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&port->thread, NULL, port_run, port);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error) {
		*ret = port;
		return 0;
	}
	close(port->socket);
	close(port->end);
	free(port);
	return diag_set(diag, -error, "cannot listen on '%s'", address);
}

void port_close(struct metrics_port *port)
{
	uint64_t one = 1;

	if (!port)
		return;
	while (write(port->end, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(port->thread, NULL);
	close(port->socket);
	close(port->end);
	for (size_t i = 0; i < PORT_TEXT_N; i++)
		free(port->texts[i]);
	pthread_mutex_destroy(&port->lock);
	free(port);
}

void port_set(struct metrics_port *port, enum port_text which, char *text)
{
	pthread_mutex_lock(&port->lock);
	free(port->texts[which]);
	port->texts[which] = text;
	pthread_mutex_unlock(&port->lock);
}
