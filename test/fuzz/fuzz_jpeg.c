// SPDX-License-Identifier: Apache-2.0
// Fuzzes decoder_draw: any JPEG, any part of it, any size of the sample. The last eight bytes choose the part and the size. A
// sample has the same bytes when it is drawn again after another, stays inside its place, and a failure has its sentence.
#include "data/image/decoder.h"
#include "runtime/common/base/rng.h"

#include <string.h>

enum { SIDE = 40, GUARD = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static struct area choose_area(const struct rng4 *r, int width, int height)
{
    double left = rng_unit(r->v[0]) * width, top = rng_unit(r->v[1]) * height;
    struct area a = {left, top, (width - left) * (1 - rng_unit(r->v[2])), (height - top) * (1 - rng_unit(r->v[3]))};
    if (r->v[0] & 1) a = (struct area){(int)left, (int)top, width - (int)left, height - (int)top};
    return a;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static struct decoder *decoder;
    static uint8_t into[2][SIDE * SIDE * 3 + GUARD];
    uint64_t choice = 0;
    if (decoder == NULL) decoder = decoder_new();
    // Smaller limits than usual, so that most time is spent in many files.
    decoder_limit(decoder, &(struct image_limits){2048, 1 << 18});
    if (count >= sizeof choice) memcpy(&choice, bytes + count - sizeof choice, sizeof choice);
    struct rng4 size = rng_draw(choice, RNG_TEST, 0, 0, 0), part = rng_draw(choice, RNG_TEST, 0, 1, 0);
    int64_t out_height = 1 + size.v[0] % SIDE, out_width = 1 + size.v[1] % SIDE;
    int width, height, rc[2] = {0};
    if (decoder_size(decoder, "it", bytes, count, &width, &height) < 0) {
        BUG_IF(strncmp(error_text(), "it", 2) != 0);
        return 0;
    }
    BUG_IF(width < 1 || height < 1 || width > 2048 || (int64_t)width * height > 1 << 18);
    struct area a = choose_area(&part, width, height), other = {0, 0, width, height};
    for (int i = 0; i < 2; i++) {
        uint8_t small[3 * 3 * 3];
        memset(into[i], 0x5a, sizeof into[i]);
        rc[i] = decoder_draw(decoder, "it", bytes, count,
                             &(struct scale_into){&a, size.v[2] & 1, out_height, out_width, into[i]});
        BUG_IF(rc[i] < 0 && strncmp(error_text(), "it", 2) != 0);
        for (int64_t k = out_height * out_width * 3; k < (int64_t)sizeof into[i]; k++) BUG_IF(into[i][k] != 0x5a);
        if (i == 0 && decoder_draw(decoder, "it", bytes, count,
                                   &(struct scale_into){&other, false, 3, 3, small}) < 0) BUG_IF(error_text()[0] == '\0');
    }
    BUG_IF(rc[0] != rc[1] || (rc[0] == 0 && memcmp(into[0], into[1], sizeof into[0]) != 0));
    return 0;
}
