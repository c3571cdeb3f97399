// SPDX-License-Identifier: Apache-2.0
// Ed25519 keys in OpenSSH's form. Invariant: a private key file is accepted only if it is, byte for byte, what its secret,
// comment and check number give: a signature with another public key would reveal the secret. Secrets are wiped from every
// buffer. Workload: one key at a time. Cost: a key derivation.
#include "submit/format/ssh/sshkey.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"

#define PRIVATE "OPENSSH PRIVATE KEY"
static const char magic[] = "openssh-key-v1";  // its NUL belongs to it
enum { LONGEST = 16384, BLOCK = 8, BASE64_KEY = sodium_base64_ENCODED_LEN(SSHWIRE_KEY, sodium_base64_VARIANT_ORIGINAL) };

bool sshkey_same(const struct sshkey *a, const struct sshkey *b)
{
    return memcmp(a->at, b->at, sizeof a->at) == 0 && strcmp(a->application, b->application) == 0;
}

char *sshkey_id(const struct sshkey *key, char into[SSHKEY_ID])
{
    unsigned char blob[SSHWIRE_KEY], digest[crypto_hash_sha256_BYTES];
    struct sshwire_out out = {blob, 0, sizeof blob};
    sshwire_put_key(&out, key->at, key->application);
    crypto_hash_sha256(digest, blob, out.count);
    memcpy(into, "SHA256:", 7);
    sodium_bin2base64(into + 7, SSHKEY_ID - 7, digest, sizeof digest, sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
    return into;
}

bool sshkey_is_id(const char *text)
{
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return strlen(text) == SSHKEY_ID - 1 && strncmp(text, "SHA256:", 7) == 0 && strspn(text + 7, base64) == SSHKEY_ID - 8;
}

char *sshkey_line(const struct sshkey *key, char into[SSHKEY_TEXT])
{
    unsigned char blob[SSHWIRE_KEY];
    char base64[BASE64_KEY];
    struct sshwire_out out = {blob, 0, sizeof blob};
    sshwire_put_key(&out, key->at, key->application);
    sodium_bin2base64(base64, sizeof base64, blob, out.count, sodium_base64_VARIANT_ORIGINAL);
    snprintf(into, SSHKEY_TEXT, "%s %s%s%s", sshwire_type(key->application), base64, *key->comment ? " " : "", key->comment);
    return into;
}

// Comments are free text, but terminals and pages need plain text.
void sshkey_set_comment(struct sshkey *key, const char *at, size_t count)
{
    while (count > 0 && *at == ' ') at++, count--;
    if (count >= SSHKEY_COMMENT) count = SSHKEY_COMMENT - 1;
    while (count > 0 && at[count - 1] == ' ') count--;
    for (size_t i = 0; i < count; i++) key->comment[i] = at[i] >= 0x20 && at[i] <= 0x7e ? at[i] : '?';
    memset(key->comment + count, 0, SSHKEY_COMMENT - count);
}

int sshkey_read_line(const char *line, size_t count, struct sshkey *key)
{
    unsigned char blob[SSHWIRE_KEY];
    size_t blob_count = 0;
    memset(key, 0, sizeof *key);
    if (count > 0 && line[count - 1] == '\n') count--;
    if (count > 0 && line[count - 1] == '\r') count--;
    if (count > LONGEST) return fail(ERR_INPUT, "the public key is longer than %d bytes", LONGEST);
    if (memchr(line, '\n', count) != NULL) return fail(ERR_INPUT, "a public key is one line; got several");
    const char *blank = memchr(line, ' ', count);
    const size_t type = blank != NULL ? (size_t)(blank - line) : count;
    const char *hardware = sshwire_type("ssh:");
    const bool is_hardware = type == strlen(hardware) && memcmp(line, hardware, type) == 0;
    if (!is_hardware && (type != 11 || memcmp(line, "ssh-ed25519", 11) != 0))
        return fail(ERR_INPUT, "not an Ed25519 public key: it does not begin with \"ssh-ed25519 \" or \"%s \"", hardware);
    const char *base64 = line + (type < count ? type + 1 : count), *end = line + count;
    blank = memchr(base64, ' ', (size_t)(end - base64));
    const size_t length = (size_t)((blank != NULL ? blank : end) - base64);
    if (sodium_base642bin(blob, sizeof blob, base64, length, NULL, &blob_count, NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
        return fail(ERR_INPUT, "the public key is damaged: the text after \"%.*s \" is not base64, or too long", (int)type, line);
    TRY(sshwire_key(sshwire_over(blob, blob_count), key->at, key->application));
    if (is_hardware != (*key->application != 0)) return fail(ERR_INPUT, "the public key is damaged: it is of another type");
    if (blank != NULL) sshkey_set_comment(key, blank + 1, (size_t)(end - blank - 1));
    return 0;
}

// The check number detects a wrong passphrase and means nothing without encryption.
static char *write_secret(const struct sshkey_secret *secret, uint32_t check)
{
    enum { TEXT = 1024 };
    unsigned char raw[512], inside[320], blob[SSHWIRE_KEY];
    struct sshwire_out out = {raw, 0, sizeof raw}, in = {inside, 0, sizeof inside}, key = {blob, 0, sizeof blob};
    sshwire_put_key(&key, secret->key.at, "");
    sshwire_put_u32(&in, check);
    sshwire_put_u32(&in, check);
    sshwire_put_key(&in, secret->key.at, "");
    sshwire_put_string(&in, secret->secret, sizeof secret->secret);
    sshwire_put_word(&in, secret->key.comment);
    for (unsigned char pad = 1; in.count % BLOCK != 0; pad++) sshwire_put(&in, &pad, 1);

    sshwire_put(&out, magic, sizeof magic);
    sshwire_put_word(&out, "none");
    sshwire_put_word(&out, "none");
    sshwire_put_word(&out, "");
    sshwire_put_u32(&out, 1);
    sshwire_put_string(&out, blob, key.count);
    sshwire_put_string(&out, inside, in.count);
    char *text = zalloc(TEXT);
    sshwire_armour(PRIVATE, raw, out.count, text, TEXT);
    sshkey_wipe(raw, sizeof raw);
    sshkey_wipe(inside, sizeof inside);
    return text;
}

char *sshkey_write_secret(const struct sshkey_secret *secret)
{
    unsigned char blob[SSHWIRE_KEY], digest[crypto_hash_sha256_BYTES];  // the same key always gives the same file
    struct sshwire_out out = {blob, 0, sizeof blob};
    sshwire_put_key(&out, secret->key.at, "");
    crypto_hash_sha256(digest, blob, out.count);
    struct sshwire wire = sshwire_over(digest, sizeof digest);
    return write_secret(secret, sshwire_u32(&wire));
}

// Takes the secret from a whole file, and writes that file again to compare.
int sshkey_read_secret(const char *bytes, size_t count, struct sshkey_secret *secret)
{
    unsigned char raw[512];
    size_t raw_count = 0;
    memset(secret, 0, sizeof *secret);
    bool same = sshwire_unarmour(PRIVATE, bytes, count, raw, sizeof raw, &raw_count) == 0 && raw_count > sizeof magic;
    struct sshwire wire = sshwire_over(raw + sizeof magic, same ? raw_count - sizeof magic : 0);
    for (int i = 0; i < 3; i++) (void)sshwire_string(&wire);  // the cipher and how its key is derived
    (void)sshwire_u32(&wire);
    (void)sshwire_string(&wire);  // the public key
    struct sshwire in = sshwire_string(&wire);
    const uint32_t check = sshwire_u32(&in);
    (void)sshwire_u32(&in);
    for (int i = 0; i < 2; i++) (void)sshwire_string(&in);  // the type and the public key
    struct sshwire both = sshwire_string(&in), comment = sshwire_string(&in);
    same = same && !in.bad && sshwire_left(&both) == sizeof secret->secret;
    if (same) {
        crypto_sign_seed_keypair(secret->key.at, secret->secret, both.at);
        sshkey_set_comment(&secret->key, (const char *)comment.at, sshwire_left(&comment));
        char *again = write_secret(secret, check);
        same = strlen(again) == count && sodium_memcmp(again, bytes, count) == 0;
        sshkey_wipe(again, strlen(again));
        free(again);
    }
    sshkey_wipe(raw, sizeof raw);
    if (same) return 0;
    sshkey_wipe(secret, sizeof *secret);
    return fail(ERR_INPUT, "not an Ed25519 key in OpenSSH's format, or it is encrypted or damaged");
}

void sshkey_new(struct sshkey_secret *secret, const char *comment)
{
    BUG_IF(sodium_init() < 0);
    memset(secret, 0, sizeof *secret);
    crypto_sign_keypair(secret->key.at, secret->secret);
    sshkey_set_comment(&secret->key, comment, strlen(comment));
}

void sshkey_wipe(void *at, size_t count)
{
    sodium_memzero(at, count);
}
