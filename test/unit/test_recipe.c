// SPDX-License-Identifier: Apache-2.0
// Recipes: every embedded one, every way to be wrong, and that what is printed reads back as the same recipe.
#include "runtime/base/embed.h"
#include "runtime/graph.h"
#include "tasks/cifar10/cifar10.h"
#include "tasks/train/recipe.h"
#include "test/unit/fixture_graph.h"

#include <unistd.h>

static int parse(const char *json, struct recipe *r)
{
    return recipe_parse("test.json", json, strlen(json), r);
}

// ---- the embedded ones

static int embedded_row(void *count, const struct recipe *r)
{
    struct recipe again;
    const struct model *m;
    OK(recipe_check(r));
    OK(recipe_embedded(r->name, &again));  // the file is called what the recipe is called
    OK(model_find(&task_cifar10, r->model, &m));
    assert_true(*r->about);
    ++*(int *)count;
    return 0;
}

static void test_embedded(void **state)
{
    (void)state;
    int count = 0, files = 0;
    OK(recipe_each(embedded_row, &count));
    for (const struct embedded *e = embedded_files; e->path; e++) files += strstr(e->path, "/recipes/") != NULL;
    assert_int_equal(count, files);
    assert_true(count >= 4);
    struct recipe r;
    REFUSED(recipe_embedded("cifar1O", &r), "there is no recipe \"cifar1O\"; did you mean \"cifar10\"?");
    REFUSED(recipe_embedded("imagenet", &r), "(dawn recipe lists them)");
    REFUSED(recipe_embedded("", &r), "there is no recipe");
}

static int stop(void *none, const struct recipe *r)
{
    (void)none;
    return (fail)(ERR_USAGE, "stopped at %s", r->name);  // not the macro of cmocka
}

static void test_each_stops(void **state)
{
    (void)state;
    REFUSED(recipe_each(stop, NULL), "stopped at");
}

// ---- what is wrong, and what is said

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *json, *word;
    } rows[] = {
        {"", "test.json, line 1: not JSON"},
        {"{\"epochs\": 3", "not JSON"},
        {"{\n\n\"epochs\": }", "line 3: not JSON"},
        {"[]", "a recipe is a JSON object"},
        {"3", "test.json"},
        {"{\"epochs\": 3, \"epochs\": 4}", "duplicate"},
        {"{\"epocs\": 3}", "there is no recipe key \"epocs\"; did you mean \"epochs\"?"},
        {"{\"whitenbias_epochs\": 3}", "did you mean \"whiten_bias_epochs\"?"},
        {"{\"xyzzy\": 3}", "there is no recipe key \"xyzzy\""},
        {"{\"Epochs\": 3}", "did you mean \"epochs\"?"},
        {"{\"epochs\": \"3\"}", "\"epochs\" wants a number"},
        {"{\"epochs\": null}", "\"epochs\" wants a number"},
        {"{\"epochs\": [3]}", "\"epochs\" wants a number"},
        {"{\"epochs\": true}", "\"epochs\" wants a number"},
        {"{\"epochs\": 0}", "\"epochs\" lies between 0.01 and 10000, not at 0"},
        {"{\"epochs\": -1}", "not at -1"},
        {"{\"epochs\": 1e300}", "not at 1e+300"},
        {"{\"epochs\": 1e999}", "not JSON"},
        {"{\"batch\": 0}", "\"batch\" lies between 1 and"},
        {"{\"batch\": -8}", "not at -8"},
        {"{\"batch\": 12.5}", "\"batch\" wants a whole number, not 12.5"},
        {"{\"batch\": 1048577}", "\"batch\" lies between"},
        {"{\"label_smoothing\": 1}", "\"label_smoothing\" lies between 0 and 0.99"},
        {"{\"activation\": 2}", "\"activation\" wants a word"},
        {"{\"activation\": \"gleu\"}", "there is no activation \"gleu\"; did you mean \"gelu\"?"},
        {"{\"activation\": \"elephants\"}", "there is no activation \"elephants\"; it is none, relu, gelu or silu"},
        {"{\"precision\": \"f8\"}", "precision \"f8\""},
        {"{\"resolution\": 24}", "\"resolution\" wants a list"},
        {"{\"resolution\": [24, \"28\"]}", "\"resolution\" wants a number"},
        {"{\"resolution\": [24, 7]}", "\"resolution\" lies between 8 and 1024, not at 7"},
        {"{\"resolution\": [24.5]}", "\"resolution\" wants whole numbers"},
        {"{\"resolution\": [8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8]}", "a list of at most 16"},
        {"{\"widths\": [64, 0]}", "\"widths\" lies between 1"},
        {"{\"newton_schulz\": [1, 2]}", "\"newton_schulz\" wants three"},
        {"{\"newton_schulz_norm\": [1]}", "\"newton_schulz_norm\" wants two"},
        {"{\"views\": 3}", "\"views\" is 1, 2 or 6"},
        {"{\"name\": 3}", "\"name\" wants text"},
        {"{\"name\": \"a\\u0000b\"}", "not JSON"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe r = {.name = "untouched"};
        if (parse(rows[i].json, &r) != ERR_USAGE) fail_msg("%s was not refused", rows[i].json);
        if (!strstr(error_text(), rows[i].word)) fail_msg("%s: \"%s\" lacks \"%s\"", rows[i].json, error_text(), rows[i].word);
        assert_string_equal(r.name, "untouched");
    }
    struct text {
        char at[400];
    } t;
    struct recipe r;
    snprintf(t.at, sizeof t.at, "{\"name\": \"%0200d\"}", 1);
    REFUSED(parse(t.at, &r), "fewer than 160 bytes");
}

static void test_deep_json(void **state)
{
    (void)state;
    char *deep = zalloc(200001);
    memset(deep, '[', 200000);
    struct recipe r;
    REFUSED(parse(deep, &r), "not JSON");
    free(deep);
    static const char raw[] = {'{', '"', (char)0xff, '"', ':', '1', '}'};
    REFUSED(recipe_parse("raw", raw, sizeof raw, &r), "raw, line 1: not JSON");
}

static void test_values(void **state)
{
    (void)state;
    struct recipe r, plain;
    OK(parse("{}", &plain));
    assert_string_equal(plain.model, "record");
    OK(parse("{\"epochs\": 3, \"batch\": 64, \"activation\": \"silu\", \"resolution\": [], \"widths\": [8, 16.0, 24],"
             " \"flip\": \"never\", \"optimiser\": \"adamw\", \"name\": \"m\\u00e4rz\", \"weight_decay\": 1e-3}", &r));
    assert_true(r.epochs == 3 && r.batch == 64 && r.activation == ACT_SILU && r.flip == FLIP_NEVER);
    assert_int_equal(r.optimiser, OPTIMISER_ADAMW);
    assert_int_equal(r.resolution.count, 0);
    assert_int_equal(r.widths.count, 3);
    assert_true(r.widths.at[1] == 16 && r.weight_decay == 1e-3);
    assert_string_equal(r.name, "m\xc3\xa4rz");
    assert_true(r.momentum == plain.momentum);  // what is not given keeps its default
    static const char *const acts[] = {"none", "relu", "gelu", "silu"};  // the words are the enum of the runtime
    for (int i = 0; i < ACT_KINDS; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"first_activation\": \"%s\"}", acts[i]);
        OK(parse(json, &r));
        assert_string_equal(act_name((enum act)r.first_activation), acts[i]);
    }
    static const char *const flips[] = {"never", "random", "alternate"};
    static const enum flip meant[] = {FLIP_NEVER, FLIP_RANDOM, FLIP_ALTERNATE};
    for (int i = 0; i < 3; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"flip\": \"%s\"}", flips[i]);
        OK(parse(json, &r));
        assert_int_equal(r.flip, meant[i]);
    }
}

// ---- --set

static void test_set(void **state)
{
    (void)state;
    struct recipe r;
    OK(recipe_embedded("cifar10", &r));
    OK(recipe_set(&r, "epochs=10"));
    OK(recipe_set(&r, "resolution=24,28, 32"));
    OK(recipe_set(&r, "activation=relu"));
    OK(recipe_set(&r, "about=a=b, \"c\""));
    OK(recipe_set(&r, "widths="));
    assert_true(r.epochs == 10 && r.resolution.count == 3 && r.resolution.at[2] == 32 && r.activation == ACT_RELU);
    assert_string_equal(r.about, "a=b, \"c\"");
    assert_int_equal(r.widths.count, 0);
    static const struct {
        const char *set, *word;
    } rows[] = {
        {"epochs", "--set wants key=value, not \"epochs\""},
        {"=3", "there is no recipe key \"\""},
        {"epocs=3", "did you mean \"epochs\"?"},
        {"epochs=", "wants a number"},
        {"epochs=ten", "wants a number"},
        {"epochs=3 4", "wants a number"},
        {"epochs=-1", "lies between"},
        {"batch=1.5", "wants a whole number"},
        {"batch=nan", "wants a number"},
        {"resolution=24;28", "wants a list"},
        {"resolution=[24]", "wants a number"},
        {"resolution=24],[28", "wants a list"},
        {"flip=sometimes", "there is no flip"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe was = r;
        REFUSED(recipe_set(&r, rows[i].set), rows[i].word);
        assert_memory_equal(&was, &r, sizeof r);
    }
    // What no single key tells is checked when all have been set.
    OK(recipe_set(&r, "newton_schulz=1,2"));
    REFUSED(recipe_check(&r), "\"newton_schulz\" wants three");
    OK(recipe_set(&r, "newton_schulz=1.5,-0.5,0"));
    OK(recipe_check(&r));
}

// ---- printing

static int round_trip(void *none, const struct recipe *r)
{
    (void)none;
    struct recipe again;
    char *json = recipe_json(r);
    OK(parse(json, &again));
    char *second = recipe_json(&again);
    assert_string_equal(json, second);
    free(json);
    free(second);
    return 0;
}

static void test_round_trip(void **state)
{
    (void)state;
    OK(recipe_each(round_trip, NULL));
    struct recipe r;
    OK(parse("{\"name\": \"q\\\"\\\\ \\u2028\", \"resolution\": [], \"weight_decay\": 1e-12, \"batch\": 1048576,"
             " \"epochs\": 0.012345678, \"newton_schulz\": [-99.5, 1e-9, 3]}", &r));
    round_trip(NULL, &r);
}

struct keys {
    const struct recipe *recipe;
    int count;
};

// Every key is explained, has a range, and can be set to the value it has.
static void key_row(void *context, const char *key, const char *about, const char *value)
{
    struct keys *k = context;
    struct recipe r = *k->recipe;
    char set[512], *range = recipe_range(key);
    assert_true(*about);
    assert_non_null(range);
    assert_true(*range);
    snprintf(set, sizeof set, "%s=%s", key, value);
    OK(recipe_set(&r, set));
    char *before = recipe_json(k->recipe), *after = recipe_json(&r);
    assert_string_equal(before, after);
    snprintf(set, sizeof set, "    \"%s\": ", key);
    assert_non_null(strstr(before, set));
    free(before);
    free(after);
    free(range);
    k->count++;
}

static void test_keys(void **state)
{
    (void)state;
    struct recipe r;
    OK(recipe_embedded("cifar10", &r));
    struct keys k = {&r, 0};
    recipe_keys(&r, key_row, &k);
    int lines = 0;
    char *json = recipe_json(&r), *range = recipe_range("optimiser");
    for (char *c = json; *c; c++) lines += *c == '\n';
    assert_int_equal(k.count, lines - 2);
    assert_string_equal(range, "muon, sgd or adamw");
    assert_null(recipe_range("xyzzy"));
    free(json);
    free(range);
}

static void test_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/dawn-recipe-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mine.json", folder);
    struct recipe r;
    REFUSED(recipe_file(path, &r), path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("{\"epochs\": 2, \"batch\": 0}", f);
    fclose(f);
    REFUSED(recipe_file(path, &r), path);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs("{\"epochs\": 2}", f);
    fclose(f);
    OK(recipe_file(path, &r));
    assert_true(r.epochs == 2);
    unlink(path);
    rmdir(folder);
}

// ---- schedule

static void test_schedule(void **state)
{
    (void)state;
    struct recipe r;
    OK(parse("{\"epochs\": 2.5, \"resolution\": [24, 28, 32]}", &r));
    assert_int_equal(recipe_steps(&r, 10), 25);
    assert_int_equal(recipe_steps(&r, 7), 18);  // 17.5: the last part of a step is a step
    OK(recipe_set(&r, "epochs=0.3"));
    assert_int_equal(recipe_steps(&r, 10), 3);  // 0.3 x 10 is not 3 in binary
    OK(recipe_set(&r, "epochs=0.01"));
    assert_int_equal(recipe_steps(&r, 1), 1);
    static const int sides[] = {24, 24, 24, 24, 28, 28, 28, 32, 32, 32};
    for (int i = 0; i < 10; i++) assert_int_equal(recipe_side(&r, i, 10, 32), sides[i]);
    assert_int_equal(recipe_side(&r, 0, 1, 32), 24);
    OK(recipe_set(&r, "resolution="));
    assert_int_equal(recipe_side(&r, 3, 10, 32), 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_embedded), cmocka_unit_test(test_each_stops), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_deep_json), cmocka_unit_test(test_values),    cmocka_unit_test(test_set),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_keys),     cmocka_unit_test(test_file),
        cmocka_unit_test(test_schedule),
    };
    return cmocka_run_group_tests_name("recipe", tests, NULL, NULL);
}
