/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/cpu_id.h"

#include <stdlib.h>

#include "tests/test.h"

static void check_cpu(const char *cpuinfo, const char *id, const char *name)
{
	char *ret_id, *ret_name;

	cpu_id_read(cpuinfo, &ret_id, &ret_name);
	CHECK_STR(ret_id ? ret_id : "", id);
	CHECK_STR(ret_name ? ret_name : "", name);
	free(ret_id);
	free(ret_name);
}

TEST(x86_64_processor_is_described_by_numbers_and_features)
{
	check_cpu("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
		  "model name\t: Some Processor @ 2 GHz\nflags\t\t: fpu avx fma avx2 adx amx_tile\n"
		  "vmx flags\t: vnmi avx_other\nbugs\t\t: none\n\nprocessor\t: 1\nmodel\t\t: 7\n",
		  "GenuineIntel family 6 model 143 (avx avx2 adx amx_tile)", "Some Processor @ 2 GHz");
	check_cpu("vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 33\nflags\t\t: fpu sse\n",
		  "AuthenticAMD family 25 model 33", "AuthenticAMD family 25 model 33");
	check_cpu("vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 33",
		  "AuthenticAMD family 25 model 33", "AuthenticAMD family 25 model 33");
}

TEST(arm_processor_is_described_by_its_numbers)
{
	check_cpu("processor\t: 0\nFeatures\t: fp asimd avx\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
		  "implementer 0x41 part 0xd0c", "implementer 0x41 part 0xd0c");
}

TEST(processor_without_numbers_is_not_known)
{
	check_cpu("", "", "");
	check_cpu(NULL, "", "");
	check_cpu("model name\t: riscv\nflags\t: avx", "", "riscv");
	check_cpu("vendor_id : \nvendor_id", "", "");
}
