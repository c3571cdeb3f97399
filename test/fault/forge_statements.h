// SPDX-License-Identifier: Apache-2.0
// Attacks with whole statements: the problem that each has to cause

static enum problem other_board_of_that_name(struct acceptance *a)
{
    json_t *run = true_run("eve");
    json_object_set_new(run, "board_key", json_string("SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"));
    return submit(run, &eve, a);
}
static enum problem no_board_key(struct acceptance *a)
{
    char key[SSHKEY_ID];
    struct text bytes = {0};
    memcpy(key, fixture_board_key, sizeof key);
    *fixture_board_key = 0;
    fixture_sign(true_run("eve"), &eve, &bytes);
    memcpy(fixture_board_key, key, sizeof key);
    enum problem problem = submit_bytes(&bytes, a);
    text_free(&bytes);
    return problem;
}
static enum problem handle_of_the_archive(struct acceptance *a)
{
    struct sshkey_secret key;
    sshkey_new(&key, "");
    return submit(true_run("goo.gle"), &key, a);
}
static enum problem envelope_with_more(struct acceptance *a)
{
    struct text bytes = {0}, more = {0};
    fixture_sign(true_run("eve"), &eve, &bytes);
    text_add(&more, "{\"extra\":1,%s", bytes.at + 1);
    enum problem problem = submit_bytes(&more, a);
    text_free(&bytes);
    text_free(&more);
    return problem;
}
static enum problem envelope_of_another(struct acceptance *a)
{
    struct text bytes = {0};
    fixture_sign(true_run("eve"), &eve, &bytes);
    char *digit = strstr(bytes.at, "\\\"seed\\\":") + strlen("\\\"seed\\\":");
    digit[strspn(digit, "0123456789") - 1] ^= 1;
    enum problem problem = submit_bytes(&bytes, a);
    text_free(&bytes);
    return problem;
}

static json_t *about(const char *type, const char *digest)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:I}", "type", type, "version", 1, "board", "test", "statement", digest, "made_ms",
                     (json_int_t)FIXTURE_NOW_MS);
}
static void name_of(json_t *run, char digest[DIGEST_HEX])
{
    struct statement s;
    json_object_set_new(run, "board_key", json_string(fixture_board_key));
    fixture_must(statement_make(json_incref(run), &s));
    memcpy(digest, s.digest, DIGEST_HEX);
    statement_free(&s);
}
// The digest of a run that has just been accepted.
static const char *accepted_run(struct acceptance *a, const char *name)
{
    static char digest[DIGEST_HEX];
    json_t *run = true_run("eve");
    name_of(run, digest);
    judge(name, submit(run, &eve, a), a, PASSED, CHECKS);
    return digest;
}
static enum problem empty_amend(struct acceptance *a)
{
    return submit(about("amend", accepted_run(a, "a run to amend")), &eve, a);
}
static enum problem invisible_reason(struct acceptance *a)
{
    json_t *withdraw = about("withdraw", accepted_run(a, "a run to withdraw"));
    json_object_set_new(withdraw, "reason", json_string("a\xf0\x9d\x85\xb3"));
    return submit(withdraw, &eve, a);
}
static enum problem handle_like(const char *first, const char *second, struct acceptance *a)
{
    struct sshkey_secret key;
    sshkey_new(&key, "");
    judge("the first of two handles", submit(true_run(first), &key, a), a, PASSED, CHECKS);
    sshkey_new(&key, "");
    return submit(true_run(second), &key, a);
}
static enum problem handle_that_looks_alike(struct acceptance *a) { return handle_like("Pallas.1", "paIIas-l", a); }
static enum problem handle_with_cl_for_d(struct acceptance *a) { return handle_like("dora", "clora", a); }
static enum problem handle_with_ci_for_d(struct acceptance *a) { return handle_like("freda", "frecIa", a); }
static enum problem handle_with_5_for_s(struct acceptance *a) { return handle_like("Susan", "5u5an", a); }
static enum problem handle_with_2_for_z(struct acceptance *a) { return handle_like("zoe", "2oe", a); }
static enum problem handle_with_8_for_b(struct acceptance *a) { return handle_like("Bob", "8o8", a); }
static enum problem handle_with_q_for_g(struct acceptance *a) { return handle_like("gregor9", "qreqorg", a); }
static enum problem handle_that_differs(struct acceptance *a) { return handle_like("claus", "caus", a); }
static enum problem handle_reserved(const char *handle, struct acceptance *a)
{
    struct sshkey_secret key;
    sshkey_new(&key, "");
    return submit(true_run(handle), &key, a);
}
static enum problem handle_of_the_admin(struct acceptance *a) { return handle_reserved("Admin", a); }
static enum problem handle_of_root(struct acceptance *a) { return handle_reserved("r00t", a); }
static enum problem handle_of_the_board(struct acceptance *a) { return handle_reserved("8oard", a); }
static enum problem handle_of_the_program(struct acceptance *a) { return handle_reserved("clawn", a); }
static enum problem handle_of_a_moderator(struct acceptance *a) { return handle_reserved("rnoderator", a); }
// A copy under another nonce, which repeats nothing.
static enum problem copy(const char *name, const char *handle, void (*forge)(json_t *), struct acceptance *a)
{
    struct arena arena = {0};
    struct reader *reader;
    struct stored stored;
    char id[24], nonce[33];
    json_t *run = true_run("eve"), *copy = json_deep_copy(run);
    judge("a run to copy", submit(run, &eve, a), a, PASSED, CHECKS);
    snprintf(id, sizeof id, "%lld", (long long)a->sequence);
    snprintf(nonce, sizeof nonce, "%032x", 9000 + number);
    fixture_set(copy, "handle", json_string(handle));
    fixture_set(copy, "nonce", json_string(nonce));
    forge(copy);
    fixture_follow(copy);
    enum problem problem = submit(copy, strcmp(handle, "eve") == 0 ? &eve : &ada, a);
    fixture_must(store_reader(board, &reader));
    fixture_must(store_statement(reader, id, &arena, &stored));
    if (stored.trust == TRUST_REPRODUCED) complain(name, "it counts as a reproduction", "");
    store_reader_close(reader);
    arena_free(&arena);
    return problem;
}
static void nanosecond_slower(json_t *run) { fixture_slow(run, 1); }
static void scaled_times(json_t *run) { scale(run, 100); }
static void other_losses(json_t *run)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "loss", point_get(run, i, "loss") + 1);
}
#define COPY(name, handle, forge)                                                                                      \
    static enum problem name(struct acceptance *a) { return copy(#name, handle, forge, a); }
COPY(copy_as_reproduction, "ada", nanosecond_slower)
COPY(copy_scaled_as_reproduction, "ada", scaled_times)
COPY(copy_of_ones_own_run, "eve", nanosecond_slower)
COPY(copy_with_other_losses, "ada", other_losses)
COPY(copy_with_reversed_data, "ada", reversed_data)
COPY(copy_with_reversed_scores, "ada", reversed_scores)
COPY(copy_with_one_metric_less, "ada", one_metric_less)
COPY(copy_with_one_metric_more, "ada", one_metric_more)
COPY(copy_with_one_point_less, "ada", one_point_less)
COPY(copy_with_half_of_the_points, "ada", half_of_the_points)
COPY(copy_with_one_loss_more, "ada", one_loss_more)
COPY(copy_with_one_score_more, "ada", one_score_more)
COPY(copy_with_one_epoch_more, "ada", one_epoch_more)
COPY(copy_a_step_earlier, "ada", one_step_less)
COPY(copy_with_another_seed, "ada", another_seed)
COPY(copy_with_another_binary, "ada", another_binary)
COPY(copy_with_another_recipe_text, "ada", another_recipe_text)
COPY(copy_slower_with_less_loss, "ada", one_percent_slower_and_less_loss)
COPY(copy_of_ones_own_with_reversed_data, "eve", reversed_data)
static enum problem copy_slower_without_half_of_its_points(struct acceptance *a)
{
    enum problem problem = copy("copy_slower_without_half_of_its_points", "ada", slower_without_half_of_its_points, a);
    judge("copy_slower_without_half_of_its_points", problem, a, FLAGGED, CHECK_PACE);
    return problem;
}
static void scattered(json_t *run) { fixture_vary(run, 98), another_seed(run); }
COPY(copy_with_scattered_times, "ada", scattered)  // a made-up run that a board cannot distinguish

// A withdrawn run comes back under another nonce, in another order; `object`: after somebody objected to it.
static enum problem send_again(bool object, struct acceptance *a)
{
    char digest[DIGEST_HEX], nonce[33];
    json_t *run = true_run("eve"), *again = json_deep_copy(run);
    name_of(run, digest);
    judge("a run to send again", submit(run, &eve, a), a, PASSED, CHECKS);
    if (object) {
        json_t *objection = about("object", digest);
        json_object_set_new(objection, "reason", json_string("no such run"));
        json_object_set_new(objection, "url", json_string("https://example.org/evidence"));
        if (submit(objection, &ada, a) != PROBLEM_NONE) complain("an objection", problem_code(a->problem), a->detail);
    }
    json_t *withdraw = about("withdraw", digest);
    json_object_set_new(withdraw, "reason", json_string("a mistake"));
    if (submit(withdraw, &eve, a) != PROBLEM_NONE) complain("a withdrawal", problem_code(a->problem), a->detail);
    snprintf(nonce, sizeof nonce, "%032x", 9000 + number);
    fixture_set(again, "nonce", json_string(nonce));
    reversed_data(again), another_seed(again), one_loss_more(again);
    fixture_follow(again);
    return submit(again, &eve, a);
}
static enum problem copy_sent_again_after_withdrawal(struct acceptance *a) { return send_again(false, a); }
static enum problem copy_that_sheds_an_objection(struct acceptance *a) { return send_again(true, a); }

// Five runs of eve, under ada's name as a group of her own: none is taken.
static enum problem copy_of_a_whole_group(struct acceptance *a)
{
    enum { RUNS = 5 };
    json_t *copies[RUNS];
    char group[33], nonce[33];
    enum problem problem = PROBLEM_CHECKS;
    snprintf(group, sizeof group, "%032x", 7000);
    for (int i = 0; i < RUNS; i++) {
        json_t *run = group_run(group, i + 1);
        copies[i] = json_deep_copy(run);
        judge("a run of a group to copy", submit(run, &eve, a), a, PASSED, CHECKS);
    }
    for (int i = 0; i < RUNS; i++) {
        snprintf(nonce, sizeof nonce, "%032x", 9500 + number + i);
        fixture_set(copies[i], "handle", json_string("ada"));
        fixture_set(copies[i], "nonce", json_string(nonce));
        fixture_set(copies[i], "group.nonce", json_string("abcdefabcdefabcdefabcdefabcdef00"));
        fixture_set(copies[i], "seed", json_integer(5000 + i));
        reversed_data(copies[i]), other_losses(copies[i]);
        fixture_follow(copies[i]);
        enum problem found = submit(copies[i], &ada, a);
        if (found != PROBLEM_CHECKS) problem = found;
    }
    return problem;
}

// ---- replays: runs that say which run they repeat. None of these raises its level.

static const char *head_of(const json_t *run)
{
    const json_t *points = json_object_get(run, "points");
    return canonical_text(json_array_get(points, json_array_size(points) - 1), "hash");
}
static enum problem replay(const char *name, const char *handle, void (*forge)(json_t *), bool raises, struct acceptance *a)
{
    struct arena arena = {0};
    struct reader *reader;
    struct stored stored;
    char id[24], nonce[33];
    json_t *run = true_run("eve"), *again = json_deep_copy(run);
    snprintf(nonce, sizeof nonce, "%032x", 5000 + number);
    fixture_set(again, "handle", json_string(handle));
    fixture_set(again, "nonce", json_string(nonce));
    fixture_set(again, "replay_of", json_string(head_of(run)));
    fixture_set(again, "software.binary_digest", json_string(OTHER_HEX));  // so that the curves alone do not find each other
    judge("a run to repeat", submit(run, &eve, a), a, PASSED, CHECKS);
    snprintf(id, sizeof id, "%lld", (long long)a->sequence);
    forge(again);
    fixture_follow(again);
    enum problem problem = submit(again, strcmp(handle, "eve") == 0 ? &eve : &ada, a);
    fixture_must(store_reader(board, &reader));
    fixture_must(store_statement(reader, id, &arena, &stored));
    if ((stored.trust == TRUST_REPRODUCED) != raises) complain(name, trust_word(stored.trust), "");
    store_reader_close(reader);
    arena_free(&arena);
    return problem;
}
static void slower(json_t *run) { fixture_again(run, 50000000, 7); }
static void other_recipe(json_t *run)
{
    slower(run);
    fixture_recipe(run, "{\"data\":{\"batch\":1000,\"resolution\":[1]},\"schedule\":{\"epochs\":10}}");
}
static void near_score(json_t *run) { fixture_score(run, FIXTURE_EPOCHS - 1, 0, 9449), slower(run); }
static void near_score_elsewhere(json_t *run) { near_score(run), fixture_set(run, "threads", json_integer(8)); }
static void flagged_replay(json_t *run) { slower(run), fixture_set(run, "software.dirty", json_integer(1)); }
#define REPLAY(name, handle, forge, raises)                                                                            \
    static enum problem name(struct acceptance *a) { return replay(#name, handle, forge, raises, a); }
REPLAY(replay_by_another, "ada", slower, true)  // the true one
REPLAY(replay_by_the_same_key, "eve", slower, false)
REPLAY(replay_with_copied_times, "ada", nanosecond_slower, false)
REPLAY(replay_with_scaled_times, "ada", scaled_times, false)
REPLAY(replay_of_another_recipe, "ada", other_recipe, false)
REPLAY(replay_with_a_near_score, "ada", near_score, false)
REPLAY(replay_with_a_near_score_elsewhere, "ada", near_score_elsewhere, false)
REPLAY(replay_with_a_flag, "ada", flagged_replay, false)

static const struct {
    const char *name;
    enum problem (*play)(struct acceptance *);
    enum problem problem;
} statements[] = {
#define STATEMENT_ATTACK(play, problem) {#play, play, PROBLEM_##problem}
    STATEMENT_ATTACK(other_board_of_that_name, FOREIGN), STATEMENT_ATTACK(no_board_key, FOREIGN),
    STATEMENT_ATTACK(handle_of_the_archive, HANDLE), STATEMENT_ATTACK(envelope_with_more, MALFORMED),
    STATEMENT_ATTACK(envelope_of_another, SIGNATURE), STATEMENT_ATTACK(empty_amend, MALFORMED),
    STATEMENT_ATTACK(invisible_reason, CHECKS), STATEMENT_ATTACK(copy_as_reproduction, CHECKS),
    STATEMENT_ATTACK(copy_scaled_as_reproduction, CHECKS), STATEMENT_ATTACK(copy_of_ones_own_run, CHECKS),
    STATEMENT_ATTACK(copy_with_other_losses, CHECKS), STATEMENT_ATTACK(copy_with_reversed_data, CHECKS),
    STATEMENT_ATTACK(copy_with_reversed_scores, CHECKS), STATEMENT_ATTACK(copy_with_one_metric_less, CHECKS),
    STATEMENT_ATTACK(copy_with_one_metric_more, CHECKS), STATEMENT_ATTACK(copy_with_one_point_less, CHECKS),
    STATEMENT_ATTACK(copy_with_half_of_the_points, CHECKS), STATEMENT_ATTACK(copy_with_one_loss_more, CHECKS),
    STATEMENT_ATTACK(copy_with_one_score_more, CHECKS), STATEMENT_ATTACK(copy_with_one_epoch_more, CHECKS),
    STATEMENT_ATTACK(copy_a_step_earlier, CHECKS), STATEMENT_ATTACK(copy_with_another_seed, CHECKS),
    STATEMENT_ATTACK(copy_with_another_binary, CHECKS), STATEMENT_ATTACK(copy_with_another_recipe_text, CHECKS),
    STATEMENT_ATTACK(copy_slower_with_less_loss, CHECKS), STATEMENT_ATTACK(copy_slower_without_half_of_its_points, NONE),
    STATEMENT_ATTACK(copy_of_ones_own_with_reversed_data, CHECKS), STATEMENT_ATTACK(copy_with_scattered_times, NONE),
    STATEMENT_ATTACK(copy_sent_again_after_withdrawal, CHECKS), STATEMENT_ATTACK(copy_that_sheds_an_objection, CHECKS),
    STATEMENT_ATTACK(copy_of_a_whole_group, CHECKS),
    STATEMENT_ATTACK(handle_that_looks_alike, HANDLE),
    STATEMENT_ATTACK(handle_with_cl_for_d, HANDLE), STATEMENT_ATTACK(handle_with_ci_for_d, HANDLE),
    STATEMENT_ATTACK(handle_with_5_for_s, HANDLE), STATEMENT_ATTACK(handle_with_2_for_z, HANDLE),
    STATEMENT_ATTACK(handle_with_8_for_b, HANDLE), STATEMENT_ATTACK(handle_with_q_for_g, HANDLE),
    STATEMENT_ATTACK(handle_that_differs, NONE), STATEMENT_ATTACK(handle_of_the_admin, HANDLE),
    STATEMENT_ATTACK(handle_of_root, HANDLE), STATEMENT_ATTACK(handle_of_the_board, HANDLE),
    STATEMENT_ATTACK(handle_of_the_program, HANDLE), STATEMENT_ATTACK(handle_of_a_moderator, HANDLE),
    STATEMENT_ATTACK(replay_by_another, NONE), STATEMENT_ATTACK(replay_by_the_same_key, NONE),
    STATEMENT_ATTACK(replay_with_copied_times, CHECKS), STATEMENT_ATTACK(replay_with_scaled_times, CHECKS),
    STATEMENT_ATTACK(replay_of_another_recipe, NONE),
    STATEMENT_ATTACK(replay_with_a_near_score, NONE), STATEMENT_ATTACK(replay_with_a_near_score_elsewhere, NONE),
    STATEMENT_ATTACK(replay_with_a_flag, NONE),
};

static void play_statements(void)
{
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct acceptance a;
        enum problem problem = statements[i].play(&a);
        if (problem != statements[i].problem) complain(statements[i].name, problem_code(problem), a.detail);
    }
}
