// SPDX-License-Identifier: Apache-2.0
// What a run's page says of replays: which run it repeats, which runs repeat it, and how each pair compares. Cost: a payload a
// replay, of at most REPLAYS_SHOWN, and once the runs of each original's group: the page's own, and its original's.
#include "scoreboard/pages/run/page_run.h"

#include <string.h>

#include "scoreboard/rank/ranking.h"

enum { REPLAYS_SHOWN = 16 };

static int read_group(struct page *page, const char *nonce, struct group_facts *facts)
{
    struct stored *stored;
    struct ranked rows[BOARDS];
    int count, planned, taken = 0, rc = 0;
    *facts = (struct group_facts){0};
    if (nonce == NULL || *nonce == 0) return 0;
    TRY(store_group(page->reader, nonce, &page->arena, &stored, &count, &planned));
    struct statement *read = arena_alloc(&page->arena, (size_t)(count + 1) * sizeof *read);
    const struct statement **runs = arena_alloc(&page->arena, (size_t)(count + 1) * sizeof *runs);
    for (int i = 0; i < count && rc == 0; i++) {
        if (stored[i].withdrawn != 0) continue;
        rc = store_group_run(page->reader, stored[i].sequence, &read[taken]);
        if (rc == 0) runs[taken] = &read[taken], taken++;
    }
    if (rc == 0 && taken > 0) ranking_of_group(runs, taken, planned, &page->arena, facts, rows);
    for (int i = 0; i < taken; i++) statement_free(&read[i]);
    return rc;
}

// The lines in a row.
static const char *join_lines(struct page *page, const struct text *lines)
{
    if (lines->at == NULL) return "";
    char *row = arena_text(&page->arena, "%.*s", (int)lines->length - 1, lines->at);
    for (char *c = row; *c != 0; c++)
        if (*c == '\n') *c = ';';
    return row;
}

// Judges the run of `shown` and another, of which either may be the original; `group` is the original's.
static int judge_replay_of(struct page *page, const struct shown *shown, const struct stored *other, bool is_original,
                 const struct group_facts *group, struct replay_line *line)
{
    struct statement run;
    struct replay_judged judged;
    TRY(statement_read(other->payload, other->payload_count, &run));
    const json_t *own = shown->statement.json;
    replay_judge(is_original ? run.json : own, is_original ? own : run.json, group, &judged);
    bool copy = judged.verdict != REPLAY_NONE && check_same_times(run.json, own);
    *line = (struct replay_line){.stored = *other, .verdict = judged.verdict, .group = judged.runs > 0, .copy = copy,
                                 .differs = join_lines(page, &judged.differs)};
    replay_free(&judged);
    statement_free(&run);
    return 0;
}

// A key costs nothing, and neither does a made-up replay that disagrees. So a sentence against a run needs its author or somebody
// whose clock the board saw; agreement is believed of nobody without a computation (store_rank.c), so it may be said of all.
static int is_heard(struct page *page, const struct shown *shown, const struct replay_line *line, bool *heard)
{
    const bool agrees = !line->copy && (line->verdict == REPLAY_EXACT || line->verdict == REPLAY_WITHIN);
    *heard = agrees || strcmp(line->stored.handle, shown->stored.handle) == 0;
    return *heard ? 0 : store_has_standing(page->reader, line->stored.handle, heard);
}

int replays_read(struct page *page, const struct shown *shown, struct replays *out)
{
    const json_t *points = canonical_at(shown->statement.json, "points");
    struct stored *stored, original;
    struct group_facts group;
    int count = 0;
    *out = (struct replays){.of = shown_text(shown, "replay_of")};
    size_t last = json_array_size(points);
    if (shown->stored.type != STATEMENT_RUN || last == 0) return 0;
    if (*out->of != 0) {
        int rc = store_run_of_head(page->reader, out->of, &page->arena, &original);
        if (rc < 0 && rc != ERR_MISSING) return rc;
        out->known = rc == 0;
        if (out->known) TRY(read_group(page, original.group, &group));
        if (out->known) TRY(judge_replay_of(page, shown, &original, true, &group, &out->original));
    }
    TRY(store_replays(page->reader, canonical_text(json_array_get(points, last - 1), "hash"), REPLAYS_SHOWN, &page->arena,
                      &stored, &count));
    out->at = arena_alloc(&page->arena, (size_t)(count + 1) * sizeof *out->at);
    if (count > 0) TRY(read_group(page, shown->stored.group, &group));
    for (int i = 0; i < count; i++) {
        bool heard;
        TRY(judge_replay_of(page, shown, &stored[i], false, &group, &out->at[out->count]));
        TRY(is_heard(page, shown, &out->at[out->count], &heard));
        if (heard) out->count++;
        else out->unheard++;
    }
    return 0;
}

static void verdict(struct page *page, const struct shown *shown, const struct replay_line *line)
{
    html_add(page->out, "%s", replay_what(line->verdict));
    if (line->verdict == REPLAY_WITHIN) html_add(page->out, "%s", line->group ? "'s group" : "'s one evaluation");
    if (line->copy) html_add(page->out, ". It has the times of the other run, too: a copy reproduces nothing");
    if (strcmp(line->stored.handle, shown->stored.handle) == 0)
        html_add(page->out, ". Both are of the same person, which raises no level");
    if (*line->differs) html_add(page->out, ". What differs: <bdi>%s</bdi>", line->differs);
}

void run_replays(struct page *page, const struct shown *shown, const struct replays *replays)
{
    long long n = (long long)shown->stored.sequence;
    bool repeatable = strcmp(shown_text(shown, "evaluated_by"), "harness") == 0 && curve_ended(shown->statement.json);
    if (!repeatable && replays->count + replays->unheard == 0 && *replays->of == 0) return;
    html_add(page->out, "<section aria-labelledby=\"replays\"><h2 id=\"replays\">Replays</h2>");
    if (replays->known) {
        long long of = (long long)replays->original.stored.sequence;
        html_add(page->out, "<p>It says that it repeats <a href=\"/runs/%lld\">run %lld</a>: ", of, of);
        verdict(page, shown, &replays->original);
        html_add(page->out, ".</p>");
    } else if (*replays->of != 0) {
        html_add(page->out, "<p>It says that it repeats a run that is not on this board.</p>");
    }
    if (replays->count > 0) html_add(page->out, "<ul>");
    for (int i = 0; i < replays->count; i++) {
        const struct stored *stored = &replays->at[i].stored;
        html_add(page->out, "<li><a href=\"/runs/%lld\">Run %lld</a> of ", (long long)stored->sequence,
                 (long long)stored->sequence);
        page_person_link(page, stored->handle);
        html_add(page->out, " says that it repeats this one%s: ", stored->withdrawn > 0 ? " (withdrawn since)" : "");
        verdict(page, shown, &replays->at[i]);
        html_add(page->out, ".</li>");
    }
    if (replays->count > 0) html_add(page->out, "</ul>\n");
    if (replays->unheard > 0) {
        html_add(page->out, "<p class=\"quiet\">");
        page_count(page->out, replays->unheard, "run", "runs");
        html_add(page->out, " of people without a witnessed run here %s this one and %s not agree with it.</p>\n",
                 replays->unheard == 1 ? "names" : "name", replays->unheard == 1 ? "does" : "do");
    }
    if (replays->count > 0)
        html_add(page->out, "<p class=\"quiet\">A repetition raises a level only if the operator lists its key.</p>\n");
    if (repeatable) {
        html_add(page->out, "<p>Train it once more and compare the figures:</p>\n");
        page_command(page, "replay", arena_text(&page->arena, "dawn replay http://THIS-SITE/runs/%lld", n));
    }
    html_add(page->out, "</section>\n");
}
