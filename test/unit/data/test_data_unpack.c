// SPDX-License-Identifier: Apache-2.0
// Unpacking: the files of the table are written completely; paths that lead elsewhere, links and wrong sizes are refused.
#include "test/unit/test_data.h"

#include <dirent.h>

#include <archive.h>
#include <archive_entry.h>

#include "data/fetch/unpack.h"

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
    assert_int_equal(archive_write_open_filename(out, at("a.tar.gz")), ARCHIVE_OK);
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
    return unpack_archive(&source, at("a.tar.gz"), at("out"));
}

static void assert_nothing_unpacked(void)
{
    DIR *listed = opendir(at("out/small-bin"));
    if (listed == NULL) return;
    for (struct dirent *entry; (entry = readdir(listed)) != NULL;)
        if (entry->d_name[0] != '.') fail_msg("%s is there", entry->d_name);
    closedir(listed);
}

static int64_t size_of(const char *name)
{
    struct stat st;
    return stat(at(name), &st) == 0 ? st.st_size : -1;
}

static void wanted_files_come_out(void **state)
{
    (void)state;
    make_archive((struct member[]){{"small-bin/readme.html", 70000, NULL},
                                   {"small-bin/two.bin", 5, NULL},
                                   {"small-bin/one.bin", 300000, NULL},
                                   {0}});
    if (unpack() != 0) fail_msg("%s", error_text());
    assert_int_equal(size_of("out/small-bin/one.bin"), 300000);
    assert_int_equal(size_of("out/small-bin/two.bin"), 5);
    assert_false(file_exists(at("out/small-bin/readme.html")));
    assert_int_equal(unpack(), 0);  // once more over what is there
}

static void no_path_leaves_the_folder(void **state)
{
    (void)state;
    make_archive((struct member[]){
        {"../../one.bin", 300000, NULL}, {"/tmp/dawn-evil/two.bin", 5, NULL}, {"../evil", 3, NULL}, {0}});
    assert_int_equal(unpack(), 0);
    assert_int_equal(size_of("out/small-bin/one.bin"), 300000);
    assert_int_equal(size_of("out/small-bin/two.bin"), 5);
    assert_false(file_exists(at("one.bin")));
    assert_false(file_exists(at("evil")));
    assert_false(file_exists(at("out/evil")));
    assert_false(file_exists("/tmp/dawn-evil/two.bin"));
}

static void links_are_passed_over(void **state)
{
    (void)state;
    make_archive((struct member[]){{"one.bin", 300000, NULL}, {"two.bin", 0, "/etc/passwd"}, {0}});
    assert_fails(unpack(), ERR_INPUT, "does not have two.bin");
    assert_nothing_unpacked();
}

static void sizes_must_be_right(void **state)
{
    (void)state;
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

static void broken_archives(void **state)
{
    (void)state;
    put("a.tar.gz", "this is no archive at all, but a sentence", 41);
    assert_fails(unpack(), ERR_INPUT, "a.tar.gz");
    make_archive((struct member[]){{"two.bin", 5, NULL}, {"one.bin", 300000, NULL}, {0}});
    assert_int_equal(truncate(at("a.tar.gz"), 200000), 0);
    assert_fails(unpack(), ERR_INPUT, "ends within one.bin");
    assert_nothing_unpacked();
    assert_int_equal(unlink(at("a.tar.gz")), 0);
    assert_fails(unpack(), ERR_INPUT, "a.tar.gz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(wanted_files_come_out), TEST(no_path_leaves_the_folder), TEST(links_are_passed_over),
        TEST(sizes_must_be_right),   TEST(broken_archives),
    };
    return cmocka_run_group_tests_name("data_unpack", tests, NULL, NULL);
}
