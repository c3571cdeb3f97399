// SPDX-License-Identifier: Apache-2.0
// Files that torch.save wrote before PyTorch 1.6: test/fuzz/seeds/pth has two of PyTorch 2.15, with
// _use_new_zipfile_serialization=False. Every type, a shared storage, another order of the
// elements, entries that are no tensors, and damage at every byte.
#include "test/unit/test.h"
#include "test/unit/runtime/fixture_checkpoint.h"

#include <string.h>

#define COMMA ,

static char *bytes;
static size_t count;
static struct safetensors_view view;

static void read_seed(const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "test/fuzz/seeds/pth/%s", name);
    assert_int_equal(file_read(path, 1 << 20, &bytes, &count), 0);
}

static const struct safetensor *tensor(const char *name)
{
    for (int i = 0; i < view.tensors; i++)
        if (strcmp(view.tensor[i].name, name) == 0) return &view.tensor[i];
    fail_msg("there is no %s", name);
    return NULL;
}

static void hold(const char *name, const char *type, const char *shape, const void *values, size_t size)
{
    char text[SHAPE_TEXT];
    const struct safetensor *t = tensor(name);
    assert_string_equal(checkpoint_type_name(t->dtype), type);
    assert_string_equal(shape_text(text, &t->shape), shape);
    assert_int_equal(t->size, size);
    assert_memory_equal(t->bytes, values, size);
}
#define HOLD(name, type, shape, ...)                                                                                   \
    do {                                                                                                               \
        __VA_ARGS__;                                                                                                   \
        hold(name, type, shape, v, sizeof v);                                                                          \
    } while (0)

TEST(all_types_are_read)
{
    read_seed("kinds");
    assert_int_equal(checkpoint_parse_pth("kinds", bytes, count, &view), 0);
    assert_int_equal(view.tensors, 10);
    HOLD("conv.weight", "F32", "2x3x1x2", float v[12]; for (int i = 0; i < 12; i++) v[i] = (float)i - 5);
    HOLD("a", "F32", "2", float v[] = {0 COMMA 0.25f});
    HOLD("b", "F32", "2x2", float v[] = {0.5f COMMA 0.75f COMMA 1 COMMA 1.25f});
    HOLD("half", "F16", "2", uint16_t v[] = {0x3e00 COMMA 0xc000});
    HOLD("brain", "BF16", "1", uint16_t v[] = {0x3f00});
    HOLD("counts", "I64", "", int64_t v[] = {7});
    HOLD("bytes", "U8", "3", uint8_t v[] = {1 COMMA 2 COMMA 3});
    HOLD("wide", "F64", "1", double v[] = {0.25});
    HOLD("whole", "I32", "2", int32_t v[] = {-3 COMMA 4});
    HOLD("turned", "F32", "3x2x2", float v[12]; for (int i = 0; i < 12; i++) v[i] = (float)(i % 2 * 6 + i / 2 % 2 * 3 + i / 4));
    checkpoint_view_free(&view);
    free(bytes);
}

TEST(a_checkpoint_opens_it)
{
    struct checkpoint *c;
    assert_int_equal(checkpoint_open("test/fuzz/seeds/pth/one", &c), 0);
    assert_false(checkpoint_is_own(c));
    checkpoint_close(c);
}

TEST(a_file_that_was_cut_or_is_too_long_is_refused)
{
    read_seed("kinds");
    char *part = malloc(count + 1);
    for (size_t n = 0; n < count; n++) {
        memcpy(part, bytes, n);
        assert_int_equal(checkpoint_parse_pth("part", part, n, &view), ERR_INPUT);
    }
    memcpy(part, bytes, count);
    assert_fails(checkpoint_parse_pth("long", part, count + 1, &view), ERR_INPUT, "bytes after the last storage");
    free(part);
    free(bytes);
}

// Writes over the first occurrence of `from` behind the pickles that all files begin with.
static void assert_damage(const char *from, const char *to, size_t length, const char *said)
{
    read_seed("one");
    char *at = memmem(bytes + 137, count - 137, from, length);
    assert_non_null(at);
    memcpy(at, to, length);
    assert_fails(checkpoint_parse_pth("one", bytes, count, &view), ERR_INPUT, said);
    free(bytes);
}

TEST(what_is_no_file_of_weights_is_refused)
{
    assert_damage("torch._utils\n_rebuild", "os.path.xxxx\n_rebuild", 21, "it calls something else than what makes a dictionary");
    assert_damage("FloatStorage", "XloatStorage", 12, "a storage has another type than");
    assert_damage("K\1\x85q\x08", "K\2\x85q\x08", 5, "a tensor leaves its storage");
    assert_damage("QK\0K\1", "QK\1K\1", 5, "a tensor leaves its storage");
    assert_damage("\1a.\1", "\1a.\2", 4, "a storage has another size, or comes twice");
    assert_damage("q\6K\1N", "q\6K\2N", 5, "a storage has another size, or comes twice");
    assert_damage("\x80\x02}q", "\x80\x03}q", 4, "a pickle of another protocol than 2");
    assert_damage("K\0K\1", "NNK\1", 4, "a tensor is not made of a storage");
    assert_damage("only", "o\nly", 4, "has a control character");
    assert_damage("s.\x80\x02]", "0.\x80\x02]", 5, "an instruction that files of weights do not need");
    assert_damage("s.\x80\x02]", "N.\x80\x02]", 5, "a pickle is of something else than tensors");
    assert_damage("q\1a.", "q\1N.", 4, "a pickle is of something else than tensors");
    assert_damage("94808015239776q\1a", "94808015239777q\1a", 17, "a storage belongs to no tensor");
}
