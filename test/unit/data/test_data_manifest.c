// SPDX-License-Identifier: Apache-2.0
// Remembered digests of files: exactly the stored one, only for the file it belongs to, in a folder of the user alone.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/manifest.h"
#include "data/pieces.h"
#include "runtime/common/base/threads.h"

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const struct manifest_key key = {-5, INT64_MAX, 1234, 1700000000123456789};

TEST_WITH(what_is_put_is_found, set_up, leave)
{
    struct manifest m = {0}, again;
    manifest_put(&m, "/a", &key, 1, HEX_A);
    manifest_put(&m, "/b \"quoted\"", &key, 2, HEX_B);
    manifest_put(&m, "/a", &key, 3, HEX_B);  // in its place
    manifest_put_value(&m, HEX_A, 4, HEX_B);
    manifest_put_value(&m, HEX_A, 5, HEX_A);
    char *json = manifest_print(&m);
    assert_int_equal(manifest_parse("m", json, strlen(json), &again), 0);
    assert_true(again.files == 2 && again.values == 1);
    assert_string_equal(manifest_find(&again, "/a", &key)->hex, HEX_B);
    assert_int_equal(manifest_find(&again, "/a", &key)->read_ms, 3);
    assert_string_equal(manifest_find(&again, "/b \"quoted\"", &key)->hex, HEX_B);
    assert_string_equal(manifest_find_value(&again, HEX_A)->hex, HEX_A);
    assert_null(manifest_find_value(&again, HEX_B));
    assert_null(manifest_find(&again, "/c", &key));
    for (int i = 0; i < 4; i++) {  // each part of the key counts
        int64_t part[4];
        memcpy(part, &key, sizeof part);
        part[i] ^= 1;
        struct manifest_key other;
        memcpy(&other, part, sizeof other);
        assert_null(manifest_find(&again, "/a", &other));
    }
    free(json);
    manifest_free(&again);
    manifest_free(&m);
}

TEST_WITH(the_oldest_makes_room, set_up, leave)
{
    struct manifest m = {0}, again;
    char path[32];
    for (int i = 0; i <= MANIFEST_FILES; i++) {
        snprintf(path, sizeof path, "/%d", i);
        manifest_put(&m, path, &key, i == 77 ? 0 : 10 + i, HEX_A);
    }
    assert_int_equal(m.files, MANIFEST_FILES);
    assert_null(manifest_find(&m, "/77", &key));
    assert_non_null(manifest_find(&m, "/0", &key));
    char *json = manifest_print(&m);
    assert_int_equal(manifest_parse("m", json, strlen(json), &again), 0);
    assert_int_equal(again.files, MANIFEST_FILES);
    free(json);
    manifest_free(&again);
    manifest_free(&m);
}

TEST_WITH(broken_ones_are_refused, set_up, leave)
{
    static const char *const bad[] = {
        "", "[]", "{}", "{\"format\": 2, \"files\": {}, \"values\": {}}", "{\"format\": 1, \"files\": [], \"values\": {}}",
        "{\"format\": 1, \"files\": {}}",
        "{\"format\": 1, \"files\": {\"/a\": [1, 2, 3, 4, 5]}, \"values\": {}}",
        "{\"format\": 1, \"files\": {\"/a\": [1, 2, -3, 4, 5, \"" HEX_A "\"]}, \"values\": {}}",
        "{\"format\": 1, \"files\": {\"/a\": [1, 2, 3, 4, 5.5, \"" HEX_A "\"]}, \"values\": {}}",
        "{\"format\": 1, \"files\": {\"a\": [1, 2, 3, 4, 5, \"" HEX_A "\"]}, \"values\": {}}",
        "{\"format\": 1, \"files\": {\"/a\": [1, 2, 3, 4, 5, \"A" HEX_A "\"]}, \"values\": {}}",
        "{\"format\": 1, \"files\": {}, \"values\": {\"" HEX_A "\": [1, \"none\"]}}",
        "{\"format\": 1, \"files\": {}, \"values\": {\"short\": [1, \"" HEX_A "\"]}}",
    };
    struct manifest m;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_fails(manifest_parse("the manifest", bad[i], strlen(bad[i]), &m), ERR_INPUT, "the manifest");
        assert_true(m.file == NULL && m.value == NULL);
    }
}

static int kept(void)
{
    struct manifest m;
    manifest_load(&m);
    int n = m.files;
    manifest_free(&m);
    return n;
}

TEST_WITH(the_file_is_ours_alone, set_up, leave)
{
    struct manifest m = {0};
    struct stat st;
    assert_int_equal(kept(), 0);
    manifest_put(&m, "/a", &key, 1, HEX_A);
    manifest_save(&m);
    assert_int_equal(kept(), 1);
    assert_int_equal(stat(in("cache/dawn"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat(in("cache/dawn/digests.json"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(chmod(in("cache/dawn/digests.json"), 0666), 0);
    assert_int_equal(kept(), 0);  // anybody may have written it
    manifest_save(&m);
    assert_int_equal(kept(), 1);
    assert_int_equal(chmod(in("cache/dawn"), 0777), 0);
    assert_int_equal(kept(), 0);
    assert_int_equal(chmod(in("cache/dawn"), 0700), 0);
    put("cache/dawn/digests.json", "{", 1);
    assert_int_equal(chmod(in("cache/dawn/digests.json"), 0600), 0);
    assert_int_equal(kept(), 0);  // broken: as if there were none
    put("other", "{\"format\": 1, \"files\": {}, \"values\": {}}", 40);
    assert_int_equal(unlink(in("cache/dawn/digests.json")), 0);
    assert_int_equal(symlink(in("other"), in("cache/dawn/digests.json")), 0);
    assert_int_equal(kept(), 0);  // a link is not followed
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", in("home"), 1);
    manifest_save(&m);
    assert_int_equal(kept(), 1);
    assert_true(file_exists(in("home/.cache/dawn/digests.json")));
    manifest_free(&m);
}

TEST_WITH(a_file_must_have_settled, set_up, leave)
{
    struct manifest_key now = {0};
    put("a", "x", 1);
    assert_int_equal(manifest_key_of(in("a"), &now), 0);
    assert_int_equal(now.size, 1);
    int64_t ms = now.mtime_ns / 1000000;
    assert_false(manifest_key_settled(&now, ms));
    assert_false(manifest_key_settled(&now, ms + 2000));
    assert_true(manifest_key_settled(&now, ms + 2001));
    assert_fails(manifest_key_of(in("none"), &now), ERR_IO, "cannot examine");
}

// ---- the threads that read

static int visit(void *context, int64_t begin, int64_t end)
{
    _Atomic int *seen = context;
    for (int64_t i = begin; i < end; i++) {
        seen[i]++;
        if (i == 41 || i == 60) return fail(ERR_INPUT, "at %d", (int)i);
    }
    return 0;
}

TEST_WITH(a_crew_reports_the_lowest_failure, set_up, leave)
{
    for (int threads = 1; threads <= 6; threads++) {
        _Atomic int seen[100] = {0};
        threads_set(threads);
        assert_fails(pieces_crew(100, 5, visit, seen), ERR_INPUT, "at 41");
        for (int i = 0; i <= 41; i++) assert_int_equal(seen[i], 1);
        assert_int_equal(pieces_crew(41, 5, visit, seen), 0);
        for (int i = 0; i < 41; i++) assert_int_equal(seen[i], 2);
        assert_int_equal(pieces_crew(0, 5, visit, seen), 0);
    }
}
