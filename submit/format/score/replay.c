// SPDX-License-Identifier: Apache-2.0
// Invariant: times are never compared, so a replay on a slower machine agrees as well. Cost: a walk over two curves.
#include "submit/format/score/replay.h"

#include <math.h>
#include <string.h>

#include "submit/format/canonical.h"
#include "submit/format/score/curve.h"

static const char *const verdicts[][2] = {
#define VERDICT(name, word, what) {word, what},
    REPLAY_VERDICT_LIST
#undef VERDICT
};

const char *replay_word(enum replay_verdict verdict)
{
    return verdicts[verdict][0];
}

const char *replay_what(enum replay_verdict verdict)
{
    return verdicts[verdict][1];
}

// ---- settings that must be equal

bool replay_has(const json_t *list, const char *member, const char *value, const char *digest)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (strcmp(canonical_text(item, member), value) == 0 && strcmp(canonical_text(item, "digest"), digest) == 0) return true;
    }
    return false;
}

static bool same_list(const json_t *a, const json_t *b, const char *member)
{
    if (json_array_size(a) != json_array_size(b)) return false;
    for (size_t i = 0; i < json_array_size(a); i++) {
        const json_t *item = json_array_get(a, i);
        if (!replay_has(b, member, canonical_text(item, member), canonical_text(item, "digest"))) return false;
    }
    return true;
}

static bool same_text(const json_t *a, const json_t *b, const char *path)
{
    return strcmp(canonical_text(a, path), canonical_text(b, path)) == 0;
}

// Lists the settings that make it another training, one per line. `part`: a beginning of the replay suffices.
static int find_others(const json_t *a, const json_t *b, bool part, struct text *t)
{
    const struct {
        bool same;
        const char *sentence;
    } needs[] = {
        {curve_ended(a) && (part || curve_ended(b)), "one of them did not finish"},
        {strcmp(canonical_text(a, "evaluated_by"), "harness") == 0 && strcmp(canonical_text(b, "evaluated_by"), "harness") == 0,
         "the harness did not evaluate both"},
        {same_text(a, b, "task_digest"), "task, metric or target: another one"},
        {same_text(a, b, "recipe.text"), "recipe: another text"},
        {canonical_int(a, "seed") == canonical_int(b, "seed"), "seed: another one"},
        {same_list(json_object_get(a, "data"), json_object_get(b, "data"), "split"), "data: other digests"},
        {same_list(json_object_get(a, "files"), json_object_get(b, "files"), "kind"), "files besides the data: other digests"},
    };
    int count = 0;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (needs[i].same) continue;
        text_add(t, "%s\n", needs[i].sentence);
        count++;
    }
    return count;
}

// ---- settings that decide if the same bytes are expected

static int differ(struct text *t, const char *what, const json_t *a, const json_t *b, const char *path)
{
    if (canonical_at(b, path) == NULL || same_text(a, b, path)) return 0;
    const char *own = canonical_text(a, path), *other = canonical_text(b, path);
    text_add(t, "%s: %.80s, in the replay %.80s\n", what, *own ? own : "unknown", *other ? other : "unknown");
    return 1;
}

static int differ_int(struct text *t, const char *what, const json_t *a, const json_t *b, const char *path)
{
    int64_t own = canonical_int(a, path), other = canonical_int(b, path);
    if (canonical_at(b, path) == NULL || own == other) return 0;
    text_add(t, "%s: %lld, in the replay %lld\n", what, (long long)own, (long long)other);
    return 1;
}

// Builds of one commit may differ, too, so the digest decides; the commit is what people know.
static int differ_program(struct text *t, const json_t *a, const json_t *b)
{
    if (canonical_at(b, "software.binary_digest") == NULL || same_text(a, b, "software.binary_digest")) return 0;
    text_add(t, "program: %.12s... of commit %.12s, in the replay %.12s... of commit %.12s\n",
             canonical_text(a, "software.binary_digest"), canonical_text(a, "software.commit"),
             canonical_text(b, "software.binary_digest"), canonical_text(b, "software.commit"));
    return 1;
}

static int differ_machine(struct text *t, const json_t *a, const json_t *b)
{
    const char *device = canonical_text(a, "device");
    bool host = strcmp(device, "cpu") == 0 || strcmp(device, "ref") == 0;
    if (!same_text(a, b, "device")) return differ(t, "device", a, b, "device");
    if (!host) return differ(t, "GPU", a, b, "hardware.gpu");
    return differ(t, "processor", a, b, "hardware.cpu") + differ(t, "its instruction sets", a, b, "hardware.cpu_flags");
}

int replay_settings(const json_t *a, const json_t *b, struct text *t)
{
    return differ_program(t, a, b) + differ_machine(t, a, b) + differ_int(t, "threads", a, b, "threads") +
           differ(t, "precision", a, b, "precision") + differ(t, "libraries", a, b, "software.libraries") +
           differ_int(t, "stops at the target", a, b, "stop_at_target");
}

// ---- figures

static bool same_member(const json_t *a, const json_t *b, const char *name)
{
    const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);
    return x == y || json_equal(x, y);
}

static bool same_point(const json_t *a, const json_t *b)
{
    return b != NULL && curve_step(a) == curve_step(b) && curve_epoch_micro(a) == curve_epoch_micro(b) &&
           canonical_int(a, "samples") == canonical_int(b, "samples") && canonical_int(a, "loss") == canonical_int(b, "loss") &&
           same_member(a, b, "scores") && same_member(a, b, "losses");
}

// The file of weights also holds what the program writes about them, so another program's may differ.
static bool same_weights(const json_t *a, const json_t *b)
{
    const char *own = canonical_text(a, "model.weights_digest"), *other = canonical_text(b, "model.weights_digest");
    return *own == 0 || *other == 0 || !same_text(a, b, "software.binary_digest") || strcmp(own, other) == 0;
}

static bool same_figures(const json_t *a, const json_t *b, struct replay_judged *j)
{
    const json_t *points = json_object_get(a, "points"), *others = json_object_get(b, "points");
    j->points = json_array_size(points);
    for (size_t i = 0; i < j->points; i++) j->equal += same_point(json_array_get(points, i), json_array_get(others, i));
    bool same = j->points > 0 && j->equal == j->points && json_array_size(others) == j->points;
    if (!same || same_weights(a, b)) return same;
    text_add(&j->differs, "weights: other bytes\n");
    return false;
}

static int64_t score_at(const json_t *points, int64_t step, const struct run_metric *m)
{
    for (size_t i = 0; i < json_array_size(points); i++)
        if (curve_step(json_array_get(points, i)) == step) return curve_score(json_array_get(points, i), m);
    return RUN_SCORE_NONE;
}

// A run that stops at its target may stop earlier than its replay.
static void find_scores(const json_t *a, const json_t *b, struct replay_judged *j)
{
    const json_t *points = json_object_get(a, "points"), *others = json_object_get(b, "points");
    j->score[0] = j->score[1] = RUN_SCORE_NONE;
    for (size_t i = json_array_size(points); i-- > 0;) {
        int64_t own = curve_score(json_array_get(points, i), &j->board);
        int64_t other = score_at(others, curve_step(json_array_get(points, i)), &j->board);
        if (own == RUN_SCORE_NONE || other == RUN_SCORE_NONE) continue;
        j->score[0] = own, j->score[1] = other;
        return;
    }
}

double replay_spread(double sigma, int n)
{
    return group_t_quantile(0.975, n - 1) * sigma * sqrt(1 + 1.0 / n);
}

double replay_sampling(double share, int64_t items)
{
    const double quantile = 1.959963984540054;  // 0.975 of the normal distribution
    return quantile * sqrt(2 * share * (1 - share) / (double)items);
}

bool replay_interval(const struct group_facts *group, double *low, double *high)
{
    if (group == NULL || group->finished < GROUP_MINIMUM) return false;
    double half = replay_spread(group->accuracy.sigma, group->finished);
    *low = group->accuracy.mean - half;
    *high = group->accuracy.mean + half;
    return true;
}

bool replay_lies_between(double score, double low, double high)
{
    const double rounding = 1e-12;  // of a mean of equal scores
    return score >= low - rounding && score <= high + rounding;
}

// A share that is no count (F1) is the mean of values between 0 and 1, which scatter no more than a count does. Of any other
// metric no interval is known from one evaluation.
static void find_interval(const json_t *a, const struct group_facts *group, struct replay_judged *j)
{
    double own = run_metric_value(&j->board, j->score[0]), other = run_metric_value(&j->board, j->score[1]);
    double share = (own + other) / 2;
    int64_t items = j->board.items > 0 ? j->board.items : curve_items(a, "test");
    bool plain = *j->board.unit == 0 || strcmp(j->board.unit, "%") == 0;
    j->low = j->high = NAN;
    if (replay_interval(group, &j->low, &j->high)) {
        j->runs = group->finished;
    } else if (items > 0 && plain && !j->board.lower_is_better && share >= 0 && share <= 1) {
        double half = replay_sampling(share, items);
        j->low = own - half;
        j->high = own + half;
    }
}

static enum replay_verdict judge_pair(const json_t *a, const json_t *b, const struct group_facts *group, struct replay_judged *j)
{
    if (find_others(a, b, false, &j->differs) > 0) return REPLAY_NONE;
    j->settings = replay_settings(a, b, &j->differs);
    j->board = curve_board(a);
    find_scores(a, b, j);
    if (same_figures(a, b, j)) return REPLAY_EXACT;
    if (j->settings == 0 || j->score[0] == RUN_SCORE_NONE) return REPLAY_DIFFERS;
    find_interval(a, group, j);
    double other = run_metric_value(&j->board, j->score[1]);
    return replay_lies_between(other, j->low, j->high) ? REPLAY_WITHIN : REPLAY_DIFFERS;
}

void replay_judge(const json_t *original, const json_t *replay, const struct group_facts *group, struct replay_judged *j)
{
    *j = (struct replay_judged){.low = NAN, .high = NAN, .score = {RUN_SCORE_NONE, RUN_SCORE_NONE}};
    j->verdict = judge_pair(original, replay, group, j);
}

static size_t points_within(const json_t *points, int64_t epoch_micro)
{
    size_t count = 0;
    while (count < json_array_size(points) && curve_epoch_micro(json_array_get(points, count)) <= epoch_micro) count++;
    return count;
}

void replay_judge_first(const json_t *original, const json_t *replay, int64_t epoch_micro, struct replay_judged *j)
{
    const json_t *points = json_object_get(original, "points"), *others = json_object_get(replay, "points");
    *j = (struct replay_judged){.verdict = REPLAY_NONE, .low = NAN, .high = NAN, .score = {RUN_SCORE_NONE, RUN_SCORE_NONE}};
    if (find_others(original, replay, true, &j->differs) > 0) return;
    j->settings = replay_settings(original, replay, &j->differs);
    j->board = curve_board(original);
    const size_t own = points_within(points, epoch_micro), other = points_within(others, epoch_micro);
    j->points = own > other ? own : other;
    for (size_t i = 0; i < own; i++) j->equal += same_point(json_array_get(points, i), json_array_get(others, i));
    if (j->points == 0) text_add(&j->differs, "points: neither has one up to there\n");
    else j->verdict = j->equal == j->points ? REPLAY_EXACT : REPLAY_DIFFERS;
}

void replay_free(struct replay_judged *j)
{
    text_free(&j->differs);
}
