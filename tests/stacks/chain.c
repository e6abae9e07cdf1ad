/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary program, which the tests link and strip in all ways. */
#include "spin.h"

int main(void)
{
	spin(work_seconds());
	return 0;
}
