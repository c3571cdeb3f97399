// SPDX-License-Identifier: Apache-2.0
// A forger's list: each attack is a name, a mutation of a true run, and what has to come of it. REFUSED: the board does not take
// it. FLAGGED: it stands on the board with that flag, below the level that an unflagged run has. PASSED: nothing can tell it from
// a true run (docs/threats.md says so). The forger has a key and makes every hash, clock and sum right, except where an attack
// edits what others have written. Whoever finds another attack adds a row, which fails first.
// Cost: about a hundred statements accepted by a store in a temporary folder.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scoreboard/dawnbench/dawnbench.h"
#include "test/unit/fixture_server.h"

enum outcome { REFUSED, FLAGGED, PASSED };
#define OTHER_HEX "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
enum { EDITED = 1 };  // the hashes stay as they were

static struct store *board;
static struct sshkey_secret ada, eve;
static int number, wrong;

// ---- a true run

static json_t *true_run(const char *handle)
{
    char nonce[33];
    json_t *run = fixture_run();
    fixture_bind(run);
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

// What came of a run: `check` must have been found. One that is taken has no other flag; one that is refused may contradict more.
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

// ---- work that was not done

static void point_set(json_t *run, size_t i, const char *name, int64_t value)
{
    json_object_set_new(fixture_item(run, "points", i), name, json_integer(value));
}

static int64_t point_get(json_t *run, size_t i, const char *name)
{
    return canonical_int(fixture_item(run, "points", i), name);
}

static void latency_set(json_t *run, const char *name, json_t *value)
{
    fixture_set(fixture_item(run, "latencies", 0), name, value);
}

static void keep_samples(json_t *run, int64_t batch, int64_t each)
{
    fixture_set(run, "batch", json_integer(batch));
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) {
        point_set(run, i, "samples", (int64_t)(i + 1) * each);
        point_set(run, i, "step", (int64_t)(i + 1) * each / batch);
    }
}

static void honest(json_t *run) { (void)run; }
static void no_samples(json_t *run)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "samples", 0);
}
static void few_samples(json_t *run) { keep_samples(run, 1000, 1000); }
static void many_samples(json_t *run) { keep_samples(run, 1000, 60000); }
static void steps_without_batch(json_t *run)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "samples", point_get(run, i, "samples") + 1);
}
static void huge_batch(json_t *run) { keep_samples(run, 6250, 6250); }  // of which an epoch could leave out all
static void no_training(json_t *run)  // all of its time is the segment "data"
{
    json_t *segment;
    size_t s;
    json_array_foreach(json_object_get(run, "segments"), s, segment)
        if (strcmp(canonical_text(segment, "segment"), "train") == 0)
            json_object_set_new(segment, "segment", json_string("data"));
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) {
        int64_t warm = point_get(run, i, "warm_ns"), both = point_get(run, i, "warm_with_evaluation_ns");
        point_set(run, i, "warm_with_evaluation_ns", both - warm);
        point_set(run, i, "warm_ns", 0);
    }
}
static void one_training_item(json_t *run) { json_object_set_new(fixture_item(run, "data", 0), "items", json_integer(1)); }
static void small_images(json_t *run)
{
    static const char text[] = "{\"batch\":1000,\"epochs\":10,\"resolution\":[1]}";
    char hex[DIGEST_HEX];
    digest_bytes(text, strlen(text), hex);
    fixture_set(run, "recipe.text", json_string(text));
    fixture_set(run, "recipe.digest", json_string(hex));
}
static void open_division(json_t *run) { fixture_set(run, "division", json_string("open")); }
static void small_model(json_t *run) { fixture_set(run, "model.parameters", json_integer(10)); }
static void cheap_model(json_t *run) { fixture_set(run, "model.flops_per_sample", json_integer(1)); }
static void cheap_open_model(json_t *run) { cheap_model(run), open_division(run); }
static void own_model(json_t *run) { fixture_set(run, "model.name", json_string("mine")), open_division(run); }
static void latency_of_a_nanosecond(json_t *run)
{
    static const char *const names[] = {"model_mean_ns", "model_p50_ns", "model_p90_ns", "model_p99_ns"};
    for (int i = 0; i < 4; i++) latency_set(run, names[i], json_integer(1 + i));
}
static void latency_on_nothing_known(json_t *run) { latency_set(run, "hardware.cpu_flags", json_string("")); }
static void too_good(json_t *run)
{
    json_t *scores = json_object_get(fixture_item(run, "points", FIXTURE_EPOCHS - 1), "scores");
    json_object_set_new(json_array_get(scores, 0), "score", json_integer(9600));
}
static void too_good_of_another_recipe(json_t *run) { too_good(run), open_division(run); }
// Accurate words, round times, the figures of a run that never took place.
static void all_made_up(json_t *run) { fixture_slow(run, -5000000000); }

// ---- dates and prices

static void no_time_passed(json_t *run) { fixture_set(run, "started_ms", json_integer(FIXTURE_NOW_MS)); }
static void a_day_passed(json_t *run) { fixture_set(run, "started_ms", json_integer(FIXTURE_NOW_MS - (int64_t)86400000)); }
static void latency_of_1970(json_t *run) { latency_set(run, "measured_ms", json_integer(0)); }
static void latency_of_tomorrow(json_t *run) { latency_set(run, "measured_ms", json_integer(FIXTURE_NOW_MS + 86400000)); }
static void price_of_a_bargain(json_t *run) { fixture_set(run, "price.micro_usd_per_hour", json_integer(1)); }
static void bargain_of_another_date(json_t *run)
{
    price_of_a_bargain(run);
    fixture_set(run, "price.date", json_string("2026-11-20"));
}
static void discount_of_another_date(json_t *run)
{
    fixture_set(run, "price.micro_usd_per_hour", json_integer(FIXTURE_PRICE * 4 / 5));
    fixture_set(run, "price.date", json_string("2026-11-20"));
}
static void price_of_9999(json_t *run)
{
    fixture_set(run, "price.date", json_string("9999-12-31"));
    fixture_set(run, "price.instance", json_string(""));
}

// ---- contradictions

static void many_processors(json_t *run) { fixture_set(run, "hardware.devices", json_integer(1 << 20)); }
static void many_threads(json_t *run)
{
    fixture_set(run, "threads", json_integer(65536));
    fixture_set(run, "hardware.cores_online", json_integer(2));
    fixture_set(run, "hardware.cores_usable", json_integer(2));
}
static void many_usable_cores(json_t *run) { fixture_set(run, "hardware.cores_usable", json_integer(17)); }
static void cuda_without_gpu(json_t *run)
{
    fixture_set(run, "device", json_string("cuda"));
}
static void emulated_gpu(json_t *run) { fixture_set(run, "hardware.gpu", json_string("NVIDIA H200 (EMULATED CARD)")); }
static void memory_above_memory(json_t *run) { fixture_set(run, "peak_memory_bytes", json_integer((int64_t)1 << 40)); }
static void closed_pytorch(json_t *run) { fixture_set(run, "software.framework", json_string("PyTorch")); }
static void dawnlike(json_t *run) { fixture_set(run, "software.framework", json_string("DAWNX")); }
static void harness_outside(json_t *run) { fixture_set(run, "device", json_string("outside")); }
static void latency_on_many_processors(json_t *run) { latency_set(run, "hardware.devices", json_integer(8)); }
static void latency_on_cuda_without_gpu(json_t *run) { latency_set(run, "device", json_string("cuda")); }
static void training_set_twice(json_t *run)
{
    json_array_append_new(json_object_get(run, "data"), json_deep_copy(fixture_item(run, "data", 0)));
}

// ---- texts

static void invisible_note(json_t *run) { fixture_set(run, "note", json_string("good\xf0\x9d\x85\xb3 run")); }          // U+1D173
static void shorthand_note(json_t *run) { fixture_set(run, "team", json_string("good\xf0\x9b\xb2\xa0 team")); }         // U+1BCA0
static void piled_note(json_t *run)
{
    struct text note = {0};
    text_add(&note, "a");
    for (int i = 0; i < 80; i++) text_add(&note, "\xcc\x81");
    fixture_set(run, "note", json_string(note.at));
    text_free(&note);
}
static void leading_mark(json_t *run) { fixture_set(run, "note", json_string("\xcc\x81 a")); }
static void hidden_machine(json_t *run) { fixture_set(run, "hardware.cpu", json_string("Test\xf0\x9d\x85\xb3 CPU")); }
static void vietnamese_and_hebrew(json_t *run)
{
    fixture_set(run, "team", json_string("Nguye\xcc\x82\xcc\x83n \xd7\xa9\xd6\xbc\xd7\x81\xd6\xb8"));
}

// ---- editing what DAWN recorded (no hash is made anew): every member that a statement takes from the record

static void edit_batch(json_t *run) { fixture_set(run, "batch", json_integer(999)); }
static void edit_views(json_t *run) { fixture_set(run, "views", json_integer(1)); }
static void edit_threads(json_t *run) { fixture_set(run, "threads", json_integer(8)); }
static void edit_precision(json_t *run) { fixture_set(run, "precision", json_string("f32")); }
static void edit_machine(json_t *run) { fixture_set(run, "hardware.product", json_string("a cheaper one")); }
static void edit_price(json_t *run)
{
    fixture_set(run, "price", json_pack("{s:i, s:s, s:s, s:s, s:i}", "micro_usd_per_hour", 1, "source", "user", "date",
                                        "2027-01-15", "instance", "", "total_micro_usd", 1));
}
static void edit_recipe_text(json_t *run) { fixture_set(run, "recipe.text", json_string("{\"batch\":1000,\"epochs\":9}")); }
static void edit_segments(json_t *run)
{
    json_object_set_new(fixture_item(run, "segments", 0), "segment", json_string("init"));
}
static void edit_memory(json_t *run) { fixture_set(run, "peak_memory_bytes", json_integer(1)); }
static void edit_weights(json_t *run)
{
    fixture_set(run, "model.weights_digest", json_string(OTHER_HEX));
    latency_set(run, "weights_digest", json_string(OTHER_HEX));
}
static void edit_latency(json_t *run) { latency_set(run, "whole_p99_ns", json_integer(2100001)); }
static void edit_replay(json_t *run) { fixture_set(run, "replay_of", json_string(FIXTURE_HEX)); }
static void drop_end(json_t *run) { json_object_del(run, "chain_end"); }
static void drop_hash(json_t *run) { json_object_del(fixture_item(run, "latencies", 0), "hash"); }

static const struct attack {
    const char *name;
    void (*forge)(json_t *run);
    enum outcome outcome;
    enum check check;
    int how;
} attacks[] = {
#define ATTACK(outcome, check, forge) {#forge, forge, outcome, CHECK_##check, 0}
#define EDIT(forge) {#forge, forge, REFUSED, CHECK_CHAIN, EDITED}
    {"honest", honest, PASSED, CHECKS, 0},
    {"all_made_up", all_made_up, PASSED, CHECKS, 0},
    {"too_good_of_another_recipe", too_good_of_another_recipe, PASSED, CHECKS, 0},
    {"vietnamese_and_hebrew", vietnamese_and_hebrew, PASSED, CHECKS, 0},
    ATTACK(REFUSED, WORK, no_samples), ATTACK(REFUSED, WORK, few_samples), ATTACK(REFUSED, WORK, many_samples),
    ATTACK(REFUSED, WORK, steps_without_batch), ATTACK(REFUSED, WORK, huge_batch), ATTACK(REFUSED, WORK, no_training),
    ATTACK(REFUSED, DATA, one_training_item), ATTACK(FLAGGED, SPEED_UNKNOWN, small_images),
    ATTACK(REFUSED, DIVISION, small_model), ATTACK(REFUSED, DIVISION, cheap_model),
    ATTACK(FLAGGED, BETTER, too_good),
    ATTACK(FLAGGED, SPEED_UNKNOWN, own_model), ATTACK(FLAGGED, SPEED_UNKNOWN, cheap_open_model),
    ATTACK(REFUSED, SPEED, latency_of_a_nanosecond), ATTACK(FLAGGED, SPEED_UNKNOWN, latency_on_nothing_known),
    ATTACK(REFUSED, CLIENT_TIME, no_time_passed), ATTACK(FLAGGED, DATES, a_day_passed),
    ATTACK(REFUSED, CLIENT_TIME, latency_of_1970), ATTACK(REFUSED, CONTRADICTION, latency_of_tomorrow),
    ATTACK(REFUSED, PRICE, price_of_a_bargain), ATTACK(REFUSED, PRICE, bargain_of_another_date),
    ATTACK(FLAGGED, PRICE_OLD, discount_of_another_date), ATTACK(REFUSED, PRICE, price_of_9999),
    ATTACK(REFUSED, CONTRADICTION, many_processors), ATTACK(REFUSED, CONTRADICTION, many_threads),
    ATTACK(REFUSED, CONTRADICTION, many_usable_cores), ATTACK(REFUSED, CONTRADICTION, emulated_gpu),
    ATTACK(REFUSED, CONTRADICTION, memory_above_memory), ATTACK(REFUSED, CONTRADICTION, closed_pytorch),
    ATTACK(REFUSED, CONTRADICTION, dawnlike), ATTACK(REFUSED, CONTRADICTION, harness_outside),
    ATTACK(REFUSED, CONTRADICTION, cuda_without_gpu), ATTACK(REFUSED, CONTRADICTION, latency_on_many_processors),
    ATTACK(REFUSED, CONTRADICTION, latency_on_cuda_without_gpu), ATTACK(REFUSED, CONTRADICTION, training_set_twice),
    ATTACK(REFUSED, TEXT, invisible_note), ATTACK(REFUSED, TEXT, shorthand_note), ATTACK(REFUSED, TEXT, piled_note),
    ATTACK(REFUSED, TEXT, leading_mark), ATTACK(REFUSED, TEXT, hidden_machine),
    EDIT(edit_batch), EDIT(edit_views), EDIT(edit_threads), EDIT(edit_precision), EDIT(edit_machine), EDIT(edit_price),
    EDIT(edit_replay),
    EDIT(edit_recipe_text), EDIT(edit_segments), EDIT(edit_memory), EDIT(edit_weights), EDIT(edit_latency), EDIT(drop_end),
    EDIT(drop_hash),
};

static void play_runs(void)
{
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        struct acceptance a;
        json_t *run = true_run("eve");
        attacks[i].forge(run);
        if (attacks[i].how != EDITED) fixture_follow(run);
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
    MATE(FLAGGED, OVERLAP, overlap),
};

static void play_groups(void)
{
    for (size_t i = 0; i < sizeof mates / sizeof *mates; i++) {
        char group[33];
        struct acceptance a;
        snprintf(group, sizeof group, "%032x", (unsigned)(1000 + i));
        json_t *first = group_run(group, 1), *second = group_run(group, 2);
        mates[i].forge(second, first);
        fixture_follow(second);
        judge("the first of a group", submit(first, &eve, &a), &a, PASSED, CHECKS);
        enum problem problem = submit(second, &eve, &a);
        judge(mates[i].name, problem, &a, mates[i].outcome, mates[i].check);
    }
}

// ---- what is done with whole statements: the problem that each has to meet

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
    char *digit = strstr(bytes.at, "\\\"seed\\\":");
    digit[strlen("\\\"seed\\\":")] ^= 1;
    enum problem problem = submit_bytes(&bytes, a);
    text_free(&bytes);
    return problem;
}

static json_t *about(const char *type, const char *digest)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:I}", "type", type, "version", 1, "board", "test", "statement", digest, "made_ms",
                     (json_int_t)FIXTURE_NOW_MS);
}
// The digest of a run that has just been accepted.
static const char *accepted_run(struct acceptance *a, const char *name)
{
    static char digest[DIGEST_HEX];
    json_t *run = true_run("eve");
    struct statement s;
    json_object_set_new(run, "board_key", json_string(fixture_board_key));
    fixture_must(statement_make(json_incref(run), &s));
    memcpy(digest, s.digest, sizeof digest);
    statement_free(&s);
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
// A copy by a second person, a nanosecond slower everywhere: it is taken as a run of its own, but repeats nothing.
static enum problem copy_as_reproduction(struct acceptance *a)
{
    struct arena arena = {0};
    struct reader *reader;
    struct stored stored;
    char id[24];
    json_t *run = true_run("eve"), *copy = json_deep_copy(run);
    judge("a run to copy", submit(run, &eve, a), a, PASSED, CHECKS);
    snprintf(id, sizeof id, "%lld", (long long)a->sequence);
    fixture_set(copy, "handle", json_string("ada"));
    fixture_set(copy, "nonce", json_string("abababababababababababababababab"));
    fixture_slow(copy, 1);
    enum problem problem = submit(copy, &ada, a);
    fixture_must(store_reader(board, &reader));
    fixture_must(store_statement(reader, id, &arena, &stored));
    if (stored.trust == TRUST_REPRODUCED) complain("copy_as_reproduction", "it counts as a reproduction", "");
    store_reader_close(reader);
    arena_free(&arena);
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
static void slower(json_t *run) { fixture_slow(run, 50000000); }
static void copied_times(json_t *run) { fixture_slow(run, 1); }
static void other_recipe(json_t *run) { slower(run), small_images(run); }
static void near_score(json_t *run)
{
    json_t *scores = json_object_get(fixture_item(run, "points", FIXTURE_EPOCHS - 1), "scores");
    json_object_set_new(json_array_get(scores, 0), "score", json_integer(9449));
    slower(run);
}
static void near_score_elsewhere(json_t *run) { near_score(run), fixture_set(run, "threads", json_integer(8)); }
static void flagged_replay(json_t *run) { slower(run), fixture_set(run, "software.dirty", json_integer(1)); }
#define REPLAY(name, handle, forge, raises)                                                                            \
    static enum problem name(struct acceptance *a) { return replay(#name, handle, forge, raises, a); }
REPLAY(replay_by_another, "ada", slower, true)  // the true one
REPLAY(replay_by_the_same_key, "eve", slower, false)
REPLAY(replay_with_copied_times, "ada", copied_times, false)
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
    STATEMENT_ATTACK(invisible_reason, CHECKS), STATEMENT_ATTACK(copy_as_reproduction, NONE),
    STATEMENT_ATTACK(replay_by_another, NONE), STATEMENT_ATTACK(replay_by_the_same_key, NONE),
    STATEMENT_ATTACK(replay_with_copied_times, NONE), STATEMENT_ATTACK(replay_of_another_recipe, NONE),
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

static int say(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "%s\n", sentence);
    return 0;
}

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
    fixture_must(store_open(&(struct store_settings){.path = path, .origin = "test"}, STORE_WRITE, &board));
    fixture_must(dawnbench_read(contest_find("cifar10"), true, "x", json, strlen(json), tsv, strlen(tsv), &archived));
    fixture_must(store_import(board, (const struct dawnbench_entry *const[]){archived}, 1, FIXTURE_NOW_MS));
    dawnbench_free(archived);
    sshkey_id(store_key(board), fixture_board_key);
    play_runs();
    play_groups();
    play_statements();
    fixture_must(store_check(board, say, NULL, &faults));
    if (faults > 0) complain("the record", "it does not hold after all this", "");
    store_close(board);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) abort();
    printf("%zu attacks, %d not met as they should\n", sizeof attacks / sizeof *attacks + sizeof mates / sizeof *mates +
           sizeof statements / sizeof *statements, wrong);
    return wrong > 0;
}
