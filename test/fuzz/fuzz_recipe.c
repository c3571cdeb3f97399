// SPDX-License-Identifier: Apache-2.0
// Any bytes as a recipe file, and their first line as --set. An accepted recipe prints as JSON that reads back as the same
// recipe, passes the checks, and gives a schedule within its bounds.
#include "tasks/common/recipe/recipe.h"

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

// `text` reads back as a recipe that prints as the same text. Frees it.
static void check_reads_back(char *text)
{
    struct recipe again;
    if (recipe_parse("again", text, strlen(text), &again) < 0) BUG(error_text());
    char *second = recipe_json(&again);
    BUG_IF(strcmp(text, second) != 0);
    free(text);
    free(second);
}

static void check_taken(const struct recipe *r)
{
    struct recipe again;
    BUG_IF(recipe_check(r) < 0);
    BUG_IF(!recipe_task(r));
    char *json = recipe_json(r), *canonical = recipe_canonical(r);
    if (recipe_parse("again", json, strlen(json), &again) < 0) BUG(error_text());
    char *same = recipe_canonical(&again);
    BUG_IF(strcmp(canonical, same) != 0);
    free(same);
    free(canonical);
    check_reads_back(json);
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
