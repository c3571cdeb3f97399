// SPDX-License-Identifier: Apache-2.0
// Signed notes. Invariant: a signature covers the text as it came, byte for byte; base64 has one accepted form.
#include "submit/log/note.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "submit/format/canonical.h"

#define DASH "\xe2\x80\x94 "
enum { NUMBER = 4, OWN = 1, COSIGNATURE = 4, TIME = 8, SIGNED = NUMBER + crypto_sign_BYTES, TIMED = SIGNED + TIME };

// The number of a key, which depends on its owner's name and what it signs.
static void number_of(const char *name, unsigned char type, const unsigned char key[32], unsigned char into[NUMBER])
{
    crypto_hash_sha256_state state;
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)name, strlen(name));
    crypto_hash_sha256_update(&state, (const unsigned char[]){'\n', type}, 2);
    crypto_hash_sha256_update(&state, key, 32);
    crypto_hash_sha256_final(&state, digest);
    memcpy(into, digest, NUMBER);
}

char *note_origin(const char *board, char into[NOTE_NAME])
{
    snprintf(into, NOTE_NAME, "%.100s/log", board);
    for (char *at = into; *at != 0; at++)
        if (*at == '+') *at = '_';
    return into;
}

static void write_text(const struct checkpoint *c, struct text *into)
{
    char root[sodium_base64_ENCODED_LEN(TREE_HASH, sodium_base64_VARIANT_ORIGINAL)];
    sodium_bin2base64(root, sizeof root, c->root.at, TREE_HASH, sodium_base64_VARIANT_ORIGINAL);
    text_add(into, "%s\n%lld\n%s\n", c->origin, (long long)c->size, root);
}

char *note_sign(const struct checkpoint *c, const struct sshkey_secret *secret, char into[NOTE_SIGNATURE])
{
    struct text text = {0};
    unsigned char bytes[SIGNED];
    write_text(c, &text);
    number_of(c->origin, OWN, secret->key.at, bytes);
    crypto_sign_detached(bytes + NUMBER, NULL, (const unsigned char *)text.at, text.length, secret->secret);
    sodium_bin2base64(into, NOTE_SIGNATURE, bytes, sizeof bytes, sodium_base64_VARIANT_ORIGINAL);
    text_free(&text);
    return into;
}

void note_write(const struct checkpoint *c, const char *signature, struct text *into)
{
    write_text(c, into);
    text_add(into, "\n" DASH "%s %s\n", c->origin, signature);
}

static char *write_key(const char *name, unsigned char type, const unsigned char key[32], char into[NOTE_KEY])
{
    unsigned char number[NUMBER], typed[33] = {type};
    char base64[sodium_base64_ENCODED_LEN(sizeof typed, sodium_base64_VARIANT_ORIGINAL)];
    number_of(name, type, key, number);
    memcpy(typed + 1, key, 32);
    sodium_bin2base64(base64, sizeof base64, typed, sizeof typed, sodium_base64_VARIANT_ORIGINAL);
    snprintf(into, NOTE_KEY, "%s+%02x%02x%02x%02x+%s", name, number[0], number[1], number[2], number[3], base64);
    return into;
}

char *note_key(const char *origin, const struct sshkey *key, char into[NOTE_KEY])
{
    return write_key(origin, OWN, key->at, into);
}

// ---- reading
// One line, without its line end, which must be there.
struct line {
    const char *at;
    size_t count;
};

static bool next_line(const char **at, const char *end, struct line *line)
{
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    if (stop == NULL) return false;
    *line = (struct line){*at, (size_t)(stop - *at)};
    *at = stop + 1;
    return true;
}

// Base64 in its one form. False: it is not, or has more than `capacity` bytes.
static bool read_base64(const char *text, size_t text_count, unsigned char *into, size_t capacity, size_t *count)
{
    if (memchr(text, 0, text_count) != NULL) return false;
    return sodium_base642bin(into, capacity, text, text_count, NULL, count, NULL, sodium_base64_VARIANT_ORIGINAL) == 0;
}

static int read_size(struct line line, int64_t *size)
{
    char word[24];
    if (line.count == 0 || line.count >= sizeof word || (line.count > 1 && line.at[0] == '0'))
        return fail(ERR_INPUT, "the checkpoint's second line is not a size");
    memcpy(word, line.at, line.count);
    word[line.count] = 0;
    if (strspn(word, "0123456789") != line.count || text_to_int(word, 0, TREE_MOST, size) < 0)
        return fail(ERR_INPUT, "the checkpoint's second line is not a size");
    return 0;
}

static int read_text(const char *at, const char *end, struct checkpoint *c)
{
    struct line origin, size, root, more;
    size_t count;
    if (!next_line(&at, end, &origin) || !next_line(&at, end, &size) || !next_line(&at, end, &root))
        return fail(ERR_INPUT, "the checkpoint has fewer than three lines");
    if (origin.count == 0 || origin.count >= NOTE_NAME) return fail(ERR_INPUT, "the checkpoint names no log, or too long a one");
    memcpy(c->origin, origin.at, origin.count);
    c->origin[origin.count] = 0;
    TRY(read_size(size, &c->size));
    if (!read_base64(root.at, root.count, c->root.at, TREE_HASH, &count) || count != TREE_HASH)
        return fail(ERR_INPUT, "the checkpoint's third line is not a root hash");
    while (next_line(&at, end, &more))
        if (more.count == 0) return fail(ERR_INPUT, "the checkpoint has an empty line");
    return 0;
}

static int read_signature(struct line line, struct note_signature *s)
{
    static const char bad[] = "a signature line of the checkpoint is not \"\xe2\x80\x94 NAME BASE64\"";
    const size_t dash = sizeof DASH - 1;
    if (line.count < dash || memcmp(line.at, DASH, dash) != 0) return fail(ERR_INPUT, "%s", bad);
    const char *name = line.at + dash, *space = memchr(name, ' ', line.count - dash);
    if (space == NULL || space == name || memchr(name, '+', (size_t)(space - name)) != NULL) return fail(ERR_INPUT, "%s", bad);
    const char *base64 = space + 1;
    const size_t name_count = (size_t)(space - name), count = line.count - (size_t)(base64 - line.at);
    unsigned char bytes[8192];
    if (!read_base64(base64, count, bytes, sizeof bytes, &s->byte_count) || s->byte_count <= NUMBER)
        return fail(ERR_INPUT, "%s", bad);
    if (name_count < NOTE_NAME) memcpy(s->name, name, name_count);
    memcpy(s->bytes, bytes, s->byte_count < sizeof s->bytes ? s->byte_count : sizeof s->bytes);
    return 0;
}

// No line may hold what a terminal or a page cannot show.
static int check_lines(const char *at, const char *end)
{
    struct line line;
    if (at == end || end[-1] != '\n') return fail(ERR_INPUT, "the checkpoint's last line has no end");
    while (next_line(&at, end, &line))
        if (line.count > 0 && canonical_check_text(line.at, line.count) < 0)
            return fail_prefix(ERR_INPUT, "the checkpoint cannot be shown: ");
    return 0;
}

int note_read(const char *bytes, size_t count, struct note *note)
{
    const char *end = bytes + count, *at = NULL;
    struct line line;
    *note = (struct note){0};
    if (count > NOTE_MOST) return fail(ERR_INPUT, "the checkpoint has more than %d bytes", NOTE_MOST);
    TRY(check_lines(bytes, end));
    for (size_t i = 0; i + 1 < count; i++)
        if (bytes[i] == '\n' && bytes[i + 1] == '\n') at = bytes + i + 1;
    if (at == NULL) return fail(ERR_INPUT, "the checkpoint has no signature");
    note->text_count = (size_t)(at - bytes);
    TRY(read_text(bytes, at, &note->checkpoint));
    for (at++; at < end; note->count++) {
        if (note->count == NOTE_SIGNATURES) return fail(ERR_INPUT, "the checkpoint has more than %d signatures", NOTE_SIGNATURES);
        if (!next_line(&at, end, &line)) return fail(ERR_INPUT, "the checkpoint's last line has no end");
        TRY(read_signature(line, &note->signatures[note->count]));
    }
    return note->count > 0 ? 0 : fail(ERR_INPUT, "the checkpoint has no signature");
}

static const struct note_signature *find_signature(const struct note *note, const char *name, const unsigned char number[NUMBER])
{
    for (int i = 0; i < note->count; i++)
        if (strcmp(note->signatures[i].name, name) == 0 && memcmp(note->signatures[i].bytes, number, NUMBER) == 0)
            return &note->signatures[i];
    return NULL;
}

int note_check(const char *bytes, const struct note *note, const struct sshkey *key)
{
    unsigned char number[NUMBER];
    char id[SSHKEY_ID];
    number_of(note->checkpoint.origin, OWN, key->at, number);
    const struct note_signature *s = find_signature(note, note->checkpoint.origin, number);
    if (s == NULL) return fail(ERR_INPUT, "the checkpoint is not signed by %s", sshkey_id(key, id));
    if (s->byte_count == SIGNED &&
        crypto_sign_verify_detached(s->bytes + NUMBER, (const unsigned char *)bytes, note->text_count, key->at) == 0)
        return 0;
    return fail(ERR_INPUT, "the signature of the checkpoint does not match: the text or the key is another one");
}

// ---- witnesses
int note_read_witness(const char *text, struct note_witness *w)
{
    static const char bad[] = "a witness is given as NAME+NUMBER+KEY, with 8 hex digits and base64 of an Ed25519 key";
    const char *plus = strchr(text, '+'), *second = plus != NULL ? strchr(plus + 1, '+') : NULL;
    unsigned char typed[33];
    size_t count;
    char again[NOTE_KEY];
    *w = (struct note_witness){0};
    if (second == NULL || plus == text || (size_t)(plus - text) >= sizeof w->name) return fail(ERR_USAGE, "%s", bad);
    memcpy(w->name, text, (size_t)(plus - text));
    if (!read_base64(second + 1, strlen(second + 1), typed, sizeof typed, &count) || count != sizeof typed)
        return fail(ERR_USAGE, "%s", bad);
    if (typed[0] == OWN) return fail(ERR_USAGE, "%s is the key of a log, not of a witness: its type is 1, not 4", w->name);
    if (typed[0] != COSIGNATURE) return fail(ERR_USAGE, "%s", bad);
    memcpy(w->key, typed + 1, sizeof w->key);
    number_of(w->name, COSIGNATURE, w->key, w->number);
    if (strcmp(write_key(w->name, COSIGNATURE, w->key, again), text) == 0) return 0;
    return fail(ERR_USAGE, "the number in the witness's key does not fit its name and key");
}

static int64_t time_of(const struct note_signature *s)
{
    uint64_t seconds = 0;
    for (int i = 0; i < TIME; i++) seconds = seconds << 8 | s->bytes[NUMBER + i];
    return seconds <= INT64_MAX ? (int64_t)seconds : -1;
}

bool note_is_cosignature(const struct note *note, int i, int64_t *seconds)
{
    *seconds = time_of(&note->signatures[i]);
    return note->signatures[i].byte_count == TIMED && *seconds >= 0;
}

int note_cosigned(const char *bytes, const struct note *note, const struct note_witness *w, int64_t *seconds)
{
    struct text text = {0};
    const struct note_signature *s = find_signature(note, w->name, w->number);
    *seconds = 0;
    if (s == NULL) return fail(ERR_MISSING, "the checkpoint is not cosigned by %.127s", w->name);
    *seconds = time_of(s);
    text_add(&text, "cosignature/v1\ntime %lld\n", (long long)*seconds);
    text_bytes(&text, bytes, note->text_count);
    const unsigned char *message = (const unsigned char *)text.at, *signature = s->bytes + NUMBER + TIME;
    const bool good = s->byte_count == TIMED && *seconds >= 0 &&
                      crypto_sign_verify_detached(signature, message, text.length, w->key) == 0;
    text_free(&text);
    return good ? 0 : fail(ERR_INPUT, "the cosignature of %.127s does not match", w->name);
}
