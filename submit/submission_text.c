// SPDX-License-Identifier: Apache-2.0
// A submission as people read it before they agree. Invariant: every text of a statement that is not a digest, a date or
// one of a few fixed words is shown, whole, before it is published; no byte of it can steer the terminal.
// Cost: none that matters.
#include "submit/submission.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "submit/client.h"
#include "submit/format/cost.h"

enum { LABEL = 13, WORD_WIDTH = 64 };

static void result_line(const json_t *run, struct text *t)
{
    char span[TEXT_FIGURE], k[TEXT_FIGURE], n[TEXT_FIGURE], cost[COST_TEXT];
    int64_t items = canonical_int(run, "items"), last = -1;
    const json_t *points = canonical_at(run, "points");
    for (size_t i = 0; i < json_array_size(points); i++)
        if (json_object_get(json_array_get(points, i), "k") != NULL) last = canonical_int(json_array_get(points, i), "k");
    if (last >= 0)
        text_add(t, "%.2f%% (%s of %s)", floor((double)last * 10000 / (double)items) / 100, text_count(k, last),
                 text_count(n, items));
    else text_add(t, "never evaluated");
    if (canonical_at(run, "reached") != NULL)
        text_add(t, ", target met after %s", text_span(span, (double)canonical_int(run, "reached.t_ns") / 1e9));
    else text_add(t, ", target not met");
    if (canonical_at(run, "price.total_micro_usd") != NULL)
        text_add(t, ", %s", cost_text(cost, canonical_int(run, "price.total_micro_usd")));
}

static void machine_line(const json_t *run, struct text *t)
{
    client_tame(t, canonical_text(run, "device"), 32);
    text_add(t, ", ");
    client_tame(t, canonical_text(run, "precision"), 16);
    const char *gpu = canonical_text(run, "hardware.gpu");
    long long devices = (long long)canonical_int(run, "hardware.devices");
    text_add(t, ", ");
    if (devices > 1) text_add(t, "%lld x ", devices);
    client_tame(t, *gpu ? gpu : canonical_text(run, "hardware.cpu"), 160);
    if (!*gpu) text_add(t, ", %lld threads", (long long)canonical_int(run, "threads"));
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
    size_t latencies = json_array_size(canonical_at(run, "latencies"));
    if (latencies > 0) text_add(t, ", %zu latenc%s", latencies, latencies == 1 ? "y" : "ies");
    if (s->last != NULL) text_add(t, ", in place of #%lld", (long long)record_int(s->last, "sequence"));
}

void submission_describe(const struct submission *s, struct text *t)
{
    char label[32];
    struct text words = {0};
    const json_t *run = s->statement.json;
    snprintf(label, sizeof label, "run %lld", (long long)s->run);
    if (s->withdrawn != NULL) {
        text_entry(t, label, "withdrawn as #%lld, it can not come back", (long long)record_int(s->withdrawn, "sequence"));
        return;
    }
    if (s->nothing_new) {
        text_entry(t, label, "already submitted as #%lld", (long long)record_int(s->last, "sequence"));
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

void submission_findings(const struct submission *s, struct text *t)
{
    const struct findings *f = &s->findings;
    for (int i = 0; i < f->count && i < FINDINGS_MAX; i++) {
        struct text words = {0};
        client_tame(&words, f->at[i].text, FINDING_TEXT);
        text_add(t, "  run %lld: %s %s: %s\n", (long long)s->run, check_level(f->at[i].check) == CHECK_REJECT ? "REJECT" : "flag",
                 check_code(f->at[i].check), words.at != NULL ? words.at : "");
        text_free(&words);
    }
    if (f->count > FINDINGS_MAX) text_add(t, "  run %lld: and %d more\n", (long long)s->run, f->count - FINDINGS_MAX);
}

// Members whose text is a digest, a date or one of a few fixed words, or is said above. Whole paths: what is fixed in one
// place may be anybody's word in another.
static bool is_plain(const char *path)
{
    static const char *const paths[] = {
        "type", "board", "handle", "task", "task_digest", "division", "evaluated_by", "status", "nonce", "precision", "device",
        "chain_root", "points", "segments", "supersedes", "group.nonce", "data.split", "data.digest", "model.weights_digest",
        "recipe.digest", "software.binary_digest", "price.date", "latencies.weights_digest", "latencies.data_digest",
        "latencies.price.date", NULL};
    for (int i = 0; paths[i] != NULL; i++)
        if (strcmp(path, paths[i]) == 0) return true;
    return false;
}

// A word longer than a line (a recipe is one) is broken where the line ends.
static void add_broken(const char *words, struct text *t)
{
    int column = 0;
    for (; *words != 0; words++) {
        if (*words == ' ') column = 0;
        else if (((unsigned char)*words & 0xc0) != 0x80 && column++ == WORD_WIDTH) {
            text_add(t, "\n");
            column = 1;
        }
        text_bytes(t, words, 1);
    }
}

static void add_text(const char *path, const char *words, json_t *seen, struct text *t)
{
    struct text key = {0}, tame = {0}, broken = {0};
    text_add(&key, "%s=%s", path, words);
    if (*words != 0 && json_object_get(seen, key.at) == NULL) {
        json_object_set_new(seen, key.at, json_true());
        client_tame(&tame, words, CANONICAL_MAX);
        if (tame.at == NULL) text_add(&tame, "(blanks)");
        char label[64];
        snprintf(label, sizeof label, "%s", path);
        add_broken(tame.at, &broken);
        if (strlen(label) >= LABEL - 2) text_add(t, "  %s\n", label);
        text_entry(t, strlen(label) >= LABEL - 2 ? "" : label, "%s", broken.at);
    }
    text_free(&key);
    text_free(&tame);
    text_free(&broken);
}

static void walk(const char *path, const json_t *value, json_t *seen, struct text *t)
{
    const char *name;
    json_t *item;
    size_t i;
    if (*path != 0 && is_plain(path)) return;
    if (json_is_string(value)) add_text(path, json_string_value(value), seen, t);
    json_array_foreach((json_t *)value, i, item) walk(path, item, seen, t);
    json_object_foreach((json_t *)value, name, item)
    {
        char deeper[128];
        snprintf(deeper, sizeof deeper, "%s%s%s", path, *path != 0 ? "." : "", name);
        walk(deeper, item, seen, t);
    }
}

void submission_texts(const struct submissions *all, struct text *t)
{
    json_t *seen = json_object();
    for (int i = 0; i < all->count; i++)
        if (!all->at[i].nothing_new) walk("", all->at[i].statement.json, seen, t);
    json_decref(seen);
}
