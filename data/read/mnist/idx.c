// SPDX-License-Identifier: Apache-2.0
#include "data/read/mnist/idx.h"

enum { PICTURES = 0x803, LABELS = 0x801 };  // the third byte says u8, the fourth the number of sizes

static uint32_t idx_word(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int idx_check_head(const char *file, const uint8_t *bytes, size_t size, uint32_t magic)
{
    const char *what = magic == PICTURES ? "pictures" : "labels";
    const size_t head = magic == PICTURES ? IDX_PICTURES_HEAD : IDX_LABELS_HEAD;
    if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return fail(ERR_INPUT, "%s is compressed by gzip, and its name does not end in .gz", file);
    if (size >= 4 && idx_word(bytes) != magic)
        return fail(ERR_INPUT, "%s begins with 0x%08x; a file of %s in IDX form begins with 0x%08x", file, idx_word(bytes), what,
                    magic);
    if (size < head)
        return fail(ERR_INPUT, "%s has %zu bytes; the head of a file of %s in IDX form has %zu", file, size, what, head);
    return 0;
}

static int idx_check_size(const char *file, size_t size, int64_t want, const char *what, int64_t count)
{
    if ((int64_t)size == want) return 0;
    return fail(ERR_INPUT, "%s has %zu bytes, and its %lld %s need %lld: it %s", file, size, (long long)count, what,
                (long long)want, (int64_t)size < want ? "was cut" : "is too long");
}

int idx_pictures(const char *file, const uint8_t *bytes, size_t size, struct idx *into)
{
    TRY(idx_check_head(file, bytes, size, PICTURES));
    const int64_t count = idx_word(bytes + 4);
    if (idx_word(bytes + 8) != IDX_SIDE || idx_word(bytes + 12) != IDX_SIDE)
        return fail(ERR_INPUT, "%s has pictures of %u x %u pixels; MNIST's have %d x %d", file, idx_word(bytes + 12),
                    idx_word(bytes + 8), IDX_SIDE, IDX_SIDE);
    *into = (struct idx){bytes + IDX_PICTURES_HEAD, count};
    return idx_check_size(file, size, IDX_PICTURES_HEAD + count * IDX_PICTURE, "pictures", count);
}

int idx_labels(const char *file, const uint8_t *bytes, size_t size, struct idx *into)
{
    TRY(idx_check_head(file, bytes, size, LABELS));
    const int64_t count = idx_word(bytes + 4);
    *into = (struct idx){bytes + IDX_LABELS_HEAD, count};
    TRY(idx_check_size(file, size, IDX_LABELS_HEAD + count, "labels", count));
    for (int64_t i = 0; i < count; i++)
        if (into->at[i] >= IDX_CLASSES)
            return fail(ERR_INPUT, "%s: label %lld is %d; labels are 0 to %d", file, (long long)i + 1, into->at[i],
                        IDX_CLASSES - 1);
    return 0;
}
