// SPDX-License-Identifier: Apache-2.0
// OpenSSH's binary and text forms. Invariant: a reader never passes its end, even if the bytes claim larger lengths.
// Workload: a key or a signature of some hundred bytes. Cost: one pass, no allocation.
#include "submit/format/ssh/sshwire.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 70 };

struct sshwire sshwire_over(const void *bytes, size_t count)
{
    return (struct sshwire){.at = bytes, .end = (const unsigned char *)bytes + count};
}

size_t sshwire_left(const struct sshwire *wire)
{
    return (size_t)(wire->end - wire->at);
}

static void give_up(struct sshwire *wire)
{
    wire->bad = true;
    wire->at = wire->end;
}

uint32_t sshwire_u32(struct sshwire *wire)
{
    if (sshwire_left(wire) < 4) {
        give_up(wire);
        return 0;
    }
    const unsigned char *b = wire->at;
    wire->at += 4;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

struct sshwire sshwire_string(struct sshwire *wire)
{
    size_t count = sshwire_u32(wire);
    if (count > sshwire_left(wire)) {
        give_up(wire);
        count = 0;
    }
    struct sshwire inside = {.at = wire->at, .end = wire->at + count, .bad = wire->bad};
    wire->at += count;
    return inside;
}

bool sshwire_is(struct sshwire *wire, const char *word)
{
    struct sshwire text = sshwire_string(wire);
    return !wire->bad && sshwire_left(&text) == strlen(word) && memcmp(text.at, word, strlen(word)) == 0;
}

bool sshwire_done(const struct sshwire *wire)
{
    return !wire->bad && wire->at == wire->end;
}

const char *sshwire_type(const char *application)
{
    return *application ? "sk-ssh-ed25519@openssh.com" : "ssh-ed25519";
}

// A type and an application have 1 to 63 printable characters, which need no quotes.
static bool is_word(struct sshwire word)
{
    const size_t count = sshwire_left(&word);
    if (word.bad || count == 0 || count >= SSHWIRE_APPLICATION) return false;
    for (; word.at < word.end; word.at++)
        if (*word.at < 0x21 || *word.at > 0x7e || *word.at == '"') return false;
    return true;
}

int sshwire_key(struct sshwire blob, unsigned char at[32], char application[SSHWIRE_APPLICATION])
{
    struct sshwire again = blob, type = sshwire_string(&blob), word = {0};
    memset(application, 0, SSHWIRE_APPLICATION);
    if (!is_word(type)) return fail(ERR_INPUT, "the public key is damaged");
    const bool hardware = sshwire_is(&again, sshwire_type("ssh:"));
    if (!hardware && (sshwire_left(&type) != 11 || memcmp(type.at, "ssh-ed25519", 11) != 0))
        return fail(ERR_INPUT, "the key is of type %.*s; only ssh-ed25519 and sk-ssh-ed25519@openssh.com are accepted",
                    (int)sshwire_left(&type), type.at);
    struct sshwire key = sshwire_string(&blob);
    if (hardware) word = sshwire_string(&blob);
    if (sshwire_left(&key) != 32 || !sshwire_done(&blob) || (hardware && !is_word(word)))
        return fail(ERR_INPUT, "the public key is damaged");
    memcpy(at, key.at, 32);
    if (hardware) memcpy(application, word.at, sshwire_left(&word));
    return 0;
}

void sshwire_put(struct sshwire_out *out, const void *bytes, size_t count)
{
    BUG_IF(count > out->capacity - out->count);
    if (count > 0) memcpy(out->at + out->count, bytes, count);
    out->count += count;
}

void sshwire_put_u32(struct sshwire_out *out, uint32_t n)
{
    const unsigned char b[4] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16), (unsigned char)(n >> 8), (unsigned char)n};
    sshwire_put(out, b, sizeof b);
}

void sshwire_put_string(struct sshwire_out *out, const void *bytes, size_t count)
{
    BUG_IF(count > UINT32_MAX);
    sshwire_put_u32(out, (uint32_t)count);
    sshwire_put(out, bytes, count);
}

void sshwire_put_word(struct sshwire_out *out, const char *word)
{
    sshwire_put_string(out, word, strlen(word));
}

void sshwire_put_key(struct sshwire_out *out, const unsigned char at[32], const char *application)
{
    sshwire_put_word(out, sshwire_type(application));
    sshwire_put_string(out, at, 32);
    if (*application) sshwire_put_word(out, application);
}

void sshwire_armour(const char *what, const void *bytes, size_t count, char *into, size_t capacity)
{
    char base64[4096];
    BUG_IF(sodium_base64_ENCODED_LEN(count, sodium_base64_VARIANT_ORIGINAL) > sizeof base64);
    sodium_bin2base64(base64, sizeof base64, bytes, count, sodium_base64_VARIANT_ORIGINAL);
    size_t length = (size_t)snprintf(into, capacity, "-----BEGIN %s-----\n", what);
    for (size_t i = 0; base64[i] != 0 && length < capacity; i += strnlen(base64 + i, COLUMNS))
        length += (size_t)snprintf(into + length, capacity - length, "%.*s\n", COLUMNS, base64 + i);
    if (length < capacity) length += (size_t)snprintf(into + length, capacity - length, "-----END %s-----\n", what);
    sodium_memzero(base64, sizeof base64);  // it may be a private key
    BUG_IF(length >= capacity);
}

// Drops one line end from the end of the text, if any.
static size_t without_line_end(const char *text, size_t count)
{
    if (count > 0 && text[count - 1] == '\n') {
        count--;
        if (count > 0 && text[count - 1] == '\r') count--;
    }
    return count;
}

int sshwire_unarmour(const char *what, const char *text, size_t text_count, unsigned char *into, size_t capacity, size_t *count)
{
    char begin[80], end[80];
    size_t b = (size_t)snprintf(begin, sizeof begin, "-----BEGIN %s-----", what);
    size_t e = (size_t)snprintf(end, sizeof end, "-----END %s-----", what);
    BUG_IF(b >= sizeof begin || e >= sizeof end);
    *count = 0;
    text_count = without_line_end(text, text_count);
    if (text_count < b || memcmp(text, begin, b) != 0) return fail(ERR_INPUT, "there is no line \"%s\" at the beginning", begin);
    text += b, text_count -= b;
    if (text_count < e || memcmp(text + text_count - e, end, e) != 0)
        return fail(ERR_INPUT, "there is no line \"%s\" at the end", end);
    text_count -= e;
    if (text_count < 2 || (text[0] != '\n' && text[0] != '\r') || text[text_count - 1] != '\n')
        return fail(ERR_INPUT, "the lines \"%s\" and \"%s\" must be on lines of their own", begin, end);
    // libsodium also skips NUL bytes if it may skip any.
    if (memchr(text, 0, text_count) != NULL ||
        sodium_base642bin(into, capacity, text, text_count, "\r\n", count, NULL, sodium_base64_VARIANT_ORIGINAL) != 0) {
        *count = 0;
        return fail(ERR_INPUT, "the text between \"%s\" and \"%s\" is not base64, or is too long", begin, end);
    }
    return 0;
}
