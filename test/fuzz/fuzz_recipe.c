// SPDX-License-Identifier: Apache-2.0
// Any bytes as a recipe file, and its first line as --set. What is taken prints as JSON that reads back as the same
// recipe, passes the checks, and gives a schedule that stays inside its bounds.
#include "tasks/train/recipe.h"

#include <stdlib.h>
#include <string.h>

static void check_schedule(const struct recipe *r)
{
    int64_t steps = recipe_steps(r, 50000 / r->batch + 1);
    BUG_IF(steps < 1);
    for (int64_t i = 0; i < 16; i++) {
        int64_t side = recipe_side(r, (steps - 1) * i / 15, steps, 32);
        BUG_IF(side < 8 || side > 1024);
    }
}

static void check_taken(const struct recipe *r)
{
    BUG_IF(recipe_check(r) < 0);
    struct recipe again;
    char *json = recipe_json(r);
    if (recipe_parse("again", json, strlen(json), &again) < 0) BUG(error_text());
    char *second = recipe_json(&again);
    BUG_IF(strcmp(json, second) != 0);
    free(json);
    free(second);
    check_schedule(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct recipe r;
    if (recipe_parse("fuzz", (const char *)bytes, count, &r) == 0)
        check_taken(&r);
    else
        BUG_IF(strncmp(error_text(), "fuzz", 4) != 0);

    char line[256];
    size_t length = 0;
    for (; length < count && length + 1 < sizeof line && bytes[length] && bytes[length] != '\n'; length++)
        line[length] = (char)bytes[length];
    line[length] = 0;
    if (recipe_parse("default", "{}", 2, &r) < 0) BUG(error_text());
    if (recipe_set(&r, line) == 0 && recipe_check(&r) == 0) check_taken(&r);
    return 0;
}
