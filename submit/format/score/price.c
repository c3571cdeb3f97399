// SPDX-License-Identifier: Apache-2.0
// The price table. Cost: each question parses it, well under a millisecond.
#include "submit/format/score/price.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/base/embed.h"
#include "runtime/common/base/text.h"

enum { PRICES_MAX = 512 };

static int take_text(const json_t *row, int number, const char *key, char *into, size_t capacity)
{
    const char *text = json_string_value(json_object_get(row, key));
    if (text == NULL || *text == 0 || strlen(text) >= capacity)
        return fail(ERR_INPUT, "price %d of the table has no \"%s\", or a text too long in it", number, key);
    snprintf(into, capacity, "%s", text);
    return 0;
}

static bool is_date(const char *text)
{
    static const char shape[] = "0000-00-00";
    if (strlen(text) != sizeof shape - 1) return false;
    for (int i = 0; shape[i] != 0; i++)
        if (shape[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
    return true;
}

static int read_row(const json_t *row, int number, struct price *price)
{
    *price = (struct price){0};
    TRY(take_text(row, number, "instance", price->instance, sizeof price->instance));
    TRY(take_text(row, number, "what", price->what, sizeof price->what));
    TRY(take_text(row, number, "source", price->source, sizeof price->source));
    TRY(take_text(row, number, "date", price->date, sizeof price->date));
    if (!is_date(price->date)) return fail(ERR_INPUT, "the date of the price of %s is not YYYY-MM-DD", price->instance);
    const json_t *micro = json_object_get(row, "micro_usd_per_hour");
    price->micro_per_hour = json_integer_value(micro);
    if (!json_is_integer(micro) || price->micro_per_hour < 1 || price->micro_per_hour > PRICE_MAX_MICRO)
        return fail(ERR_INPUT, "the price of %s is not a whole number of micro-USD above 0", price->instance);
    return 0;
}

int price_parse(const char *json, size_t size, int (*each)(void *, const struct price *), void *context)
{
    json_error_t error;
    json_t *table = json_loadb(json, size, JSON_REJECT_DUPLICATES, &error);
    if (table == NULL) return fail(ERR_INPUT, "the price table is not JSON: line %d: %s", error.line, error.text);
    const json_t *rows = json_object_get(table, "prices");
    int rc = 0;
    if (!json_is_array(rows)) rc = fail(ERR_INPUT, "the price table has no list \"prices\"");
    else if (json_array_size(rows) > PRICES_MAX) rc = fail(ERR_INPUT, "the price table has more than %d rows", PRICES_MAX);
    for (size_t i = 0; rc == 0 && i < json_array_size(rows); i++) {
        struct price price;
        rc = read_row(json_array_get(rows, i), (int)i + 1, &price);
        if (rc == 0) rc = each(context, &price);
    }
    json_decref(table);
    return rc;
}

int price_table(int (*each)(void *, const struct price *), void *context)
{
    const struct embedded *file = embedded_find("submit/format/score/prices.json");
    if (file == NULL) BUG("submit/format/score/prices.json is not embedded");
    return price_parse(file->at, file->size, each, context);
}

struct search {
    const char *wanted;
    struct price *found;
    bool hit;
    char names[PRICES_MAX][sizeof((struct price *)0)->instance];
    const char *all[PRICES_MAX + 1];
    int count;
};

static int compare(void *context, const struct price *price)
{
    struct search *search = context;
    if (strcmp(price->instance, search->wanted) == 0) {
        *search->found = *price;
        search->hit = true;
    }
    snprintf(search->names[search->count], sizeof search->names[0], "%s", price->instance);
    search->all[search->count] = search->names[search->count];
    search->count++;
    return 0;
}

int price_find(const char *instance, struct price *price)
{
    struct search search = {.wanted = instance, .found = price};
    TRY(price_table(compare, &search));
    if (search.hit) return 0;
    const char *near = text_nearest(instance, search.all);
    if (near != NULL)
        return fail(ERR_USAGE, "there is no price for the instance \"%s\"; did you mean \"%s\"?", instance, near);
    return fail(ERR_USAGE, "there is no price for the instance \"%s\"; give it with --cost-per-hour", instance);
}

int price_from_user(double usd_per_hour, struct price *price)
{
    if (!(usd_per_hour > 0) || usd_per_hour * COST_USD > (double)PRICE_MAX_MICRO)
        return fail(ERR_USAGE, "a price by the hour must be above 0 and at most 1,000,000 USD; got %g", usd_per_hour);
    *price = (struct price){.micro_per_hour = (int64_t)llround(usd_per_hour * COST_USD), .source = "user"};
    if (price->micro_per_hour < 1) return fail(ERR_USAGE, "a price below a millionth of a dollar cannot be recorded");
    time_t now = (time_t)(clock_unix_ms() / 1000);
    struct tm day;
    gmtime_r(&now, &day);
    strftime(price->date, sizeof price->date, "%Y-%m-%d", &day);
    return 0;
}

int price_choose(const char *instance, double usd_per_hour, struct price *price, bool *known)
{
    bool by_user = !isnan(usd_per_hour);
    *known = instance || by_user;
    if (instance && by_user) return fail(ERR_USAGE, "--instance and --cost-per-hour exclude each other");
    if (instance) return price_find(instance, price);
    return by_user ? price_from_user(usd_per_hour, price) : 0;
}
