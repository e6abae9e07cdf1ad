/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/kernel/kernel_store.h"

#include <string.h>

#include "tests/store_maker.h"
#include "tests/test.h"

static const char text[] = "5000 T first\n6000 T second\n7000 t third\n8000 t last\n3000 t late\t[mod]\n9000 "
			   "t bpf_prog\t[bpf]\n";

static void parse(const char *lines, struct kallsyms *ret)
{
	kallsyms_parse((struct bytes){ (const uint8_t *)lines, strlen(lines) }, ret);
}

TEST(kernel_store_has_the_built_in_functions_of_this_boot)
{
	char path[] = STORE_PATH;
	struct store *store = store_make(path);
	struct kallsyms all, kept;
	const uint64_t inside[] = { 0x5000, 0x6123, 0x7fff }, last[] = { 0x6000, 0x8000 },
		       below[] = { 0x3000, 0x6000 };
	uint64_t end;

	parse(text, &all);
	CHECK(!kernel_store_get(store, "boot", inside, 3, &kept));
	kernel_store_put(store, "boot", &all);
	CHECK(kernel_store_get(store, "boot", inside, 3, &kept));
	for (size_t i = 0; i < 3; i++)
		CHECK_STR(kallsyms_find(&kept, inside[i], &end)->name,
			  kallsyms_find(&all, inside[i], &end)->name);
	kallsyms_done(&kept);
	CHECK(!kernel_store_get(store, "boot", last, 2,
				&kept)); /* the end of the last function depends on the loaded modules */
	CHECK(!kernel_store_get(store, "boot", below, 2, &kept)); /* an address in a module */
	CHECK(!kernel_store_get(store, "another boot", inside, 3, &kept));
	CHECK(!kernel_store_get(store, "", inside, 3, &kept));
	kallsyms_done(&all);
	store_remove(store, path);
}

TEST(kernel_store_keeps_ends_of_functions_and_omits_data_of_modules)
{
	char path[] = STORE_PATH;
	struct store *store = store_make(path);
	struct kallsyms all, kept;
	const uint64_t inside[] = { 0x5000, 0x5100 };
	uint64_t end;

	parse("5000 T first\n5080 D data\n6000 T second\n7000 D _etext\n8000 t late\t[mod]\n9000 d "
	      "lately\t[mod]\n",
	      &all);
	kernel_store_put(store, "boot", &all);
	CHECK(kernel_store_get(store, "boot", inside, 2, &kept));
	CHECK(kallsyms_find(&kept, 0x5000, &end) != NULL);
	CHECK_EQ(end, 0x5080);
	CHECK(kallsyms_find(&kept, 0x5100, &end) == NULL);
	CHECK_EQ(kept.symbols.at[kept.symbols.n - 1].start, 0x6000);
	kallsyms_done(&kept);
	kallsyms_done(&all);
	store_remove(store, path);
}

TEST(kernel_store_stores_nothing_if_modules_are_among_built_in_functions)
{
	char path[] = STORE_PATH;
	struct store *store = store_make(path);
	struct kallsyms all, kept;
	const uint64_t inside[] = { 0x5000 };

	parse("5000 T first\n7000 t third\n6000 t between\t[mod]\n", &all);
	kernel_store_put(store, "boot", &all);
	CHECK(!kernel_store_get(store, "boot", inside, 1, &kept));
	kallsyms_done(&all);
	store_remove(store, path);
}

/* Entries in our own directory; an invalid one must still be refused. */
TEST(kernel_store_refuses_or_survives_damaged_entries)
{
	char path[] = STORE_PATH;
	struct store *store = store_make(path);
	struct kallsyms all, kept;
	const uint64_t inside[] = { 0x5000 };

	parse(text, &all);
	kernel_store_put(store, "boot", &all);
	CHECK(kernel_store_get(store, "boot", inside, 1, &kept));
	static uint8_t copy[4096];
	size_t len = kept.entry.len;
	CHECK(len < sizeof(copy));
	memcpy(copy, kept.entry.at, len);
	kallsyms_done(&kept);

	for (size_t i = 0; i < len; i++) { /* may give wrong names, but no invalid access */
		struct store_key key = kernel_store_key("boot");
		copy[i] ^= 0xff;
		store_put(store, &key, (struct bytes){ copy, len });
		copy[i] ^= 0xff;
		if (!kernel_store_get(store, "boot", inside, 1, &kept))
			continue;
		for (size_t k = 0; k < kept.symbols.n; k++)
			CHECK(strlen(kept.symbols.at[k].name) < len);
		kallsyms_done(&kept);
	}
	kallsyms_done(&all);
	store_remove(store, path);
}
