/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cycles/mca.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/store.h"
#include "tests/test.h"

/* Our own programs instead of LLVM's, in a folder that is the whole PATH. */
static char folder[] = "/tmp/cpprof-mca-XXXXXX";
static struct diag diag;
static struct mca *mca;

static void begin(void)
{
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	CHECK(mkdtemp(folder));
	CHECK(setenv("PATH", folder, 1) == 0);
	diag = (struct diag){ 0 };
	mca = NULL;
}

static void write_tool(const char *name, const char *script)
{
	CLEANUP(freep) char *path = alloc_printf("%s/%s", folder, name);
	CLEANUP(fclosep) FILE *file = fopen(path, "we");

	CHECK(file);
	fprintf(file, "#!/bin/sh\nPATH=/bin:/usr/bin\n%s\n", script);
	chmod(path, 0755);
}

static void end(const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CLEANUP(freep) char *path = alloc_printf("%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
	mca_close(mca);
	setenv("PATH", "/usr/bin:/bin", 1);
}
#define END(...)                                                    \
	do {                                                        \
		static const char *const names[] = { __VA_ARGS__ }; \
		end(names, sizeof(names) / sizeof(names[0]));       \
	} while (0)

static int open_for(const char *cpu, uint64_t max_ns)
{
	return mca_open(&(struct mca_options){ .isa = &isa_aarch64, .cpu = cpu, .max_ns = max_ns }, &mca,
			&diag);
}

/* Units by processor, as llvm-mca prints them; cycles of two regions. */
#define UNITS                                                                                          \
	"case \"$*\" in *mcpu=generic*) u=A55;; *mcpu=twin*) u=A55;; *mcpu=neoverse-old*) u=A57;; *) " \
	"u=N1;; esac\n"                                                                                \
	"case \"$*\" in *iterations*) ;; *)\n"                                                         \
	"printf 'Resources:\\n[0] - %sUnitB\\n[1.0] - %sUnitD\\n\\nx\\n[0] - other\\n' $u $u; exit;; esac\n"
#define CYCLES                                                                                    \
	"printf '[0] Code Region - r0\\n\\nIterations:        200\\nTotal Cycles:      703\\n'\n" \
	"printf '[1] Code Region - r1\\n\\nIterations:        200\\nTotal Cycles:      4000\\n'\n"
#define DISASSEMBLY \
	"cat >/dev/null; printf '\\t.text\\n\\tudf\\t#0\\n\\tnop\\n\\tudf\\t#1\\n\\tnop\\n\\tnop\\n'"

TEST(without_llvm_mca_the_package_is_named)
{
	begin();
	CHECK_EQ(open_for("neoverse-n1", 0), -ENOPKG);
	CHECK(strstr(diag.hint, "llvm-19"));
	END("none");
}

TEST(a_tool_that_hangs_is_killed)
{
	begin();
	write_tool("llvm-mca-19", "exec sleep 100");
	write_tool("llvm-mc-19", "exec sleep 100");
	CHECK_EQ(open_for("neoverse-n1", 200000000), -ETIME);
	CHECK(strstr(diag.what, "llvm-mca-19"));
	END("llvm-mca-19", "llvm-mc-19");
}

/* A process that it has started keeps a pipe open for as long as it lives. */
static bool is_held(int pipe)
{
	struct pollfd end = { .fd = pipe };

	return poll(&end, 1, 10000) == 0;
}

TEST(processes_started_by_the_tool_are_killed_with_it)
{
	static const char *const scripts[] = { "sleep 100 >/dev/null & sleep 100", /* hangs, too */
					       "sleep 100 >/dev/null &" };

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		int ends[2];
		begin();
		CHECK_EQ(pipe(ends), 0);
		write_tool("llvm-mca-19", scripts[i]);
		write_tool("llvm-mc-19", "exit 1");
		CHECK(open_for("neoverse-n1", 500000000) < 0);
		close(ends[1]);
		CHECK(!is_held(ends[0]));
		close(ends[0]);
		END("llvm-mca-19", "llvm-mc-19");
	}
}

TEST(the_newest_tool_is_used_and_its_model_named)
{
	begin();
	write_tool("llvm-mca-14", "exit 1");
	write_tool("llvm-mc-14", "exit 1");
	write_tool("llvm-mca-19", UNITS);
	write_tool("llvm-mc-19", "exit 1");
	CHECK_EQ(open_for("neoverse-n1", 0), 0);
	CHECK_STR(mca_tool(mca), "llvm-mca-19");
	CHECK_STR(mca_model(mca), "N1");
	END("llvm-mca-14", "llvm-mc-14", "llvm-mca-19", "llvm-mc-19");
}

TEST(a_generic_model_is_refused)
{
	begin();
	write_tool("llvm-mca-19", UNITS);
	write_tool("llvm-mc-19", "exit 1");
	CHECK_EQ(open_for("twin", 0), -ENOTSUP);
	CHECK(strstr(diag.why, "A55"));
	CHECK_EQ(open_for("neoverse-old", 0), -ENOTSUP);
	CHECK(strstr(diag.why, "A57"));
	END("llvm-mca-19", "llvm-mc-19");
}

static const uint8_t nops[] = { 0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5 };
static const struct bytes code = { nops, sizeof(nops) };

TEST(cycles_of_each_region_are_read)
{
	struct mca_region regions[] = { { &code, 1, 1, 0, false }, { &code, 1, 2, 0, false } };

	begin();
	write_tool("llvm-mca-19", UNITS CYCLES);
	write_tool("llvm-mc-19", DISASSEMBLY);
	CHECK_EQ(open_for("neoverse-n1", 0), 0);
	CHECK_EQ(mca_run(mca, regions, 2, &diag), 0);
	CHECK(regions[0].cycles > 3.51 && regions[0].cycles < 3.52);
	CHECK(regions[1].cycles == 20);
	CHECK(!regions[0].is_partial && !regions[1].is_partial);
	END("llvm-mca-19", "llvm-mc-19");
}

TEST(what_the_store_has_is_what_was_computed)
{
	struct mca_region first[] = { { &code, 1, 1, 0, false } }, again[] = { { &code, 1, 1, 0, false } };
	struct mca_options options = { .isa = &isa_aarch64, .cpu = "neoverse-n1" };

	begin();
	CLEANUP(freep) char *place = alloc_printf("%s/store", folder);
	CLEANUP(freep) char *remove = alloc_printf("rm -r %s", place);
	options.store = store_open(place, 0);
	CHECK(options.store);
	write_tool("llvm-mca-19",
		   UNITS "echo 'Code Region - r0'; echo 'Iterations: 200'; echo 'Total Cycles: 203'");
	write_tool("llvm-mc-19", DISASSEMBLY);
	CHECK_EQ(mca_open(&options, &mca, &diag), 0);
	CHECK_EQ(mca_run(mca, first, 1, &diag), 0);
	write_tool("llvm-mc-19", "exit 1"); /* it is not asked again */
	CHECK_EQ(mca_run(mca, again, 1, &diag), 0);
	CHECK(first[0].cycles > 1);
	CHECK(again[0].cycles == first[0].cycles);
	store_close(options.store);
	setenv("PATH", "/usr/bin:/bin", 1);
	CHECK_EQ(system(remove), 0);
	END("llvm-mca-19", "llvm-mc-19");
}

TEST(unknown_instructions_are_reported)
{
	struct mca_region regions[] = { { &code, 1, 1, 0, false }, { &code, 1, 7, 0, false } };

	begin();
	write_tool("llvm-mca-19", UNITS CYCLES);
	write_tool("llvm-mc-19", DISASSEMBLY);
	CHECK_EQ(open_for("neoverse-n1", 0), 0);
	CHECK_EQ(mca_run(mca, regions, 2, &diag), 0);
	CHECK(!regions[0].is_partial && regions[1].is_partial);
	END("llvm-mca-19", "llvm-mc-19");
}

TEST(invalid_output_is_refused)
{
	struct mca_region regions[] = { { &code, 1, 1, 0, false } };

	begin();
	write_tool("llvm-mca-19",
		   UNITS "printf 'Code Region - r99999999999\\nIterations: -1\\nTotal Cycles: 5\\n"
			 "Code Region - r0\\nIterations: 0\\nTotal Cycles: 5\\n'");
	write_tool("llvm-mc-19", "head -c 100000 /dev/zero; printf '\\tudf\\t#99999\\n'");
	CHECK_EQ(open_for("neoverse-n1", 0), 0);
	mca_run(mca, regions, 1, &diag);
	CHECK(regions[0].cycles == 0);
	END("llvm-mca-19", "llvm-mc-19");
}

TEST(processors_are_recognised_by_their_numbers)
{
	CHECK_STR(mca_cpu_name("implementer 0x41 part 0xd40"), "neoverse-v1");
	CHECK_STR(mca_cpu_name("GenuineIntel family 6 model 143"), "sapphirerapids");
	CHECK_STR(mca_cpu_name("AuthenticAMD family 25 model 33"), "znver3");
	CHECK(!mca_cpu_name("implementer 0x41 part 0xfff"));
	CHECK(!mca_cpu_name("GenuineIntel family 15 model 4"));
	CHECK(!mca_cpu_name(""));
}

TEST(processors_of_unknown_numbers_are_recognised_by_their_features)
{
	CHECK_STR(mca_cpu_name("GenuineIntel family 6 model 250 (avx f16c avx2 adx clflushopt)"), "skylake");
	CHECK_STR(mca_cpu_name("GenuineIntel family 18 model 1 (avx avx2 adx avx512bw avx512_bf16 amx_tile "
			       "amx_fp16) + GenuineIntel family 6 model 42"),
		  "graniterapids");
	CHECK_STR(mca_cpu_name("AuthenticAMD family 27 model 1 (avx avx2 avx512f clzero vaes)"), "znver4");
	CHECK_STR(mca_cpu_name("GenuineIntel family 6 model 250 (avx"), "sandybridge");
	CHECK(!mca_cpu_name("GenuineIntel family 6 model 250 (clflushopt adx)"));
	CHECK(!mca_cpu_name("GenuineIntel family 6 model 250 (avxx) + GenuineIntel family 6 model 1 (avx)"));
	CHECK(!mca_cpu_name("GenuineIntel family 6 model 250 ()"));
	CHECK(!mca_cpu_name("GenuineIntel family 6 model 250 ("));
	CHECK(!mca_cpu_name("Unknown family 6 model 250 (avx avx2)"));
}

/* Some virtual machines show the model number of another processor. */
TEST(processors_with_features_newer_than_their_numbers_are_recognised_by_the_features)
{
	CHECK_STR(mca_cpu_name("GenuineIntel family 6 model 167 (avx avx2 avx512bw avx512_vbmi2)"),
		  "rocketlake");
	CHECK_STR(mca_cpu_name("GenuineIntel family 6 model 167 (avx avx2 avx512bw avx512_vbmi2 avx_vnni "
			       "amx_tile avx512_fp16)"),
		  "sapphirerapids");
	/* hidden features */
	CHECK_STR(mca_cpu_name("GenuineIntel family 6 model 143 (avx avx2)"), "sapphirerapids");
	CHECK_STR(mca_cpu_name("GenuineIntel family 6 model 143 ()"), "sapphirerapids");
	/* the same core in several products */
	CHECK_STR(mca_cpu_name("GenuineIntel family 6 model 207 (avx avx512_fp16 amx_tile)"),
		  "emeraldrapids");
	CHECK_STR(mca_cpu_name("GenuineIntel family 6 model 85 (avx avx512bw avx512_vnni avx512_bf16)"),
		  "skylake-avx512");
	/* no scheduling model of its own */
	CHECK(!mca_cpu_name("GenuineIntel family 6 model 175 (avx avx2 avx_vnni)"));
}

/* The real llvm-mca, if a recent one is installed, accepts our input for both machines. */
static void check_real(const struct isa *isa, const char *cpu, const char *model, struct bytes chain,
		       double least, double most)
{
	struct mca_region regions[] = { { &chain, 1, 1, 0, false }, { &chain, 1, 1, 0, false } };

	setenv("PATH", "/usr/bin:/bin:/usr/local/bin", 1);
	mca = NULL;
	int error = mca_open(&(struct mca_options){ .isa = isa, .cpu = cpu }, &mca, &diag);
	if (error == -ENOPKG || error == -ENOTSUP)
		SKIP("there is no llvm-mca with models of these processors");
	CHECK_EQ(error, 0);
	CHECK(strncmp(mca_model(mca), model, strlen(model)) == 0);
	CHECK_EQ(mca_run(mca, regions, 2, &diag), 0);
	CHECK(regions[0].cycles > least && regions[0].cycles < most);
	CHECK(regions[1].cycles > least && regions[1].cycles < most);
	CHECK(!regions[0].is_partial && !regions[1].is_partial);
	mca_close(mca);
}

TEST(a_chain_of_multiplications_takes_three_cycles_each_on_skylake)
{
	static const uint8_t imul[] = { 0x48, 0x0f, 0xaf, 0xc0 }; /* imul %rax, %rax */

	check_real(&isa_x86_64, "skylake", "SKL", (struct bytes){ imul, sizeof(imul) }, 2.9, 3.2);
}

TEST(a_chain_of_additions_takes_a_cycle_each_on_neoverse)
{
	static const uint8_t add[] = { 0x00, 0x00, 0x01, 0x8b }; /* add x0, x0, x1 */

	check_real(&isa_aarch64, "neoverse-n1", "N1", (struct bytes){ add, sizeof(add) }, 0.9, 1.2);
}
