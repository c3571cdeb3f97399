// SPDX-License-Identifier: Apache-2.0
// Whole files, limits, replacement in one step, folders and digests; each test in a fresh folder.
#include "runtime/common/base/cgroup.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "test/unit/test.h"
#include "test/unit/fixture_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>

static int entries(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    while (readdir(d)) n++;
    closedir(d);
    return n - 2;
}

TEST_WITH(test_write_and_read, enter, leave)
{
    char *bytes;
    size_t count;
    assert_int_equal(file_write(in("a"), "one\0two", 7), 0);
    assert_int_equal(file_read(in("a"), 7, &bytes, &count), 0);
    assert_int_equal(count, 7);
    assert_memory_equal(bytes, "one\0two", 8);  // and the NUL behind
    free(bytes);
    assert_int_equal(file_write(in("a"), "", 0), 0);  // replaced, not added to
    assert_int_equal(file_read(in("a"), 0, &bytes, &count), 0);
    assert_int_equal(count, 0);
    assert_string_equal(bytes, "");
    free(bytes);
    assert_int_equal(entries(folder), 1);  // no temporary is left
}

TEST_WITH(test_read_refuses, enter, leave)
{
    char *bytes;
    size_t count;
    assert_fails(file_read(in("none"), 10, &bytes, &count), ERR_IO, in("none"));
    assert_non_null(strstr(error_text(), "No such file"));
    assert_fails(file_read(folder, 10, &bytes, &count), ERR_INPUT, "is a folder");
    assert_int_equal(file_write(in("a"), "12345678", 8), 0);
    assert_fails(file_read(in("a"), 7, &bytes, &count), ERR_INPUT, "8 bytes");
    assert_null(bytes);
    assert_int_equal(mkfifo(in("pipe"), 0600), 0);
    assert_int_equal(file_read(in("pipe"), 10, &bytes, &count), ERR_INPUT);  // at once, without a writer
    assert_int_equal(file_read("/dev/zero", 10, &bytes, &count), ERR_INPUT);
}

TEST_WITH(test_read_of_unknown_size, enter, leave)
{
    char *bytes;
    size_t count;
    assert_int_equal(file_read("/proc/self/status", 1 << 20, &bytes, &count), 0);  // says it has 0 bytes
    assert_true(count > 100);
    assert_non_null(strstr(bytes, "Name:"));
    free(bytes);
    assert_int_equal(file_read("/proc/self/status", 20, &bytes, &count), ERR_INPUT);
}

TEST_WITH(test_write_fails_whole, enter, leave)
{
    char *bytes;
    size_t count;
    assert_int_equal(file_write(in("none/a"), "x", 1), ERR_IO);
    assert_int_equal(mkdir(in("taken"), 0700), 0);
    assert_int_equal(file_write(in("taken"), "x", 1), ERR_IO);
    assert_int_equal(entries(folder), 1);

    // A limit on file sizes simulates a full disk: the old file does not change and no temporary file remains.
    assert_int_equal(file_write(in("a"), "old", 3), 0);
    struct rlimit before, small;
    char large[10000] = {0};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4096;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int rc = file_write(in("a"), large, sizeof large);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(rc, ERR_IO);
    assert_int_equal(file_read(in("a"), 10, &bytes, &count), 0);
    assert_string_equal(bytes, "old");
    free(bytes);
    assert_int_equal(entries(folder), 2);
}

TEST_WITH(test_folders, enter, leave)
{
    struct stat st;
    assert_int_equal(file_make_folder(in("a/b//c/")), 0);
    assert_int_equal(stat(in("a/b/c"), &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(file_make_folder(in("a/b/c")), 0);  // a second time
    assert_int_equal(file_make_folder("/"), 0);
    assert_int_equal(file_write(in("file"), "", 0), 0);
    assert_true(file_exists(in("file")));
    assert_false(file_exists(in("nothing")));
    assert_fails(file_make_folder(in("file/x")), ERR_IO, "there is a file of that name");
    assert_int_equal(file_make_folder(""), ERR_IO);
}

TEST_WITH(test_digests, enter, leave)
{
    char hex[DIGEST_HEX], other[DIGEST_HEX];
    digest_bytes("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_bytes("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    size_t million = 1000000;
    char *a = malloc(million);
    assert_non_null(a);
    memset(a, 'a', million);
    assert_int_equal(file_write(in("a"), a, million), 0);  // more than one chunk of the reader
    assert_int_equal(digest_file(in("a"), hex), 0);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    digest_bytes(a, million, other);
    assert_string_equal(hex, other);
    free(a);
    assert_int_equal(digest_file(in("none"), hex), ERR_IO);
}

// A rename by root would replace the device by a file.
TEST(test_devices_are_written_into)
{
    struct stat before, after;
    char path[] = "/tmp/dawn-fifo-XXXXXX", whole[64];
    assert_non_null(mkdtemp(path));
    snprintf(whole, sizeof whole, "%s/pipe", path);
    assert_int_equal(mkfifo(whole, 0600), 0);
    assert_int_equal(stat(whole, &before), 0);
    int reader = open(whole, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_int_equal(file_write(whole, "abc", 3), 0);
    char got[4] = "";
    assert_int_equal(read(reader, got, 3), 3);
    assert_string_equal(got, "abc");
    close(reader);
    assert_int_equal(stat(whole, &after), 0);
    assert_true(S_ISFIFO(after.st_mode) && after.st_ino == before.st_ino);
    unlink(whole);
    rmdir(path);
}

static void put(const char *path, const char *text)
{
    assert_int_equal(file_write(path, text, strlen(text)), 0);
}

// Limits of every group up to the root count, "max" is none, and a group that may use less than it uses has a byte.
TEST_WITH(test_limits_of_control_groups, enter, leave)
{
    char root[80];
    struct cgroup_paths paths = {root, "own"};
    assert_int_equal(chdir(folder), 0);
    snprintf(root, sizeof root, "%s/g", folder);
    assert_int_equal(system("mkdir -p g/a/b"), 0);
    assert_true(cgroup_memory_left(&paths) == INT64_MAX && cgroup_processors(&paths) == INT64_MAX);
    put("own", "7:cpu:/x\n0::/a/b\n");
    put("g/a/b/memory.max", "max\n");
    put("g/a/b/memory.current", "100\n");
    put("g/a/b/cpu.max", "max 100000\n");
    assert_true(cgroup_memory_left(&paths) == INT64_MAX && cgroup_processors(&paths) == INT64_MAX);
    put("g/a/memory.max", "5000\n");
    put("g/a/memory.current", "1000\n");
    put("g/a/cpu.max", "250000 100000\n");
    assert_int_equal(cgroup_memory_left(&paths), 4000);
    assert_int_equal(cgroup_processors(&paths), 3);
    put("g/memory.max", "3000\n");
    put("g/memory.current", "3500\n");
    put("g/cpu.max", "100000 100000\n");
    assert_int_equal(cgroup_memory_left(&paths), 1);
    assert_int_equal(cgroup_processors(&paths), 1);
    put("own", "0::/\n");
    assert_int_equal(cgroup_memory_left(&paths), 1);
}
