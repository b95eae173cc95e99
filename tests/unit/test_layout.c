/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layout files: what they must refuse, and what the kernel's structs look like. The tests read
 * configs/layouts and are run in the root of the project. */
#include "tests/unit/suites.h"
#include "layout/layout.h"
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 64 };

/* ---- helpers ---- */

static void expect_text(const char *got, const char *expected)
{
	CU_ASSERT_STRING_EQUAL(got, expected);
	if (strcmp(got, expected))
		printf("\n   got: %s\n  want: %s\n", got, expected);
}

/* A directory with files of a test's own, told apart by one letter: a.yaml, b.yaml ... */
static char directory[] = "/tmp/hitm-layout-XXXXXX";

static int directory_make(void)
{
	return !mkdtemp(directory);
}

static int directory_remove(void)
{
	char path[64];

	for (char name = 'a'; name <= 'z'; name++) {
		snprintf(path, sizeof(path), "%s/%c.yaml", directory, name);
		unlink(path);
	}
	return rmdir(directory);
}

static void file_write(char name, const char *text, size_t length)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%c.yaml", directory, name);
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(fwrite(text, 1, length, file), length);
	fclose(file);
}

/* A sound header of a struct of 64 bytes, and the fields below line 6. */
static void struct_write(char name, const char *fields)
{
	char text[4096];
	int length = snprintf(text, sizeof(text),
			      "layout: %c\nstruct: s\nsize: 64 B\nalign: 8 B\nsource: test\n"
			      "fields:\n%s",
			      name, fields);

	file_write(name, text, (size_t)length);
}

static void expect_refused(const char *name, const char *expected)
{
	struct error error = { 0 };
	struct layout *layout = layout_load(directory, name, NULL, &error);
	size_t skip = strlen(directory);

	CU_ASSERT_PTR_NULL(layout);
	if (!strncmp(error.text, directory, skip))
		expect_text(error.text + skip + 1, expected);
	else
		expect_text(error.text, expected);
	layout_free(layout);
}

static void expect_fields_refused(const char *fields, const char *expected)
{
	struct_write('a', fields);
	expect_refused("a", expected);
}

static struct layout *load(const char *from, const char *name)
{
	struct error error = { 0 };
	struct layout *layout = layout_load(from, name, NULL, &error);

	expect_text(error.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(layout);
	return layout;
}

static void expect_field(const struct layout *layout, const char *name, uint32_t offset)
{
	const struct layout_field *field = layout_find(layout, name);

	CU_ASSERT_PTR_NOT_NULL_FATAL(field);
	CU_ASSERT_EQUAL(field->offset, offset);
}

/* The fields that start in a line, in order, separated by spaces. */
static void expect_line(const struct layout *layout, uint32_t line, const char *expected)
{
	char text[512] = "";

	for (uint32_t i = 0; i < layout->field_count; i++) {
		const struct layout_field *field = &layout->fields[i];

		if (field->offset / LINE != line)
			continue;
		if (*text)
			strcat(text, " ");
		strcat(text, field->name);
	}
	expect_text(text, expected);
}

/* ---- files that are refused ---- */

static void fields_that_overlap_are_refused(void)
{
	expect_fields_refused("  x: {offset: 0, size: 8}\n  y: {offset: 4, size: 8}\n",
			      "a.yaml:8:3: 'y' at byte 4 lies in 'x', bytes 0 to 7, expected "
			      "union_with");
	expect_fields_refused("  y: {offset: 12, size: 4}\n  gap: {offset: 40, size: 8}\n"
			      "  x: {offset: 0, size: 32}\n",
			      "a.yaml:7:3: 'y' at byte 12 lies in 'x', bytes 0 to 31, expected "
			      "union_with");
}

static void a_field_inside_a_nested_struct_is_refused(void)
{
	struct_write('b', "  u: {offset: 0, size: 8}\n");
	expect_fields_refused("  inner: {offset: 0, size: 64, layout: b}\n"
			      "  x: {offset: 32, size: 8}\n",
			      "a.yaml:8:3: 'x' at byte 32 lies in 'inner', bytes 0 to 63, expected "
			      "union_with");
}

static void an_overlap_inside_a_nested_file_is_placed_there(void)
{
	struct_write('b', "  u: {offset: 0, size: 8}\n  v: {offset: 0, size: 8}\n");
	expect_fields_refused("  inner: {offset: 0, size: 64, layout: b}\n",
			      "b.yaml:8:3: 'v' at byte 0 lies in 'u', bytes 0 to 7, expected "
			      "union_with");
}

static void a_field_beyond_the_struct_is_refused(void)
{
	expect_fields_refused("  x: {offset: 60, size: 8}\n",
			      "a.yaml:7:3: 'x' ends at byte 68, expected at most 64");
	expect_fields_refused("  x: {offset: 65, size: 0}\n",
			      "a.yaml:7:3: 'x' ends at byte 65, expected at most 64");
	expect_fields_refused("  x: {offset: 4294967295, size: 8}\n",
			      "a.yaml:7:15: 4294967295 is out of range, expected 0 to 1048576");
}

static void a_nested_struct_of_another_size_is_refused(void)
{
	struct_write('b', "  u: {offset: 0, size: 8}\n");
	expect_fields_refused("  inner: {offset: 0, size: 32, layout: b}\n",
			      "a.yaml:7:28: 32, expected 64 as 'b' has it");
}

static void nesting_that_never_ends_is_refused(void)
{
	expect_fields_refused("  x: {offset: 0, size: 64, layout: a}\n",
			      "a.yaml:7:36: 'a' contains itself, expected no cycle");
	struct_write('b', "  x: {offset: 0, size: 64, layout: c}\n");
	struct_write('c', "  x: {offset: 0, size: 64, layout: a}\n");
	expect_fields_refused("  x: {offset: 0, size: 64, layout: b}\n",
			      "c.yaml:7:36: 'a' contains itself, expected no cycle");
}

static void nesting_stops_at_16_levels(void)
{
	for (char name = 'a'; name < 'q'; name++) {
		char fields[64];

		snprintf(fields, sizeof(fields), "  x: {offset: 0, size: 64, layout: %c}\n",
			 name + 1);
		struct_write(name, fields);
	}
	struct_write('q', "  x: {offset: 0, size: 64}\n");
	layout_free(load(directory, "b"));
	expect_refused("a", "p.yaml:7:36: nested too deep, expected at most 16 layouts");
}

static void fields_that_multiply_through_nesting_are_refused(void)
{
	char fields[4096];
	size_t used = 0;

	/* 40 names for the same bytes, each of them a struct of 40 such: 40 * 40 * 40 leaves. */
	for (char name = 'c'; name >= 'a'; name--) {
		used = 0;
		for (int i = 0; i < 40; i++)
			used += (size_t)snprintf(fields + used, sizeof(fields) - used,
						 "  f%d: {offset: 0, size: 64%s%s%s}\n", i,
						 name == 'c' ? "" : ", layout: ",
						 name == 'c'   ? ""
						 : name == 'b' ? "c"
							       : "b",
						 i ? ", union_with: f0" : "");
		struct_write(name, fields);
	}
	expect_refused("a", "a.yaml:9:3: too many fields with those nested, expected at most 4096");
}

static void a_size_or_alignment_out_of_bounds_is_refused(void)
{
	static const struct {
		const char *size, *align, *expected;
	} cases[] = {
		{ "0 B", "8 B", "a.yaml:3:7: 0 B is out of range, expected 1 B to 1 MiB" },
		{ "1025 KiB", "8 B",
		  "a.yaml:3:7: 1025 KiB is out of range, expected 1 B to 1 MiB" },
		{ "64 B", "0 B", "a.yaml:4:8: 0 B is out of range, expected 1 B to 4 KiB" },
		{ "64 B", "8 KiB", "a.yaml:4:8: 8 KiB is out of range, expected 1 B to 4 KiB" },
		{ "64 B", "24 B", "a.yaml:4:8: not a power of two, expected one" },
	};
	char text[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int length = snprintf(text, sizeof(text),
				      "layout: a\nstruct: s\nsize: %s\nalign: %s\nsource: test\n"
				      "fields: {x: {offset: 0, size: 1}}\n",
				      cases[i].size, cases[i].align);

		file_write('a', text, (size_t)length);
		expect_refused("a", cases[i].expected);
	}
}

static void a_field_needs_a_name_an_offset_and_a_size(void)
{
	expect_fields_refused("  a b: {offset: 0, size: 8}\n",
			      "a.yaml:7:3: 'a b' is no field, expected letters, digits, _ . [ ]");
	expect_fields_refused("  x: {offset: 0}\n",
			      "a.yaml:7:6: key 'size' is missing, expected it here");
	expect_fields_refused("  x: 8\n", "a.yaml:7:6: '8', expected a map");
	expect_fields_refused("  x: {offset: -8, size: 8}\n",
			      "a.yaml:7:15: -8 is out of range, expected 0 to 1048576");
	expect_fields_refused(
		"  x: {ofset: 0, size: 8}\n",
		"a.yaml:7:7: unknown key 'ofset', did you mean 'offset'? expected one "
		"of: offset, size, layout, union_with");
	expect_fields_refused("  {}\n",
			      "a.yaml:7:3: no fields, expected NAME: {offset: N, size: N}");
}

static void two_fields_of_one_name_are_refused(void)
{
	struct_write('b', "  u: {offset: 0, size: 8}\n");
	expect_fields_refused("  x: {offset: 0, size: 64, layout: b}\n"
			      "  x.u: {offset: 0, size: 8, union_with: x}\n",
			      "a.yaml:7:3: 'x.u' names two fields, expected one");
}

static void a_union_with_no_other_field_is_refused(void)
{
	expect_fields_refused("  x: {offset: 0, size: 8, union_with: y}\n",
			      "a.yaml:7:39: 'y', expected another field of this file");
	expect_fields_refused("  x: {offset: 0, size: 8, union_with: x}\n",
			      "a.yaml:7:39: 'x', expected another field of this file");
}

static void a_file_that_calls_itself_otherwise_is_refused(void)
{
	static const char text[] = "layout: a\nstruct: s\nsize: 8 B\nalign: 8 B\nsource: t\n"
				   "fields: {x: {offset: 0, size: 8}}\n";

	file_write('b', text, sizeof(text) - 1);
	expect_refused("b", "b.yaml:1:9: 'a', expected 'b' as the file is called");
}

/* The oracle: read, or refused with a place in the file. */
static void a_file_cut_at_any_byte_is_read_or_refused_with_its_place(void)
{
	char text[4096], path[64];
	FILE *file = fopen("configs/layouts/page_counter-6.12.yaml", "r");
	size_t length;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	length = fread(text, 1, sizeof(text), file);
	fclose(file);
	CU_ASSERT(length > 500 && length < sizeof(text));
	snprintf(path, sizeof(path), "%s/a.yaml", directory);
	for (size_t cut = 0; cut <= length; cut++) {
		struct error error = { 0 };
		struct layout *layout;
		unsigned line, column;
		const char *rest;

		file_write('a', text, cut);
		layout = layout_load(directory, path, NULL, &error);
		rest = error.text + strlen(path);
		CU_ASSERT_TRUE(layout ? !*error.text
				      : !strncmp(error.text, path, strlen(path)) &&
						sscanf(rest, ":%u:%u: ", &line, &column) == 2);
		layout_free(layout);
	}
}

/* ---- names ---- */

static void a_missing_layout_names_the_nearest_file(void)
{
	struct error error = { 0 };

	CU_ASSERT_PTR_NULL(layout_load("configs/layouts", "page_counter-6.13", NULL, &error));
	expect_text(error.text, "no layout 'page_counter-6.13' in configs/layouts, did you mean "
				"'page_counter-6.1'?");
	error.text[0] = '\0';
	CU_ASSERT_PTR_NULL(layout_load("configs/none", "x", NULL, &error));
	expect_text(error.text, "no layout 'x' in configs/none, expected the name of a file there");
}

static void a_missing_layout_is_placed_where_it_was_named(void)
{
	struct_write('b', "  u: {offset: 0, size: 8}\n");
	expect_fields_refused("  x: {offset: 0, size: 64, layout: /b.yaml}\n",
			      "a.yaml:7:36: no file '/b.yaml', expected a layout");
}

static void a_name_with_a_slash_is_no_path_unless_it_ends_in_yaml(void)
{
	struct error error = { 0 };

	CU_ASSERT_PTR_NULL(layout_load("configs", "layouts/page_counter-6.1", NULL, &error));
	CU_ASSERT_NSTRING_EQUAL(error.text, "no layout 'layouts/page_counter-6.1' in configs", 47);
}

static void a_path_is_read_where_it_points(void)
{
	struct layout *layout = load("configs/layouts", "configs/layouts/mem_cgroup-6.1.yaml");

	CU_ASSERT_STRING_EQUAL(layout->name, "mem_cgroup-6.1");
	CU_ASSERT_STRING_EQUAL(layout->structure, "mem_cgroup");
	layout_free(layout);
}

/* ---- fields ---- */

static void members_of_a_union_may_overlap(void)
{
	struct layout *layout;

	struct_write('a', "  b: {offset: 0, size: 16, union_with: a}\n"
			  "  a: {offset: 0, size: 8}\n"
			  "  c: {offset: 8, size: 8, union_with: a}\n");
	layout = load(directory, "a");
	CU_ASSERT_EQUAL(layout->field_count, 3);
	CU_ASSERT_STRING_EQUAL(layout_covering(layout, 0)->name, "b");
	layout_free(layout);
}

static void a_flexible_array_overlaps_nothing(void)
{
	struct layout *layout;

	struct_write('a', "  x: {offset: 0, size: 64}\n  in: {offset: 8, size: 0}\n"
			  "  end: {offset: 64, size: 0}\n");
	layout = load(directory, "a");
	expect_field(layout, "end", 64);
	CU_ASSERT_STRING_EQUAL(layout_covering(layout, 8)->name, "x");
	CU_ASSERT_PTR_NULL(layout_covering(layout, 64));
	layout_free(layout);
}

static void fields_come_in_order_of_offset(void)
{
	struct layout *layout;

	struct_write('b', "  v: {offset: 32, size: 8}\n  u: {offset: 0, size: 8}\n");
	struct_write('a', "  z: {offset: 0, size: 64, layout: b}\n");
	layout = load(directory, "a");
	expect_line(layout, 0, "z.u z.v");
	layout_free(layout);
}

static void every_byte_has_its_field_and_padding_has_none(void)
{
	struct layout *layout = load("configs/layouts", "mem_cgroup-6.0-rc1");

	CU_ASSERT_STRING_EQUAL(layout_covering(layout, 192)->name, "css.parent");
	CU_ASSERT_STRING_EQUAL(layout_covering(layout, 208)->name, "memory.usage");
	CU_ASSERT_STRING_EQUAL(layout_covering(layout, 215)->name, "memory.usage");
	CU_ASSERT_STRING_EQUAL(layout_covering(layout, 216)->name, "memory.min");
	CU_ASSERT_PTR_NULL(
		layout_covering(layout, 100)); /* between css.online_cnt and destroy_work */
	CU_ASSERT_PTR_NULL(layout_covering(layout, 5000));
	CU_ASSERT_PTR_NULL(layout_find(layout, "memory"));
	CU_ASSERT_PTR_NULL(layout_find(layout, "memory.usag"));
	layout_free(layout);
}

static void spread_fields_share_no_line(void)
{
	struct layout *layout = load("configs/layouts", "mem_cgroup-6.0-rc1");
	struct layout *spread = layout_spread(layout, LINE);
	uint32_t next = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(spread);
	CU_ASSERT_EQUAL(spread->field_count, layout->field_count);
	CU_ASSERT_EQUAL(spread->align, LINE);
	CU_ASSERT_EQUAL(spread->size % LINE, 0);
	for (uint32_t i = 0; i < spread->field_count; i++) {
		const struct layout_field *field = &spread->fields[i];

		if (!strncmp(field->name, "memsw.", 6))
			continue; /* the same bytes as swap */
		CU_ASSERT_EQUAL(field->offset % LINE, 0);
		CU_ASSERT(field->offset >= next);
		CU_ASSERT_EQUAL(field->size, layout_find(layout, field->name)->size);
		next = field->offset + (field->size ? field->size : 1);
	}
	CU_ASSERT(next <= spread->size);
	layout_free(layout);
	layout_free(spread);
}

static void members_of_a_union_stay_on_each_other_when_spread(void)
{
	struct layout *layout = load("configs/layouts", "mem_cgroup-6.0-rc1");
	struct layout *spread = layout_spread(layout, LINE);

	CU_ASSERT_PTR_NOT_NULL_FATAL(spread);
	CU_ASSERT_EQUAL(layout_find(spread, "swap.max")->offset,
			layout_find(spread, "memsw.max")->offset);
	layout_free(layout);
	layout_free(spread);
}

/* ---- the kernel's layouts: expectations by hand from pahole's output and from the kernel's lists
 * ---- */

static void every_layout_that_is_shipped_loads(void)
{
	DIR *files = opendir("configs/layouts");
	unsigned count = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(files);
	for (struct dirent *file; (file = readdir(files));) {
		char name[256];
		char *end;

		snprintf(name, sizeof(name), "%s", file->d_name);
		end = strstr(name, ".yaml");
		if (!end)
			continue;
		*end = '\0';
		layout_free(load("configs/layouts", name));
		count++;
	}
	closedir(files);
	CU_ASSERT(count >= 21);
}

static void page_counter_changed_as_its_history_says(void)
{
	static const struct {
		const char *name;
		uint32_t size, align;
		const char *lines[4];
	} versions[] = {
		{ "page_counter-4.0", 40, 8, { "count limit parent watermark failcnt" } },
		{ "page_counter-5.10",
		  112,
		  8,
		  { "usage min low high max parent emin min_usage",
		    "children_min_usage elow low_usage children_low_usage watermark failcnt" } },
		{ "page_counter-5.15",
		  112,
		  8,
		  { "usage min low high max emin min_usage children_min_usage",
		    "elow low_usage children_low_usage watermark failcnt parent" } },
		{ "page_counter-6.1",
		  192,
		  64,
		  { "usage",
		    "emin min_usage children_min_usage elow low_usage children_low_usage watermark "
		    "failcnt",
		    "min low high max parent" } },
		{ "page_counter-6.12",
		  256,
		  64,
		  { "usage",
		    "emin min_usage children_min_usage elow low_usage children_low_usage watermark "
		    "local_watermark",
		    "failcnt", "protection_support min low high max parent" } },
		{ "page_counter-6.18",
		  192,
		  64,
		  { "usage failcnt",
		    "emin min_usage children_min_usage elow low_usage children_low_usage watermark "
		    "local_watermark",
		    "protection_support track_failcnt min low high max parent" } },
	};

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		struct layout *layout = load("configs/layouts", versions[i].name);

		CU_ASSERT_EQUAL(layout->size, versions[i].size);
		CU_ASSERT_EQUAL(layout->align, versions[i].align);
		for (uint32_t line = 0; line < 4; line++)
			expect_line(layout, line,
				    versions[i].lines[line] ? versions[i].lines[line] : "");
		layout_free(layout);
	}
}

static void in_6_0_rc1_the_parent_pointer_shares_a_line_with_usage(void)
{
	struct layout *layout = load("configs/layouts", "mem_cgroup-6.0-rc1");

	CU_ASSERT_EQUAL(layout->size, 4032); /* as patch B's v2 says */
	expect_line(layout, 0, "css.cgroup css.ss css.refcnt css.sibling css.children");
	expect_line(layout, 3,
		    "css.parent id memory.usage memory.min memory.low memory.high "
		    "memory.max memory.emin");
	expect_line(layout, 4,
		    "memory.min_usage memory.children_min_usage memory.elow "
		    "memory.low_usage memory.children_low_usage memory.watermark "
		    "memory.failcnt memory.parent");
	expect_field(layout, "css.parent", 192); /* 0xc0 and 0xd0: E. Dumazet, 24 June 2022 */
	expect_field(layout, "memory.usage", 208);
	expect_field(layout, "memory.high", 232);
	expect_field(layout, "memory.max", 240);
	expect_field(layout, "memory.parent", 312);
	layout_free(layout);
}

static void in_6_0_rc1_the_other_counters_are_where_pahole_saw_them(void)
{
	struct layout *layout = load("configs/layouts", "mem_cgroup-6.0-rc1");

	expect_field(layout, "swap.usage", 320);
	expect_field(layout, "memsw.usage", 320);
	expect_field(layout, "swap.children_min_usage", 376);
	expect_field(layout, "swap.parent", 424);
	expect_field(layout, "kmem.usage", 432);
	expect_field(layout, "kmem.min", 440);
	expect_field(layout, "kmem.low", 448);
	expect_field(layout, "kmem.parent", 536);
	expect_field(layout, "tcpmem.usage", 544);
	expect_field(layout, "socket_pressure", 3600);
	expect_field(layout, "objcg", 3624);
	expect_field(layout, "vmstats_percpu", 3664);
	layout_free(layout);
}

static void patch_b_leaves_usage_alone_on_its_line(void)
{
	static const char *const names[] = { "mem_cgroup-6.0-rc1-B", "mem_cgroup-6.1",
					     "mem_cgroup-6.8", "mem_cgroup-6.10" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct layout *layout = load("configs/layouts", names[i]);

		CU_ASSERT_EQUAL(layout->size,
				i == 0 ? 4416 : 2176); /* 4416: as patch B's v2 says */
		expect_line(layout, 3, "css.parent id");
		expect_line(layout, 4, "memory.usage");
		expect_line(layout, 5,
			    "memory.emin memory.min_usage memory.children_min_usage "
			    "memory.elow memory.low_usage memory.children_low_usage "
			    "memory.watermark memory.failcnt");
		expect_line(layout, 6,
			    "memory.min memory.low memory.high memory.max memory.parent");
		expect_line(layout, 7, "swap.usage memsw.usage");
		expect_field(layout, "memory.usage", 256);
		layout_free(layout);
	}
}

static void later_kernels_put_the_counters_elsewhere(void)
{
	struct layout *old = load("configs/layouts", "mem_cgroup-4.0");
	struct layout *newer = load("configs/layouts", "mem_cgroup-6.12");
	struct layout *newest = load("configs/layouts", "mem_cgroup-6.18");

	CU_ASSERT_EQUAL(old->size, 920);
	expect_field(old, "css.parent", 72);
	expect_field(old, "css.flags", 116);
	expect_field(old, "memory.count", 176);
	expect_field(old, "memsw.count", 216);
	expect_field(old, "kmem.count", 256);
	CU_ASSERT_EQUAL(newer->size, 2432);
	expect_field(newer, "css.parent", 192);
	expect_field(newer, "memory.usage", 256);
	expect_field(newer, "memory.failcnt", 384);
	expect_field(newer, "swap.usage", 512);
	expect_field(newer, "kmem.usage", 1728);
	CU_ASSERT_EQUAL(newest->size, 2176);
	expect_field(newest, "css.parent", 184);
	expect_field(newest, "css.flags", 76);
	expect_field(newest, "memory.failcnt", 264);
	expect_field(newest, "kmem.usage", 1600);
	expect_field(newest, "tcpmem.usage", 1792);
	layout_free(old);
	layout_free(newer);
	layout_free(newest);
}

static void the_stock_is_as_large_as_its_version_says(void)
{
	static const struct {
		const char *name;
		uint32_t size, nr_pages;
	} stocks[] = { { "memcg_stock_pcp-4.0", 56, 8 },
		       { "memcg_stock_pcp-6.0-rc1", 88, 8 },
		       { "memcg_stock_pcp-6.18", 112, 1 } };

	for (size_t i = 0; i < sizeof(stocks) / sizeof(*stocks); i++) {
		struct layout *layout = load("configs/layouts", stocks[i].name);

		CU_ASSERT_EQUAL(layout->size, stocks[i].size);
		expect_field(layout, "nr_pages", stocks[i].nr_pages);
		layout_free(layout);
	}
}

void suite_layout(void)
{
	CU_pSuite suite = CU_add_suite("layout", directory_make, directory_remove);

	CU_ADD_TEST(suite, fields_that_overlap_are_refused);
	CU_ADD_TEST(suite, a_field_inside_a_nested_struct_is_refused);
	CU_ADD_TEST(suite, an_overlap_inside_a_nested_file_is_placed_there);
	CU_ADD_TEST(suite, a_field_beyond_the_struct_is_refused);
	CU_ADD_TEST(suite, a_nested_struct_of_another_size_is_refused);
	CU_ADD_TEST(suite, nesting_that_never_ends_is_refused);
	CU_ADD_TEST(suite, nesting_stops_at_16_levels);
	CU_ADD_TEST(suite, fields_that_multiply_through_nesting_are_refused);
	CU_ADD_TEST(suite, a_size_or_alignment_out_of_bounds_is_refused);
	CU_ADD_TEST(suite, a_field_needs_a_name_an_offset_and_a_size);
	CU_ADD_TEST(suite, two_fields_of_one_name_are_refused);
	CU_ADD_TEST(suite, a_union_with_no_other_field_is_refused);
	CU_ADD_TEST(suite, a_file_that_calls_itself_otherwise_is_refused);
	CU_ADD_TEST(suite, a_file_cut_at_any_byte_is_read_or_refused_with_its_place);
	CU_ADD_TEST(suite, a_missing_layout_names_the_nearest_file);
	CU_ADD_TEST(suite, a_missing_layout_is_placed_where_it_was_named);
	CU_ADD_TEST(suite, a_name_with_a_slash_is_no_path_unless_it_ends_in_yaml);
	CU_ADD_TEST(suite, a_path_is_read_where_it_points);
	CU_ADD_TEST(suite, members_of_a_union_may_overlap);
	CU_ADD_TEST(suite, a_flexible_array_overlaps_nothing);
	CU_ADD_TEST(suite, fields_come_in_order_of_offset);
	CU_ADD_TEST(suite, every_byte_has_its_field_and_padding_has_none);
	CU_ADD_TEST(suite, spread_fields_share_no_line);
	CU_ADD_TEST(suite, members_of_a_union_stay_on_each_other_when_spread);
	CU_ADD_TEST(suite, every_layout_that_is_shipped_loads);
	CU_ADD_TEST(suite, page_counter_changed_as_its_history_says);
	CU_ADD_TEST(suite, in_6_0_rc1_the_parent_pointer_shares_a_line_with_usage);
	CU_ADD_TEST(suite, in_6_0_rc1_the_other_counters_are_where_pahole_saw_them);
	CU_ADD_TEST(suite, patch_b_leaves_usage_alone_on_its_line);
	CU_ADD_TEST(suite, later_kernels_put_the_counters_elsewhere);
	CU_ADD_TEST(suite, the_stock_is_as_large_as_its_version_says);
}
