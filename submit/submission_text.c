// SPDX-License-Identifier: Apache-2.0
// The text of a submission that a person reads before agreeing. Invariant: every text of a statement is shown once, with its
// runs, except digests, dates and a few fixed words. A text that is cut shows its length. No byte can steer the terminal.
#include "submit/submission.h"

#include <stdio.h>
#include <string.h>

#include "submit/client/client.h"
#include "submit/format/score/cost.h"
#include "submit/format/score/curve.h"

enum { NAME = 22, WORD_WIDTH = 56, SHORT = 160 };  // columns; SHORT is the bytes of a cut text

static void result_line(const json_t *run, struct text *t)
{
    char span[TEXT_FIGURE], k[TEXT_FIGURE], n[TEXT_FIGURE], score[TEXT_FIGURE], cost[COST_TEXT];
    struct run_metric board = curve_board(run);
    int64_t last = curve_last(run, &board);
    if (last == RUN_SCORE_NONE) text_add(t, "never evaluated");
    else text_add(t, "%s", run_metric_text(&board, last, score));
    if (last != RUN_SCORE_NONE && board.items > 0) text_add(t, " (%s of %s)", text_count(k, last), text_count(n, board.items));
    if (canonical_at(run, "reached") != NULL)
        text_add(t, ", target met after %s", text_span(span, (double)canonical_int(run, "reached.t_ns") / 1e9));
    else text_add(t, ", target not met");
    if (canonical_at(run, "price.total_micro_usd") != NULL)
        text_add(t, ", %s", cost_text(cost, canonical_int(run, "price.total_micro_usd")));
}

static void machine_line(const json_t *run, struct text *t)
{
    const char *precision = canonical_text(run, "precision");
    client_tame(t, canonical_text(run, "device"), 32);
    if (strcmp(precision, "unknown")) text_add(t, ", "), client_tame(t, precision, 16);
    const char *gpu = canonical_text(run, "hardware.gpu");
    long long devices = (long long)canonical_int(run, "hardware.devices");
    text_add(t, ", ");
    if (devices > 1) text_add(t, "%lld x ", devices);
    client_tame(t, *gpu ? gpu : canonical_text(run, "hardware.cpu"), 160);
    if (!*gpu && canonical_int(run, "threads") > 0) text_add(t, ", threads: %lld", (long long)canonical_int(run, "threads"));
}

static void standing_line(const struct submission *s, struct text *t)
{
    const json_t *run = s->statement.json;
    text_add(t, "%s division", canonical_text(run, "division"));
    if (strcmp(canonical_text(run, "evaluated_by"), "self") == 0) text_add(t, ", self-evaluated");
    if (canonical_int(run, "synthetic")) text_add(t, ", SYNTHETIC DATA");
    if (canonical_at(run, "group") != NULL)
        text_add(t, ", run %lld of %lld of a group", (long long)canonical_int(run, "group.index"),
                 (long long)canonical_int(run, "group.planned"));
    if (canonical_at(run, "replay_of") != NULL) text_add(t, ", a replay");
    size_t latencies = json_array_size(canonical_at(run, "latencies"));
    if (latencies > 0) text_add(t, ", %zu latenc%s", latencies, latencies == 1 ? "y" : "ies");
    if (s->last != NULL) text_add(t, ", in place of #%lld", (long long)record_int(s->last, "sequence"));
}

const char *submission_noun(const struct submission *s)
{
    return s->scaling ? "scaling" : s->bench ? "measurement" : "run";
}

const char *submission_option(const struct submission *s)
{
    return s->scaling ? "scaling" : s->bench ? "bench" : "run";
}

int64_t submission_row(const struct submission *s)
{
    return s->scaling ? -s->run : s->run;
}

// The last row, compared with the first.
static void scaling_lines(const char *label, const json_t *bench, struct text *t)
{
    const json_t *rows = canonical_at(bench, "scaling"), *first = json_array_get(rows, 0);
    const json_t *last = json_array_get(rows, json_array_size(rows) - 1);
    double processes = (double)canonical_int(last, "processes"), step = (double)canonical_int(last, "step_ns") * 1e-9;
    text_entry(t, label, "%s, %s: %lld to %lld processes, then %.1f %s/s, efficiency %.1f%% (batch %lld each, %s)%s",
               canonical_text(bench, "task"), canonical_text(bench, "model"), (long long)canonical_int(first, "processes"),
               (long long)canonical_int(last, "processes"), processes * (double)canonical_int(last, "batch") / step,
               canonical_text(bench, "samples"), 1e-7 * (double)canonical_int(first, "step_ns") / step,
               (long long)canonical_int(last, "batch"), canonical_text(last, "precision"),
               canonical_int(bench, "noise") ? ", on noise" : "");
}

// The fastest setting, and how many there are.
static void bench_lines(const char *label, const json_t *bench, struct text *t)
{
    const json_t *settings = canonical_at(bench, "settings"), *best = NULL;
    double most = 0;
    size_t count = json_array_size(settings);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(settings, i);
        double rate = (double)canonical_int(one, "batch") / ((double)canonical_int(one, "step_ns") * 1e-9);
        if (rate > most) most = rate, best = one;
    }
    text_entry(t, label, "%s, %s: %zu setting%s, at most %.1f %s/s (batch %lld, %s)%s", canonical_text(bench, "task"),
               canonical_text(bench, "model"), count, count == 1 ? "" : "s", most, canonical_text(bench, "samples"),
               (long long)canonical_int(best, "batch"), canonical_text(best, "precision"),
               canonical_int(bench, "noise") ? ", on noise" : "");
}

static void describe_bench(const char *label, const json_t *bench, struct text *t)
{
    struct text words = {0};
    const char *gpu = canonical_text(bench, "hardware.gpu");
    if (canonical_at(bench, "scaling") != NULL) scaling_lines(label, bench, t);
    else bench_lines(label, bench, t);
    client_tame(&words, canonical_text(bench, "device"), 32);
    text_add(&words, ", ");
    client_tame(&words, *gpu ? gpu : canonical_text(bench, "hardware.cpu"), 160);
    if (!*gpu) text_add(&words, ", threads: %lld", (long long)canonical_int(bench, "threads"));
    text_entry(t, "", "%s", words.at);
    text_free(&words);
}

void submission_describe(const struct submission *s, struct text *t)
{
    char label[48];
    struct text words = {0};
    const json_t *run = s->statement.json;
    snprintf(label, sizeof label, "%s %lld", submission_option(s), (long long)s->run);
    if (s->refusal != NULL) {
        text_entry(t, label, "cannot be submitted");
        return;
    }
    if (s->withdrawn != NULL) {
        text_entry(t, label, "withdrawn as #%lld, it cannot come back", (long long)record_int(s->withdrawn, "sequence"));
        return;
    }
    if (s->nothing_new) {
        text_entry(t, label, "already submitted as #%lld", (long long)record_int(s->last, "sequence"));
        return;
    }
    if (s->bench) {
        describe_bench(label, run, t);
        return;
    }
    text_add(&words, "%s, %s: ", canonical_text(run, "task"), canonical_text(run, "status"));
    result_line(run, &words);
    text_entry(t, label, "%s", words.at);
    text_free(&words);
    machine_line(run, &words);
    text_entry(t, "", "%s", words.at);
    text_free(&words);
    standing_line(s, &words);
    text_entry(t, "", "%s", words.at);
    text_free(&words);
}

// Members whose text is a digest, a date, a fixed word, or shown above. Whole paths, because a member of the same name may hold
// free text elsewhere.
static bool is_plain(const char *path)
{
    static const char *const paths[] = {
        "type", "board", "board_key", "handle", "task", "task_digest", "division", "evaluated_by", "status", "nonce",
        "precision", "device", "chain_root", "chain_end", "points", "segments", "supersedes", "replay_of", "group.nonce",
        "competition.statement", "competition.salt",
        "data.split", "data.digest", "model.weights_digest", "recipe.digest", "software.binary_digest", "price.date",
        "latencies.weights_digest", "latencies.data_digest", "latencies.hash", "latencies.price.date",
        "samples", "settings.precision", "settings.recipe_digest", NULL};
    for (int i = 0; paths[i] != NULL; i++)
        if (strcmp(path, paths[i]) == 0) return true;
    return false;
}

// Breaks a word that is longer than a line (a recipe) at the line's end, after a comma if possible.
static void add_broken(const char *words, struct text *t)
{
    while (*words != 0) {
        size_t length = strcspn(words, " "), at = 0, comma = 0;
        for (int column = 0; at < length; at++) {
            if (((unsigned char)words[at] & 0xc0) != 0x80 && column++ == WORD_WIDTH) break;
            if (words[at] == ',') comma = at + 1;
        }
        bool broken = at < length;
        if (broken && comma > 0) at = comma;
        at += !broken && words[at] == ' ';
        text_bytes(t, words, at);
        if (broken) text_add(t, "\n");
        words += at;
    }
}

// "run 3", "runs 1-5, 7".
static void add_runs(const char *noun, const json_t *runs, struct text *t)
{
    size_t count = json_array_size(runs);
    text_add(t, "%s%s ", noun, count == 1 ? "" : "s");
    for (size_t i = 0, last; i < count; i = last + 1) {
        long long first = json_integer_value(json_array_get(runs, i)), to = first;
        for (last = i; last + 1 < count && json_integer_value(json_array_get(runs, last + 1)) == to + 1; last++) to++;
        text_add(t, "%s%lld", i > 0 ? ", " : "", first);
        if (to > first) text_add(t, "-%lld", to);
    }
    text_add(t, ": ");
}

// Adds the run to the runs of a finding: seen[finding] = [runs].
static void note_finding(const struct submission *s, const char *kind, const char *words, json_t *seen)
{
    struct text line = {0};
    text_add(&line, "%s: ", kind);
    client_tame(&line, words, ERROR_TEXT_MAX);
    json_t *runs = json_object_get(seen, line.at);
    if (runs == NULL) json_object_set_new_nocheck(seen, line.at, runs = json_array());
    json_array_append_new(runs, json_integer(s->run));
    text_free(&line);
}

static void note_findings(const struct submission *s, json_t *seen)
{
    const struct findings *f = &s->findings;
    char kind[64];
    if (s->refusal != NULL) note_finding(s, "REJECT", s->refusal, seen);
    for (int i = 0; i < f->count && i < FINDINGS_MAX; i++) {
        bool rejects = check_level(f->at[i].check) == CHECK_REJECT;
        snprintf(kind, sizeof kind, "%s %s", rejects ? "REJECT" : "flag", check_code(f->at[i].check));
        note_finding(s, kind, f->at[i].text, seen);
    }
    snprintf(kind, sizeof kind, "and %d more", f->count - FINDINGS_MAX);
    if (f->count > FINDINGS_MAX) note_finding(s, kind, "not shown", seen);
}

static void add_findings(const char *noun, const json_t *seen, struct text *t)
{
    const char *words;
    json_t *runs;
    json_object_foreach((json_t *)seen, words, runs)
    {
        struct text line = {0};
        add_runs(noun, runs, &line);
        text_add(&line, "%s", words);
        text_add(t, "  ");
        text_wrap(t, line.at, 2, 4);
        text_add(t, "\n");
        text_free(&line);
    }
}

void submission_findings(const struct submission *s, struct text *t)
{
    json_t *seen = json_object();
    note_findings(s, seen);
    add_findings(submission_noun(s), seen, t);
    json_decref(seen);
}

void submissions_findings(const struct submissions *all, struct text *t)
{
    json_t *seen = json_object();
    for (int i = 0; i < all->count; i++) note_findings(&all->at[i], seen);
    if (all->count > 0) add_findings(submission_noun(&all->at[0]), seen, t);
    json_decref(seen);
}

json_t *submissions_json(const struct submissions *all)
{
    json_t *rows = json_array();
    for (int i = 0; i < all->count; i++) {
        const struct submission *s = &all->at[i];
        const struct findings *f = &s->findings;
        const bool refused = s->refusal != NULL || f->rejects > 0;
        const char *state = refused ? "refused" : s->withdrawn != NULL ? "withdrawn" : s->nothing_new ? "known" : "new";
        json_t *findings = json_array(), *row = json_pack("{ss sI ss so}", "kind", submission_noun(s), "number",
                                                          (json_int_t)s->run, "state", state, "findings", findings);
        for (int n = 0; n < f->count && n < FINDINGS_MAX; n++) {
            struct text words = {0};
            client_tame(&words, f->at[n].text, FINDING_TEXT);
            json_array_append_new(findings, json_pack("{ss ss ss}", "check", check_code(f->at[n].check), "level",
                                                      check_level(f->at[n].check) == CHECK_REJECT ? "reject" : "flag", "text",
                                                      words.at));
            text_free(&words);
        }
        if (s->group != 0) json_object_set_new(row, "group", json_integer(s->group));
        if (s->refusal != NULL) json_object_set_new(row, "reason", json_string(s->refusal));
        if (s->statement.json != NULL) json_object_set_new(row, "statement", json_string(s->statement.digest));
        json_array_append_new(rows, row);
    }
    return rows;
}

// Cuts a long text between characters, unless the whole is requested.
static void shorten(struct text *words)
{
    size_t at = SHORT;
    if (words->length <= SHORT + SHORT / 2) return;
    while (at > 0 && ((unsigned char)words->at[at] & 0xc0) == 0x80) at--;
    size_t length = words->length;
    words->at[at] = '\0';
    words->length = at;
    text_add(words, " ... (%zu bytes; --dry-run shows all)", length);
}

// `runs`: the runs with this text; NULL: all.
static void add_text(const char *path, const char *words, const char *noun, const json_t *runs, bool whole, struct text *t)
{
    struct text tame = {0}, line = {0};
    client_tame(&tame, words, CANONICAL_MAX);
    if (tame.at == NULL) text_add(&tame, "(blanks)");
    if (!whole) shorten(&tame);
    if (runs != NULL) add_runs(noun, runs, &line);
    add_broken(tame.at, &line);
    text_add(t, "  %-*s", NAME - 2, path);
    if (strlen(path) > NAME - 3) text_add(t, "\n%*s", NAME, "");
    text_wrap(t, line.at, NAME, NAME);
    text_add(t, "\n");
    text_free(&tame);
    text_free(&line);
}

// Adds the run to the runs of a text: seen[path][words] = [runs].
static void note_text(const char *path, const char *words, int64_t run, json_t *seen)
{
    json_t *here = json_object_get(seen, path);
    if (*words == 0) return;
    if (here == NULL) json_object_set_new(seen, path, here = json_object());
    json_t *runs = json_object_get(here, words);
    if (runs == NULL) json_object_set_new(here, words, runs = json_array());
    size_t count = json_array_size(runs);
    if (count == 0 || json_integer_value(json_array_get(runs, count - 1)) != run) json_array_append_new(runs, json_integer(run));
}

static void walk(const char *path, const json_t *value, int64_t run, json_t *seen)
{
    const char *name;
    json_t *item;
    size_t i;
    if (*path != 0 && is_plain(path)) return;
    if (json_is_string(value)) note_text(path, json_string_value(value), run, seen);
    json_array_foreach((json_t *)value, i, item) walk(path, item, run, seen);
    json_object_foreach((json_t *)value, name, item)
    {
        char deeper[128];
        snprintf(deeper, sizeof deeper, "%s%s%s", path, *path != 0 ? "." : "", name);
        walk(deeper, item, run, seen);
    }
}

// A text of the machine that run and latency share is shown once.
static bool said_by_run(const char *path, const char *words, const json_t *runs, const json_t *seen)
{
    static const char latencies[] = "latencies.";
    if (strncmp(path, latencies, sizeof latencies - 1) != 0) return false;
    return json_equal(json_object_get(json_object_get(seen, path + sizeof latencies - 1), words), runs);
}

int submission_texts(const struct submissions *all, bool whole, struct text *t)
{
    int texts = 0;
    json_t *seen = json_object(), *here, *runs;
    const char *path, *words;
    size_t count = 0;
    for (int i = 0; i < all->count; i++) {
        if (all->at[i].nothing_new || all->at[i].refusal != NULL) continue;
        walk("", all->at[i].statement.json, all->at[i].run, seen);
        count++;
    }
    json_object_foreach(seen, path, here)
    {
        json_object_foreach(here, words, runs)
        {
            bool of_all = json_array_size(runs) == count;
            if (said_by_run(path, words, runs, seen)) continue;
            if (t != NULL) add_text(path, words, submission_noun(&all->at[0]), of_all ? NULL : runs, whole, t);
            texts++;
        }
    }
    json_decref(seen);
    return texts;
}
