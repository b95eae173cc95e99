/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/symbol.h"
#include "native/elf_file.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 8192 };

/* ---- symbols -------------------------------------------------------------------------------- */

struct search {
	const char *name;
	struct symbol *symbol;
	uint32_t found;
	bool per_thread;
};

static void search_symbol(struct search *search, const GElf_Sym *entry)
{
	unsigned type = GELF_ST_TYPE(entry->st_info);

	if (entry->st_shndx == SHN_UNDEF)
		return;
	if (type == STT_TLS)
		search->per_thread = true;
	if (type != STT_OBJECT && type != STT_COMMON && type != STT_NOTYPE)
		return;
	search->found++;
	search->symbol->address = entry->st_value;
	search->symbol->size = entry->st_size;
}

/* The first section of this kind: ELF has no second, and a forged file no end of them. */
static Elf_Scn *find_section(Elf *elf, GElf_Word kind, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, header) && header->sh_type == kind)
			break;
	return section;
}

static void search_table(struct search *search, Elf *elf, GElf_Word kind)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(elf, kind, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym entry;

	for (int k = 0; data && gelf_getsym(data, k, &entry); k++) {
		const char *name = elf_strptr(elf, header.sh_link, entry.st_name);

		if (name && !strcmp(name, search->name))
			search_symbol(search, &entry);
	}
}

bool symbol_find(const char *path, const char *name, struct symbol *symbol, struct error *error)
{
	struct search search = { .name = name, .symbol = symbol };
	struct elf_file elf;

	if (!elf_file_open(&elf, path, error))
		return false;
	*symbol = (struct symbol){ .movable = elf.header.e_type == ET_DYN };
	search_table(&search, elf.elf, SHT_SYMTAB);
	if (!search.found && !search.per_thread)
		search_table(&search, elf.elf, SHT_DYNSYM);
	elf_file_close(&elf);
	if (search.found == 1)
		return true;
	if (search.found)
		return error_set(error,
				 "%s: %" PRIu32 " objects are named '%.100s'; nm shows their "
				 "addresses, and NAME=STRUCT@0xADDRESS takes one",
				 path, search.found, name);
	return search.per_thread
		       ? error_set(error, "%s: '%.100s' is thread-local: each thread has its own",
				   path, name)
		       : error_set(error, "%s: no object '%.100s' in its symbols (is it stripped?)",
				   path, name);
}

/* ---- where programs are loaded -------------------------------------------------------------- */

/* The lowest address that the file asks for, and which byte of the file goes there. */
static bool first_segment(struct elf_file *elf, GElf_Phdr *first)
{
	GElf_Phdr segment;
	size_t count;
	bool found = false;

	if (elf_getphdrnum(elf->elf, &count))
		return false;
	for (size_t k = 0; k < count; k++)
		if (gelf_getphdr(elf->elf, (int)k, &segment) && segment.p_type == PT_LOAD &&
		    (!found || segment.p_vaddr < first->p_vaddr)) {
			*first = segment;
			found = true;
		}
	return found;
}

bool symbol_base(const char *path, const char *maps, const char *exe, uint64_t *base,
		 struct error *error)
{
	char line[LINE_SIZE];
	GElf_Phdr first = { .p_type = PT_NULL };
	struct elf_file elf;
	bool known, found = false;
	FILE *file;

	if (!elf_file_open(&elf, path, error))
		return false;
	known = first_segment(&elf, &first);
	elf_file_close(&elf);
	file = fopen(maps, "re");
	if (!file)
		return error_set(error, "%s: %m", maps);
	while (known && !found && fgets(line, sizeof(line), file)) {
		uint64_t start, offset;
		int name = 0;

		line[strcspn(line, "\n")] = '\0';
		found = sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64 " %*s %*s %n", &start, &offset,
			       &name) == 2 &&
			name && !strcmp(line + name, exe) && offset <= first.p_offset;
		*base = found ? start - offset - (first.p_vaddr - first.p_offset) : 0;
	}
	fclose(file);
	return found || error_set(error, "%s: '%.200s' is not loaded there", maps, exe);
}
