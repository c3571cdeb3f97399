// SPDX-License-Identifier: Apache-2.0
// Two to four runs or groups side by side: one chart with all curves, one table with a column each. Figures of the later
// columns have their difference from the first. A group shows the means of its runs and the texts of its first run.
#include <math.h>
#include <string.h>

#include "scoreboard/pages/run/page_run.h"
#include "scoreboard/rank/ranking.h"

enum { COMPARE_MOST = CHART_LOOKS, COMPARE_ID = 40 };
struct wanted {
    bool group;
    char id[COMPARE_ID];
};
struct side {
    struct shown shown;       // the run, or the first run of the group
    bool group;
    const char *name, *address;
    enum trust trust;
    struct group_facts facts;  // of a group
    struct band band;          // of a group
};
struct compared {
    struct side sides[COMPARE_MOST];
    int count;
};

// ---- the query ----------------------------------------------------------------------------------------------------------
static int read_one(const char *pair, size_t length, struct wanted *into)
{
    bool group = length >= 6 && strncmp(pair, "group=", 6) == 0;
    size_t name = group ? 6 : 4;
    int64_t id;
    if (!group && (length < 4 || strncmp(pair, "run=", 4) != 0))
        return fail(ERR_INPUT, "compare takes run=NUMBER and group=NAME, two to four in all");
    if (length - name >= COMPARE_ID) return fail(ERR_INPUT, "a run is named by its number, a group by its 32 digits");
    *into = (struct wanted){.group = group};
    memcpy(into->id, pair + name, length - name);
    if (*into->id == 0) return 0;
    if (group && (strlen(into->id) != 32 || into->id[strspn(into->id, "0123456789abcdef")] != 0))
        return fail(ERR_INPUT, "a group is named by its 32 hex digits");
    if (!group && text_to_int(into->id, 1, INT64_MAX, &id) < 0) return fail(ERR_INPUT, "a run is named by its number");
    return 0;
}

// run=12&group=4f2a. Empty values request nothing. Other keys are refused, as in every query here.
static int read_query(const char *query, struct wanted wanted[COMPARE_MOST], int *count)
{
    *count = 0;
    while (query != NULL && *query != 0) {
        size_t length = strcspn(query, "&");
        struct wanted one = {0};
        if (length > 0) TRY(read_one(query, length, &one));
        if (*one.id != 0 && *count == COMPARE_MOST) return fail(ERR_INPUT, "at most %d can be compared", COMPARE_MOST);
        if (*one.id != 0) wanted[(*count)++] = one;
        query += length + (query[length] == '&');
    }
    return 0;
}

// ---- reading ------------------------------------------------------------------------------------------------------------
static int read_run(struct page *page, const char *id, struct side *side)
{
    TRY(shown_read(page, id, &side->shown));
    if (side->shown.stored.type != STATEMENT_RUN) {
        statement_free(&side->shown.statement);
        return fail(ERR_INPUT, "statement %s is not a run", id);
    }
    side->trust = side->shown.stored.trust;
    side->name = arena_text(&page->arena, "Run %s, %s", id, side->shown.stored.handle);
    side->address = arena_text(&page->arena, "/runs/%s", id);
    return 0;
}

static int judge_side(struct page *page, struct side *side, const struct stored *stored, int count, int planned)
{
    struct statement *read = arena_alloc(&page->arena, (size_t)count * sizeof *read);
    const struct statement **runs = arena_alloc(&page->arena, (size_t)count * sizeof *runs);
    struct ranked rows[BOARDS];
    int taken = 0, rc = 0;
    side->trust = TRUSTS - 1;
    for (int i = 0; i < count && rc == 0; i++) {
        if (stored[i].withdrawn != 0) continue;
        if (stored[i].trust < side->trust) side->trust = stored[i].trust;
        rc = store_group_run(page->reader, stored[i].sequence, &read[taken]);
        if (rc == 0) runs[taken] = &read[taken], taken++;
    }
    if (taken == 0) side->trust = TRUST_SIGNED;  // every run of it is withdrawn
    if (rc == 0) ranking_of_group(runs, taken, planned, &page->arena, &side->facts, rows);
    for (int i = 0; i < taken; i++) statement_free(&read[i]);
    return rc;
}

static int read_group(struct page *page, const char *nonce, struct side *side)
{
    struct stored *stored;
    int count, planned;
    TRY(store_group(page->reader, nonce, &page->arena, &stored, &count, &planned));
    if (count == 0) return fail(ERR_MISSING, "there is no group %.40s here", nonce);
    TRY(judge_side(page, side, stored, count, planned));
    TRY(band_read(page, stored, count, &side->band));
    TRY(shown_read(page, arena_text(&page->arena, "%lld", (long long)stored[0].sequence), &side->shown));
    side->group = true;
    side->name = arena_text(&page->arena, "Group %.8s, %s", nonce, stored[0].handle);
    side->address = arena_text(&page->arena, "/groups/%s", nonce);
    return 0;
}

// ---- the chart ----------------------------------------------------------------------------------------------------------
static void chart_all(struct page *page, const struct compared *c)
{
    struct chart_series series[COMPARE_MOST];
    struct chart_level targets[COMPARE_MOST];
    int any = 0, drawn = 0, levels = 0;
    for (int i = 0; i < c->count; i++) {
        const struct shown *shown = &c->sides[i].shown;
        const double y = shown_target(shown);
        char words[TEXT_FIGURE];
        bool drawn_before = false;
        for (int n = 0; n < levels; n++) drawn_before = drawn_before || targets[n].y == y;
        page_score_text(shown->measured, (double)shown_int(shown, "target_micro") / 1e6, words);
        if (!drawn_before) targets[levels++] = (struct chart_level){y, arena_text(&page->arena, "target %s", words)};
    }
    for (int i = 0; i < c->count; i++) {
        const struct side *side = &c->sides[i];
        struct chart_point *points = side->band.at;
        int count = side->group ? side->band.count : shown_curve(page, &side->shown, &points);
        if (side->group && side->band.is_loss) continue;  // losses do not fit a chart of scores
        series[drawn++] = (struct chart_series){
            .label = side->name, .at = points, .count = count, .marks = count <= 80, .look = i, .band = side->group};
        any += count;
    }
    if (any == 0) return;
    struct chart chart = {.size = CHART_ACROSS,
                          .id = "c-compare",
                          .title = "Score over end-to-end time",
                          .about = arena_text(&page->arena, "%d curves; the table below has their figures.", drawn),
                          .x = {"end-to-end time", CHART_SECONDS, NULL},
                          .y = shown_axis(c->sides[0].shown.contest),
                          .series = series,
                          .series_count = drawn,
                          .levels = targets,
                          .level_count = levels};
    chart_draw(page->out, &chart);
}

// ---- the table ----------------------------------------------------------------------------------------------------------
enum row_kind { ROW_TEXT, ROW_DIGEST, ROW_SPAN, ROW_NUMBER, ROW_MONEY, ROW_RANKED, ROW_WHOLE, ROW_RUNS, ROW_ENERGY, ROW_SEED };
static const struct row {
    const char *label, *path;
    enum row_kind kind;
    bool own;  // of a single run: a group has no such figure
} rows[] = {
    {"Task", "task", ROW_TEXT, false},
    {"Model", "model.name", ROW_TEXT, false},
    {"Runs", "", ROW_RUNS, false},
    {"Whole schedule, end-to-end", "", ROW_WHOLE, false},
    {"Time to the target, classic", "reached.classic_ns", ROW_SPAN, true},
    {"Time to the target, end-to-end", "reached.t_ns", ROW_SPAN, true},
    {"Time to the target, warm", "reached.warm_ns", ROW_SPAN, true},
    {"Samples to the target", "reached.samples", ROW_NUMBER, true},
    {"Energy to the target", "reached.energy_uj", ROW_ENERGY, true},
    {"Cost, classic", "price.total_micro_usd", ROW_RANKED, true},
    {"Cost, end-to-end", "price.total_micro_usd", ROW_MONEY, true},
    {"Price per hour", "price.micro_usd_per_hour", ROW_MONEY, false},
    {"Processor", "hardware.cpu", ROW_TEXT, false},
    {"GPUs", "hardware.gpu", ROW_TEXT, false},
    {"Devices", "hardware.devices", ROW_NUMBER, false},
    {"Threads", "threads", ROW_NUMBER, false},
    {"Framework", "software.framework", ROW_TEXT, false},
    {"Commit", "software.commit", ROW_DIGEST, false},
    {"Precision", "precision", ROW_TEXT, false},
    {"Batch", "batch", ROW_NUMBER, false},
    {"Views per item", "views", ROW_NUMBER, false},
    {"Parameters", "model.parameters", ROW_NUMBER, false},
    {"Seed", "seed", ROW_SEED, true},
    {"Recipe", "recipe.name", ROW_TEXT, false},
    {"Recipe's SHA-256", "recipe.digest", ROW_DIGEST, false},
};

static double whole_seconds(const struct side *side)
{
    int64_t whole = shown_whole_ns(&side->shown);
    if (side->group) return side->facts.finished > 0 ? side->facts.seconds.mean : NAN;
    return whole > 0 ? (double)whole / 1e9 : NAN;
}

// The figure of a row: seconds, dollars or a number. NAN: there is none.
static double figure_of(const struct side *side, const struct row *row)
{
    if (row->kind == ROW_WHOLE) return whole_seconds(side);
    if (row->kind == ROW_RUNS) return side->group ? side->facts.finished : 1;
    if ((side->group && row->own) || canonical_at(side->shown.statement.json, row->path) == NULL) return NAN;
    double value = (double)shown_int(&side->shown, row->path);
    switch (row->kind) {
    case ROW_SPAN: return value / 1e9;
    case ROW_RANKED:
        value = shown_ranked_cost(&side->shown);
        return value >= 0 ? value : NAN;
    case ROW_ENERGY: return value > 0 ? value / 1e6 : NAN;
    case ROW_MONEY: return value / 1e6;
    case ROW_SEED: return value;
    default: return value == 0 ? NAN : value;  // 0: not known
    }
}

static bool is_measured(enum row_kind kind)
{
    return kind == ROW_SPAN || kind == ROW_MONEY || kind == ROW_RANKED || kind == ROW_WHOLE || kind == ROW_ENERGY;
}

static void delta(struct page *page, double value, double first)
{
    if (!(first > 0) || !isfinite(value)) return;
    double percent = 100 * (value / first - 1);
    if (fabs(percent) < 0.05) return;  // the same, as shown
    html_add(page->out, "<small class=\"delta\">%s%.1f%%</small>", percent < 0 ? "\xe2\x88\x92" : "+", fabs(percent));
}

// Names every part of the table, because on narrow screens its rows are blocks: the name above the cells.
static void begin_row(struct page *page, const char *name)
{
    html_add(page->out, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">%s</th>", name);
}

static void one_cell(struct page *page, const struct compared *c, int i, const struct row *row)
{
    const struct side *side = &c->sides[i];
    char words[TEXT_FIGURE];
    html_add(page->out, "<td role=\"cell\">");
    if (row->kind == ROW_TEXT || row->kind == ROW_DIGEST) {
        const char *text = shown_text(&side->shown, row->path);
        if (row->kind == ROW_DIGEST) text = arena_text(&page->arena, "%.16s", text);  // the page of the run has all of it
        if (*text != 0)
            html_words(page->out, text);
        else
            html_add(page->out, "<span class=\"quiet\">-</span>");
        html_add(page->out, "</td>");
        return;
    }
    double value = figure_of(side, row);
    if (isfinite(value) && row->kind == ROW_SEED)  // a name, exact, without separators
        html_add(page->out, "%lld", (long long)shown_int(&side->shown, row->path));
    else if (!isfinite(value))
        html_add(page->out, "<span class=\"quiet\">-</span>");
    else if (row->kind == ROW_SPAN || row->kind == ROW_WHOLE)
        page_value(page->out, BOARD_TRAINING_TIME, value);
    else if (row->kind == ROW_MONEY || row->kind == ROW_RANKED)
        page_money(page->out, value);
    else if (row->kind == ROW_ENERGY)
        page_energy(page->out, value);
    else
        html_add(page->out, "%s", text_count(words, (int64_t)value));
    if (row->kind == ROW_WHOLE && side->group && isfinite(value)) html_add(page->out, "<small>mean</small>");
    if (i > 0 && is_measured(row->kind)) delta(page, value, figure_of(&c->sides[0], row));
    html_add(page->out, "</td>");
}

// Scores can be subtracted only within one task.
static void score_row(struct page *page, const struct compared *c)
{
    double first = NAN;
    begin_row(page, "Last evaluation");
    for (int i = 0; i < c->count; i++) {
        const struct side *side = &c->sides[i];
        const struct contest *contest = side->shown.contest;
        double score = side->group ? side->facts.accuracy.mean : shown_last(&side->shown);
        if (i == 0) first = score;
        html_add(page->out, "<td role=\"cell\">");
        page_score(page->out, contest, score);
        if (side->group) html_add(page->out, "<small>mean</small>");
        double points = shown_score(contest, score) - shown_score(contest, first);
        const int places = contest_is_share(contest) ? 4 : 2;
        bool differs = fabs(points) >= 0.5 * pow(10, -places);
        if (i > 0 && isfinite(points) && differs && contest == c->sides[0].shown.contest)
            html_add(page->out, "<small class=\"delta\">%s%.*f%s</small>", points < 0 ? "\xe2\x88\x92" : "+",
                     places, fabs(points), contest_is_share(contest) ? "" : " points");
        html_add(page->out, "</td>");
    }
    html_add(page->out, "</tr>\n");
}

// Another metric than the board's, of the runs that have it.
static void metric_row(struct page *page, const struct compared *c, const struct run_metric *metric)
{
    begin_row(page, metric->name);
    for (int i = 0; i < c->count; i++) {
        const struct shown *shown = &c->sides[i].shown;
        char words[TEXT_FIGURE];
        int64_t score = RUN_SCORE_NONE;
        for (int m = 1; m < shown->metric_count && !c->sides[i].group; m++)
            if (strcmp(shown->metrics[m].name, metric->name) == 0) score = curve_last(shown->statement.json, &shown->metrics[m]);
        html_add(page->out, "<td role=\"cell\">%s</td>", run_metric_text(metric, score, words));
    }
    html_add(page->out, "</tr>\n");
}

// Times to different targets are not comparable: the reader sees what each was.
static void target_row(struct page *page, const struct compared *c)
{
    begin_row(page, "Target");
    for (int i = 0; i < c->count; i++) {
        const struct shown *shown = &c->sides[i].shown;
        html_add(page->out, "<td role=\"cell\">");
        page_score(page->out, shown->contest, (double)shown_int(shown, "target_micro") / 1e6);
        html_add(page->out, "</td>");
    }
    html_add(page->out, "</tr>\n");
}

// A row in which no side has anything says nothing.
static bool is_empty_row(const struct compared *c, const struct row *row)
{
    bool text = row->kind == ROW_TEXT || row->kind == ROW_DIGEST;
    for (int i = 0; i < c->count; i++)
        if (text ? *shown_text(&c->sides[i].shown, row->path) != 0 : isfinite(figure_of(&c->sides[i], row))) return false;
    return true;
}

static void trust_row(struct page *page, const struct compared *c)
{
    begin_row(page, "Trust");
    for (int i = 0; i < c->count; i++) {
        html_add(page->out, "<td role=\"cell\">");
        page_badge(page->out, c->sides[i].trust);
        if (strcmp(shown_text(&c->sides[i].shown, "evaluated_by"), "self") == 0)
            html_add(page->out, "<small>self-evaluated</small>");
        html_add(page->out, "</td>");
    }
    html_add(page->out, "</tr>\n");
}

// True if all sides have the same text, or the same figure.
static bool is_same_row(const struct compared *c, const struct row *row)
{
    const bool text = row->kind == ROW_TEXT || row->kind == ROW_DIGEST;
    const struct side *first = &c->sides[0];
    for (int i = 1; i < c->count; i++) {
        const struct side *side = &c->sides[i];
        if (text && strcmp(shown_text(&side->shown, row->path), shown_text(&first->shown, row->path)) != 0) return false;
        if (!text && figure_of(side, row) != figure_of(first, row)) return false;
    }
    return true;
}

static void open_columns(struct page *page, const struct compared *c, const char *caption)
{
    page_table(page, "small beside", caption, "");
    html_add(page->out, "<th scope=\"col\" role=\"columnheader\">Figure</th>");
    for (int i = 0; i < c->count; i++)
        html_add(page->out, "<th scope=\"col\" role=\"columnheader\"><a href=\"%s\"><bdi>%s</bdi></a></th>",
                 c->sides[i].address, c->sides[i].name);
    html_add(page->out, "</tr></thead><tbody role=\"rowgroup\">\n");
}

// Rows that are the same for all sides, or those that are not; returns how many. NULL: only counts them.
static int write_rows(struct page *page, const struct compared *c, bool same)
{
    int count = 0;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        if (is_empty_row(c, &rows[r]) || is_same_row(c, &rows[r]) != same) continue;
        count++;
        if (page == NULL) continue;
        begin_row(page, rows[r].label);
        for (int i = 0; i < c->count; i++) one_cell(page, c, i, &rows[r]);
        html_add(page->out, "</tr>\n");
    }
    return count;
}

static void table_of(struct page *page, const struct compared *c)
{
    open_columns(page, c, "Side by side; small figures are differences from the first column");
    score_row(page, c);
    target_row(page, c);
    for (int m = 1; m < c->sides[0].shown.metric_count; m++) metric_row(page, c, &c->sides[0].shown.metrics[m]);
    trust_row(page, c);
    write_rows(page, c, false);
    html_add(page->out, "</tbody></table></div>\n");
    const int same = write_rows(NULL, c, true);
    if (same == 0) return;
    html_add(page->out, "<details><summary>%d row%s the same for all</summary>", same, same == 1 ? " is" : "s are");
    open_columns(page, c, "The same for all");
    write_rows(page, c, true);
    html_add(page->out, "</tbody></table></div></details>\n");
}

// ---- the page -----------------------------------------------------------------------------------------------------------
static void form(struct page *page, const struct wanted *wanted, int count)
{
    html_add(page->out, "<form class=\"inline\" method=\"get\" action=\"/compare\">");
    for (int i = 0; i < count; i++)
        if (wanted[i].group) html_add(page->out, "<input type=\"hidden\" name=\"group\" value=\"%s\">", wanted[i].id);
    for (int i = 0; i < COMPARE_MOST; i++) {
        if (i < count && wanted[i].group) continue;
        html_add(page->out,
                 "<div class=\"field\"><label for=\"run-%d\">Run %d</label> <input id=\"run-%d\" name=\"run\" "
                 "type=\"number\" min=\"1\" value=\"%s\"></div>",
                 i + 1, i + 1, i + 1, i < count ? wanted[i].id : "");
    }
    html_add(page->out, "<button type=\"submit\">Compare</button></form>\n");
}

static void write_page(struct page *page, const struct compared *c, const struct wanted *wanted)
{
    const struct contest *demo = NULL;
    page_begin(page, "Compare", "Runs and groups side by side", (const struct crumb[]){{0}});
    html_add(page->out, "<h1>Compare</h1>\n");
    for (int i = 0; i < c->count; i++)
        if (c->sides[i].shown.contest != NULL && c->sides[i].shown.contest->synthetic) demo = c->sides[i].shown.contest;
    page_demo_note(page, demo);
    for (int i = 1; i < c->count; i++) {
        if (c->sides[i].shown.contest == c->sides[0].shown.contest) continue;
        page_note(page->out, "warn", "Different tasks.", "These figures are not comparable.");
        break;
    }
    for (int i = 1; i < c->count; i++) {
        const struct shown *first = &c->sides[0].shown, *other = &c->sides[i].shown;
        if (other->contest != first->contest || shown_target(other) == shown_target(first)) continue;
        page_note(page->out, "warn", "Different targets.", "Times and costs to the target are not comparable.");
        break;
    }
    html_add(page->out, "<p class=\"lead\">Two to four runs, by their numbers in the <a href=\"/log\">log</a>; boards have a "
                        "check box for each run and group.</p>");
    form(page, wanted, c->count);
    if (c->count >= 2) {
        chart_all(page, c);
        table_of(page, c);
    }
    page_end(page);
}

PAGE(page_compare)
{
    struct wanted wanted[COMPARE_MOST];
    struct compared c = {0};
    int count, rc = 0;
    TRY(read_query(page->request->query, wanted, &count));
    while (c.count < count && rc == 0) {
        const struct wanted *one = &wanted[c.count];
        struct side *side = &c.sides[c.count];
        rc = one->group ? read_group(page, one->id, side) : read_run(page, one->id, side);
        c.count += rc == 0;
    }
    if (rc == 0) write_page(page, &c, wanted);
    for (int i = 0; i < c.count; i++) statement_free(&c.sides[i].shown.statement);
    return rc;
}
