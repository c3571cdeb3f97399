// SPDX-License-Identifier: Apache-2.0
// Recipes: every embedded one, every error, and printed recipes that read back as the same recipe.
#include "runtime/common/base/embed.h"
#include "runtime/common/base/file.h"
#include "runtime/graph.h"
#include "tasks/cifar10/cifar10.h"
#include "tasks/cifar10/cifar10_keys.h"
#include "tasks/common/recipe/recipe_keys.h"
#include "tasks/tasks.h"
#include "tasks/translation/keys.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

#define OWN(recipe) cifar10_keys(&(recipe))

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
    const struct task *task;
    OK(task_find(recipe_task(r), &task));
    OK(task_find_model(task, r->model, &m));
    assert_true(*r->about);
    ++*(int *)count;
    return 0;
}

TEST(test_embedded)
{
    int count = 0, files = 0;
    OK(recipe_each(embedded_row, &count));
    for (const struct embedded *e = embedded_files; e->path; e++) files += strstr(e->path, "/recipes/") != NULL;
    assert_int_equal(count, files);
    assert_true(count >= 4);
    struct recipe r;
    REFUSED(recipe_embedded("cifar1O", &r), "there is no recipe \"cifar1O\"; did you mean \"cifar10\"?");
    REFUSED(recipe_embedded("mnist-lenet", &r), "(\"dawn recipe\" lists them)");
    REFUSED(recipe_embedded("", &r), "there is no recipe");
}

static int stop(void *none, const struct recipe *r)
{
    (void)none;
    return fail(ERR_USAGE, "stopped at %s", r->name);
}

TEST(test_each_stops)
{
    REFUSED(recipe_each(stop, NULL), "stopped at");
}

// ---- errors and their sentences

TEST(test_refusals)
{
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
        {"{\"schedule\": {\"epochs\": \"3\"}}", "\"schedule.epochs\" must be a number"},
        {"{\"schedule\": {\"epochs\": null}}", "\"schedule.epochs\" must be a number"},
        {"{\"schedule\": {\"epochs\": [3]}}", "\"schedule.epochs\" must be a number"},
        {"{\"schedule\": {\"epochs\": true}}", "\"schedule.epochs\" must be a number"},
        {"{\"schedule\": {\"epochs\": 0}}", "\"schedule.epochs\" must be between 0.01 and 10000; got 0"},
        {"{\"schedule\": {\"epochs\": -1}}", "got -1"},
        {"{\"schedule\": {\"epochs\": 1e300}}", "got 1e+300"},
        {"{\"schedule\": {\"epochs\": 1e999}}", "not JSON"},
        {"{\"data\": {\"batch\": 0}}", "\"data.batch\" must be between 1 and"},
        {"{\"data\": {\"batch\": -8}}", "got -8"},
        {"{\"data\": {\"batch\": 12.5}}", "\"data.batch\" must be a whole number; got 12.5"},
        {"{\"data\": {\"batch\": 1048577}}", "\"data.batch\" must be between"},
        {"{\"loss\": {\"label_smoothing\": 1}}", "\"loss.label_smoothing\" must be between 0 and 0.99"},
        {"{\"model\": {\"activation\": 2}}", "\"model.activation\" must be a word"},
        {"{\"model\": {\"activation\": \"gleu\"}}", "there is no model.activation \"gleu\"; did you mean \"gelu\"?"},
        {"{\"model\": {\"activation\": \"elephants\"}}",
         "\"model.activation\" must be none, relu, gelu or silu; got \"elephants\""},
        {"{\"precision\": \"f8\"}", "precision \"f8\""},
        {"{\"data\": {\"resolution\": 24}}", "\"data.resolution\" must be a list"},
        {"{\"data\": {\"resolution\": [24, \"28\"]}}", "\"data.resolution\" must be a number"},
        {"{\"data\": {\"resolution\": [24, 7]}}", "\"data.resolution\" must be between 8 and 1024; got 7"},
        {"{\"data\": {\"resolution\": [24.5]}}", "\"data.resolution\" must be whole numbers"},
        {"{\"data\": {\"resolution\": [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]}}", "a list of at most 16"},
        {"{\"model\": {\"widths\": [64, 0]}}", "\"model.widths\" must be between 1"},
        {"{\"optimiser\": {\"muon\": {\"newton_schulz\": [1, 2]}}}", "\"optimiser.muon.newton_schulz\" must be three"},
        {"{\"optimiser\": {\"muon\": {\"newton_schulz_norm\": [1]}}}", "\"optimiser.muon.newton_schulz_norm\" must be two"},
        {"{\"evaluation\": {\"views\": 3}}", "\"evaluation.views\" must be 1, 2 or 6"},
        {"{\"name\": 3}", "\"name\" must be text"},
        {"{\"model\": {\"name\": \"resnet65\"}}",
         "there is no model \"resnet65\"; did you mean \"resnet56\"? (\"dawn models\" lists them)"},
        {"{\"model\": {\"name\": \"xyzzy\"}}", "there is no model \"xyzzy\" (\"dawn models\" lists them)"},
        {"{\"schedule\": 3}", "\"schedule\" is a section: it must be an object"},
        {"{\"schedule\": {\"epochs\": 0}}", "\"schedule.epochs\" must be between 0.01 and 10000; got 0"},
        {"{\"schedule\": {\"epochs\": {}}}", "\"schedule.epochs\" must be a number"},
        {"{\"schedule\": {\"lookahead\": 4}}", "\"schedule.lookahead\" is a section"},
        {"{\"schedule\": {\"epochs\": 3, \"epochs\": 4}}", "duplicate"},
        {"{\"schedule\": {\"epocs\": 3}}", "\"schedule.epocs\"; did you mean \"schedule.epochs\"?"},
        {"{\"shedule\": {\"epochs\": 3}}", "there is no section \"shedule\"; did you mean \"schedule\"?"},
        {"{\"xyzzy\": {}}", "there is no section \"xyzzy\""},
        {"{\"optimiser\": {\"head\": {\"lr\": {\"a\": 1}}}}", "\"optimiser.head.lr\" must be a number"},
        {"{\"epochs\": 3}", "\"epochs\" must be in its section (schedule.epochs)"},
        {"{\"schedule.epochs\": 3}", "\"schedule.epochs\" must be in its section"},
        {"{\"model\": \"resnet9\"}", "\"model\" is a section: it must be an object"},
        {"{\"data\": {}, \"epochs\": 3}", "\"epochs\" must be in its section (schedule.epochs)"},
        {"{\"data\": {}, \"schedule.epochs\": 3}", "\"schedule.epochs\" must be in its section"},
        {"{\"data\": {\"epochs\": 3}}", "there is no recipe key \"data.epochs\""},
        {"{\"optimiser\": {\"filters\": {\"lr\": 3, \"momentun\": 1}}}", "did you mean \"optimiser.filters.momentum\"?"},
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

TEST(test_deep_json)
{
    char *deep = zalloc(200001);
    memset(deep, '[', 200000);
    struct recipe r;
    REFUSED(parse(deep, &r), "not JSON");
    free(deep);
    static const char raw[] = {'{', '"', (char)0xff, '"', ':', '1', '}'};
    REFUSED(recipe_parse("raw", raw, sizeof raw, &r), "raw, line 1: not JSON");
}

TEST(test_values)
{
    struct recipe r, plain;
    OK(parse("{}", &plain));
    assert_string_equal(plain.model, "airbench");
    OK(parse("{\"schedule\": {\"epochs\": 3}, \"data\": {\"batch\": 64, \"resolution\": [], \"flip\": \"never\"},"
             " \"model\": {\"activation\": \"silu\", \"widths\": [8, 16.0, 24]}, \"name\": \"m\\u00e4rz\","
             " \"optimiser\": {\"rule\": \"adamw\", \"weight_decay\": 1e-3}}", &r));
    assert_true(r.epochs == 3 && r.batch == 64 && OWN(r)->activation == ACT_SILU && OWN(r)->flip == FLIP_NEVER);
    assert_int_equal(r.optimiser, OPTIMISER_ADAMW);
    assert_int_equal(r.resolution.count, 0);
    assert_int_equal(r.widths.count, 3);
    assert_true(r.widths.at[1] == 16 && r.weight_decay == 1e-3);
    assert_string_equal(r.name, "m\xc3\xa4rz");
    assert_true(r.momentum == plain.momentum);  // a key not given keeps its default
    static const char *const acts[] = {"none", "relu", "gelu", "silu"};  // the words are the enum of the runtime
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"model\": {\"first_activation\": \"%s\"}}", acts[i]);
        OK(parse(json, &r));
        assert_string_equal(act_name((enum act)OWN(r)->first_activation), acts[i]);
    }
    static const char *const flips[] = {"never", "random", "alternate"};
    static const enum flip meant[] = {FLIP_NEVER, FLIP_RANDOM, FLIP_ALTERNATE};
    for (int i = 0; i < 3; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"data\": {\"flip\": \"%s\"}}", flips[i]);
        OK(parse(json, &r));
        assert_int_equal(OWN(r)->flip, meant[i]);
    }
}

// Every member of a file reaches the field that its key names.
TEST(test_fields)
{
    struct recipe r;
    OK(recipe_embedded("cifar10", &r));
    assert_true(r.epochs == 9.5 && r.batch == 1536 && r.resolution.count == 9 && r.resolution.at[3] == 28);
    assert_true(r.tail_epochs == 0.375 && r.lr_floor == 0.05 && r.evaluate_every == 0 && r.views == 6);
    assert_true(OWN(r)->first_activation == ACT_GELU && OWN(r)->activation == ACT_SILU && OWN(r)->pool == POOL_GLOBAL);
    assert_true(OWN(r)->norm_momentum == 0.5566 && OWN(r)->whiten_bias_epochs == 0.2);
    assert_true(OWN(r)->flip == (int)FLIP_ALTERNATE && OWN(r)->crop == 2);
    assert_true(OWN(r)->brightness == 0.1399 && OWN(r)->contrast == 0.1308 && r.label_smoothing == 0.09);
    assert_true(r.optimiser == OPTIMISER_MUON && r.filter_lr == 0.2255 && r.filter_momentum == 0.655 && r.filter_decay == 0.0016);
    assert_true(r.renormalise == RENORMALISE_SELDOM && r.newton_schulz_steps == 3 && r.newton_schulz.at[1] == -4.7391);
    assert_true(r.newton_schulz_norm.count == 2 && r.newton_schulz_norm.at[1] == 1);
    assert_true(r.bias_lr == 0.0573 && r.head_lr == 0.5415 && r.momentum == 0.825 && r.weight_decay == 1.0418e-6);
    assert_true(r.lookahead_every == 4 && r.lookahead_before == 8 && r.lookahead_decay == 0.7);
    assert_true(r.adam_beta1 == 0.9 && r.adam_beta2 == 0.999 && r.adam_epsilon == 1e-8);
}

// A recipe counts as this repository's as it stands; its number format may be chosen, nothing else.
TEST(test_published)
{
    static const struct {
        const char *set;
        bool published;
    } cases[] = {{"name=mine", true},        {"precision=f32", true},     {"precision=bf16", true}, {"precision=f16", true},
                 {"epochs=9.5", true},       {"epochs=9.625", false},     {"batch=1535", false},    {"evaluate_every=1", false},
                 {"optimiser=sgd", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recipe r;
        OK(recipe_embedded("cifar10", &r));
        OK(recipe_set(&r, cases[i].set));
        if (recipe_is_published("cifar10", &r) != cases[i].published) fail_msg("%s", cases[i].set);
        assert_false(recipe_is_published("airbench94", &r));
        assert_false(recipe_is_published("nobody's", &r));
    }
}

// ---- what applies

TEST(test_what_does_not_apply)
{
    static const struct {
        const char *json, *word;
    } rows[] = {
        {"{\"model\": {\"name\": \"resnet9\", \"whiten_bias_epochs\": 0}}",
         "test.json: resnet9 has no whitening layer: \"model.whiten_bias_epochs\" does not apply"},
        {"{\"model\": {\"pool\": \"global\", \"name\": \"resnet56\"}}", "resnet56 has no choice of pool"},
        {"{\"model\": {\"name\": \"resnet9\", \"whiten_bias_epochs\": 3}}", "resnet9 has no whitening layer"},
        {"{\"model\": {\"name\": \"resnet9\", \"first_activation\": \"relu\"}}", "\"model.first_activation\" does not apply"},
        {"{\"optimiser\": {\"rule\": \"sgd\", \"muon\": {\"newton_schulz\": [1, 2, 3]}}}",
         "the optimiser is sgd, not muon: \"optimiser.muon.newton_schulz\" does not apply"},
        {"{\"optimiser\": {\"muon\": {\"newton_schulz\": [1, 2, 3]}, \"rule\": \"adamw\"}}", "the optimiser is adamw, not muon"},
        {"{\"optimiser\": {\"rule\": \"adamw\", \"momentum\": 0.5}}",
         "the optimiser is adamw, not muon or sgd: \"optimiser.momentum\""},
        {"{\"optimiser\": {\"adamw\": {\"beta1\": 0.5}}}", "the optimiser is muon, not adamw, adamax or lamb"},
    };
    struct recipe r;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) REFUSED(parse(rows[i].json, &r), rows[i].word);
}

TEST(test_set_applies)
{
    struct recipe r;
    OK(recipe_embedded("cifar10", &r));
    REFUSED(recipe_set(&r, "adam_beta1=0.8"), "the optimiser is muon, not adamw, adamax or lamb");
    // A change of the optimiser drops the recipe's own Newton-Schulz keys; one given by --set is refused, in either order.
    OK(recipe_set_all(&r, (const char *const[]){"adam_beta1=0.8", "optimiser=adamw"}, 2));
    assert_true(r.adam_beta1 == 0.8 && r.optimiser == OPTIMISER_ADAMW);
    REFUSED(recipe_set_all(&r, (const char *const[]){"newton_schulz=1,2,3", "optimiser=sgd"}, 2), "is sgd, not muon");
    assert_int_equal(r.optimiser, OPTIMISER_ADAMW);
    char *json = recipe_json(&r);
    assert_null(strstr(json, "newton_schulz"));
    free(json);
    OK(recipe_set_key("--model", &r, "model", "resnet9"));
    REFUSED(recipe_set(&r, "model.whiten_bias_epochs=1"), "resnet9 has no whitening layer");
    REFUSED(recipe_set_key("--model", &r, "model", "resnet8"), "--model: there is no model \"resnet8\"");
    assert_string_equal(r.model, "resnet9");
    assert_string_equal(recipe_task(&r), "cifar10");
}

// The tables of models in recipe and task agree.
TEST(test_models_have_rows)
{
    for (const struct model *m = task_cifar10.models; m->name; m++) {
        struct recipe r;
        OK(parse("{}", &r));
        OK(recipe_set_key("test", &r, "model", m->name));
        assert_int_equal(recipe_set(&r, "whiten_bias_epochs=1") == 0, m->begin != NULL);
        assert_int_equal(recipe_set(&r, "pool=window") == 0, !strcmp(m->name, "airbench"));
    }
}

// ---- --set

TEST(test_set)
{
    struct recipe r;
    OK(recipe_embedded("cifar10", &r));
    OK(recipe_set(&r, "epochs=10"));
    OK(recipe_set(&r, "resolution=24,28, 32"));
    OK(recipe_set(&r, "activation=relu"));
    OK(recipe_set(&r, "about=a=b, \"c\""));
    OK(recipe_set(&r, "widths="));
    assert_true(r.epochs == 10 && r.resolution.count == 3 && r.resolution.at[2] == 32 && OWN(r)->activation == ACT_RELU);
    assert_string_equal(r.about, "a=b, \"c\"");
    assert_int_equal(r.widths.count, 0);
    OK(recipe_set(&r, "schedule.epochs=11"));
    OK(recipe_set(&r, "filters.lr=.5"));
    OK(recipe_set(&r, "optimiser.head.lr=5."));
    OK(recipe_set(&r, "resolution=.8e1,+16"));
    assert_true(r.epochs == 11 && r.filter_lr == 0.5 && r.head_lr == 5 && r.resolution.at[0] == 8 && r.resolution.at[1] == 16);
    static const struct {
        const char *set, *word;
    } rows[] = {
        {"lr=3", "\"lr\" is ambiguous: it may be optimiser.filters.lr, optimiser.head.lr or optimiser.bias.lr"},
        {"schedule=3", "there is no recipe key \"schedule\""},
        {"schedule.=3", "there is no recipe key"},
        {"optimiser.filter.lr=3", "did you mean \"optimiser.filters.lr\"?"},
        {"epochs=0x10", "must be a number"},
        {"epochs=1e999", "must be a number"},
        {"epochs= 3", "must be a number"},
        {"resolution=24,,28", "must be a number"},
        {"epochs", "--set must be key=value; got \"epochs\""},
        {"=3", "there is no recipe key \"\""},
        {"epocs=3", "did you mean \"epochs\"?"},
        {"epochs=", "must be a number"},
        {"epochs=ten", "must be a number"},
        {"epochs=3 4", "must be a number"},
        {"epochs=-1", "must be between"},
        {"batch=1.5", "must be a whole number"},
        {"batch=nan", "must be a number"},
        {"resolution=24;28", "must be a number"},
        {"resolution=[24]", "must be a number"},
        {"resolution=24],[28", "must be a number"},
        {"flip=sometimes", "\"flip\" must be never, random or alternate; got \"sometimes\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe was = r;
        REFUSED(recipe_set(&r, rows[i].set), rows[i].word);
        assert_memory_equal(&was, &r, sizeof r);
    }
    // Rules that involve several keys are checked after all keys are set.
    OK(recipe_set(&r, "newton_schulz=1,2"));
    REFUSED(recipe_check(&r), "\"optimiser.muon.newton_schulz\" must be three");
    OK(recipe_set(&r, "newton_schulz=1.5,-0.5,0"));
    OK(recipe_check(&r));
}

// ---- printing

static int round_trip(void *none, const struct recipe *r)
{
    (void)none;
    struct recipe again;
    char *json = recipe_json(r), *line = recipe_line(r);
    OK(parse(line, &again));
    assert_memory_equal(&again, r, sizeof again);
    assert_null(strpbrk(line, "\n"));
    free(line);
    OK(parse(json, &again));
    char *second = recipe_json(&again);
    assert_string_equal(json, second);
    free(json);
    free(second);
    return 0;
}

// Another batch takes the places of its targets along, in proportion; a recipe that counts samples alone has none.
TEST(test_set_batch)
{
    struct recipe r;
    int rc = recipe_embedded("transformer-big", &r);
    assert_int_equal(rc, 0);
    const struct translation_keys *own = translation_keys(&r);
    assert_int_equal(r.batch, 512);
    assert_int_equal(own->tokens, 4096);
    recipe_set_batch(&r, 64);
    assert_int_equal(r.batch, 64);
    assert_int_equal(own->tokens, 512);
    recipe_set_batch(&r, 1);
    assert_int_equal(own->tokens, 8);
    rc = recipe_embedded("seq2seq", &r);
    assert_int_equal(rc, 0);
    recipe_set_batch(&r, 64);
    assert_int_equal(r.batch, 64);
    assert_int_equal(own->tokens, 0);
}

TEST(test_round_trip)
{
    OK(recipe_each(round_trip, NULL));
    struct recipe r;
    OK(parse("{\"name\": \"q\\\"\\\\ \\u2028\", \"data\": {\"resolution\": [], \"batch\": 1048576},"
             " \"optimiser\": {\"weight_decay\": 1e-12, \"muon\": {\"newton_schulz\": [-99.5, 1e-9, 3]}},"
             " \"schedule\": {\"epochs\": 0.012345678}}", &r));
    round_trip(NULL, &r);
}

// The printed form has every key that applies and no other; every key is explained, has a range and a default within it,
// and can be set to the value it has, by its path and by its short name.
static void check_key(const struct recipe *r, const struct recipe_key *k)
{
    struct text value = {0}, range = {0};
    struct recipe changed = *r, plain;
    recipe_add_value(&value, r, k, false);
    recipe_add_range(&range, k);
    assert_true(*k->about && *range.at);
    OK(recipe_set_key("test", &changed, k->path, value.at ? value.at : ""));
    assert_memory_equal(&changed, r, sizeof *r);
    if (k->brief) OK(recipe_set_key("test", &changed, k->brief, value.at ? value.at : ""));
    assert_memory_equal(&changed, r, sizeof *r);
    recipe_defaults(recipe_table_of(r->model), &plain);
    assert_true(recipe_is_default(&plain, k));  // the default is written as values are printed
    text_free(&value);
    text_free(&range);
}

static int check_keys(void *none, const struct recipe *r)
{
    (void)none;
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    char *json = recipe_json(r);
    json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
    int count = recipe_keys_applying(r, keys), members = 0;
    assert_non_null(root);
    for (int i = 0; i < count; i++) {
        check_key(r, keys[i]);
        const json_t *at = root;
        char path[RECIPE_TEXT_MAX], *rest = strcpy(path, keys[i]->path);
        for (char *part; (part = strsep(&rest, ".")) != NULL;) at = json_object_get(at, part);
        if (!at) fail_msg("%s is not printed", keys[i]->path);
    }
    for (const char *c = json; *c; c++) members += c[0] == '"' && c[1] == ':' && c[3] != '{';
    assert_int_equal(members, count);
    json_decref(root);
    free(json);
    return 0;
}

TEST(test_keys)
{
    struct recipe r;
    OK(recipe_each(check_keys, NULL));
    OK(parse("{\"optimiser\": {\"rule\": \"adamw\"}}", &r));
    check_keys(NULL, &r);
    const struct recipe_key *k;
    struct text range = {0};
    OK(recipe_find_key("test", recipe_table_of("airbench"), "optimiser", &k));
    recipe_add_range(&range, k);
    assert_string_equal(range.at, "muon, sgd, adamw, adamax, rmsprop or lamb");
    text_free(&range);
}

// ---- the canonical form

static void expect_canonical(const char *json, const char *expected)
{
    struct recipe r;
    OK(parse(json, &r));
    char *canonical = recipe_canonical(&r);
    assert_string_equal(canonical, expected);
    free(canonical);
}

TEST(test_canonical)
{
    expect_canonical("{}", "{}");
    expect_canonical("{\"name\": \"a\", \"about\": \"b\", \"schedule\": {\"epochs\": 8.0}, \"data\": {\"batch\": 1000}}", "{}");
    expect_canonical("{\"schedule\": {\"epochs\": 1e1}, \"data\": {\"resolution\": [24, 3.2e1]}}",
                     "{\"data.resolution\":[24,32],\"schedule.epochs\":10}");
    expect_canonical("{\"model\": {\"pool\": \"window\", \"name\": \"airbench\"}}", "{\"model.pool\":\"window\"}");
    expect_canonical("{\"optimiser\": {\"filters\": {\"lr\": 0.1}, \"rule\": \"sgd\"}, \"data\": {\"brightness\": -0.0}}",
                     "{\"optimiser.filters.lr\":0.1,\"optimiser.rule\":\"sgd\"}");
    expect_canonical("{\"schedule\": {\"lr_floor\": 0.3333333333333333}}", "{\"schedule.lr_floor\":0.3333333333333333}");
    struct recipe r;
    OK(recipe_embedded("resnet", &r));
    r.newton_schulz_steps = 9, ((struct cifar10_keys *)(void *)r.own)->whiten_bias_epochs = 4;  // neither applies
    char *canonical = recipe_canonical(&r);
    assert_null(strstr(canonical, "newton_schulz"));
    assert_null(strstr(canonical, "whiten"));
    free(canonical);
}

// Canonical forms leave defaults out, so a default that changes changes the meaning of every stored recipe. A new key adds
// its line to the fixture; no line of it ever changes.
TEST(test_defaults_are_fixed)
{
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    char *fixed;
    size_t size;
    OK(file_read("test/fixtures/recipes/defaults.txt", 1 << 16, &fixed, &size));
    int count = recipe_keys(recipe_table_of("airbench"), keys), lines = 0;
    for (const char *c = fixed; *c; c++) lines += *c == '\n';
    assert_int_equal(lines, count);
    for (int i = 0; i < count; i++) {
        char line[256];
        snprintf(line, sizeof line, "%s=%s\n", keys[i]->path, keys[i]->absent);
        const char *at = strstr(fixed, line);
        if (!at || (at > fixed && at[-1] != '\n')) fail_msg("test/fixtures/recipes/defaults.txt lacks %s", line);
    }
    free(fixed);
}

TEST(test_file)
{
    char folder[] = "/tmp/dawn-recipe-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mine.json", folder);
    struct recipe r;
    REFUSED(recipe_file(path, &r), path);
    static const char bad[] = "{\"schedule\": {\"epochs\": 2}, \"data\": {\"batch\": 0}}";
    static const char good[] = "{\"schedule\": {\"epochs\": 2}}";
    OK(file_write(path, bad, sizeof bad - 1));
    REFUSED(recipe_file(path, &r), path);
    OK(file_write(path, good, sizeof good - 1));
    OK(recipe_file(path, &r));
    assert_true(r.epochs == 2);
    unlink(path);
    rmdir(folder);
}
