// SPDX-License-Identifier: Apache-2.0
// NIST sphere: "NIST_1A", the size of the head in bytes, lines "name -type value", "end_head", then samples. Only pcm of 16 bits
// is read; shorten and others are refused by name.
#include <string.h>

#include "data/audio/sound_inside.h"
#include "runtime/common/base/text.h"

enum { HEAD = 1024, HEAD_MOST = SOUND_HEAD, START = 16, WORD = 64 };

struct member {
    char value[WORD];
    bool has;
};
enum { COUNT, RATE, BYTES, ORDER, CODING, CHANNELS, BITS, MEMBERS };
static const char *const names[MEMBERS] = {
    [COUNT] = "sample_count", [RATE] = "sample_rate",    [BYTES] = "sample_n_bytes", [ORDER] = "sample_byte_format",
    [CODING] = "sample_coding", [CHANNELS] = "channel_count", [BITS] = "sample_sig_bits",
};

// "sample_rate -i 16000", "sample_coding -s3 pcm"
static int take_line(const char *line, size_t n, struct member member[MEMBERS])
{
    for (int m = 0; m < MEMBERS; m++) {
        size_t length = strlen(names[m]);
        if (n <= length || memcmp(line, names[m], length) != 0 || line[length] != ' ') continue;
        const char *dash = line + length + 1, *end = line + n, *blank = memchr(dash, ' ', (size_t)(end - dash));
        if (blank == NULL || *dash != '-') return fail(ERR_INPUT, "its head has %s without a type and a value", names[m]);
        if (member[m].has) return fail(ERR_INPUT, "its head has %s twice", names[m]);
        size_t bytes = (size_t)(end - blank - 1);
        while (bytes > 0 && (blank[bytes] == ' ' || blank[bytes] == '\r')) bytes--;
        if (bytes >= WORD) bytes = WORD - 1;
        memcpy(member[m].value, blank + 1, bytes);
        for (size_t i = 0; i < bytes; i++)
            if (member[m].value[i] < ' ' || member[m].value[i] > '~') member[m].value[i] = '?';
        member[m].has = true;
    }
    return 0;
}

static int take_head(const char *head, size_t size, struct member member[MEMBERS])
{
    for (size_t at = START; at < size;) {
        const char *end = memchr(head + at, '\n', size - at);
        size_t n = end != NULL ? (size_t)(end - head) - at : size - at;
        if (n >= 8 && memcmp(head + at, "end_head", 8) == 0) return 0;
        if (end == NULL) break;
        TRY(take_line(head + at, n, member));
        at += n + 1;
    }
    return fail(ERR_INPUT, "its head of %zu bytes has no end_head", size);
}

static int number_of(const struct member *member, int m, int64_t least, int64_t most, int64_t *into)
{
    if (!member[m].has) return fail(ERR_INPUT, "its head has no %s", names[m]);
    if (text_to_int(member[m].value, least, most, into) == 0) return 0;
    return fail(ERR_INPUT, "%s is \"%s\"; it must be %lld%s%.0lld", names[m], member[m].value, (long long)least,
                most > least ? " to " : "", most > least ? (long long)most : 0LL);
}

static int head_size(const uint8_t *bytes, size_t count, size_t *size)
{
    char word[9] = "";
    int64_t number = 0;
    if (count < START) return fail(ERR_INPUT, "it ends within the head of a sphere file");
    memcpy(word, bytes + 8, 7);
    const char *digits = word + strspn(word, " ");
    if (bytes[15] != '\n' || text_to_int(digits, HEAD, HEAD_MOST, &number) < 0 || number % HEAD != 0)
        return fail(ERR_INPUT, "its head says that it has \"%.7s\" bytes; a sphere head has a multiple of %d, at most %d",
                    strspn(word, " 0123456789") == 7 ? word : "?", HEAD, HEAD_MOST);
    *size = (size_t)number;
    return 0;
}

int sound_sphere(const uint8_t *bytes, size_t count, size_t size, struct sound_layout *layout)
{
    struct member member[MEMBERS] = {{"", false}};
    int64_t samples, rate, width, channels = 1, bits = 16;
    size_t head = 0;
    TRY(head_size(bytes, count, &head));
    if (count < head) return fail(ERR_INPUT, "it ends within its head of %zu bytes", head);
    TRY(take_head((const char *)bytes, head, member));
    const char *coding = member[CODING].has ? member[CODING].value : "pcm";
    if (strcmp(coding, "pcm") != 0)
        return fail(ERR_INPUT, "its samples are coded as \"%s\"; only pcm is read%s", coding,
                    strstr(coding, "shorten") != NULL ? " (NIST's w_decode -o pcm undoes shorten)" : "");
    TRY(number_of(member, BYTES, 2, 2, &width));
    TRY(number_of(member, COUNT, 0, SOUND_BYTES, &samples));
    TRY(number_of(member, RATE, SOUND_RATE_LEAST, SOUND_RATE_MOST, &rate));
    if (member[CHANNELS].has) TRY(number_of(member, CHANNELS, 1, SOUND_CHANNELS, &channels));
    if (member[BITS].has) TRY(number_of(member, BITS, 1, 16, &bits));
    const char *order = member[ORDER].has ? member[ORDER].value : "";
    if (strcmp(order, "01") != 0 && strcmp(order, "10") != 0)
        return fail(ERR_INPUT, "sample_byte_format is \"%s\"; it must be 01 (low byte first) or 10", order);
    if (head + (size_t)(samples * channels * width) > size)
        return fail(ERR_INPUT, "its head counts %lld samples, and the file ends after %lld", (long long)samples,
                    (long long)((int64_t)(size - head) / (channels * width)));
    layout->head = (struct sound_head){"sphere", (int)rate, (int)channels, 16, false, samples};
    layout->code = SOUND_INTEGER, layout->bytes = 2, layout->big = order[0] == '1', layout->at = head;
    return 0;
}
