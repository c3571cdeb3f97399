// SPDX-License-Identifier: Apache-2.0
// A forger's list: each attack is a name, a mutation of a true run, and its expected result. REFUSED: the board does not
// accept it. FLAGGED: it is on the board with that flag, below the level of an unflagged run. PASSED: nothing distinguishes it
// from a true run (docs/threats.md says so). The forger has a key and makes every hash, clock and sum right, except where an
// attack edits other people's statements. A new attack is a new row, which fails at first.
// Cost: about a hundred statements accepted by a store in a temporary folder.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/dawnbench/dawnbench.h"
#include "test/fault/forge_copies.h"
#include "test/unit/fixture_server.h"

static struct store *board;
static struct sshkey_secret ada, eve, eve2;  // ada repeats runs for the operator; eve2: the other key of eve
static int number, wrong;

// ---- a true run

static json_t *true_run(const char *handle)
{
    char nonce[33];
    json_t *run = fixture_run();
    snprintf(nonce, sizeof nonce, "%032x", ++number);
    json_object_del(run, "group");
    fixture_set(run, "handle", json_string(handle));
    fixture_set(run, "nonce", json_string(nonce));
    fixture_set(run, "seed", json_integer(number));
    fixture_vary(run, number);
    return run;
}

// One of a group: they follow each other in time.
static json_t *group_run(const char *group, int index)
{
    json_t *run = true_run("eve");
    int64_t ended = FIXTURE_NOW_MS - (12 - index) * (int64_t)200000;
    fixture_set(run, "started_ms", json_integer(ended - 130000));
    fixture_set(run, "ended_ms", json_integer(ended));
    fixture_set(run, "group", json_pack("{s:s, s:i, s:i, s:I}", "nonce", group, "index", index, "planned", 5, "announced_ms",
                                        (json_int_t)(FIXTURE_NOW_MS - 3000000)));
    fixture_follow(run);
    return run;
}

static enum problem submit_bytes(const struct text *bytes, struct acceptance *out)
{
    struct envelope envelope;
    *out = (struct acceptance){0};
    int rc = envelope_read(bytes->at, bytes->length, &envelope);
    if (rc < 0) {
        snprintf(out->detail, sizeof out->detail, "%s", error_text());
        return envelope.formed ? PROBLEM_SIGNATURE : PROBLEM_MALFORMED;
    }
    fixture_must(store_accept(board, &envelope, FIXTURE_NOW_MS, out));
    envelope_free(&envelope);
    free(out->receipt);
    return out->problem;
}

// The reference passes over.
static enum problem submit(json_t *statement, const struct sshkey_secret *key, struct acceptance *out)
{
    struct text bytes = {0};
    fixture_sign(statement, key, &bytes);
    enum problem problem = submit_bytes(&bytes, out);
    text_free(&bytes);
    return problem;
}

static void complain(const char *name, const char *what, const char *detail)
{
    fprintf(stderr, "%s: %s%s%s\n", name, what, *detail ? ": " : "", detail);
    wrong++;
}

// What came of a run: `check` must have been found. An accepted one has no other flag; a refused one may contradict more.
static void judge(const char *name, enum problem problem, const struct acceptance *a, enum outcome outcome, enum check check)
{
    const struct findings *f = &a->findings;
    enum problem expected = outcome == REFUSED ? PROBLEM_CHECKS : PROBLEM_NONE;
    bool found = outcome == PASSED;
    if (problem != expected) complain(name, problem_code(problem), a->detail);
    for (int i = 0; i < f->count && i < FINDINGS_MAX; i++) {
        found = found || f->at[i].check == check;
        if (outcome != REFUSED && f->at[i].check != check) complain(name, check_code(f->at[i].check), f->at[i].text);
    }
    if (!found) complain(name, "it was not found", check_code(check));
}

static void play_runs(void)
{
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        struct acceptance a;
        json_t *run = true_run("eve");
        if (attacks[i].forge != NULL) attacks[i].forge(run);
        if (attacks[i].edits != NULL) fixture_edit(run, attacks[i].edits);
        if (attacks[i].recipe != NULL) fixture_recipe(run, attacks[i].recipe);
        if (!attacks[i].edited) fixture_follow(run);
        enum problem problem = submit(run, &eve, &a);
        judge(attacks[i].name, problem, &a, attacks[i].outcome, attacks[i].check);
    }
}

// ---- runs of a group

static void no_change(json_t *run, json_t *first) { (void)run, (void)first; }
static void take_seed(json_t *run, json_t *first)
{
    fixture_set(run, "seed", json_integer(canonical_int(first, "seed")));
}
static void take_all(json_t *run, json_t *first)
{
    fixture_set(run, "points", json_deep_copy(json_object_get(first, "points")));
    fixture_set(run, "segments", json_deep_copy(json_object_get(first, "segments")));
}
static void take_all_but_a_nanosecond(json_t *run, json_t *first) { take_all(run, first), fixture_slow(run, 1); }
static void take_all_but_some_millionths(json_t *run, json_t *first) { take_all(run, first), fixture_slow(run, 30000); }
static void scale(json_t *run, int64_t millionths) { fixture_retime(run, scaled_length, &millionths); }
static void take_new_losses(json_t *run)
{
    for (size_t i = 0; i < json_array_size(json_object_get(run, "points")); i++) {
        int64_t loss = point_get(run, i, "loss");
        point_set(run, i, "loss", loss - fixture_draw(number, i, loss / 50));
    }
}
static void take_all_a_little_slower(json_t *run, json_t *first) { take_all(run, first), take_new_losses(run), scale(run, 100); }
static void take_all_much_faster(json_t *run, json_t *first) { take_all(run, first), take_new_losses(run), scale(run, -200000); }
static int64_t longer_beginning(const int64_t *ns, const char *name, size_t i, int64_t was)
{
    (void)i;
    return strcmp(name, "data") == 0 ? was + *ns : was;
}
static void take_all_after_another_beginning(json_t *run, json_t *first)
{
    take_all(run, first);
    take_new_losses(run);
    fixture_retime(run, longer_beginning, (const int64_t[]){700000000});
}
static void take_all_but_a_point(json_t *run, json_t *first)
{
    take_all_after_another_beginning(run, first);
    json_array_remove(json_object_get(run, "points"), 4);
}
static void take_nearly_the_curve(json_t *run, json_t *first)
{
    take_all(run, first);
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "loss", point_get(run, i, "loss") + (int64_t)(i % 3));
    fixture_again(run, 400000000, 77);
}
static int64_t two_altered(const int64_t *ns, const char *name, size_t i, int64_t was)
{
    return strcmp(name, "train") == 0 && (i == 8 || i == 14) ? was + *ns : was;
}
static void take_most_and_its_losses(json_t *run, json_t *first)
{
    take_all(run, first);
    scale(run, 100);
    fixture_retime(run, two_altered, (const int64_t[]){40000000});
}
static void take_most_of_the_intervals(json_t *run, json_t *first) { take_most_and_its_losses(run, first), take_new_losses(run); }
static void take_the_losses_but_a_point(json_t *run, json_t *first)
{
    take_most_and_its_losses(run, first);
    json_array_remove(json_object_get(run, "points"), 4);
}
#define TAKE(name, change)                                                                                             \
    static void name(json_t *run, json_t *first) { take_all(run, first), take_new_losses(run), change; }
TAKE(take_a_step_earlier, one_step_less(run))
TAKE(take_a_step_earlier_and_slower, (one_step_less(run), scale(run, 10000)))
TAKE(take_a_step_earlier_without_a_point, (one_step_less(run), one_point_less(run)))
TAKE(take_a_step_earlier_slower_without_a_point, (one_step_less(run), scale(run, 10000), one_point_less(run)))
TAKE(take_rotated, rotated(run))
TAKE(take_permuted, permuted(run))
TAKE(take_permuted_and_slower, (permuted(run), scale(run, 10000)))
TAKE(take_reversed_intervals, reversed_intervals(run))
static void take_the_losses_a_step_earlier(json_t *run, json_t *first)
{
    take_nearly_the_curve(run, first);
    one_step_less(run);
}
static void take_the_losses_times_a_factor(json_t *run, json_t *first)
{
    take_all(run, first);
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "loss", point_get(run, i, "loss") * 99 / 100);
    fixture_again(run, 400000000, 77);
}
static void take_the_losses_of_a_short_curve(json_t *run, json_t *first)
{
    take_the_losses_times_a_factor(run, first);
    third_of_the_points(first), third_of_the_points(run);
}
// Four points each, as a recipe with few evaluations has.
static void take_a_short_curve_slower(json_t *run, json_t *first)
{
    take_all(run, first), take_new_losses(run), scale(run, 10000);
    third_of_the_points(first), third_of_the_points(run);
}
static void constant_losses(json_t *run, json_t *first)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "loss", 500000);
    (void)first;
}
// Nothing is left of the original but its scores.
static void take_all_and_scatter_it(json_t *run, json_t *first) { take_all(run, first), fixture_vary(run, 99); }
static void resumed_within_a_group(json_t *run, json_t *first)
{
    fixture_set(run, "resumed", json_integer(1));
    (void)first;
}
static void take_the_times(json_t *run, json_t *first)
{
    take_all(run, first);
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "loss", point_get(run, i, "loss") + 17);
}
static void take_the_curve(json_t *run, json_t *first) { take_all(run, first), fixture_slow(run, 400000000); }
static void overlap(json_t *run, json_t *first)
{
    int64_t ended = canonical_int(first, "ended_ms") + 5000;
    fixture_set(run, "ended_ms", json_integer(ended));
    fixture_set(run, "started_ms", json_integer(ended - 130000));
}
static void overlap_elsewhere(json_t *run, json_t *first)
{
    overlap(run, first);
    fixture_set(run, "hardware.cpu", json_string("Another CPU"));
}

static const struct {
    const char *name;
    void (*forge)(json_t *run, json_t *first);
    enum outcome outcome;
    enum check check;
} mates[] = {
#define MATE(outcome, check, forge) {#forge, forge, outcome, CHECK_##check}
    {"no_change", no_change, PASSED, CHECKS},
    {"overlap_elsewhere", overlap_elsewhere, PASSED, CHECKS},
    MATE(REFUSED, SEED, take_seed), MATE(REFUSED, TWIN, take_all), MATE(REFUSED, TWIN, take_all_but_a_nanosecond),
    MATE(REFUSED, TWIN, take_all_but_some_millionths), MATE(REFUSED, TWIN, take_the_times), MATE(REFUSED, TWIN, take_the_curve),
    {"take_all_and_scatter_it", take_all_and_scatter_it, PASSED, CHECKS},
    MATE(REFUSED, TWIN, take_all_a_little_slower), MATE(REFUSED, TWIN, take_all_much_faster),
    MATE(REFUSED, TWIN, take_all_after_another_beginning), MATE(REFUSED, TWIN, take_all_but_a_point),
    MATE(FLAGGED, PACE, take_most_of_the_intervals), MATE(REFUSED, TWIN, take_most_and_its_losses),
    MATE(REFUSED, TWIN, take_the_losses_but_a_point),
    MATE(REFUSED, TWIN, take_nearly_the_curve), MATE(REFUSED, CONTRADICTION, resumed_within_a_group),
    MATE(FLAGGED, OVERLAP, overlap), MATE(REFUSED, TWIN, take_a_step_earlier), MATE(REFUSED, TWIN,
                                                                                    take_a_step_earlier_and_slower),
    MATE(REFUSED, TWIN, take_a_step_earlier_without_a_point), MATE(REFUSED, TWIN, take_rotated), MATE(REFUSED, TWIN,
                                                                                                      take_permuted),
    MATE(REFUSED, TWIN, take_permuted_and_slower), MATE(REFUSED, TWIN, take_reversed_intervals),
    MATE(REFUSED, TWIN, take_a_step_earlier_slower_without_a_point),
    MATE(REFUSED, TWIN, take_the_losses_a_step_earlier), MATE(REFUSED, TWIN, take_the_losses_times_a_factor),
    MATE(FLAGGED, PACE, take_the_losses_of_a_short_curve), MATE(FLAGGED, PACE, take_a_short_curve_slower),
    MATE(FLAGGED, CONSTANT, constant_losses),
};

static void play_groups(void)
{
    for (size_t i = 0; i < sizeof mates / sizeof *mates; i++) {
        char group[33];
        struct acceptance a;
        snprintf(group, sizeof group, "%032x", (unsigned)(1000 + i));
        json_t *first = group_run(group, 1), *second = group_run(group, 2);
        mates[i].forge(second, first);
        fixture_follow(first);
        fixture_follow(second);
        judge("the first of a group", submit(first, &eve, &a), &a, PASSED, CHECKS);
        enum problem problem = submit(second, &eve, &a);
        judge(mates[i].name, problem, &a, mates[i].outcome, mates[i].check);
    }
}

#include "test/fault/forge_statements.h"
#include "test/fault/forge_ticket.h"
#include "test/fault/forge_draw.h"

int main(void)
{
    char folder[] = "/tmp/dawn-test-XXXXXX", path[64], command[64];
    int faults = 0;
    static const char json[] = "{\"version\": \"v1.0\", \"author\": \"Google\", \"framework\": \"F\", \"model\": \"M\", "
                               "\"hardware\": \"a machine\", \"timestamp\": \"2018-01-01\"}",
                      tsv[] = "epoch\thours\ttop1Accuracy\n1\t1\t94.5\n";
    struct dawnbench_entry *archived;
    if (mkdtemp(folder) == NULL) abort();
    snprintf(path, sizeof path, "%s/board.db", folder);
    sshkey_new(&ada, "");
    sshkey_new(&eve, "");
    sshkey_new(&eve2, "");
    fixture_must(store_open(&(struct store_settings){.path = path, .origin = "test"}, STORE_WRITE, &board));
    fixture_must(dawnbench_read(contest_find("cifar10"), true, "x", json, strlen(json), tsv, strlen(tsv), &archived));
    fixture_must(store_import(board, (const struct dawnbench_entry *const[]){archived}, 1, FIXTURE_NOW_MS));
    dawnbench_free(archived);
    sshkey_id(store_key(board), fixture_board_key);
    play_runs();
    play_groups();
    set_draw(0, 0);
    play_statements();
    play_tickets();
    play_draws();
    fixture_must(store_check(board, fixture_say, NULL, &faults));
    if (faults > 0) complain("the record", "it does not hold after all this", "");
    store_close(board);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) abort();
    printf("%zu attacks, %d not met as they should\n", sizeof attacks / sizeof *attacks + sizeof mates / sizeof *mates +
           sizeof statements / sizeof *statements + sizeof tickets / sizeof *tickets + sizeof draws / sizeof *draws, wrong);
    return wrong > 0;
}
