// SPDX-License-Identifier: Apache-2.0
// The writer of whole files: the order of its writes, unpredictable names, no temporary file left. This file replaces fsync,
// rename and getrandom, so that it sees their order and knows the random name.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "runtime/common/base/whole.h"

static char calls[256];
static bool fixed_random;
static int failing_fsync;  // errno of the next fsync of a file

int fsync(int fd)
{
    struct stat st;
    fstat(fd, &st);
    strcat(calls, S_ISDIR(st.st_mode) ? "folder " : "file ");
    if (failing_fsync && !S_ISDIR(st.st_mode)) {
        errno = failing_fsync;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    strcat(calls, "rename ");
    return renameat(AT_FDCWD, from, AT_FDCWD, to);  // not every architecture has a system call "rename"
}

ssize_t getrandom(void *into, size_t count, unsigned flags)
{
    if (!fixed_random) return syscall(SYS_getrandom, into, count, flags);
    memset(into, 0xab, count);
    return (ssize_t)count;
}

static int entries(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    while (readdir(d) != NULL) n++;
    closedir(d);
    return n - 2;
}

static void assert_holds(const char *name, const char *text)
{
    char *bytes;
    size_t count;
    assert_int_equal(file_read(in(name), 100, &bytes, &count), 0);
    assert_string_equal(bytes, text);
    free(bytes);
}

TEST_WITH(the_file_is_on_the_disk_before_its_name, set_up, leave)
{
    calls[0] = '\0';
    assert_int_equal(file_write(in("a"), "one", 3), 0);
    assert_string_equal(calls, "file rename folder ");
    struct whole whole;
    calls[0] = '\0';
    assert_int_equal(whole_open(&whole, in("a")), 0);
    assert_int_equal(whole_write(&whole, "two", 3), 0);
    assert_int_equal(whole_close(&whole), 0);
    assert_string_equal(calls, "file ");
    assert_holds("a", "one");
    assert_int_equal(whole_commit(&whole), 0);
    whole_end(&whole);
    assert_string_equal(calls, "file rename folder ");
    assert_holds("a", "two");
    assert_int_equal(entries(), 1);
}

TEST_WITH(what_is_not_committed_is_removed, set_up, leave)
{
    struct whole whole;
    assert_int_equal(whole_open(&whole, in("a")), 0);
    assert_int_equal(whole_write(&whole, "x", 1), 0);
    assert_int_equal(entries(), 1);
    whole_end(&whole);
    assert_int_equal(entries(), 0);
    failing_fsync = EIO;
    assert_fails(file_write(in("a"), "one", 3), ERR_IO, "Input/output error");
    failing_fsync = 0;
    assert_int_equal(entries(), 0);
    assert_int_equal(mkfifo(in("pipe"), 0600), 0);
    assert_fails(whole_open(&whole, in("pipe")), ERR_USAGE, "is not a file");
    assert_int_equal(entries(), 1);
}

TEST_WITH(names_cannot_be_foretold, set_up, leave)
{
    struct whole one, two;
    assert_int_equal(whole_open(&one, in("a")), 0);
    assert_int_equal(whole_open(&two, in("a")), 0);
    assert_string_not_equal(one.part, two.part);
    assert_int_equal(strncmp(one.part, in("a."), strlen(in("a."))), 0);  // the same folder
    assert_int_equal(strlen(one.part), strlen(in("a")) + strlen(".0123456789abcdef.part"));
    whole_end(&one);
    whole_end(&two);

    put("precious", "kept", 4);
    fixed_random = true;
    assert_int_equal(symlink(in("precious"), in("a.abababababababab.part")), 0);
    int rc = whole_open(&one, in("a"));  // a link whose name was guessed after all is not written through
    fixed_random = false;
    assert_int_equal(rc, ERR_IO);
    assert_holds("precious", "kept");
    assert_int_equal(entries(), 2);
}
