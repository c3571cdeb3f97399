// SPDX-License-Identifier: Apache-2.0
// Texts and tokens in blocks: characters and their numbers, the split, wrong files; shards of tokens; the drawn lines.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/dataset.h"
#include "data/read/text/corpus.h"
#include "data/read/text/shard.h"
#include "runtime/common/base/text.h"

TEST(characters_are_numbered_in_their_order)
{
    struct corpus_symbols s;
    assert_int_equal(corpus_parse("x", "to be\nor", 8, &s), 0);
    assert_int_equal(s.count, 7);
    assert_memory_equal(s.symbol, "\n beort", 7);
    assert_int_equal(s.id['\n'], 0);
    assert_int_equal(s.id['t'], 6);
    assert_int_equal(s.id['z'], -1);
    assert_fails(corpus_parse("x", "", 0, &s), ERR_INPUT, "x is empty");
    assert_fails(corpus_parse("x", "a\tb", 3, &s), ERR_INPUT, "x: byte 2 is 0x09");
    assert_fails(corpus_parse("x", "ab\xc3\xa4", 4, &s), ERR_INPUT, "x: byte 3 is 0xc3");
    assert_fails(corpus_parse("x", "\x1b[31m", 5, &s), ERR_INPUT, "x: byte 1 is 0x1b");
    assert_fails(corpus_parse("x", "a\0b", 3, &s), ERR_INPUT, "x: byte 2 is 0x00");
    assert_fails(corpus_parse("x", "a\x7f", 2, &s), ERR_INPUT, "x: byte 2 is 0x7f");
}

// ---- a text

enum { BLOCK = 256, TEXT = 5555 };
static void put_play(size_t n)
{
    char *text = malloc(n);
    for (size_t i = 0; i < n; i++) text[i] = (char)('a' + (i * i / 7) % 26);
    put("input.txt", text, n);
    free(text);
}

static int32_t expected(int64_t i) { return (int32_t)((i * i / 7) % 26); }

TEST_WITH(the_last_tenth_is_for_validation, set_up, leave)
{
    struct dataset *ds;
    int32_t block[BLOCK + 1];
    int64_t length;
    put_play(TEXT);
    assert_int_equal(dataset_open("shakespeare", folder, &ds), 0);
    const struct dataset_facts *f = dataset_facts(ds);
    assert_int_equal(corpus_length(ds, SPLIT_TRAIN), 4999);  // the whole part of 0.9 x 5,555
    assert_int_equal(corpus_length(ds, SPLIT_TEST), 556);
    assert_int_equal(f->count[SPLIT_TRAIN], 20);  // 19 whole blocks, and 134 characters more to predict
    assert_int_equal(f->count[SPLIT_TEST], 3);    // 2 and 43
    assert_int_equal(f->field[0].classes, 26);
    int32_t lengths[3];
    assert_int_equal(dataset_lengths(ds, SPLIT_TEST, "tokens", lengths), 0);
    for (int i = 0, predicted = 0; i < 3; i++) {
        assert_int_equal(dataset_item(ds, SPLIT_TEST, "tokens", i, block, sizeof block, &length), 0);
        assert_int_equal(length, i < 2 ? BLOCK + 1 : 44);
        assert_int_equal(length, lengths[i]);
        for (int64_t k = 0; k < length; k++) assert_int_equal(block[k], expected(4999 + i * BLOCK + k));
        predicted += (int)length - 1;
        if (i == 2) assert_int_equal(predicted, 555);  // all but the first, once
    }
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "tokens", 0, block, sizeof block - 4, &length), ERR_USAGE);
    assert_int_equal(corpus_read(ds, SPLIT_TRAIN, 4990, 9, block), 0);
    for (int k = 0; k < 9; k++) assert_int_equal(block[k], expected(4990 + k));
    enum dataset_verdict verdict;
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    dataset_close(ds);
}

TEST_WITH(short_and_strange_texts_are_refused, set_up, leave)
{
    struct dataset *ds;
    assert_fails(dataset_open("shakespeare", folder, &ds), ERR_MISSING, "input.txt is missing; \"dawn data fetch shakespeare\"");
    put_play(2560);
    assert_fails(dataset_open("shakespeare", folder, &ds), ERR_INPUT,
                 "input.txt: the validation text has 256 tokens; one block needs 257");
    put_play(2565);
    assert_int_equal(dataset_open("shakespeare", folder, &ds), 0);
    dataset_close(ds);
    put("input.txt", "To b\xe9", 5);
    assert_fails(dataset_open("shakespeare", folder, &ds), ERR_INPUT, "input.txt: byte 5 is 0xe9");
}

// nanoGPT's split: int(0.9 n) characters for training.
TEST(the_published_text_has_these_blocks)
{
    struct dataset *ds;
    assert_int_equal(dataset_open_noise("shakespeare", &ds), 0);
    const struct dataset_facts *f = dataset_facts(ds);
    assert_int_equal(f->count[SPLIT_TRAIN], 3922);  // 1,003,853 to predict in 256s
    assert_int_equal(f->count[SPLIT_TEST], 436);    // 111,539
    assert_int_equal(f->field[0].classes, 65);
    assert_int_equal(corpus_length(ds, SPLIT_TEST), 0);
    assert_null(corpus_symbols(ds));
    dataset_close(ds);
}

// ---- shards

struct head {
    int32_t word[256];
};
static void put_shard(const char *name, int64_t tokens, int32_t from)
{
    struct head h = {{SHARD_MAGIC, SHARD_VERSION, (int32_t)tokens}};
    unsigned char *bytes = malloc(sizeof h + (size_t)tokens * 2);
    memcpy(bytes, &h, sizeof h);
    for (int64_t i = 0; i < tokens; i++) {
        int32_t token = (from + (int32_t)i) % SHARD_TOKENS;
        bytes[sizeof h + 2 * (size_t)i] = (unsigned char)token, bytes[sizeof h + 2 * (size_t)i + 1] = (unsigned char)(token >> 8);
    }
    put(name, bytes, sizeof h + (size_t)tokens * 2);
    free(bytes);
}

TEST(shards_are_checked)
{
    unsigned char bytes[SHARD_HEADER + 8] = {0};
    struct head h = {{SHARD_MAGIC, SHARD_VERSION, 4}};
    int64_t tokens;
    memcpy(bytes, &h, sizeof h);
    assert_int_equal(shard_parse("s", bytes, SHARD_HEADER, SHARD_HEADER + 8, &tokens), 0);
    assert_int_equal(tokens, 4);
    assert_fails(shard_parse("s", bytes, SHARD_HEADER, SHARD_HEADER + 7, &tokens), ERR_INPUT, "4 tokens need 1032: it was cut");
    assert_fails(shard_parse("s", bytes, SHARD_HEADER, SHARD_HEADER + 9, &tokens), ERR_INPUT, "s has 1033 bytes");
    assert_fails(shard_parse("s", bytes, 100, 100, &tokens), ERR_INPUT, "s has 100 bytes; the header of a shard has 1024");
    h.word[2] = -4, memcpy(bytes, &h, sizeof h);
    assert_fails(shard_parse("s", bytes, SHARD_HEADER, SHARD_HEADER - 8, &tokens), ERR_INPUT, "s has 1016 bytes");
    assert_fails(shard_parse("s", bytes, SHARD_HEADER, SHARD_HEADER + 8, &tokens), ERR_INPUT, "says that it has -4 tokens");
    h.word[1] = 2, memcpy(bytes, &h, sizeof h);
    assert_fails(shard_parse("s", bytes, SHARD_HEADER, SHARD_HEADER + 8, &tokens), ERR_INPUT, "version 2; version 1 is read");
    h.word[0] = 20240801, memcpy(bytes, &h, sizeof h);
    assert_fails(shard_parse("s", bytes, SHARD_HEADER, SHARD_HEADER + 8, &tokens), ERR_INPUT, "begins with 20240801");
    int32_t token[2];
    static const unsigned char pair[] = {0x50, 0xc4, 0x51, 0xc4};  // 50,256 and 50,257
    assert_fails(shard_tokens("s", &(struct shard_piece){pair, 98, 2}, token), ERR_INPUT, "s: token 100 is 50257; GPT-2 has");
    assert_int_equal(token[0], 50256);
}

TEST_WITH(shards_are_one_row, set_up, leave)
{
    struct dataset *ds;
    int32_t block[1025];
    int64_t length;
    char hex[2][DIGEST_HEX];
    make_folder("fineweb");
    assert_fails(dataset_open("fineweb", folder, &ds), ERR_MISSING, "there is no fineweb_train_*.bin in");
    put_shard("fineweb/fineweb_train_000001.bin", 1500, 0);
    assert_fails(dataset_open("fineweb", folder, &ds), ERR_MISSING, "there is no fineweb_train_*.bin in");  // still
    assert_fails(dataset_open("fineweb", in("fineweb"), &ds), ERR_MISSING, "there is no fineweb_val_*.bin in");
    put_shard("fineweb/fineweb_val_000000.bin", 1024, 7);
    assert_fails(dataset_open("fineweb", folder, &ds), ERR_INPUT, "the validation text has 1024 tokens; one block needs 1025");
    put_shard("fineweb/fineweb_val_000000.bin", 1500, 7);
    put_shard("fineweb/fineweb_train_000003.bin", 600, 2100);
    assert_fails(dataset_open("fineweb", folder, &ds), ERR_MISSING, "fineweb_train_000002.bin is missing, and shards");
    put_shard("fineweb/fineweb_train_000002.bin", 600, 1500);
    put("fineweb/fineweb_train_2.bin", "", 0);  // no shard's name
    assert_int_equal(dataset_open("fineweb", folder, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 3);  // 2,699 to predict
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 2);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "tokens", i, block, sizeof block, &length), 0);
        assert_int_equal(length, i < 2 ? 1025 : 652);
        for (int64_t k = 0; k < length; k++) assert_int_equal(block[k], i * 1024 + k);  // over the borders at 1,500 and 2,100
    }
    enum dataset_verdict verdict;
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) assert_int_equal(dataset_content_digest(ds, s, hex[s]), 0);
    assert_string_not_equal(hex[0], hex[1]);
    assert_int_equal(truncate(in("fineweb/fineweb_train_000003.bin"), 1200), 0);
    assert_fails(dataset_item(ds, SPLIT_TRAIN, "tokens", 2, block, sizeof block, &length), ERR_INPUT,
                 "fineweb_train_000003.bin ends at byte 1200: it has become shorter");
    dataset_close(ds);
    assert_fails(dataset_open("fineweb", folder, &ds), ERR_INPUT, "has 1200 bytes, and its 600 tokens need 2224");
    put("fineweb/fineweb_train_000003.bin", "GIF89a", 6);
    assert_fails(dataset_open("fineweb", folder, &ds), ERR_INPUT, "fineweb_train_000003.bin has 6 bytes");
}

TEST_WITH(tokens_that_are_none_are_found, set_up, leave)
{
    struct dataset *ds;
    int32_t block[1025];
    int64_t length;
    put_shard("fineweb_train_000001.bin", 3000, 0);
    put_shard("fineweb_val_000000.bin", 1100, 0);
    FILE *f = fopen(in("fineweb_val_000000.bin"), "r+");
    assert_int_equal(fseek(f, SHARD_HEADER + 2 * 1050, SEEK_SET), 0);
    fputs("\xff\xff", f);
    fclose(f);
    assert_int_equal(dataset_open("fineweb", folder, &ds), 0);
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "tokens", 0, block, sizeof block, &length), 0);
    assert_fails(dataset_item(ds, SPLIT_TEST, "tokens", 1, block, sizeof block, &length), ERR_INPUT, "token 1051 is 65535");
    enum dataset_verdict verdict;
    assert_fails(dataset_verify(ds, &verdict), ERR_INPUT, "fineweb_val_000000.bin: token 1051 is 65535");
    dataset_close(ds);
}

TEST(lines_are_drawn_alike)
{
    struct dataset *ds;
    enum dataset_verdict verdict;
    int32_t block[65];
    char text[66] = "";
    assert_int_equal(dataset_open("lines", NULL, &ds), 0);
    const struct corpus_symbols *s = corpus_symbols(ds);
    assert_int_equal(corpus_length(ds, SPLIT_TRAIN), 60000);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 94);
    assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "tokens", 0, block, sizeof block, NULL), 0);
    for (int i = 0; i < 65; i++) text[i] = s->symbol[block[i]];
    assert_string_equal(text, "BRUNO:\nThe green bird loves the letter.\n\nEMMA:\nThe old letters pa");
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_SYNTHETIC);
    dataset_close(ds);
}
