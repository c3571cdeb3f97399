// SPDX-License-Identifier: Apache-2.0
// The cache of cuDNN's engines: a written file reads back, and any other file is refused as a whole. Needs no CUDA.
#include "runtime/cuda/dnn/dnn_cache.h"
#include "test/unit/test.h"
#include "test/unit/fixture_folder.h"

#include <sys/stat.h>

static struct dnn_choice choice_of(int64_t engine, int knobs)
{
    struct dnn_choice c = {.engine = engine, .knobs = knobs, .ns = engine * 1000};
    for (int i = 0; i < knobs; i++) c.knob[i] = (struct dnn_knob){i, -7 * i};
    return c;
}

TEST(test_round_trip)
{
    struct dnn_cache cache = {0}, again;
    struct dnn_choice plain = choice_of(62, 3), full = choice_of(65, DNN_KNOBS), none = choice_of(0, 0);
    dnn_cache_put(&cache, "forward f16", &none);
    dnn_cache_put(&cache, "dgrad bf16", &full);
    dnn_cache_put(&cache, "wgrad \"f32\" \\", &none);
    dnn_cache_put(&cache, "forward f16", &plain);  // replaces
    assert_int_equal(cache.count, 3);
    char *json = dnn_cache_print(&cache, "a GPU");
    assert_int_equal(dnn_cache_parse(json, strlen(json), "a GPU", &again), 0);
    assert_int_equal(again.count, 3);
    assert_memory_equal(dnn_cache_find(&again, "forward f16"), &plain, sizeof plain);
    assert_memory_equal(dnn_cache_find(&again, "dgrad bf16"), &full, sizeof full);
    assert_memory_equal(dnn_cache_find(&again, "wgrad \"f32\" \\"), &none, sizeof none);
    assert_null(dnn_cache_find(&again, "dgrad"));
    dnn_cache_free(&again);
    assert_int_equal(dnn_cache_parse(json, strlen(json), "another GPU", &again), ERR_INPUT);
    free(json);
    dnn_cache_free(&cache);
}

static void refused(const char *json, size_t count)
{
    struct dnn_cache cache;
    assert_int_equal(dnn_cache_parse(json, count, "m", &cache), ERR_INPUT);
    assert_null(cache.entry);
    assert_int_equal(cache.count, 0);
}

TEST(test_refused)
{
    static const char whole[] = "{\"format\":1,\"machine\":\"m\",\"choices\":{\"forward\":[62,10,[[2,3],[4,5]]]}}";
    struct dnn_cache cache;
    assert_int_equal(dnn_cache_parse(whole, sizeof whole - 1, "m", &cache), 0);
    dnn_cache_free(&cache);
    for (size_t i = 0; i < sizeof whole - 1; i++) refused(whole, i);  // cut off anywhere
    static const char *const others[] = {
        "", "[]", "{}", "null", "{\"format\":2,\"machine\":\"m\",\"choices\":{}}",
        "{\"format\":1,\"machine\":\"n\",\"choices\":{}}", "{\"format\":1,\"machine\":7,\"choices\":{}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":[]}", "{\"format\":1,\"machine\":\"m\"}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"\":[62,10,[]]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\\n\":[62,10,[]]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":[62,10,[]],\"a\":[62,10,[]]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":[-1,10,[]]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":[62,-10,[]]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":[62.5,10,[]]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":[9223372036854775807,10,[]]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":[62,10]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":[62,10,[[2]]]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":[62,10,[[-2,3]]]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":[62,10,[[2,9223372036854775807]]]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":[62,10,{}]}}",
        "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":62}}",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) refused(others[i], strlen(others[i]));
}

TEST(test_limits)
{
    struct dnn_cache cache = {0};
    struct dnn_choice c = choice_of(1, 0);
    char name[DNN_PROBLEM_TEXT];
    for (int i = 0; i < DNN_CACHE_ENTRIES + 10; i++) {
        snprintf(name, sizeof name, "problem %d", i);
        dnn_cache_put(&cache, name, &c);
    }
    assert_int_equal(cache.count, DNN_CACHE_ENTRIES);
    dnn_cache_free(&cache);
    char knobs[16 + 6 * (DNN_KNOBS + 1)] = "", json[512];
    for (int i = 0; i <= DNN_KNOBS; i++) strcat(knobs, i ? ",[1,1]" : "[1,1]");
    snprintf(json, sizeof json, "{\"format\":1,\"machine\":\"m\",\"choices\":{\"a\":[62,10,[%s]]}}", knobs);
    refused(json, strlen(json));
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    snprintf(json, sizeof json, "{\"format\":1,\"machine\":\"m\",\"choices\":{\"x%s\":[62,10,[]]}}", name);
    refused(json, strlen(json));
    char *large = calloc(1, DNN_CACHE_BYTES + 1);
    memset(large, ' ', DNN_CACHE_BYTES + 1);
    refused(large, DNN_CACHE_BYTES + 1);
    free(large);
}

TEST(test_path)
{
    setenv("XDG_CACHE_HOME", "/somewhere", 1);
    char *a = dnn_cache_path("a GPU"), *b = dnn_cache_path("another GPU");
    assert_memory_equal(a, "/somewhere/dawn/cudnn-", 22);
    assert_string_not_equal(a, b);
    free(a);
    free(b);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/somewhere/me", 1);
    a = dnn_cache_path("a GPU");
    assert_memory_equal(a, "/somewhere/me/.cache/dawn/cudnn-", 32);
    free(a);
    unsetenv("HOME");
    assert_null(dnn_cache_path("a GPU"));
}

// ---- the file

static char path[96];

SETUP(fresh_folder)
{
    assert_int_equal(enter(state), 0);
    snprintf(path, sizeof path, "%s/a/dawn/cudnn.json", folder);
    return 0;
}

static void keep(void)
{
    struct dnn_cache cache = {0};
    struct dnn_choice c = choice_of(62, 3);
    dnn_cache_put(&cache, "forward f16", &c);
    alarm(20);  // what waits for another program would wait for ever
    dnn_cache_write(&cache, "a GPU", path);
    alarm(0);
    dnn_cache_free(&cache);
}

static int kept(void)
{
    struct dnn_cache cache;
    alarm(20);
    dnn_cache_read(path, "a GPU", &cache);
    alarm(0);
    int count = cache.count;
    dnn_cache_free(&cache);
    return count;
}

static unsigned mode_of(const char *at)
{
    struct stat st;
    assert_int_equal(lstat(at, &st), 0);
    return st.st_mode;
}

TEST_WITH(test_file, fresh_folder, leave)
{
    mode_t old = umask(0);
    assert_int_equal(kept(), 0);
    keep();
    assert_int_equal(kept(), 1);
    umask(old);
    assert_int_equal(mode_of(path), S_IFREG | 0600);
    char *dawn = strndup(path, (size_t)(strrchr(path, '/') - path));
    assert_int_equal(mode_of(dawn), S_IFDIR | 0700);
    // Others can write the file: it is ignored and replaced.
    assert_int_equal(chmod(path, 0622), 0);
    assert_int_equal(kept(), 0);
    keep();
    assert_int_equal(kept(), 1);
    assert_int_equal(mode_of(path), S_IFREG | 0600);
    // Others can write to the folder: the cache is ignored.
    assert_int_equal(chmod(dawn, 0777), 0);
    assert_int_equal(kept(), 0);
    assert_int_equal(unlink(path), 0);
    keep();
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(chmod(dawn, 0755), 0);
    keep();
    assert_int_equal(kept(), 1);
    // They belong to another user. Only a user who may change owners can try this.
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_int_equal(kept(), 0);
        keep();
        assert_int_equal(kept(), 0);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(chown(dawn, 12345, 12345), 0);
        keep();
        assert_int_not_equal(access(path, F_OK), 0);
    }
    free(dawn);
}

TEST_WITH(test_no_file, fresh_folder, leave)
{
    keep();
    char other[112];
    snprintf(other, sizeof other, "%s-other", path);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);  // to a good one
    assert_int_equal(kept(), 0);
    assert_int_equal(truncate(other, 0), 0);
    keep();
    assert_true(S_ISLNK(mode_of(path)));
    struct stat st;
    assert_int_equal(stat(other, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(kept(), 0);
    keep();
    assert_true(S_ISFIFO(mode_of(path)));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(kept(), 0);
    keep();
    assert_true(S_ISDIR(mode_of(path)));
}
