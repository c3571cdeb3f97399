// SPDX-License-Identifier: Apache-2.0
// Models of words: features of a context, which words have rows, samples and the answers cut from them, vectors of a file, and
// both networks: layers and parameters as published, and a narrow one whose loss falls.
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"
#include "test/unit/tasks/fixture_squad.h"

#include "tasks/common/train/state.h"
#include "tasks/squad/sample/passages.h"
#include "tasks/squad/text/features.h"

// ---- features

static void cut_at_blanks(const char *text, struct pieces *into)
{
    static int32_t begin[2][32], end[2][32];
    static int turn;
    turn = !turn;
    *into = (struct pieces){.begin = begin[turn], .end = end[turn]};
    for (const char *at = text; *at; at += strspn(at, " ")) {
        begin[turn][into->count] = (int32_t)(at - text);
        at += strcspn(at, " ");
        end[turn][into->count++] = (int32_t)(at - text);
    }
}

TEST_WITH(features_tell_how_a_word_matches_and_looks, set_up, leave)
{
    static const char context[] = "Word the Founded ÉCOLE 1,000 , the ÉcOLE NASA";
    static const char question[] = "When was the école founding ?";
    static const float wanted[][FEATURES] = {
        // same, lower, stem, frequency, capital, capitals, digit, punctuation
        {1, 1, 1, 2, 0, 0, 0, 0}, {0, 0, 1, 1, 1, 0, 0, 0}, {0, 1, 1, 2, 1, 1, 0, 0}, {0, 0, 0, 1, 0, 0, 1, 0},
        {0, 0, 0, 1, 0, 0, 0, 1}, {1, 1, 1, 2, 0, 0, 0, 0}, {0, 1, 1, 2, 1, 0, 0, 0}, {0, 0, 0, 1, 1, 1, 0, 0}};
    enum { WORDS = sizeof wanted / sizeof *wanted };
    struct pieces words, asks;
    float made[WORDS][FEATURES];
    cut_at_blanks(context, &words);
    cut_at_blanks(question, &asks);
    assert_int_equal(words.count, WORDS + 1);
    struct features_words of = {context, &words, 1, WORDS}, by = {question, &asks, 0, asks.count};
    features_make(&of, &by, made[0]);
    for (int i = 0; i < WORDS; i++)
        for (int f = 0; f < FEATURES; f++) {
            float want = f == FEATURE_FREQUENCY ? wanted[i][f] / WORDS : wanted[i][f];
            if (made[i][f] != want) fail_msg("word %d, feature %d: %g, not %g", i, f, (double)made[i][f], (double)want);
        }
    of.count = 1, by.count = 0;
    features_make(&of, &by, made[0]);
    assert_true(made[0][FEATURE_SAME] == 0 && made[0][FEATURE_STEM] == 0 && made[0][FEATURE_FREQUENCY] == 1);
}

// ---- samples

static void open_samples(struct samples *s, const char *set, const char *vectors)
{
    write_articles(90, true);
    open_samples_of(s, "{\"model\": {\"name\": \"drqa\", \"vectors\": 3}, \"optimiser\": {\"rule\": \"adamax\"}, "
                       "\"data\": {\"vocabulary\": 256}}", set, vectors);
}

TEST_WITH(an_answer_comes_back_from_its_places, set_up, leave)
{
    struct samples s;
    open_samples(&s, NULL, NULL);
    const struct squad *squad = squad_of(s.stored, SPLIT_TEST);
    const struct reader *reader = reader_of(&s.setting);
    assert_int_equal(dataset_facts(s.view)->count[SPLIT_TEST], squad->questions);  // no context is cut
    for (int64_t i = 0; i < squad->questions; i++) {
        float start[512] = {0}, end[512] = {0};
        start[number_of(&s, SPLIT_TEST, "start", i)] = end[number_of(&s, SPLIT_TEST, "end", i)] = 1;
        struct answer a;
        assert_true(reader->answer(s.view, i, start, end, &a));
        const struct squad_question *q = &squad->question[a.question];
        assert_int_equal(a.begin, q->answer[0].start);
        assert_int_equal(a.end - a.begin, strlen(q->answer[0].text));
        assert_memory_equal(squad->context[q->paragraph] + a.begin, q->answer[0].text, (size_t)(a.end - a.begin));
    }
    close_samples(&s);
}

TEST_WITH(training_has_the_windows_that_hold_their_answers, set_up, leave)
{
    struct samples s;
    open_samples(&s, "data.length=32", NULL);
    assert_int_equal(recipe_set(&s.recipe, "model.heads=2"), ERR_USAGE);
    const struct dataset_facts *f = dataset_facts(s.view);
    assert_in_range(f->count[SPLIT_TRAIN], ARTICLES - ARTICLES / 6, 3 * ARTICLES);
    assert_true(f->count[SPLIT_TEST] > 3 * (ARTICLES / 6));
    for (int64_t i = 0; i < f->count[SPLIT_TRAIN]; i++) {
        int32_t tokens[32], question[64];
        float features[32][FEATURES];
        int64_t n, m, asked;
        OK(dataset_item(s.view, SPLIT_TRAIN, "tokens", i, tokens, sizeof tokens, &n));
        OK(dataset_item(s.view, SPLIT_TRAIN, "features", i, features, sizeof features, &m));
        OK(dataset_item(s.view, SPLIT_TRAIN, "question", i, question, sizeof question, &asked));
        assert_int_equal(n, m), assert_in_range(n, 1, 32), assert_int_equal(asked, 7);
        int32_t first = number_of(&s, SPLIT_TRAIN, "start", i), last = number_of(&s, SPLIT_TRAIN, "end", i);
        assert_true(first >= 0 && last >= first && last < n);
    }
    close_samples(&s);
}

// An answer that does not stand where the file says is in no window.
TEST_WITH(questions_without_a_whole_answer_are_counted, set_up, leave)
{
    struct samples s;
    struct text note = {0};
    open_samples(&s, NULL, NULL);
    task_squad_split.note(&s.setting, s.view, &note);
    assert_non_null(strstr(note.at, "learned from the training texts; --vectors"));
    assert_null(strstr(note.at, "left out"));
    close_samples(&s);
    text_free(&note);
    misplaced = 1;
    open_samples(&s, NULL, NULL);
    misplaced = 0;
    task_squad_split.note(&s.setting, s.view, &note);
    if (!strstr(note.at, "10 of training are left out, because no window holds the whole answer")) fail_msg("%s", note.at);
    close_samples(&s);
    text_free(&note);
}

TEST_WITH(words_that_come_once_are_unknown, set_up, leave)
{
    struct samples s, again;
    open_samples(&s, NULL, NULL);
    const struct wordlist *words = passages_words(s.view);
    assert_int_equal(words->rows, 256);
    assert_int_equal(wordlist_row(words, "Once1", 5), WORDLIST_UNKNOWN);
    assert_int_equal(wordlist_row(words, "nowhere", 7), WORDLIST_UNKNOWN);
    assert_int_equal(wordlist_row(words, ",", 1), WORDLIST_FIRST);  // the most frequent of all
    assert_in_range(wordlist_row(words, "follows", 7), WORDLIST_FIRST, 255);
    open_samples(&again, NULL, NULL);
    assert_string_equal(words->digest, passages_words(again.view)->digest);
    close_samples(&again);
    close_samples(&s);
}

TEST_WITH(wrong_files_are_said, set_up, leave)
{
    struct samples s;
    struct dataset *view;
    open_samples(&s, NULL, NULL);
    s.setting.data = dataset_facts(s.stored);
    s.setting.files = (struct task_files){.vocab = "vocab.txt"};
    assert_fails(task_squad_split.view(&s.setting, s.stored, &view), ERR_USAGE, "--vocab does not apply");
    put("other.txt", "Word1 1 2\n", 10);
    s.setting.files = (struct task_files){.vectors = in("other.txt")};
    assert_true(task_squad_split.view(&s.setting, s.stored, &view) < 0);
    put("none.txt", "elsewhere 1 2 3\n", 16);
    s.setting.files.vectors = in("none.txt");
    assert_fails(task_squad_split.view(&s.setting, s.stored, &view), ERR_INPUT, "no vector of any word");
    OK(task_find_model(&task_squad_split, "encoder", &s.setting.model));
    assert_fails(task_squad_split.view(&s.setting, s.stored, &view), ERR_USAGE, "no --vectors");
    close_samples(&s);
}

// ---- networks

static void make(struct bench *b, const char *device, const char *recipe, const char *data, const char *const *settings)
{
    bench_choose(b, &task_squad_split, recipe, settings);
    OK(device_open(device, 1, &b->device));  // small work: a second thread would only wait
    if (!data) OK(dataset_open_noise("squad-split", &b->data));
    else OK(dataset_open(data, strcmp(data, "stories") ? folder : NULL, &b->data));
    if (file_exists(in("vectors.txt"))) b->choice.files.vectors = in("vectors.txt");
    bench_new(b);
}

// Tables that the first step finds as every later one does are made again, and take no place in the state of a training.
static void constants_are_no_state(struct trainer *t)
{
    static const char *const constants[] = {"embedding.fixed", "embedding.tuned_row", "schedule.embedding_lr", "train.key"};
    static const struct state_run run = {.digest = {"aa", "bb"}, .note = "{}"};
    struct slot_store *store = t->session->store;
    struct state *state;
    char *bytes;
    size_t count, size;
    OK(state_save(in("run.state"), t, &run));
    OK(file_read(in("run.state"), 1 << 24, &bytes, &count));
    assert_non_null(memmem(bytes, count, "embedding.tuned\"", 16));
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        char name[64];
        snprintf(name, sizeof name, "\"%s\"", constants[i]);
        if (memmem(bytes, count, name, strlen(name)) != NULL) fail_msg("the state has %s", name);
    }
    free(bytes);
    for (size_t i = 0; i < 2; i++) {  // another process finds zeros there
        struct slot *slot = slot_find(store, constants[i]);
        char *was = zalloc(size = slot_bytes(slot)), *now = zalloc(size);
        OK(session_read(t->session, slot, was, size));
        OK(session_write(t->session, slot, now, 0, size));
        OK(state_open(in("run.state"), &state));
        OK(state_load(state, t, &run, STATE_SAME));
        state_close(state);
        OK(session_read(t->session, slot, now, size));
        assert_memory_equal(was, now, size);
        free(was), free(now);
    }
}

static const char *const narrow[] = {"precision=f32", "data.length=96", "data.stride=48", "data.vocabulary=256", "vectors=24",
                                     "hidden=8",      "word_dropout=0.1", "model.dropout=0.1", NULL};

// Names and shapes of the authors' programs, apart from the number of features.
TEST_WITH(layers_are_as_published, set_up, leave)
{
    static const struct {
        const char *recipe, *slot;
        int64_t rows, columns;
    } wanted[] = {
        {"drqa", "embedding.weight", 16384, 300},
        {"drqa", "qemb_match.linear.weight", 300, 300},
        {"drqa", "doc_rnn.rnns.0.weight_ih_l0", 512, 600 + FEATURES},
        {"drqa", "doc_rnn.rnns.2.weight_hh_l0_reverse", 512, 128},
        {"drqa", "question_rnn.rnns.2.weight_ih_l0", 512, 256},
        {"drqa", "self_attn.linear.weight", 1, 768},
        {"drqa", "end_attn.linear.weight", 768, 768},
        {"fastfusionnet", "doc_rnn.rnns.0.weight", 1000, 600 + FEATURES},
        {"fastfusionnet", "doc_rnn.rnns.1.weight", 750, 250},
        {"fastfusionnet", "question_urnn.rnns.0.weight", 1000, 500},
        {"fastfusionnet", "multi_level_fusion.linear.weight", 750, 800},
        {"fastfusionnet", "doc_urnn.rnns.0.weight", 1000, 1250},
        {"fastfusionnet", "self_boost_fusions.0.linear.weight", 250, 1800},
        {"fastfusionnet", "doc_final_rnns.0.rnns.1.weight", 750, 250},
        {"fastfusionnet", "end_gru.weight_ih", 750, 250},
        {"fastfusionnet", "end_attn.linear.weight", 250, 250},
    };
    static const char *const one[] = {"data.length=32", "data.batch=8", NULL};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted;) {
        struct bench m;
        const char *recipe = wanted[i].recipe;
        make(&m, "null", recipe, NULL, one);
        for (; i < sizeof wanted / sizeof *wanted && !strcmp(recipe, wanted[i].recipe); i++) {
            const struct slot *slot = slot_find(m.trainer->session->store, wanted[i].slot);
            if (!slot) fail_msg("%s has no %s", recipe, wanted[i].slot);
            assert_int_equal(slot->shape.dim[0], wanted[i].rows);
            assert_int_equal(slot->shape.dim[1], wanted[i].columns);
        }
        bench_close(&m);
    }
}

// Rows of matrices that cuBLASLt takes are a multiple of 16 bytes; smaller products are not for it (cuda_blas.c).
static bool large_products_are_aligned(const struct graph *g)
{
    bool aligned = true;
    for (int i = 0; i < g->nodes; i++) {
        const struct node *n = &g->node[i];
        if (n->op != OP_MATMUL || node_cost(g, n).flops < 0x1p31) continue;
        const struct value *row[] = {node_in(g, n, 0), node_in(g, n, 1), node_out(g, n, 0)};
        for (int k = 0; k < 3; k++) aligned &= shape_last(&row[k]->shape) * (int64_t)dtype_size(row[k]->dtype) % 16 == 0;
    }
    return aligned;
}

TEST_WITH(one_recipe_has_aligned_rows, set_up, leave)
{
    static const char *const settings[] = {"precision=bf16", "data.length=256", NULL};
    static const char *const recipes[] = {"fastfusionnet", "fastfusionnet-128"};
    for (int i = 0; i < 2; i++) {
        struct bench m;
        make(&m, "null", recipes[i], NULL, settings);
        const struct trainer *t = m.trainer;
        bool aligned = true;
        for (int v = 0; v < t->variants; v++) aligned &= large_products_are_aligned(t->session->graph[t->variant[v].program]);
        assert_int_equal(aligned, i == 1);
        bench_close(&m);
    }
}

static void loss_falls(const char *recipe, double by)
{
    struct bench m;
    double loss[2];
    make(&m, "cpu", recipe, "stories", narrow);
    bench_losses(&m, loss);
    if (!isfinite(loss[1]) || loss[1] > loss[0] - by) fail_msg("%s: %g, then %g", recipe, loss[0], loss[1]);
    bench_close(&m);
}

TEST_WITH(losses_fall, set_up, leave)
{
    loss_falls("drqa", 0.1);
    loss_falls("fastfusionnet", 0.1);
}

// What training adds to the vectors of the most frequent words is in a table of its own; the file's stay as they are.
TEST_WITH(frequent_words_are_tuned_and_no_others, set_up, leave)
{
    static const char *const few[] = {"precision=f32", "vectors=3",   "hidden=4",       "tuned=2",
                                      "data.batch=4",  "data.vocabulary=256", "data.length=128", "epochs=2",
                                      "vectors_multiple=4", NULL};
    struct text t = {0};
    struct bench m;
    float fixed[8][4], tuned[WORDLIST_FIRST + 2][4];
    write_articles(90, true);
    text_add(&t, ", 1 2 3\n( 4 5 6\nword1é 7 8 9\nfollows 1 1 1\n");  // Word1é by its lower case
    put("vectors.txt", t.at, t.length);
    text_free(&t);
    make(&m, "cpu", "drqa", "squad-split", few);
    OK(trainer_ready(m.trainer));
    OK(trainer_load(m.trainer));
    OK(trainer_begin(m.trainer, 1));
    for (int i = 0; i < 3; i++) OK(trainer_step(m.trainer));
    const struct slot_store *store = m.trainer->session->store;
    const struct slot *slot = slot_find(store, "embedding.fixed");
    assert_int_equal(slot->shape.dim[0], WORDLIST_FIRST + 4);
    OK(session_read(m.trainer->session, slot, fixed, (size_t)slot->shape.dim[0] * sizeof *fixed));
    assert_true(fixed[WORDLIST_PADDING][0] == 0 && fixed[WORDLIST_UNKNOWN][2] == 0);
    assert_true(fixed[WORDLIST_FIRST][0] == 1 && fixed[WORDLIST_FIRST][2] == 3);  // the comma
    for (int i = 0; i < WORDLIST_FIRST + 4; i++) assert_true(fixed[i][3] == 0);   // rows of three numbers in four
    OK(session_read(m.trainer->session, slot_find(store, "embedding.tuned"), tuned, sizeof tuned));
    assert_true(tuned[WORDLIST_PADDING][0] == 0 && tuned[WORDLIST_UNKNOWN][0] != 0 && tuned[WORDLIST_FIRST][0] != 0);
    constants_are_no_state(m.trainer);
    bench_close(&m);
}
