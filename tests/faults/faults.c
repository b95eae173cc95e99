/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library to preload: one call of the program to the system fails.
 *
 * FAULT_AT=N    the N-th of the calls below fails, from 1; 0 or unset: none
 * FAULT_ON=1    and all after it fail that take room on a disk
 * FAULT_CALLS=F writes "HASH NAME" to the file F for each call, the hash being that of the calls that
 *               led to it
 * FAULT_LEAKS=F writes the sizes of blocks that were never freed to the file F, if there are any
 *
 * Calls: malloc, calloc, realloc, mmap, open, read, close, fopen, rename, mkdir, mkdtemp, opendir, and
 * reads, writes and closes of stdio, whose files (and standard output) are made to go through here.
 * Those of the C library and of OpenMP's on their own account do not count; what either allocates, the
 * program need not free. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *block);

enum { DEPTH = 24, BLOCKS = 1 << 16, RANGES_MAX = 8 };

static struct {
	unsigned long at, seen;
	bool ready, on, failing;
	int calls;
} faults = { .calls = -1 };

/* ---- whose call is it ----------------------------------------------------------------------- */

/* Where the code of the libraries lies that look after themselves. */
static struct range {
	uintptr_t from, to;
} ranges[RANGES_MAX];
static int range_count;

static int note_range(struct dl_phdr_info *info, size_t size, void *unused)
{
	static const char *const names[] = { "/libgomp.", "/libomp.", "/ld-linux", "/libgcc_s.",
					     "/libc.so" };

	(void)size;
	(void)unused;
	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
		for (int k = 0; strstr(info->dlpi_name, names[n]) && k < info->dlpi_phnum; k++)
			if (info->dlpi_phdr[k].p_type == PT_LOAD &&
			    info->dlpi_phdr[k].p_flags & PF_X && range_count < RANGES_MAX) {
				uintptr_t from = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;

				ranges[range_count++] =
					(struct range){ from, from + info->dlpi_phdr[k].p_memsz };
			}
	return 0;
}

static bool is_ours(const void *caller)
{
	for (int k = 0; k < range_count; k++)
		if ((uintptr_t)caller >= ranges[k].from && (uintptr_t)caller < ranges[k].to)
			return false;
	return true;
}

/* ---- blocks that are to be freed ------------------------------------------------------------ */

/* By address, with linear probing; 0: unused. */
static struct block {
	uintptr_t address;
	size_t size;
} blocks[BLOCKS];

static size_t block_home(uintptr_t address)
{
	return (size_t)((address >> 4) * 0x9e3779b97f4a7c15u >> 32) % BLOCKS;
}

static size_t block_slot(uintptr_t address)
{
	size_t slot = block_home(address);

	while (blocks[slot].address && blocks[slot].address != address)
		slot = (slot + 1) % BLOCKS;
	return slot;
}

static void *block_note(void *block, size_t size, const void *caller)
{
	if (block && faults.ready && is_ours(caller))
		blocks[block_slot((uintptr_t)block)] = (struct block){ (uintptr_t)block, size };
	return block;
}

/* Moves up those that would no longer be found behind the gap. */
static void block_forget(void *block)
{
	size_t gap = block_slot((uintptr_t)block), next = gap;

	if (!block || !blocks[gap].address)
		return;
	while (blocks[next = (next + 1) % BLOCKS].address) {
		size_t home = block_home(blocks[next].address);

		if ((next - home) % BLOCKS >= (next - gap) % BLOCKS) {
			blocks[gap] = blocks[next];
			gap = next;
		}
	}
	blocks[gap].address = 0;
}

/* ---- the call that fails -------------------------------------------------------------------- */

static void log_line(int log, const char *format, ...)
{
	char line[128];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (log < 0 || length < 0 || write(log, line, (size_t)length) != length)
		_exit(99);
}

/* The calls that led here, as a number that is the same in the next run. */
static uint64_t path_hash(void)
{
	void *frames[DEPTH];
	uint64_t hash = 0xcbf29ce484222325u;
	int count = backtrace(frames, DEPTH);

	for (int k = 2; k < count; k++) {
		Dl_info info;

		if (dladdr(frames[k], &info))
			hash = (hash ^ (uint64_t)((char *)frames[k] - (char *)info.dli_fbase)) *
			       0x100000001b3u;
	}
	return hash;
}

/* Counts a call. Is it the one? */
static bool fails(const char *name, const void *caller, int error)
{
	if (!faults.ready || !is_ours(caller))
		return false;
	faults.seen++;
	if (faults.calls >= 0) {
		faults.ready = false;
		log_line(faults.calls, "%016llx %s\n", (unsigned long long)path_hash(), name);
		faults.ready = true;
	}
	if (faults.seen == faults.at)
		faults.failing = true;
	else if (!faults.failing || !faults.on || error != ENOSPC)
		return false;
	errno = error;
	return true;
}

#define CALLER              __builtin_return_address(0)
#define MEMORY_FAILS(name)  fails(name, CALLER, ENOMEM)
#define IO_FAILS(name, why) fails(name, CALLER, why)
#define REAL(name)          ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- memory --------------------------------------------------------------------------------- */

void *malloc(size_t size)
{
	return MEMORY_FAILS("malloc") ? NULL : block_note(__libc_malloc(size), size, CALLER);
}

void *calloc(size_t count, size_t size)
{
	return MEMORY_FAILS("calloc")
		       ? NULL
		       : block_note(__libc_calloc(count, size), count * size, CALLER);
}

void *realloc(void *old, size_t size)
{
	void *block;

	if (MEMORY_FAILS("realloc"))
		return NULL;
	block = __libc_realloc(old, size);
	if (block || !size)
		block_forget(old);
	return block_note(block, size, CALLER);
}

/* These are the program's, though the C library makes them. */
char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = MEMORY_FAILS("strdup") ? NULL : block_note(__libc_malloc(size), size, CALLER);

	return copy ? memcpy(copy, text, size) : NULL;
}

void *reallocarray(void *old, size_t count, size_t size)
{
	void *block;

	if (MEMORY_FAILS("reallocarray"))
		return NULL;
	block = __libc_realloc(old, count * size);
	if (block)
		block_forget(old);
	return block_note(block, count * size, CALLER);
}

int asprintf(char **text, const char *format, ...)
{
	va_list arguments;
	int length;

	if (MEMORY_FAILS("asprintf"))
		return -1;
	va_start(arguments, format);
	length = vasprintf(text, format, arguments);
	va_end(arguments);
	if (length >= 0)
		block_note(*text, (size_t)length + 1, CALLER);
	return length;
}

void free(void *block)
{
	block_forget(block);
	__libc_free(block);
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
	if (MEMORY_FAILS("mmap"))
		return MAP_FAILED;
	return REAL(mmap)(address, length, protection, flags, file, offset);
}

/* ---- files ---------------------------------------------------------------------------------- */

int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode = 0;

	if (flags & O_CREAT) {
		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		va_end(arguments);
	}
	return IO_FAILS("open", EMFILE) ? -1 : openat(AT_FDCWD, path, flags, mode);
}

ssize_t read(int file, void *bytes, size_t size)
{
	return IO_FAILS("read", EIO) ? -1 : REAL(read)(file, bytes, size);
}

/* A file that fails to close is closed. */
int close(int file)
{
	bool failed = IO_FAILS("close", EIO);
	int status = REAL(close)(file);

	return failed ? -1 : status;
}

int rename(const char *from, const char *to)
{
	return IO_FAILS("rename", EACCES) ? -1 : REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode)
{
	return IO_FAILS("mkdir", ENOSPC) ? -1 : REAL(mkdir)(path, mode);
}

char *mkdtemp(char *path)
{
	return IO_FAILS("mkdtemp", ENOSPC) ? NULL : REAL(mkdtemp)(path);
}

DIR *opendir(const char *path)
{
	return IO_FAILS("opendir", EMFILE) ? NULL : REAL(opendir)(path);
}

/* ---- stdio ---------------------------------------------------------------------------------- */

static ssize_t cookie_read(void *cookie, char *bytes, size_t size)
{
	return fails("fread", NULL, EIO) ? -1 : REAL(read)((int)(intptr_t)cookie, bytes, size);
}

/* A full disk takes a part. */
static ssize_t cookie_write(void *cookie, const char *bytes, size_t size)
{
	bool failed = fails("fwrite", NULL, ENOSPC);
	ssize_t done = write((int)(intptr_t)cookie, bytes, failed ? size / 2 : size);

	if (failed)
		errno = ENOSPC;
	return failed ? 0 : done;
}

static int cookie_close(void *cookie)
{
	bool failed = fails("fclose", NULL, EIO);
	int status = REAL(close)((int)(intptr_t)cookie);

	if (failed)
		errno = EIO;
	return failed ? -1 : status;
}

static FILE *file_over(int descriptor, const char *mode)
{
	const cookie_io_functions_t functions = { .read = cookie_read,
						  .write = cookie_write,
						  .close = cookie_close };

	return fopencookie((void *)(intptr_t)descriptor, mode, functions);
}

FILE *fopen(const char *path, const char *mode)
{
	int flags = *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, descriptor;

	if (IO_FAILS("fopen", *mode == 'r' ? EMFILE : ENOSPC))
		return NULL;
	descriptor = openat(AT_FDCWD, path, flags | O_CLOEXEC, 0666);
	return descriptor < 0 ? NULL : file_over(descriptor, mode);
}

/* ---- the program's begin and end ------------------------------------------------------------ */

static int log_open(const char *path)
{
	return openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAULT_AT"), *calls = getenv("FAULT_CALLS");
	void *frames[2];

	backtrace(frames, 2); /* loads what it needs */
	dl_iterate_phdr(note_range, NULL);
	if (calls)
		faults.calls = log_open(calls);
	faults.at = at ? strtoul(at, NULL, 10) : 0;
	faults.on = getenv("FAULT_ON");
	unsetenv("LD_PRELOAD"); /* children are not the ones to test */
	stdout = file_over(STDOUT_FILENO, "w");
	faults.ready = true;
}

__attribute__((destructor)) static void end(void)
{
	const char *leaks = getenv("FAULT_LEAKS");
	int log = -1;

	faults.ready = false;
	for (size_t k = 0; leaks && k < BLOCKS; k++)
		if (blocks[k].address) {
			log = log < 0 ? log_open(leaks) : log;
			log_line(log, "%zu\n", blocks[k].size);
		}
}
