// SPDX-License-Identifier: Apache-2.0
// Unpacking: the files of the table are written completely; paths that lead elsewhere, links and wrong sizes are refused.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <dirent.h>

#include <archive.h>
#include <archive_entry.h>

#include "data/fetch/unpack.h"
#include "data/kind.h"
#include "runtime/common/base/arena.h"

static const struct source source = {
    .name = "small",
    .title = "Small",
    .folder = "small-bin",
    .file = {{"one.bin", SPLIT_TRAIN, 300000, NULL}, {"two.bin", SPLIT_TEST, 5, NULL}},
};

struct member {
    const char *name;
    int64_t size;
    const char *link;  // symbolic, when not NULL
};

static void make_archive(const struct member *members)
{
    struct archive *out = archive_write_new();
    archive_write_add_filter_gzip(out);
    archive_write_set_format_pax_restricted(out);
    assert_int_equal(archive_write_open_filename(out, in("a.tar.gz")), ARCHIVE_OK);
    for (; members->name != NULL; members++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, members->name);
        archive_entry_set_filetype(entry, members->link != NULL ? AE_IFLNK : AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        if (members->link != NULL) archive_entry_set_symlink(entry, members->link);
        archive_entry_set_size(entry, members->link != NULL ? 0 : members->size);
        assert_int_equal(archive_write_header(out, entry), ARCHIVE_OK);
        uint32_t noise = 1;  // does not compress, so that a cut archive is cut inside the data
        for (int64_t i = 0; i < members->size && members->link == NULL; i++) {
            noise = noise * 1664525 + 1013904223;
            uint8_t byte = (uint8_t)(noise >> 24);
            assert_int_equal(archive_write_data(out, &byte, 1), 1);
        }
        archive_entry_free(entry);
    }
    assert_int_equal(archive_write_close(out), ARCHIVE_OK);
    archive_write_free(out);
}

static int unpack(void)
{
    return unpack_archives(&source, (const char *const[]){in("a.tar.gz")}, 1, in("out"));
}

static void assert_nothing_unpacked(void)
{
    DIR *listed = opendir(in("out/small-bin"));
    if (listed == NULL) return;
    for (struct dirent *entry; (entry = readdir(listed)) != NULL;)
        if (entry->d_name[0] != '.') fail_msg("%s is there", entry->d_name);
    closedir(listed);
}

static int64_t size_of(const char *name)
{
    struct stat st;
    return stat(in(name), &st) == 0 ? st.st_size : -1;
}

TEST_WITH(wanted_files_come_out, set_up, leave)
{
    make_archive((struct member[]){{"small-bin/readme.html", 70000, NULL},
                                   {"small-bin/two.bin", 5, NULL},
                                   {"small-bin/one.bin", 300000, NULL},
                                   {0}});
    if (unpack() != 0) fail_msg("%s", error_text());
    assert_int_equal(size_of("out/small-bin/one.bin"), 300000);
    assert_int_equal(size_of("out/small-bin/two.bin"), 5);
    assert_false(file_exists(in("out/small-bin/readme.html")));
    assert_int_equal(unpack(), 0);  // once more over the existing files
}

TEST_WITH(no_path_leaves_the_folder, set_up, leave)
{
    make_archive((struct member[]){
        {"../../one.bin", 300000, NULL}, {"/tmp/dawn-evil/two.bin", 5, NULL}, {"../evil", 3, NULL}, {0}});
    assert_int_equal(unpack(), 0);
    assert_int_equal(size_of("out/small-bin/one.bin"), 300000);
    assert_int_equal(size_of("out/small-bin/two.bin"), 5);
    assert_false(file_exists(in("one.bin")));
    assert_false(file_exists(in("evil")));
    assert_false(file_exists(in("out/evil")));
    assert_false(file_exists("/tmp/dawn-evil/two.bin"));
}

TEST_WITH(links_are_passed_over, set_up, leave)
{
    make_archive((struct member[]){{"one.bin", 300000, NULL}, {"two.bin", 0, "/etc/passwd"}, {0}});
    assert_fails(unpack(), ERR_INPUT, "does not have two.bin");
    assert_nothing_unpacked();
}

TEST_WITH(sizes_must_be_right, set_up, leave)
{
    make_archive((struct member[]){{"two.bin", 5, NULL}, {"one.bin", 299999, NULL}, {0}});
    assert_fails(unpack(), ERR_INPUT, "one.bin must have 300000 bytes; got 299999");
    assert_nothing_unpacked();
    make_archive((struct member[]){{"two.bin", 5, NULL}, {"one.bin", 300001, NULL}, {0}});
    assert_fails(unpack(), ERR_INPUT, "one.bin is longer than its 300000 bytes");
    assert_nothing_unpacked();
    make_archive((struct member[]){{"two.bin", 5, NULL}, {"a/two.bin", 5, NULL}, {0}});
    assert_fails(unpack(), ERR_INPUT, "has two.bin twice");
    assert_nothing_unpacked();
}

TEST_WITH(broken_archives, set_up, leave)
{
    put("a.tar.gz", "this is no archive at all, but a sentence", 41);
    assert_fails(unpack(), ERR_INPUT, "a.tar.gz");
    make_archive((struct member[]){{"two.bin", 5, NULL}, {"one.bin", 300000, NULL}, {0}});
    assert_int_equal(truncate(in("a.tar.gz"), 200000), 0);
    assert_fails(unpack(), ERR_INPUT, "ends within one.bin");
    assert_nothing_unpacked();
    assert_int_equal(unlink(in("a.tar.gz")), 0);
    assert_fails(unpack(), ERR_INPUT, "a.tar.gz");
}

// Writes an archive of one member. A format of NULL: the compressed bytes alone.
static void make_other(const char *file, const char *format, const char *filter, const struct member *member)
{
    struct archive *out = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    int rc = format != NULL ? archive_write_set_format_by_name(out, format) : archive_write_set_format_raw(out);
    assert_int_equal(rc, ARCHIVE_OK);
    if (filter != NULL) assert_int_equal(archive_write_add_filter_by_name(out, filter), ARCHIVE_OK);
    assert_int_equal(archive_write_open_filename(out, in(file)), ARCHIVE_OK);
    archive_entry_set_pathname(entry, member->name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, member->size);
    assert_int_equal(archive_write_header(out, entry), ARCHIVE_OK);
    for (int64_t i = 0; i < member->size; i++) assert_int_equal(archive_write_data(out, "x", 1), 1);
    archive_entry_free(entry);
    assert_int_equal(archive_write_close(out), ARCHIVE_OK);
    archive_write_free(out);
}

// The files of a set may lie in several archives of several formats. One that lacks a file lets none appear.
TEST_WITH(several_archives, set_up, leave)
{
    static const struct member one = {"a/one.bin", 300000, NULL}, two = {"two.bin", 5, NULL};
    static const char *const formats[][2] = {{"zip", NULL}, {"7zip", NULL}, {"ustar", "xz"}, {"gnutar", "bzip2"}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        make_other("one.any", formats[i][0], formats[i][1], &one);
        make_other("two.bin.gz", NULL, "gzip", &two);
        char *const archives[] = {copy_text(in("one.any")), copy_text(in("two.bin.gz"))};
        assert_fails(unpack_archives(&source, (const char *const *)archives, 1, in("out")), ERR_INPUT, "does not have two.bin");
        assert_nothing_unpacked();
        if (unpack_archives(&source, (const char *const *)archives, 2, in("out")) != 0) fail_msg("%s", error_text());
        assert_int_equal(size_of("out/small-bin/one.bin"), 300000);
        assert_int_equal(size_of("out/small-bin/two.bin"), 5);
        unlink(in("out/small-bin/one.bin"));
        unlink(in("out/small-bin/two.bin"));
        free(archives[0]);
        free(archives[1]);
    }
}

// A kind that says nothing of digests is known by its files.
TEST_WITH(files_identify_a_set, set_up, leave)
{
    static const char hello[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    static const struct source listed = {.name = "listed", .title = "Listed",
                                         .file = {{"a", SPLIT_TRAIN, 5, hello}, {"b", SPLIT_TRAIN, 5, hello},
                                                  {"c", SPLIT_TEST, 5, hello}, {"names", SPLIT_COUNT, 3, NULL}}};
    static const struct kind kind = {.name = "listed", .source = &listed};
    struct dataset ds = {.kind = &kind, .source = &listed, .facts = {.name = "listed", .folder = in("")}};
    enum dataset_verdict verdict;
    char hex[DIGEST_HEX], lines[DIGEST_HEX];
    for (const char *name = "abc"; *name; name++) put((char[]){*name, 0}, "hello", 5);
    assert_int_equal(dataset_verify(&ds, &verdict), 0);
    assert_true(verdict == DATASET_OFFICIAL && dataset_facts(&ds)->official);
    assert_int_equal(dataset_check(&ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_OFFICIAL);
    assert_int_equal(dataset_digest(&ds, SPLIT_TEST, hex), 0);
    assert_string_equal(hex, hello);
    char text[256];
    int length = snprintf(text, sizeof text, "%s  a\n%s  b\n", hello, hello);
    digest_bytes(text, (size_t)length, lines);
    assert_int_equal(dataset_content_digest(&ds, SPLIT_TRAIN, hex), 0);
    assert_string_equal(hex, lines);
    put("b", "hallo", 5);
    assert_int_equal(dataset_verify(&ds, &verdict), 0);
    assert_true(verdict == DATASET_CUSTOM && !dataset_facts(&ds)->official);
    assert_int_equal(unlink(in("c")), 0);
    assert_true(dataset_verify(&ds, &verdict) < 0);
}

// ---- a tree

static int unpack_leaves(void)
{
    static const struct source tree = {.name = "tree", .title = "Tree", .tree = "top/", .folder = "mine"};
    return unpack_tree(&tree, (const char *const[]){in("a.tar.gz")}, 1, in("out"));
}

TEST_WITH(a_tree_keeps_its_folders, set_up, leave)
{
    make_archive((struct member[]){{"top/a/b/one.bin", 70000, NULL}, {"./top/two.bin", 5, NULL},
                                   {"other/three.bin", 5, NULL}, {0}});
    OK(unpack_leaves());
    assert_int_equal(size_of("out/mine/a/b/one.bin"), 70000);
    assert_int_equal(size_of("out/mine/two.bin"), 5);
    assert_false(file_exists(in("out/mine/three.bin")) || file_exists(in("out/mine.new")));
    assert_fails(unpack_leaves(), ERR_IO, "out/mine.new the name");  // nothing is overwritten
}

TEST_WITH(no_path_of_a_tree_leaves_its_folder, set_up, leave)
{
    make_archive((struct member[]){{"top/../../evil", 3, NULL}, {"top//evil", 3, NULL}, {"top/.evil", 3, NULL},
                                   {"top/a/.evil", 3, NULL}, {"top/e vil", 3, NULL}, {"top/link", 3, "/tmp"},
                                   {"top/good", 3, NULL}, {0}});
    OK(unpack_leaves());
    assert_int_equal(size_of("out/mine/good"), 3);
    assert_false(file_exists(in("evil")) || file_exists(in("out/evil")) || file_exists(in("out/mine/evil")));
    assert_false(file_exists(in("out/mine/.evil")) || file_exists(in("out/mine/link")) || file_exists(in("out/mine/e vil")));
}

TEST_WITH(a_cut_tree_gets_no_name, set_up, leave)
{
    make_archive((struct member[]){{"top/one.bin", 70000, NULL}, {"top/two.bin", 70000, NULL}, {0}});
    OK(truncate(in("a.tar.gz"), size_of("a.tar.gz") * 3 / 4));
    assert_fails(unpack_leaves(), ERR_INPUT, "a.tar.gz ends within ");
    assert_false(file_exists(in("out/mine")));
    make_archive((struct member[]){{"other/one.bin", 5, NULL}, {0}});
    assert_fails(unpack_leaves(), ERR_INPUT, "a.tar.gz has no file below top/");
}
