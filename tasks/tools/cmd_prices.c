// SPDX-License-Identifier: Apache-2.0
// dawn prices: the machines that --instance accepts. The server embeds the same table (submit/format/score/prices.json).
#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/options.h"
#include "submit/format/score/price.h"
#include "tasks/commands.h"

#include <stdio.h>
#include <string.h>

static bool as_csv, as_json;
static const struct option OPTIONS[] = {
    {OPTION_FLAG, 0, "csv", NULL, "as CSV, prices in US dollars", &as_csv, 0, 0},
    {OPTION_FLAG, 0, "json", NULL, "one JSON array, prices in millionths of a dollar", &as_json, 0, 0},
    {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
};
static const struct usage USAGE = {
    "prices", "[NAME]",
    "Lists the machines that --instance NAME knows, with the price of an hour, its date and its source. With NAME, only "
    "the machines whose name contains it. A price is left out where sources disagree; give it with --cost-per-hour then.",
    OPTIONS,
    "Example:\n"
    "  dawn prices c7i\n",
};

struct listing {
    const char *part;
    struct text out;
    json_t *rows;
    int count;
};

static int add_price(void *to, const struct price *p)
{
    struct listing *listing = to;
    char usd[COST_TEXT];
    if (strstr(p->instance, listing->part) == NULL) return 0;
    listing->count++;
    json_text_row(&listing->rows, json_pack("{ss sI ss ss ss}", "instance", p->instance, "micro_usd_per_hour",
                                            (json_int_t)p->micro_per_hour, "date", p->date, "machine", p->what, "source",
                                            p->source));
    if (!as_csv) {
        text_add(&listing->out, "%-16s %9s  %s  %s\n", p->instance, cost_text(usd, p->micro_per_hour), p->date, p->what);
        return 0;
    }
    text_add(&listing->out, "%s,%.6f,%s,", p->instance, (double)p->micro_per_hour / COST_USD, p->date);
    text_csv(&listing->out, p->what);
    text_add(&listing->out, ",");
    text_csv(&listing->out, p->source);
    text_add(&listing->out, "\n");
    return 0;
}

int cmd_prices(int argc, char **argv)
{
    int rc = options_parse(&USAGE, &argc, argv);
    if (rc != 0) return rc;
    if (argc > 2) return fail(ERR_USAGE, "expected one name; \"%.60s\" is one too many", argv[2]);
    if (as_csv && as_json) return fail(ERR_USAGE, "--csv and --json exclude each other");
    struct listing listing = {.part = argc > 1 ? argv[1] : "", .rows = json_array()};
    rc = price_table(add_price, &listing);
    if (rc == 0 && listing.count == 0)
        rc = fail(ERR_INPUT, "no machine in the table has \"%.60s\" in its name", listing.part);
    if (rc == 0 && as_json) rc = json_text_print(json_incref(listing.rows));
    else if (rc == 0)
        printf("%s\n%s", as_csv ? "instance,usd_per_hour,date,machine,source" : "instance          USD/hour  as of       machine",
               listing.out.at);
    if (rc == 0 && !as_csv && !as_json) printf("On-demand prices, rounded up; --csv prints them exactly, with their sources.\n");
    text_free(&listing.out);
    json_decref(listing.rows);
    return rc;
}
