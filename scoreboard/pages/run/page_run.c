// SPDX-License-Identifier: Apache-2.0
// A run: its claims, its places on boards, its curve, its seconds, and all data to check it without this server.
// Other statements (withdrawals, amendments, keys) have a short page at the same kind of address.
// Workload: after a click on a row. Cost: parsing a payload of at most 1 MiB, usually some kilobytes.
#include "scoreboard/pages/run/page_run.h"

#include <math.h>
#include <string.h>

#include "scoreboard/rank/ranking.h"

static void state_notes(struct page *page, const struct shown *shown)
{
    const struct stored *stored = &shown->stored;
    page_demo_note(page, shown->contest);
    if (stored->withdrawn > 0) {
        html_add(page->out,
                 "<p class=\"note warn\"><strong>Withdrawn</strong> by its author with <a "
                 "href=\"/runs/%lld\">statement %lld</a>; it counts on "
                 "no board and stays in the log.",
                 (long long)stored->withdrawn, (long long)stored->withdrawn);
        if (stored->withdrawn_reason != NULL && *stored->withdrawn_reason)
            html_add(page->out, " Reason given: <q><bdi>%s</bdi></q>", stored->withdrawn_reason);
        html_add(page->out, "</p>\n");
    }
    if (stored->superseded > 0)
        html_add(page->out,
                 "<p class=\"note warn\"><strong>Superseded</strong> by <a href=\"/runs/%lld\">statement %lld</a> of "
                 "the same author, which "
                 "counts instead.</p>\n",
                 (long long)stored->superseded, (long long)stored->superseded);
    if (stored->revoked > 0)
        html_add(page->out,
                 "<p class=\"note warn\"><strong>Its key was revoked later</strong> by <a href=\"/runs/%lld\">statement "
                 "%lld</a>. Earlier statements of the key still count, but nobody can tell who signed them.</p>\n",
                 (long long)stored->revoked, (long long)stored->revoked);
    if (strcmp(shown_text(shown, "evaluated_by"), "self") == 0)
        page_note(
            page->out, "warn", "Self-evaluated.",
            "The program that was trained reported its own score; DAWN's harness owned neither data nor evaluation.");
    if (!curve_ended(shown->statement.json))
        page_note(page->out, "warn",
                  strcmp(shown_text(shown, "status"), "failed") == 0 ? "This run failed." : "This run was interrupted.",
                  "It did not complete, so it is on no board.");
    else if (!shown_reached(shown))
        page_note(page->out, "info", "The target was not met.",
                  "It is on no single-run board, but still counts in its group.");
    if (stored->note != NULL && *stored->note)
        html_add(page->out, "<p class=\"note info\"><strong>The author's note.</strong> <bdi>%s</bdi></p>\n",
                 stored->note);
}

static void figure(struct page *page, const char *label, const char *small)
{
    html_add(page->out, "<div><dt>%s<small>%s</small></dt><dd>", label, small);
}

static void headline(struct page *page, const struct shown *shown)
{
    double last = shown_last(shown);
    int64_t total = shown_int(shown, "price.total_micro_usd");
    double ranked = shown_ranked_cost(shown);
    html_add(page->out, "<dl class=\"headline\">");
    if (shown_reached(shown)) {
        figure(page, "Time to the target", "classic clock, used for ranking");
        page_span(page->out, shown_int(shown, "reached.classic_ns"));
        html_add(page->out, "</dd></div>");
        figure(page, "End-to-end", "to the same evaluation, everything included");
        page_span(page->out, shown_int(shown, "reached.t_ns"));
        html_add(page->out, "</dd></div>");
    }
    if (shown_int(shown, "reached.energy_uj") > 0) {
        figure(page, "Energy", "to the same evaluation, as counters said");
        page_energy(page->out, (double)shown_int(shown, "reached.energy_uj") / 1e6);
        html_add(page->out, "</dd></div>");
    }
    if (!isnan(last)) {
        figure(page, "Last evaluation", shown->measured != NULL ? shown->measured->metric_title : "");
        page_score(page->out, shown->measured, last);
        html_add(page->out, "</dd></div>");
    }
    for (int m = 1; m < shown->metric_count; m++) {
        char words[TEXT_FIGURE];
        int64_t score = curve_last(shown->statement.json, &shown->metrics[m]);
        if (score == RUN_SCORE_NONE) continue;
        figure(page, "Other metric", contest_metric_title(shown->metrics[m].name));
        html_add(page->out, "%s</dd></div>", run_metric_text(&shown->metrics[m], score, words));
    }
    if (ranked >= 0) {
        figure(page, "Cost", "classic clock x price, used for ranking");
        page_money(page->out, ranked);
        html_add(page->out, "</dd></div>");
        figure(page, "Cost, end-to-end", "end-to-end to the target x price");
        page_money(page->out, (double)total / 1e6);
        html_add(page->out, "</dd></div>");
    }
    html_add(page->out, "</dl>\n");
}

// The competition that a statement opens, commits to or enters.
static void competition_link(struct page *page, const struct shown *shown)
{
    const enum statement_type type = shown->stored.type;
    const char *digest = type == STATEMENT_COMPETITION ? shown->stored.digest
                         : shown_text(shown, type == STATEMENT_RUN ? "competition.statement" : "competition");
    struct competition_stored c;
    if (*digest == 0 || store_competition(page->reader, digest, &page->arena, &c) < 0) return;
    html_add(page->out, "<div><dt>Competition</dt><dd><a href=\"/competitions/%s\"><bdi>%s</bdi></a></dd></div>",
             html_part(&page->arena, c.about.name), c.about.title);
}

// A machine has a page if a row of a board names it.
static void hardware(struct page *page, const struct shown *shown, const struct entries *places)
{
    const char *words = shown_hardware(page, shown);
    char machine[RANKING_MACHINE], other[RANKING_MACHINE];
    bool known = false;
    ranking_machine(words, machine);
    for (int i = 0; i < places->count; i++)
        known = known || strcmp(ranking_machine(places->at[i].hardware, other), machine) == 0;
    if (known) html_add(page->out, "<a href=\"/machines/%s\"><bdi>%s</bdi></a>", machine, words);
    else html_add(page->out, "<bdi>%s</bdi>", words);
}

static int facts(struct page *page, const struct shown *shown, const struct entries *places)
{
    const struct stored *stored = &shown->stored;
    html_add(page->out, "<dl class=\"facts\">");
    if (stored->team != NULL && *stored->team)
        html_add(page->out, "<div><dt>Team</dt><dd><bdi>%s</bdi> <small>(as the author says)</small></dd></div>", stored->team);
    html_add(page->out, "<div><dt>Hardware</dt><dd>");
    hardware(page, shown, places);
    html_add(page->out,
             "</dd></div><div><dt>Framework</dt><dd><bdi>%s</bdi></dd></div><div><dt>Division</dt><dd>%s</dd></div><div><dt>"
             "Ended</dt><dd>",
             shown_text(shown, "software.framework"), shown_text(shown, "division"));
    page_moment(page->out, shown_int(shown, "ended_ms"));
    html_add(page->out, "</dd></div><div><dt>Accepted</dt><dd>");
    page_moment(page->out, stored->accepted_ms);
    html_add(page->out, "</dd></div><div><dt>Trust</dt><dd>");
    page_badge(page->out, stored->trust);
    html_add(page->out, "</dd></div>");
    TRY(ticket_facts(page, shown));
    if (stored->group != NULL && *stored->group)
        html_add(page->out, "<div><dt>Group</dt><dd><a href=\"/groups/%s\">%.8s</a>, run %lld of %lld</dd></div>",
                 stored->group, stored->group, (long long)shown_int(shown, "group.index"),
                 (long long)shown_int(shown, "group.planned"));
    competition_link(page, shown);
    if (shown_int(shown, "resumed") > 0)
        html_add(page->out, "<div><dt>Resumed</dt><dd>%lld time%s; the time away counts end-to-end</dd></div>",
                 (long long)shown_int(shown, "resumed"), shown_int(shown, "resumed") == 1 ? "" : "s");
    if (stored->code_url != NULL && *stored->code_url) {
        html_add(page->out, "<div><dt>Code</dt><dd>");
        html_link(page->out, stored->code_url, stored->code_url);
        html_add(page->out, "</dd></div>");
    }
    if (stored->tags != NULL && *stored->tags)
        html_add(page->out, "<div><dt>Tags</dt><dd><bdi>%s</bdi></dd></div>", stored->tags);
    html_add(page->out, "</dl>\n");
    return 0;
}

// One column per metric; a count has its k next to it.
static void score_cells(struct page *page, const struct shown *shown, const json_t *point)
{
    char words[TEXT_FIGURE];
    for (int m = 0; m < shown->metric_count; m++) {
        const struct run_metric *metric = &shown->metrics[m];
        int64_t score = curve_score(point, metric);
        if (score == RUN_SCORE_NONE)
            html_add(page->out, "<td>not evaluated</td>");
        else if (metric->items > 0)
            html_add(page->out, "<td>%s (%lld of %lld)</td>", run_metric_text(metric, score, words), (long long)score,
                     (long long)metric->items);
        else
            html_add(page->out, "<td>%s</td>", run_metric_text(metric, score, words));
    }
}

static void curve_table(struct page *page, const struct shown *shown)
{
    const json_t *points = canonical_at(shown->statement.json, "points");
    const char *name[RUN_LOSSES_MAX];
    int losses = curve_losses(shown->statement.json, name);
    html_add(
        page->out,
        "<details><summary>The curve as a table</summary><div class=\"scroll\" role=\"region\" aria-label=\"The "
        "curve\" tabindex=\"0\">"
        "<table class=\"small\"><caption>Every point; times are at the end of its evaluation, and exact in the signed "
        "statement</caption><thead><tr><th scope=\"col\">Epoch</th><th scope=\"col\">Step</th><th scope=\"col\">"
        "End-to-end</th><th scope=\"col\">Classic</th><th scope=\"col\">Warm</th><th scope=\"col\">Samples</th>");
    for (int m = 0; m < shown->metric_count; m++)
        html_add(page->out, "<th scope=\"col\"><bdi>%s</bdi></th>", shown->metrics[m].name);
    html_add(page->out, "<th scope=\"col\">Loss</th>");
    for (int n = 0; n < losses; n++) html_add(page->out, "<th scope=\"col\">Loss <bdi>%s</bdi></th>", name[n]);
    html_add(page->out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        char samples[TEXT_FIGURE], epoch[CURVE_MOMENT];
        html_add(page->out, "<tr><th scope=\"row\">%s</th><td>%lld</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td>",
                 curve_epoch(point, epoch), (long long)curve_step(point), page_span_text(page, canonical_int(point, "t_ns")),
                 page_span_text(page, canonical_int(point, "classic_ns")), page_span_text(page, canonical_int(point, "warm_ns")),
                 text_count(samples, canonical_int(point, "samples")));
        score_cells(page, shown, point);
        for (int n = -1; n < losses; n++) {
            double loss = curve_loss(point, n < 0 ? NULL : name[n]);
            if (isnan(loss)) html_add(page->out, "<td>-</td>");
            else html_add(page->out, "<td>%.4f</td>", loss);
        }
        html_add(page->out, "</tr>\n");
    }
    html_add(page->out, "</tbody></table></div></details>\n");
}

// Many recipes evaluate once, at their end. The chart then shows the loss.
static void loss_chart(struct page *page, const struct shown *shown)
{
    struct chart_point *points;
    int count = shown_losses(page, shown, &points);
    if (count < 2) return;
    struct chart_series series = {.label = "loss", .at = points, .count = count, .marks = count <= 80};
    const char *about = arena_text(&page->arena, "Mean training loss at %d points, from %.4g to %.4g in %s.", count,
                                   points[0].y, points[count - 1].y, page_span_text(page, (int64_t)(points[count - 1].x * 1e9)));
    chart_draw(page->out, &(struct chart){.id = "c-loss",
                                          .title = "Training loss over end-to-end time",
                                          .about = about,
                                          .x = {"end-to-end time", CHART_SECONDS, NULL},
                                          .y = shown_loss_axis(),
                                          .series = &series,
                                          .series_count = 1});
}

static void score_chart(struct page *page, const struct shown *shown)
{
    struct chart_point *points;
    int count = shown_curve(page, shown, &points);
    if (count == 0) {
        html_add(page->out, "<p class=\"quiet\">Nothing was evaluated.</p>\n");
        return;
    }
    if (count == 1) {  // one point is no curve
        html_add(page->out, "<p>Evaluated once: ");
        page_score(page->out, shown->measured, shown_last(shown));
        html_add(page->out, " after %s.</p>\n", page_span_text(page, (int64_t)llround(points[0].x * 1e9)));
        return;
    }
    const int64_t met_ns = shown_int(shown, "reached.t_ns");
    struct chart_point met = {.x = (double)met_ns / 1e9};
    for (int i = 0; i < count; i++)
        if (points[i].x == met.x) met.y = points[i].y;
    struct chart_series series[] = {{.label = "score", .at = points, .count = count, .marks = count <= 80},
                                    {.label = arena_text(&page->arena, "target met after %s", page_span_text(page, met_ns)),
                                     .at = &met, .count = 1, .line = CHART_NONE, .marks = true, .look = 1}};
    struct chart_level target = {shown_target(shown), "target"};
    const char *about =
        arena_text(&page->arena, "%d evaluations, from %.4g to %.4g in %s; the target is %.4g.", count, points[0].y,
                   points[count - 1].y, page_span_text(page, (int64_t)(points[count - 1].x * 1e9)), target.y);
    struct chart chart = {.id = "c-curve",
                          .title = "Score over end-to-end time",
                          .about = about,
                          .x = {"end-to-end time", CHART_SECONDS, NULL},
                          .y = shown_axis(shown->measured),
                          .series = series,
                          .series_count = shown_reached(shown) ? 2 : 1,
                          .levels = &target,
                          .level_count = 1};
    chart_draw(page->out, &chart);
}

static void curve(struct page *page, const struct shown *shown)
{
    html_add(page->out, "<section aria-labelledby=\"curve\"><h2 id=\"curve\" class=\"hidden\">Curve</h2>");
    score_chart(page, shown);
    loss_chart(page, shown);
    html_add(page->out, "</section>\n");
}

static const char *const segment_names[] = {"train",   "evaluate", "compile",    "data", "init",
                                            "process", "warmup",   "checkpoint", "idle", "away"};
enum { SEGMENTS = sizeof segment_names / sizeof segment_names[0] };

static void clocks_table(struct page *page, const struct shown *shown)
{
    static const char *const clocks[][3] = {
        {"End-to-end", "reached.t_ns", "everything, from the start of the process"},
        {"Classic", "reached.classic_ns", "without evaluating and writing checkpoints, as DAWNBench"},
        {"Warm", "reached.warm_ns", "training steps alone"},
        {"Warm, with evaluation", "reached.warm_with_evaluation_ns", "training steps and evaluations"},
    };
    char moment[CURVE_MOMENT], samples[TEXT_FIGURE];
    if (!shown_reached(shown)) return;
    page_table(page, "small cards",
                    arena_text(&page->arena, "Clocks at the first evaluation that met the target (%s, %s samples)",
                               curve_moment(canonical_at(shown->statement.json, "reached"), moment),
                               text_count(samples, shown_int(shown, "reached.samples"))),
               "stem:Clock|number:Time|number:Exactly|words:What counts");
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        int64_t ns = shown_int(shown, clocks[i][1]);
        html_add(page->out, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\" class=\"stem\">%s</th><td role=\"cell\" "
                            "class=\"number\">", clocks[i][0]);
        page_span(page->out, ns);
        html_add(page->out, "</td><td role=\"cell\" class=\"number\">%.9f s</td><td role=\"cell\" class=\"words\">%s</td></tr>\n",
                 (double)ns / 1e9, clocks[i][2]);
    }
    html_add(page->out, "</tbody></table></div>\n");
}

static void clocks(struct page *page, const struct shown *shown)
{
    double seconds[SEGMENTS] = {0}, whole = 0;
    const json_t *segments = canonical_at(shown->statement.json, "segments");
    for (size_t i = 0; i < json_array_size(segments); i++) {
        const json_t *one = json_array_get(segments, i);
        const char *name = canonical_text(one, "segment");
        double spent = (double)(canonical_int(one, "end_ns") - canonical_int(one, "start_ns")) / 1e9;
        for (int s = 0; s < SEGMENTS; s++)
            if (strcmp(segment_names[s], name) == 0) seconds[s] += spent, whole += spent;
    }
    html_add(page->out, "<section aria-labelledby=\"clocks\"><h2 id=\"clocks\">Clocks</h2>");
    struct chart_part parts[SEGMENTS], small = {0};  // small: parts below a tenth of a percent, joined
    int count = 0;
    for (int s = 0; s < SEGMENTS; s++) {
        if (seconds[s] <= 0) continue;
        if (seconds[s] >= whole / 1000)
            parts[count++] = (struct chart_part){segment_names[s], NULL, seconds[s], s};
        else
            small = (struct chart_part){small.label == NULL ? segment_names[s] : "other", NULL, small.value + seconds[s], s};
    }
    if (small.label != NULL) parts[count++] = small;
    for (int i = 0; i < count; i++)
        parts[i].figure = parts[i].value < whole / 1000
                              ? "below 0.1%"
                              : arena_text(&page->arena, "%s (%.1f%%)", page_span_text(page, (int64_t)(parts[i].value * 1e9)),
                                           100 * parts[i].value / whole);
    if (count > 0)
        chart_stack(page->out, "c-clock", "How the run's time was spent",
                    "One bar: the time of each kind of segment, and its share.", parts, count);
    clocks_table(page, shown);
    html_add(page->out, "</section>\n");
}

// True if it draws more than a point.
static bool has_curve(struct page *page, const struct shown *shown)
{
    struct chart_point *points;
    return shown_curve(page, shown, &points) > 1 || shown_losses(page, shown, &points) > 1;
}

struct around {  // what else its page shows
    struct entries places;
    struct replays replays;
    struct objections objections;
    int64_t skipped;  // of these
    struct drawn drawn;
    bool is_drawn;
};

static int run_page(struct page *page, const struct shown *shown, const struct around *around)
{
    const struct stored *stored = &shown->stored;
    const char *run = arena_text(&page->arena, "run %lld", (long long)stored->sequence);
    shown_begin(page, shown, shown_sentence(page, shown), run, "A run: curve, clocks, checks, and how to verify it.");
    state_notes(page, shown);
    objection_notes(page, &around->objections);
    const bool drawn = has_curve(page, shown);  // else the clocks stand next to the facts
    if (!drawn) curve(page, shown);
    html_add(page->out, "<div class=\"pair\">");
    if (drawn) curve(page, shown);
    html_add(page->out, "<div>");
    headline(page, shown);
    TRY(facts(page, shown, &around->places));
    if (drawn) html_add(page->out, "</div></div>\n<div class=\"pair\">");
    else html_add(page->out, "</div>\n<div>");
    clocks(page, shown);
    if (around->places.count > 0) page_rows(page, &around->places, ROWS_PLACES, "On the boards");
    if (!drawn) html_add(page->out, "</div>");
    html_add(page->out, "</div>\n");
    if (json_array_size(canonical_at(shown->statement.json, "points")) > 0) curve_table(page, shown);
    run_latencies(page, shown);
    run_machine(page, shown);
    run_data(page, shown);
    run_checks(page, shown, around->is_drawn ? &around->drawn : NULL);
    run_objections(page, shown, &around->objections, around->skipped);
    run_replays(page, shown, &around->replays);
    run_verify(page, shown);
    if (page_is_copy(page)) return 0;
    html_add(page->out,
             "<section class=\"on-screen\" aria-labelledby=\"beside\"><h2 id=\"beside\">Compare</h2>"
             "<form class=\"inline\" method=\"get\" action=\"/compare\">"
             "<input type=\"hidden\" name=\"run\" value=\"%lld\"><label for=\"other\">With run</label> <input "
             "id=\"other\" name=\"run\" "
             "type=\"number\" min=\"1\" required><button type=\"submit\">Compare</button></form></section>\n",
             (long long)stored->sequence);
    return 0;
}

// A text member of a statement; tags as one line. NULL: none.
static const char *words_of(struct page *page, const struct shown *shown, const char *member)
{
    const json_t *value = canonical_at(shown->statement.json, member);
    if (!json_is_array(value)) return json_string_value(value);
    const char *words = "";
    for (size_t i = 0; i < json_array_size(value); i++)
        words = arena_text(&page->arena, "%s%s%s", words, i > 0 ? " " : "", json_string_value(json_array_get(value, i)));
    return words;
}

static int other_page(struct page *page, const struct shown *shown)
{
    static const char *const kinds[STATEMENT_TYPES] = {
        [STATEMENT_WITHDRAW] = "Withdrawal", [STATEMENT_AMEND] = "Amendment", [STATEMENT_ROTATE] = "Change of keys",
        [STATEMENT_REVOKE] = "Revocation of a key", [STATEMENT_AUDIT] = "Audit",
        [STATEMENT_COMPETITION] = "Competition", [STATEMENT_COMMIT] = "Commitment",
        [STATEMENT_OBJECT] = "Objection", [STATEMENT_TICKET] = "Ticket", [STATEMENT_VOUCH] = "Clock",
        [STATEMENT_DRAW] = "Rules of the draw"};
    static const char *const members[][2] = {
        {"task", "Task"}, {"model", "Model"}, {"recipe", "Recipe"}, {"recipe_digest", "SHA-256 of the recipe"},
        {"binary_digest", "SHA-256 of the program"}, {"group.nonce", "Group"},
        {"title", "Title"},             {"rules", "Rules"},
        {"verdict", "Verdict"},         {"by", "Decided by"},
        {"reason", "Reason"},           {"url", "See also"},
        {"team", "Team, from now on"}, {"note", "Note, from now on"},
        {"code_url", "Code, from now on"}, {"tags", "Tags, from now on"}, {"handle", "Handle"}};
    const struct stored *stored = &shown->stored;
    const char *about = shown_text(shown, "statement"), *key = shown_text(shown, "key"), *title = kinds[stored->type];
    struct stored run = {0};
    if (*about != 0) TRY(store_statement(page->reader, about, &page->arena, &run));
    const char *what = run.type == STATEMENT_RUN ? "run" : run.type == STATEMENT_BENCH ? "measurement" : "statement";
    if (*about != 0 && run.type != STATEMENT_RUN && stored->type == STATEMENT_AUDIT) title = "Decision";
    const char *join = stored->type == STATEMENT_OBJECT ? "to" : "of";
    if (*about != 0) title = arena_text(&page->arena, "%s %s %s %lld", title, join, what, (long long)run.sequence);
    title = arena_text(&page->arena, "%s (statement %lld)", title, (long long)stored->sequence);
    page_begin(page, title, "A signed statement", (const struct crumb[]){{"Log", "/log"}, {0}});
    html_add(page->out, "<h1>%s</h1><dl class=\"facts\"><div><dt>Author</dt><dd>", title);
    page_person_link(page, stored->handle);
    html_add(page->out, "</dd></div><div><dt>Accepted</dt><dd>");
    page_moment(page->out, stored->accepted_ms);
    html_add(page->out, "</dd></div>");
    if (*about != 0)
        html_add(page->out, "<div><dt>About</dt><dd><a href=\"/runs/%lld\">%s %lld</a></dd></div>", (long long)run.sequence,
                 what, (long long)run.sequence);
    competition_link(page, shown);
    if (*key != 0)
        html_add(page->out, "<div><dt>%s</dt><dd><span class=\"digest\">%s</span></dd></div>",
                 stored->type == STATEMENT_ROTATE ? "New key" : "Key", key);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const char *value = words_of(page, shown, members[i][0]);
        if (value == NULL) continue;
        html_add(page->out, "<div><dt>%s</dt><dd>", members[i][1]);
        if (*value == 0)
            html_add(page->out, "<span class=\"quiet\">none</span>");
        else
            html_words(page->out, value);
        html_add(page->out, "</dd></div>");
    }
    if (stored->type == STATEMENT_TICKET) TRY(ticket_state(page, shown));
    if (stored->type == STATEMENT_DRAW) drawn_rules(page, shown);
    html_add(page->out, "</dl>\n");
    run_verify(page, shown);
    return 0;
}

PAGE(page_run)
{
    struct shown shown;
    struct around around = {0};
    TRY(page_read_number(page, "objections", "a run's page", &around.skipped));
    if (around.skipped < 0) around.skipped = 0;
    TRY(shown_read(page, page->request->word[0], &shown));
    const char *source = arena_text(&page->arena, "#%lld", (long long)shown.stored.sequence);
    int rc = store_entries_of(page->reader, source, &page->arena, &around.places);
    if (rc == 0) rc = replays_read(page, &shown, &around.replays);
    if (rc == 0) {
        rc = store_drawn(page->reader, shown.stored.sequence, &page->arena, &around.drawn);
        around.is_drawn = rc == 0;
        if (rc == ERR_MISSING) rc = 0;
    }
    if (rc == 0 && shown.stored.type == STATEMENT_RUN)
        rc = store_objections(page->reader, shown.stored.sequence, around.skipped, &page->arena, &around.objections);
    if (rc == 0 && shown.stored.type == STATEMENT_RUN)
        rc = run_page(page, &shown, &around);
    else if (rc == 0 && shown.stored.type == STATEMENT_BENCH)
        bench_page(page, &shown);
    else if (rc == 0)
        rc = other_page(page, &shown);
    if (rc == 0) page_end(page);
    statement_free(&shown.statement);
    return rc;
}
