// SPDX-License-Identifier: Apache-2.0
// Reading boards: pages under every sort without gaps or doubles, filters against a plain loop, places, history, facets,
// two targets of one contest, and a reader that catches up with changes one by one, compared with one that reads everything.

#include <strings.h>

#include "scoreboard/dawnbench/dawnbench.h"
#include "scoreboard/pages/pages.h"
#include "scoreboard/store/boards/shelf.h"
#include "scoreboard/store/store.h"
#include "test/unit/test.h"
#include "test/unit/fixture_folder.h"

enum { MANY = 300 };
static char path[128];
static struct store *store;
static struct reader *reader;
static struct arena arena;

static int set_up(void **state)
{
    assert_int_equal(enter(state), 0);
    snprintf(path, sizeof path, "%s/board.db", folder);
    assert_int_equal(store_open(&(struct store_settings){.path = path}, STORE_WRITE, &store), 0);
    assert_int_equal(store_reader(store, &reader), 0);
    return 0;
}

static int tear_down(void **state)
{
    store_reader_close(reader);
    store_close(store);
    arena_free(&arena);
    return leave(state);
}

// An entry with ties in most columns. Texts live in the arena.
static struct dawnbench_entry made_up(const struct contest *contest, int number)
{
    static const char *const hardware[] = {"8 x Test V100", "test v100", "TPU v2", "c5.18xlarge", ""};
    static const char *const frameworks[] = {"PyTorch 0.4", "TensorFlow", "MXNet"};
    return (struct dawnbench_entry){
        .contest = contest,
        .training = true,
        .stem = arena_text(&arena, "entry%d", number),
        .source = "",
        .json = "{}",
        .tsv = "",
        .author = arena_text(&arena, "%sauthor %d", number % 2 ? "An " : "an ", number % 7),
        .framework = frameworks[number % 3],
        .model = arena_text(&arena, "ResNet%d", number % 4),
        .hardware = hardware[number % 5],
        .code_url = "",
        .devices = number % 5,
        .date = number % 11 == 0 ? "" : arena_text(&arena, "2018-%02d-%02d", number % 12 + 1, number % 28 + 1),
        .cost_per_hour = number % 3 == 0 ? -1 : number % 9 + 0.5,
        .latency_ms = -1,
        .cost_per_item = -1,
        .score = -1,
        .seconds = {100 + number * 37 % 90, -1, -1, -1},
        .accuracy = {0.94 + number % 10 / 1000.0},
    };
}

static void import_one(const struct dawnbench_entry *e)
{
    const struct dawnbench_entry *list[] = {e};
    if (store_import(store, list, 1, 1000) < 0) print_error("%s\n", error_text()), _fail(__FILE__, __LINE__);
}

static void import_many(int from, int to)
{
    struct dawnbench_entry made[MANY];
    const struct dawnbench_entry *list[MANY];
    for (int i = from; i < to; i++) {
        made[i - from] = made_up(contest_find("cifar10"), i);
        list[i - from] = &made[i - from];
    }
    if (store_import(store, list, to - from, 1000) < 0) print_error("%s\n", error_text()), _fail(__FILE__, __LINE__);
}

static struct filter filter_of(const char *query)
{
    struct filter f = {.contest = contest_find("cifar10"), .board = BOARD_TRAINING_TIME};
    if (filter_read(query, &f) < 0) print_error("%s\n", error_text()), _fail(__FILE__, __LINE__);
    if (strstr(query, "trust=") == NULL) f.trust = TRUST_IMPORTED;
    return f;
}

static struct entries read_page(struct reader *r, const struct filter *f)
{
    struct entries found;
    if (store_entries(r, f, &arena, &found) < 0) print_error("%s\n", error_text()), _fail(__FILE__, __LINE__);
    return found;
}

// All pages of a filter, one after the other.
static struct entries read_pages(struct reader *r, struct filter f)
{
    struct entries all = {.at = arena_alloc(&arena, (MANY + 1) * sizeof *all.at)};
    for (;;) {
        struct entries page = read_page(r, &f);
        assert_true(page.count <= f.limit);
        assert_int_equal(page.before, all.count);
        for (int i = 0; i < page.count; i++) {
            assert_true(all.count < MANY);
            all.at[all.count++] = page.at[i];
        }
        all.total = page.total;
        if (page.next == NULL) break;
        assert_int_equal(page.count, f.limit);
        snprintf(f.cursor, sizeof f.cursor, "%s", page.next);
    }
    assert_int_equal(all.count, all.total);
    return all;
}

static bool ordered(enum sort sort, const struct entry *a, const struct entry *b)
{
    switch (sort) {
    case SORT_PROOF:  // nothing here was repeated
    case SORT_VALUE: return a->value <= b->value;
    case SORT_DATE: return strcmp(a->date, b->date) <= 0;
    case SORT_AUTHOR: return strcasecmp(a->author, b->author) <= 0;
    case SORT_MODEL: return strcasecmp(a->model, b->model) <= 0;
    case SORT_HARDWARE: return strcasecmp(a->hardware, b->hardware) <= 0;
    case SORT_FRAMEWORK: return strcasecmp(a->framework, b->framework) <= 0;
    case SORT_COST: return a->cost <= b->cost;
    case SORT_SCORE: return a->accuracy <= b->accuracy;
    default: return a->trust <= b->trust;
    }
}

static bool known(enum sort sort, const struct entry *e)
{
    return sort == SORT_DATE ? *e->date != 0 : sort == SORT_HARDWARE ? *e->hardware != 0 : sort != SORT_COST || e->cost >= 0;
}

TEST_WITH(test_pages, set_up, tear_down)
{
    import_many(0, MANY);
    for (int sort = 0; sort < SORTS; sort++) {
        for (int descending = 0; descending < 2; descending++) {
            struct filter f = filter_of("limit=7");
            bool seen[MANY + 1] = {false};
            f.sort = (enum sort)sort;
            f.descending = descending != 0;
            struct entries all = read_pages(reader, f);
            assert_int_equal(all.count, MANY);
            for (int i = 0; i < all.count; i++) {
                int number = atoi(all.at[i].source + strlen("CIFAR10/train/entry"));
                assert_false(seen[number]);
                seen[number] = true;
                if (i == 0) continue;
                const struct entry *a = &all.at[i - 1], *b = &all.at[i];
                if (known(f.sort, a) != known(f.sort, b)) assert_true(known(f.sort, a));  // unknown ones last, both ways
                else if (known(f.sort, a)) assert_true(descending ? ordered(f.sort, b, a) : ordered(f.sort, a, b));
            }
        }
    }
}

TEST_WITH(test_places, set_up, tear_down)
{
    import_many(0, MANY);
    struct entries all = read_pages(reader, filter_of("limit=200")),
                   some = read_pages(reader, filter_of("author=AN+AUTHOR+3&sort=date"));
    for (int i = 0; i < all.count; i++) assert_int_equal(all.at[i].rank, i + 1);
    assert_true(some.count > 30);
    for (int i = 0; i < some.count; i++) assert_string_equal(all.at[some.at[i].rank - 1].source, some.at[i].source);
}

static bool contains(const char *text, const char *part)
{
    return strcasestr(text, part) != NULL;
}

static bool wanted(int which, const struct entry *e)
{
    switch (which) {
    case 0: return strcasecmp(e->hardware, "TEST V100") == 0;
    case 1: return contains(e->hardware, "v100");
    case 2: return contains(e->model, "net1") && strcasecmp(e->framework, "mxnet") == 0;
    case 3: return e->devices == 3;
    case 4: return e->devices > 0 && e->devices <= 2;
    case 5: return strcmp(e->date, "2018-03-01") >= 0 && strcmp(e->date, "2018-04-30") <= 0;
    case 6: return true;
    default: return false;
    }
}

TEST_WITH(test_filters, set_up, tear_down)
{
    static const char *const queries[] = {
        "hardware=test+V100", "hardware=~V100", "model=~NET1&framework=MXNet", "devices=3", "devices_max=2",
        "since=2018-03-01&until=2018-04-30", "source=dawnbench&trust=imported", "source=dawn", "trust=signed", "division=open",
        "views_max=1", "precision=bf16", "author=nobody", "hardware=~nothing",
    };
    import_many(0, MANY);
    struct entries all = read_pages(reader, filter_of(""));
    for (int q = 0; q < (int)(sizeof queries / sizeof *queries); q++) {
        struct entries some = read_pages(reader, filter_of(queries[q]));
        int expected = 0;
        for (int i = 0; i < all.count; i++) {
            if (!wanted(q, &all.at[i])) continue;
            assert_true(expected < some.count);
            assert_string_equal(some.at[expected++].source, all.at[i].source);  // in the order of the board
        }
        assert_int_equal(some.count, expected);
        if (q < 7) assert_true(expected > 0);
    }
}

TEST_WITH(test_cursor, set_up, tear_down)
{
    struct entries found;
    struct filter f = filter_of("cursor=1");
    assert_int_equal(store_entries(reader, &f, &arena, &found), ERR_INPUT);  // nothing is there at all
    import_many(0, 20);
    f = filter_of("limit=5");
    struct entries first = read_page(reader, &f);
    snprintf(f.cursor, sizeof f.cursor, "%s", first.next);
    struct dawnbench_entry gone = made_up(contest_find("cifar10"), atoi(first.at[4].source + 19));
    gone.seconds[0] = -1;
    import_one(&gone);  // the row the cursor stands on leaves the board
    struct entries second = read_page(reader, &f);
    assert_int_equal(second.total, 19);
    assert_int_equal(second.at[0].rank, 5);
    struct dawnbench_entry best = made_up(contest_find("cifar10"), 50);
    best.seconds[0] = 1;
    import_one(&best);  // and a better one comes: no row is seen twice
    struct entries again = read_page(reader, &f);
    assert_string_equal(again.at[0].source, second.at[0].source);
    assert_int_equal(again.at[0].rank, 6);
    snprintf(f.cursor, sizeof f.cursor, "999999");
    assert_int_equal(store_entries(reader, &f, &arena, &found), ERR_INPUT);
    f = filter_of("target=0.5");
    assert_int_equal(store_entries(reader, &f, &arena, &found), ERR_INPUT);
}

// Changes one by one, with every order in use, against a reader that loads everything at the end.
TEST_WITH(test_catching_up, set_up, tear_down)
{
    for (int i = 0; i < 120; i++) {
        struct dawnbench_entry e = made_up(contest_find("cifar10"), i * 7 % 60);  // each twice: the second changes it
        if (i >= 60) e.seconds[0] = i % 5 == 0 ? -1 : e.seconds[0] * 0.7;
        import_one(&e);
        for (int sort = 0; sort < SORTS; sort++) {
            struct filter f = filter_of("limit=3");
            f.sort = (enum sort)sort;
            f.descending = i % 2 != 0;
            read_page(reader, &f);
        }
    }
    struct reader *fresh;
    assert_int_equal(store_reader(store, &fresh), 0);
    for (int i = 0; i < SORTS * 2; i++) {
        struct filter f = filter_of("limit=200");
        f.sort = (enum sort)(i / 2);
        f.descending = i % 2 != 0;
        struct entries a = read_pages(reader, f), b = read_pages(fresh, f);
        assert_int_equal(a.count, 48);
        assert_int_equal(a.count, b.count);
        for (int n = 0; n < a.count; n++) {
            assert_string_equal(a.at[n].source, b.at[n].source);
            assert_int_equal(a.at[n].rank, b.at[n].rank);
        }
    }
    store_reader_close(fresh);
}

TEST_WITH(test_history, set_up, tear_down)
{
    struct entries found;
    static const struct {
        int seconds;
        const char *date;
        bool record;
    } rows[] = {{100, "2018-01-01", true}, {90, "2018-01-02", true}, {95, "2018-01-03", false}, {80, "2018-01-04", false},
                {70, "2018-01-04", true}, {70, "2018-01-05", false}, {60, "2018-01-06", true}};
    for (int i = 0; i < 7; i++) {
        struct dawnbench_entry e = made_up(contest_find("cifar10"), i);
        e.seconds[0] = rows[i].seconds;
        e.date = rows[i].date;
        import_one(&e);
    }
    struct filter f = filter_of("");
    assert_int_equal(store_history(reader, &f, &arena, &found), 0);
    assert_int_equal(found.count, 4);
    for (int i = 0, n = 0; i < 7; i++)
        if (rows[i].record) assert_int_equal(rows[i].seconds, (int)found.at[n++].value);
    assert_int_equal(store_newest(reader, NULL, TRUST_IMPORTED, 3, &arena, &found), 0);
    assert_int_equal(found.count, 3);
    assert_string_equal(found.at[0].date, "2018-01-06");
    assert_int_equal(store_newest(reader, contest_find("squad"), TRUST_IMPORTED, 3, &arena, &found), 0);
    assert_int_equal(found.count, 0);
    assert_int_equal(store_entries_by(reader, "AN AUTHOR 1", &arena, &found), 0);
    assert_int_equal(found.count, 0);  // an author of the archive is no person
    assert_int_equal(store_entries_of(reader, "CIFAR10/train/entry1", &arena, &found), 0);
    assert_int_equal(found.count, 2);
    assert_int_equal(store_entries_of(reader, "CIFAR10/train/none", &arena, &found), 0);
    assert_int_equal(found.count, 0);
}

// 0.74 is a result at 0.73 and none at 0.75; a score below both, or none, is on no board.
TEST_WITH(test_targets, set_up, tear_down)
{
    const struct contest *squad = contest_find("squad");
    struct filter f = {.contest = squad, .board = BOARD_TRAINING_TIME, .limit = 10};
    struct entries found;
    struct dawnbench_entry e = made_up(squad, 1);
    e.seconds[0] = -1;
    e.seconds[1] = 7200;
    e.points = (struct dawnbench_point[]){{1, 1, 0.7}, {2, 2, 0.74}};
    e.point_count = 2;
    import_one(&e);
    assert_int_equal(read_page(reader, &f).total, 0);
    f.target_micro = 730000;
    assert_int_equal(read_page(reader, &f).total, 1);
    f.board = BOARD_TRAINING_COST;
    assert_true(fabs(read_page(reader, &f).at[0].value - 2 * e.cost_per_hour) == 0);
    static const double scores[] = {0.72, 0.73, 0.7499999, 0.75, -1};
    for (int i = 0; i < 5; i++) {
        struct dawnbench_entry answer = made_up(squad, 10 + i);
        answer.training = false;
        answer.latency_ms = 5 + i;
        answer.score = scores[i];
        for (int t = 0; t < 2; t++) answer.accuracy[t] = scores[i] * 1e6 >= (double)squad->target_micro[t] ? scores[i] : -1;
        import_one(&answer);
    }
    f.board = BOARD_INFERENCE_LATENCY;
    assert_int_equal(read_page(reader, &f).total, 3);
    f.target_micro = 0;
    assert_int_equal(read_page(reader, &f).total, 1);
    assert_int_equal(store_entries_of(reader, "SQuAD/inference/entry13", &arena, &found), 0);
    assert_int_equal(found.count, 1);  // on both boards, said once
    assert_int_equal(found.at[0].board, BOARD_INFERENCE_LATENCY);
    assert_int_equal(found.at[0].order, RANK_CLASSIC);
}

// A person who took an archive's name before it came is not its author.
TEST_WITH(test_names_of_the_archive, set_up, tear_down)
{
    struct library library = {0};
    struct shelf_wanted wanted;
    static const char *const queries[] = {"author=google", "author=google&source=dawnbench", "author=google&source=dawn",
                                          "author=amazon", "author=amazon&source=dawn"};
    static const bool finds[][3] = {{true, false, false}, {false, true, false}, {true, false, false}, {false, false, true},
                                    {false, false, false}};
    struct entry rows[3] = {{.author = "google", .trust = TRUST_SIGNED}, {.author = "Google", .trust = TRUST_IMPORTED},
                            {.author = "Amazon", .trust = TRUST_IMPORTED}};
    for (int i = 0; i < 3; i++) {
        struct entry *e = &rows[i];
        e->id = i + 1;
        e->contest = e->group = e->source = e->team = e->model = e->hardware = e->framework = e->precision = e->division = "";
        e->date = e->code_url = e->tags = "";
        library_put(&library, contest_find("cifar10"), 940000, true, e);
    }
    struct shelf *s = shelf_find(&library, contest_find("cifar10"), BOARD_TRAINING_TIME, RANK_CLASSIC, 940000);
    for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
        struct filter f = filter_of(queries[q]);
        f.trust = TRUST_IMPORTED;
        shelf_want(&library, &f, &wanted);
        for (int i = 0; i < 3; i++) assert_int_equal(shelf_matches(&wanted, &s->rows[i]), finds[q][i]);
        shelf_wanted_free(&wanted);
    }
    library_free(&library);
}

static struct answer answer;

static const char *csv_of(const char *query)
{
    const struct request request = {.path = "/boards/cifar10/training-time.csv", .word = {"cifar10", "training-time"},
                                    .query = query, .store = store, .reader = reader};
    text_free(&answer.body);
    answer = (struct answer){0};
    assert_int_equal(page_csv(&request, &answer), 0);
    return answer.body.at;
}

static int lines_of(const char *text)
{
    int lines = 0;
    for (; (text = strstr(text, "\r\n")) != NULL; text += 2) lines++;
    return lines;
}

TEST_WITH(test_csv_comes_in_pages, set_up, tear_down)
{
    import_many(0, MANY);
    assert_int_equal(lines_of(csv_of("source=dawnbench&devices=1")), 1 + MANY / 5);
    assert_string_equal(answer.next, "");
    assert_int_equal(lines_of(csv_of("source=dawnbench")), 1 + 200);
    assert_non_null(strstr(answer.next, "/boards/cifar10/training-time.csv?source=dawnbench&"));
    const char *query = arena_text(&arena, "%s", strchr(answer.next, '?') + 1);
    assert_int_equal(lines_of(csv_of(query)), 1 + MANY - 200);
    assert_string_equal(answer.next, "");
    text_free(&answer.body);
}

TEST_WITH(test_facets, set_up, tear_down)
{
    struct facets found;
    import_many(0, 70);
    struct filter f = filter_of("");
    assert_int_equal(store_facets(reader, &f, &arena, &found), 0);
    assert_int_equal(found.frameworks, 3);
    assert_int_equal(found.hardwares, 4);  // "" is none
    assert_int_equal(found.authors, 7);    // in any case
    assert_int_equal(found.precisions, 0);
    assert_int_equal(found.framework[0].count, 24);
    assert_true(found.author[0].count >= found.author[6].count);
}
