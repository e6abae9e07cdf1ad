/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/bpf/bpf_blocked.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collector/bpf/blocked.skel.h"
#include "collector/bpf/bpf_load.h"

struct bpf_blocked *bpf_blocked_open(const struct blocked_options *options)
{
	struct diag diag = { 0 };
	struct bpf_load load;

	bpf_load_begin(&load);
	struct blocked_bpf *skeleton = blocked_bpf__open_opts(&load.options);
	if (skeleton)
		skeleton->rodata->options = *options;
	int error = skeleton ? blocked_bpf__load(skeleton) : -errno;
	if (skeleton && !error)
		error = blocked_bpf__attach(skeleton);
	if (bpf_load_end(&load, error, NULL, &diag) == 0)
		return (struct bpf_blocked *)skeleton;
	blocked_bpf__destroy(skeleton);
	return NULL;
}

void bpf_blocked_close(struct bpf_blocked *blocked)
{
	blocked_bpf__destroy((struct blocked_bpf *)blocked);
}

int bpf_blocked_want(const struct bpf_blocked *blocked, pid_t tid)
{
	const struct blocked_bpf *skeleton = (const struct blocked_bpf *)blocked;
	uint32_t key = (uint32_t)tid, value = 1;

	return bpf_map_update_elem(bpf_map__fd(skeleton->maps.cpprof_wanted), &key, &value, BPF_ANY) < 0
		       ? -errno
		       : 0;
}

int bpf_blocked_read(const struct bpf_blocked *blocked, struct blocked_threads *ret)
{
	const struct blocked_bpf *skeleton = (const struct blocked_bpf *)blocked;
	int fd = bpf_iter_create(bpf_link__fd(skeleton->links.cpprof_blocked));
	struct blocked_thread threads[8];
	size_t len = 0;
	ssize_t got;

	if (fd < 0)
		return -errno;
	while ((got = read(fd, (char *)threads + len, sizeof(threads) - len)) > 0) {
		len += (size_t)got;
		for (size_t i = 0; i < len / sizeof(threads[0]); i++)
			vec_push(&ret->at, threads[i]);
		size_t whole = len - len % sizeof(threads[0]);
		memmove(threads, (char *)threads + whole, len - whole);
		len -= whole;
	}
	int error = got < 0 ? -errno : 0;
	close(fd);
	return error;
}
