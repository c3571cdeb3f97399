// SPDX-License-Identifier: Apache-2.0
// Recipes of several tasks. This file registers its own tables in place of tasks/recipe_tables.c: CIFAR-10 and a task of
// letters, which has a key of its own and no views.
#include "tasks/cifar10/cifar10_keys.h"
#include "tasks/tools/choose.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

struct letter_keys {
    int64_t stride;
    double temperature;
    int letter_case;
};
#define OWN(field) RECIPE_OWN(struct letter_keys, field)
static const char *const cases[] = {"lower", "upper", NULL};
static const struct recipe_key letter_keys[] = {
    {"data.stride", NULL, KEY_WHOLE, OWN(stride), 1, 64, NULL, "8", .about = "letters between windows"},
    {"schedule.lookahead.temperature", NULL, KEY_NUMBER, OWN(temperature), 0, 9, NULL, "0.5", .about = "of it"},
    {"text.case", NULL, KEY_CHOICE, OWN(letter_case), 0, 0, cases, "upper", .about = "of the letters"},
    {.path = NULL},
};
static const struct model letter_models[] = {{.name = "speller"}, {0}};
static const struct recipe_table letters = {.task = "letters", .models = letter_models, .keys = letter_keys};
const struct recipe_table *const recipe_tables[] = {&recipe_table_cifar10, &letters, NULL};

static int parse(const char *json, struct recipe *r)
{
    return recipe_parse("test.json", json, strlen(json), r);
}

TEST(own_keys_are_read_and_printed)
{
    struct recipe r;
    const struct letter_keys *own = RECIPE_OWN_KEYS(struct letter_keys, &r);
    OK(parse("{\"model\": {\"name\": \"speller\"}, \"data\": {\"stride\": 16}, \"text\": {\"case\": \"lower\"}}", &r));
    assert_int_equal(own->stride, 16);
    assert_true(own->temperature == 0.5);
    assert_int_equal(own->letter_case, 0);
    assert_string_equal(recipe_task(&r), "letters");
    char *canonical = recipe_canonical(&r);
    assert_string_equal(canonical, "{\"data.stride\":16,\"model.name\":\"speller\",\"text.case\":\"lower\"}");
    free(canonical);
    char *json = recipe_json(&r);
    assert_non_null(strstr(json, "\"lookahead\": {\"every\": 0, \"before\": 0, \"decay\": 0, \"temperature\": 0.5}"));
    assert_null(strstr(json, "views"));
    struct recipe again;
    OK(parse(json, &again));
    assert_memory_equal(&r, &again, sizeof r);
    free(json);
    OK(recipe_set(&r, "stride=4"));
    assert_int_equal(own->stride, 4);
    REFUSED(recipe_set(&r, "stride=65"), "\"stride\" must be between 1 and 64; got 65");
}

TEST(a_key_of_another_task_is_refused)
{
    struct recipe r;
    REFUSED(parse("{\"model\": {\"name\": \"speller\"}, \"evaluation\": {\"views\": 2}}", &r),
            "task letters has no key \"evaluation.views\" (task cifar10 has)");
    REFUSED(parse("{\"model\": {\"name\": \"speller\"}, \"views\": 1}", &r), "task letters has no key \"views\"");
    REFUSED(parse("{\"data\": {\"stride\": 8}}", &r), "task cifar10 has no key \"data.stride\" (task letters has)");
    OK(parse("{}", &r));
    REFUSED(recipe_set(&r, "data.stride=8"), "task cifar10 has no key \"data.stride\"");
}

TEST(a_model_belongs_to_a_task)
{
    struct recipe r;
    OK(parse("{}", &r));
    REFUSED(recipe_set_key("--model", &r, "model", "speller"),
            "--model: model speller belongs to task letters, this recipe to task cifar10");
    char path[] = "/tmp/dawn-recipe-XXXXXX.json";
    int file = mkstemps(path, 5);
    assert_true(file >= 0);
    dprintf(file, "{\"name\": \"spell\", \"model\": {\"name\": \"speller\"}}");
    close(file);
    struct choose c = {.recipe = path};
    struct chosen chosen;
    REFUSED(choose(&c, "cifar10", &chosen), "recipe spell trains model speller, which belongs to task letters, not to cifar10");
    unlink(path);
}
