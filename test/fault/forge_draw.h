// SPDX-License-Identifier: Apache-2.0
// Attacks on `reproduced` and on the draw (docs/decisions/draw.md). forge.c includes this file after its helpers.
#pragma once

// The operator lists ada's key alone.
static void set_draw(int64_t share, int64_t again)
{
    char id[SSHKEY_ID];
    const char *keys[] = {sshkey_id(&ada.key, id)};
    struct acceptance a;
    fixture_must(store_draw(board, &(struct draw_rules){.share_micro = share, .again_micro = again, .keys = keys, .key_count = 1},
                            "Ann Lee", FIXTURE_NOW_MS, &a));
    if (a.problem != PROBLEM_NONE) complain("the rules of the draw", problem_code(a.problem), a.detail);
    free(a.receipt);
}

static struct entry row_of(const char *source, struct arena *arena)
{
    struct reader *reader;
    struct entries rows;
    fixture_must(store_reader(board, &reader));
    fixture_must(store_entries_of(reader, source, arena, &rows));
    store_reader_close(reader);
    return rows.count > 0 ? rows.at[0] : (struct entry){.trust = TRUST_IMPORTED};
}

// The same figures in other seconds.
static json_t *again(const json_t *run, const char *handle)
{
    char nonce[33];
    json_t *copy = json_deep_copy(run);
    snprintf(nonce, sizeof nonce, "%032x", 70000 + number++);
    json_object_del(copy, "group");
    fixture_set(copy, "handle", json_string(handle));
    fixture_set(copy, "nonce", json_string(nonce));
    fixture_set(copy, "replay_of", json_string(head_of(run)));
    fixture_again(copy, 50000000, number);
    fixture_follow(copy);
    return copy;
}

// A group that never happened, and its repetition under a second key: eve has both.
static void invented_group_with_a_second_key(void)
{
    static const char group[] = "0000000000000000000000000000beef";
    struct arena arena = {0};
    struct acceptance a;
    json_t *copies[5];
    for (int i = 0; i < 5; i++) {
        json_t *run = group_run(group, i + 1);
        copies[i] = again(run, "eve2");
        judge("a run of a group that never happened", submit(run, &eve, &a), &a, PASSED, CHECKS);
    }
    for (int i = 0; i < 5; i++) judge("its repetition by a second key", submit(copies[i], &eve2, &a), &a, PASSED, CHECKS);
    const struct entry row = row_of("group 0000000000000000000000000000beef", &arena);
    if (row.trust != TRUST_CHECKED) complain("invented_group_with_a_second_key", trust_word(row.trust), "");
    arena_free(&arena);
}

// The person whose repetitions count repeats an invented run of their own.
static void own_run_by_a_listed_key(void)
{
    struct arena arena = {0};
    struct acceptance a;
    json_t *run = true_run("ada"), *copy;
    fixture_follow(run);
    copy = again(run, "ada");
    judge("a run of a listed key", submit(run, &ada, &a), &a, PASSED, CHECKS);
    const char *source = arena_text(&arena, "#%lld", (long long)a.sequence);
    judge("its repetition by the same key", submit(copy, &ada, &a), &a, PASSED, CHECKS);
    if (row_of(source, &arena).trust != TRUST_CHECKED) complain("own_run_by_a_listed_key", "it counts as a repetition", "");
    arena_free(&arena);
}

static bool is_drawn(int64_t run, struct drawn *d, struct arena *arena)
{
    struct reader *reader;
    fixture_must(store_reader(board, &reader));
    int rc = store_drawn(reader, run, arena, d);
    store_reader_close(reader);
    return rc == 0;
}

// Nobody draws a share of 0, but the best of a board.
static void invented_record(void)
{
    struct arena arena = {0};
    struct acceptance a;
    struct drawn d;
    json_t *run = true_run("eve");
    fixture_slow(run, -6000000000);  // faster than all others here
    fixture_follow(run);
    judge("a record that never happened", submit(run, &eve, &a), &a, PASSED, CHECKS);
    if (!is_drawn(a.sequence, &d, &arena) || !d.waits) complain("invented_record", "it was not drawn", "");
    arena_free(&arena);
}

// A statement in the place of the one of this run.
static json_t *replaces(json_t *run)
{
    char digest[DIGEST_HEX];
    name_of(run, digest);
    json_t *replacement = json_deep_copy(run);
    json_object_set_new(replacement, "supersedes", json_string(digest));
    return replacement;
}

// A new statement of the run, or a withdrawal of it, does not end the draw.
static void new_words_after_the_draw(void)
{
    struct arena arena = {0};
    struct acceptance a;
    struct drawn d;
    set_draw(DRAW_WHOLE, 0);
    json_t *run = true_run("eve"), *replacement = replaces(run);
    json_object_set_new(replacement, "note", json_string("other words"));
    set_draw(DRAW_WHOLE, 1);
    judge("a run that is drawn", submit(run, &eve, &a), &a, PASSED, CHECKS);
    set_draw(0, 1);
    judge("its new words", submit(replacement, &eve, &a), &a, PASSED, CHECKS);
    if (!is_drawn(a.sequence, &d, &arena) || !d.waits) complain("new_words_after_the_draw", "the draw has ended", "");
    arena_free(&arena);
}

// A flag that comes off again: flagged runs are not drawn.
static void spared_by_a_flag(void)
{
    struct arena arena = {0};
    struct acceptance a;
    struct drawn d;
    set_draw(DRAW_WHOLE, 2);
    json_t *run = true_run("eve"), *replacement;
    fixture_edit(run, MODEL_NS(160000, 160000, 160000, 160000));
    fixture_follow(run);
    replacement = replaces(run);
    json_object_set_new(replacement, "latencies", json_array());
    judge("a run with a flag", submit(run, &eve, &a), &a, FLAGGED, CHECK_SPEED_HIGH);
    judge("the run without its flag", submit(replacement, &eve, &a), &a, PASSED, CHECKS);
    if (!is_drawn(a.sequence, &d, &arena) || !d.waits) complain("spared_by_a_flag", "it was not drawn", "");
    arena_free(&arena);
}

static json_t *a_repetition(void)
{
    return json_pack("{s:i, s:i, s:i, s:s, s:s, s:s}", "epoch_micro", 1000000, "points", 1, "equal", 1, "device", "cpu",
                     "hardware", "a CPU", "binary_digest", OTHER_HEX);
}

// The operator trained a run again, and came to the same figures.
static enum trust repeated_equally(int64_t run, struct arena *arena)
{
    struct reader *reader;
    struct stored s;
    struct acceptance a;
    const char *id = arena_text(arena, "%lld", (long long)run);
    json_t *repeated = a_repetition();
    fixture_must(store_reader(board, &reader));
    fixture_must(store_statement(reader, id, arena, &s));
    fixture_must(store_decide(board, &(struct decision){"equal", s.digest, "Ann Lee", "trained again", repeated}, FIXTURE_NOW_MS,
                              &a));
    if (a.problem != PROBLEM_NONE) complain("the outcome of a draw", problem_code(a.problem), a.detail);
    fixture_must(store_statement(reader, id, arena, &s));
    store_reader_close(reader);
    free(a.receipt);
    json_decref(repeated);
    return s.trust;
}

// Figures that ada trained, or the first of them, in seconds that eve made up: training them again proves nothing of eve.
static void figures_of_another(void (*forge)(json_t *), bool withdrawn, const char *name)
{
    struct arena arena = {0};
    struct acceptance a;
    static int64_t rules = 3;
    char digest[DIGEST_HEX];
    set_draw(DRAW_WHOLE, rules++);
    json_t *run = true_run("ada"), *copy = again(run, "eve");
    json_object_del(copy, "replay_of");
    forge(copy);
    fixture_follow(copy);
    name_of(run, digest);
    judge("a run of another", submit(run, &ada, &a), &a, PASSED, CHECKS);
    json_t *withdraw = about("withdraw", digest);
    json_object_set_new(withdraw, "reason", json_string("a mistake"));
    if (!withdrawn && repeated_equally(a.sequence, &arena) != TRUST_REPRODUCED) complain(name, "the original is not raised", "");
    if (withdrawn && submit(json_incref(withdraw), &ada, &a) != PROBLEM_NONE) complain(name, problem_code(a.problem), a.detail);
    judge(name, submit(copy, &eve, &a), &a, PASSED, CHECKS);
    if (repeated_equally(a.sequence, &arena) != TRUST_CHECKED) complain(name, "it is raised", "");
    json_decref(withdraw);
    arena_free(&arena);
}
static void another_recipe_and_binary(json_t *run) { another_recipe_text(run), another_binary(run); }
static void other_figures_later(json_t *run)
{
    for (size_t i = 4; i < FIXTURE_EPOCHS; i++) point_set(run, i, "loss", point_get(run, i, "loss") - 1000 * (int64_t)i);
}
#define FIGURES(name, forge, withdrawn) static void name(void) { figures_of_another(forge, withdrawn, #name); }
FIGURES(public_curve_in_other_seconds, honest, false)
FIGURES(public_curve_of_another_program, another_recipe_and_binary, false)
FIGURES(first_epochs_of_a_public_curve, other_figures_later, false)
FIGURES(curve_of_a_withdrawn_run, honest, true)

// A forger who could sign rules would list keys of their own; one who could sign outcomes would need no training.
static void rules_of_a_stranger(void)
{
    char id[SSHKEY_ID];
    struct acceptance a;
    json_t *rules = json_pack("{s:s, s:i, s:s, s:i, s:i, s:[{s:s}], s:s, s:I}", "type", "draw", "version", 1, "board", "test",
                              "share_micro", 0, "again_micro", 0, "keys", "key", sshkey_id(&eve2.key, id), "by", "Eve", "made_ms",
                              (json_int_t)FIXTURE_NOW_MS);
    if (submit(rules, &eve, &a) != PROBLEM_NOT_YOURS) complain("rules_of_a_stranger", problem_code(a.problem), a.detail);
}
static void outcome_of_a_stranger(void)
{
    struct acceptance a;
    json_t *outcome = about("audit", accepted_run(&a, "a run to audit"));
    json_object_set_new(outcome, "verdict", json_string("equal"));
    json_object_set_new(outcome, "by", json_string("Eve"));
    json_object_set_new(outcome, "reason", json_string("trained again"));
    json_object_set_new(outcome, "repeated", a_repetition());
    if (submit(outcome, &eve, &a) != PROBLEM_NOT_YOURS) complain("outcome_of_a_stranger", problem_code(a.problem), a.detail);
}

static void (*const draws[])(void) = {
    invented_group_with_a_second_key, own_run_by_a_listed_key, invented_record, new_words_after_the_draw, rules_of_a_stranger,
    outcome_of_a_stranger, spared_by_a_flag, public_curve_in_other_seconds, public_curve_of_another_program,
    first_epochs_of_a_public_curve, curve_of_a_withdrawn_run,
};

static void play_draws(void)
{
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) draws[i]();
}
