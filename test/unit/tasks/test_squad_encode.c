// SPDX-License-Identifier: Apache-2.0
// Questions to samples and back: what a sequence holds, where the answer stands in it, that an answer is cut from the
// original text, which buckets are chosen; the vocabulary of training texts; config.json.
#include "test/unit/test.h"
#include "test/unit/tasks/fixture_squad.h"

#include "data/text/wordpiece.h"
#include "runtime/common/base/rng.h"
#include "tasks/squad/sample/buckets.h"
#include "tasks/squad/sample/config.h"
#include "tasks/squad/text/lexicon.h"
#include "tasks/squad/sample/reader.h"

static void open_samples(struct samples *s, const char *set)
{
    write_articles(120, false);
    open_samples_of(s, "{\"model\": {\"name\": \"encoder\"}, \"optimiser\": {\"rule\": \"adamw\"}}", set, NULL);
}

// With one-hot scores at the places of the answer the answer comes back, accents and capitals as in the text.
TEST_WITH(an_answer_is_cut_from_the_original_text, set_up, leave)
{
    struct samples s;
    open_samples(&s, NULL);
    const struct squad *squad = squad_of(s.stored, SPLIT_TEST);
    const struct reader *reader = reader_of(&s.setting);
    assert_int_equal(squad->questions, ARTICLES / 6);
    int64_t found = 0;
    for (int64_t i = 0; i < dataset_facts(s.view)->count[SPLIT_TEST]; i++) {
        float start[1024] = {0}, end[1024] = {0};
        int32_t first = number_of(&s, SPLIT_TEST, "start", i), last = number_of(&s, SPLIT_TEST, "end", i);
        struct answer a;
        start[first] = end[last] = 1;
        if (!first || !reader->answer(s.view, i, start, end, &a)) continue;
        if (a.score < 2) continue;  // another window owns the piece
        const struct squad_question *q = &squad->question[a.question];
        assert_int_equal(a.begin, q->answer[0].start);
        assert_int_equal(a.end - a.begin, strlen(q->answer[0].text));
        assert_memory_equal(squad->context[q->paragraph] + a.begin, q->answer[0].text, (size_t)(a.end - a.begin));
        found++;
    }
    assert_int_equal(found, squad->questions);
    close_samples(&s);
}

TEST_WITH(long_contexts_are_cut_into_windows, set_up, leave)
{
    struct samples s;
    open_samples(&s, "data.length=128");
    const struct dataset_facts *f = dataset_facts(s.view);
    assert_true(f->count[SPLIT_TRAIN] > 2 * (ARTICLES - ARTICLES / 6));
    int64_t held = 0;
    for (int64_t i = 0; i < f->count[SPLIT_TRAIN]; i++) {
        int32_t tokens[128], segments[128];
        int64_t n, m;
        assert_int_equal(dataset_item(s.view, SPLIT_TRAIN, "tokens", i, tokens, sizeof tokens, &n), 0);
        assert_int_equal(dataset_item(s.view, SPLIT_TRAIN, "segments", i, segments, sizeof segments, &m), 0);
        assert_int_equal(n, m);
        assert_true(tokens[0] == 2 && tokens[n - 1] == 3);  // [CLS] and [SEP] of the vocabulary of the texts
        int64_t begin = 0;
        while (!segments[begin]) begin++;
        assert_int_equal(tokens[begin - 1], 3);
        for (int64_t k = begin; k < n; k++) assert_int_equal(segments[k], 1);
        int32_t first = number_of(&s, SPLIT_TRAIN, "start", i), last = number_of(&s, SPLIT_TRAIN, "end", i);
        assert_true((first == 0 && last == 0) || (first >= begin && last >= first && last < n - 1));
        held += first > 0;
    }
    assert_true(held >= ARTICLES - ARTICLES / 6);
    close_samples(&s);
}

TEST_WITH(questions_that_train_no_answer_are_counted, set_up, leave)
{
    struct samples s;
    struct text note = {0};
    open_samples(&s, "data.length=128");
    task_squad_split.note(&s.setting, s.view, &note);
    assert_null(note.at);
    close_samples(&s);
    misplaced = 1;
    open_samples(&s, "data.length=128");
    misplaced = 0;
    task_squad_split.note(&s.setting, s.view, &note);
    assert_int_equal(strncmp(note.at, "10 of training have no window that holds the whole answer", 57), 0);
    for (int64_t i = 0; i < dataset_facts(s.view)->count[SPLIT_TRAIN]; i++)
        assert_int_equal(number_of(&s, SPLIT_TRAIN, "start", i), 0);  // [CLS]
    close_samples(&s);
    text_free(&note);
}

TEST_WITH(files_and_shapes_that_do_not_fit_are_said, set_up, leave)
{
    struct samples s;
    struct dataset *view;
    open_samples(&s, NULL);
    assert_int_equal(task_find_model(&task_squad_split, "bert", &s.setting.model), 0);
    s.setting.data = dataset_facts(s.stored);
    assert_fails(task_squad_split.view(&s.setting, s.stored, &view), ERR_USAGE, "--weights");
    char weights[128], vocab[128], path[128];
    snprintf(weights, sizeof weights, "%s/model.safetensors", folder);
    snprintf(vocab, sizeof vocab, "%s/vocab.txt", folder);
    snprintf(path, sizeof path, "%s/config.json", folder);
    s.setting.files = (struct task_files){weights, vocab, NULL};
    assert_int_equal(file_write(vocab, "[PAD]\n[UNK]\n[CLS]\n[SEP]\nword\n", 29), 0);
    static const char other[] = "{\"hidden_size\": 384, \"num_attention_heads\": 6, \"vocab_size\": 5}";
    assert_int_equal(file_write(path, other, sizeof other - 1), 0);
    assert_fails(task_squad_split.view(&s.setting, s.stored, &view), ERR_USAGE, "--set width=384 --set heads=6");
    static const char pieces[] = "{\"hidden_size\": 768, \"vocab_size\": 6}";
    assert_int_equal(file_write(path, pieces, sizeof pieces - 1), 0);
    assert_fails(task_squad_split.view(&s.setting, s.stored, &view), ERR_INPUT, "6 pieces, and the vocabulary has 5");
    close_samples(&s);
}

TEST_WITH(other_encoders_are_refused, set_up, leave)
{
    static const char *const bad[] = {"", "[]", "{", "{\"hidden_size\": \"384\"}", "{\"hidden_size\": 0}",
                                      "{\"hidden_size\": 3.5}",
                                      "{\"hidden_act\": \"gelu_new\"}", "{\"model_type\": \"roberta\"}", "{\"hidden_act\": 3}",
                                      "{\"position_embedding_type\": \"relative_key\"}", "{\"type_vocab_size\": 1}",
                                      "{\"layer_norm_eps\": 1e-5}", "{\"layer_norm_eps\": -1}"};
    struct config c;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        REFUSED(config_parse("config.json", bad[i], strlen(bad[i]), &c), "config.json");
    }
    static const char good[] = "{\"num_hidden_layers\": 6, \"layer_norm_eps\": 1e-12, \"other\": [1]}";
    assert_int_equal(config_parse("config.json", good, sizeof good - 1, &c), 0);
    assert_int_equal(c.layers, 6), assert_int_equal(c.width, 0);
}

// ---- buckets

static double padding_of(const int32_t *lengths, int64_t count, const struct order_choice *o)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        int b = 0;
        while (lengths[i] > o->limit[b]) b++;
        sum += o->limit[b] - lengths[i];
    }
    return sum;
}

TEST_WITH(buckets_pad_little, set_up, leave)
{
    enum { COUNT = 4000 };
    static int32_t lengths[COUNT];
    for (int i = 0; i < COUNT; i++) {
        struct rng4 r = rng_draw(1, RNG_TEST, 0, (uint32_t)i, 0);
        lengths[i] = 30 + (int32_t)(rng_below(r.v[0], 200) + rng_below(r.v[1], 150));
    }
    struct order_choice o = {0};
    buckets_choose(lengths, COUNT, 384, 32, 32, &o);
    assert_in_range(o.buckets, 2, BUCKETS_MOST);
    assert_int_equal(o.limit[o.buckets - 1], 384);
    for (int b = 0; b < o.buckets; b++) {
        assert_int_equal(o.limit[b] % BUCKETS_STEP, 0);
        assert_true(b == 0 || o.limit[b] > o.limit[b - 1]);
        assert_int_equal(o.batch[b], 32);
    }
    struct order_choice even = {.buckets = 6, .limit = {64, 128, 192, 256, 320, 384}};
    assert_true(padding_of(lengths, COUNT, &o) < padding_of(lengths, COUNT, &even));
    // Few samples: one bucket for all. The longest length need not be a multiple.
    buckets_choose(lengths, 20, 380, 32, 32, &o);
    assert_int_equal(o.buckets, 1);
    lengths[0] = 380;
    buckets_choose(lengths, 1, 380, 32, 1, &o);
    assert_int_equal(o.buckets, 1), assert_int_equal(o.limit[0], 380);
    buckets_choose(lengths, 0, 380, 32, 1, &o);
    assert_int_equal(o.buckets, 1), assert_int_equal(o.limit[0], 32);
}

TEST_WITH(every_word_of_the_texts_can_be_written, set_up, leave)
{
    struct samples s;
    open_samples(&s, NULL);
    struct text list = {0};
    struct wordpiece *w;
    struct pieces p = {0};
    lexicon_make(squad_of(s.stored, SPLIT_TRAIN), 400, &list);
    assert_int_equal(wordpiece_parse("lexicon", list.at, list.length, true, &w), 0);
    assert_true(wordpiece_count(w) <= 400);
    wordpiece_encode(w, "What follows xyzzy, Word3?", 26, &p);
    for (int64_t i = 0; i < p.count; i++) assert_int_not_equal(p.id[i], wordpiece_special(w).unknown);
    assert_string_equal(wordpiece_name(w, p.id[0]), "what");
    assert_int_equal(p.count, 1 + 1 + 5 + 1 + 1 + 1);  // five letters of the word that is not there
    pieces_free(&p);
    wordpiece_free(w);
    text_free(&list);
    close_samples(&s);
}

// dawn plan and dawn bench work where nothing was fetched.
TEST_WITH(noise_has_samples_too, set_up, leave)
{
    struct dataset *noise = NULL, *view;
    struct recipe recipe;
    if (recipe_embedded("bert-base", &recipe) < 0 || dataset_open_noise("squad-split", &noise) < 0) fail_msg("%s", error_text());
    struct setting c = {.task = &task_squad_split, .recipe = &recipe, .data = dataset_facts(noise)};
    assert_int_equal(task_find_model(&task_squad_split, "bert", &c.model), 0);
    if (task_squad_split.view(&c, noise, &view) < 0) fail_msg("%s", error_text());
    const struct dataset_facts *f = dataset_facts(view);
    assert_true(f->count[SPLIT_TRAIN] >= dataset_facts(noise)->count[SPLIT_TRAIN]);
    assert_int_equal(f->field[0].classes, 30522);
    int32_t tokens[384];
    int64_t n;
    assert_int_equal(dataset_item(view, SPLIT_TEST, "tokens", 5, tokens, sizeof tokens, &n), 0);
    for (int64_t i = 0; i < n; i++) assert_in_range(tokens[i], 0, 30521);
    dataset_close(view);
    dataset_close(noise);
}
