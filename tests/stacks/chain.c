/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary program, to be linked and stripped in every way there is. */
#include "spin.h"

int main(void)
{
	spin(work_seconds());
	return 0;
}
