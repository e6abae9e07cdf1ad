/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/deep/deep_wait.h"

#include <string.h>

#include "collector/bpf/deep_layout.h"

void deep_wait_add(struct deep_wait *wait, struct order *order, const struct deep_waiting *waiting,
		   struct bytes record, struct bytes payload)
{
	struct reader r = reader_of(payload);
	struct deep_waiting it = *waiting;

	if (wait->records.n > DEEP_PAGES_MAX) /* more than one sample can have */
		deep_wait_end(wait, order, -1, 0);
	it.offset = wait->bytes.len;
	it.len = record.len;
	uint64_t magic = read_u64(&r);
	it.is_outline = magic != DEEP_MAGIC_PAGE;
	write_bytes(&wait->bytes, record);
	vec_push(&wait->records, it);
}

void deep_wait_end(struct deep_wait *wait, struct order *order, pid_t tid, uint64_t time_ns)
{
	for (size_t i = 0; i < wait->records.n; i++) {
		const struct deep_waiting *it = &wait->records.at[i];
		uint8_t *at = wait->bytes.at + it->offset;
		if (it->tid == tid) {
			memcpy(at + it->time_at, &time_ns, sizeof(time_ns));
			order_add(order, time_ns, (struct bytes){ at, it->len });
		} else if (!it->is_outline) { /* its sample was lost; later ones refer to the page */
			order_add(order, it->time_ns, (struct bytes){ at, it->len });
		}
	}
	vec_clear(&wait->records);
	writer_clear(&wait->bytes);
}

void deep_wait_done(struct deep_wait *wait)
{
	vec_done(&wait->records);
	writer_done(&wait->bytes);
}
