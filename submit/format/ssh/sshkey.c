// SPDX-License-Identifier: Apache-2.0
// Ed25519 keys in OpenSSH's form. A private key file is accepted only if its parts agree: the check numbers, the padding, and the
// public key with the secret, because a signature with another public key would reveal the secret. Secrets are wiped from every
// buffer. Workload: one key at a time. Cost: a key derivation.
#include "submit/format/ssh/sshkey.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/ssh/sshwire.h"

#define PRIVATE "OPENSSH PRIVATE KEY"
static const char magic[] = "openssh-key-v1";  // its NUL belongs to it
enum { FILE_MAX = 16384, BYTES_MAX = 12288, BLOCK = 8, BASE64_KEY = 68 };

char *sshkey_id(const struct sshkey *key, char into[SSHKEY_ID])
{
    unsigned char blob[SSHWIRE_KEY], digest[crypto_hash_sha256_BYTES];
    struct sshwire_out out = {blob, 0, sizeof blob};
    sshwire_put_key(&out, key->at);
    crypto_hash_sha256(digest, blob, sizeof blob);
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
    char base64[BASE64_KEY + 1];
    struct sshwire_out out = {blob, 0, sizeof blob};
    sshwire_put_key(&out, key->at);
    sodium_bin2base64(base64, sizeof base64, blob, sizeof blob, sodium_base64_VARIANT_ORIGINAL);
    snprintf(into, SSHKEY_TEXT, "ssh-ed25519 %s%s%s", base64, *key->comment ? " " : "", key->comment);
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
    unsigned char blob[BASE64_KEY];
    size_t blob_count = 0;
    memset(key, 0, sizeof *key);
    if (count > 0 && line[count - 1] == '\n') count--;
    if (count > 0 && line[count - 1] == '\r') count--;
    if (count > FILE_MAX) return fail(ERR_INPUT, "the public key is longer than %d bytes", FILE_MAX);
    if (memchr(line, '\n', count) != NULL) return fail(ERR_INPUT, "a public key is one line; got several");
    const char *blank = memchr(line, ' ', count);
    const size_t type = blank != NULL ? (size_t)(blank - line) : count;
    if (type != 11 || memcmp(line, "ssh-ed25519", 11) != 0)
        return fail(ERR_INPUT, "not an Ed25519 public key: it does not begin with \"ssh-ed25519 \"");
    const char *base64 = line + (type < count ? type + 1 : count), *end = line + count;
    blank = memchr(base64, ' ', (size_t)(end - base64));
    const size_t length = (size_t)((blank != NULL ? blank : end) - base64);
    if (length != BASE64_KEY || sodium_base642bin(blob, sizeof blob, base64, length, NULL, &blob_count, NULL,
                                                  sodium_base64_VARIANT_ORIGINAL) != 0)
        return fail(ERR_INPUT, "the public key is damaged: \"ssh-ed25519 \" is not followed by %d base64 digits", BASE64_KEY);
    TRY(sshwire_key(sshwire_over(blob, blob_count), key->at));
    if (blank != NULL) sshkey_set_comment(key, blank + 1, (size_t)(end - blank - 1));
    return 0;
}

// The part that is encrypted in other files: check numbers, type, public key, secret, comment, padding.
static int read_inside(struct sshwire wire, struct sshkey_secret *secret)
{
    static const char damaged[] = "the private key is damaged: %s";
    if (sshwire_left(&wire) % BLOCK != 0) return fail(ERR_INPUT, damaged, "its length is not a multiple of the block size");
    const uint32_t first = sshwire_u32(&wire), second = sshwire_u32(&wire);
    if (wire.bad || first != second) return fail(ERR_INPUT, damaged, "its check numbers differ");
    if (!sshwire_is(&wire, "ssh-ed25519")) return fail(ERR_INPUT, damaged, "its two parts are of different types");
    struct sshwire public_key = sshwire_string(&wire), both = sshwire_string(&wire), comment = sshwire_string(&wire);
    if (wire.bad || sshwire_left(&public_key) != 32 || sshwire_left(&both) != 64)
        return fail(ERR_INPUT, damaged, "it ends early or has a wrong length");
    for (unsigned char pad = 1; wire.at < wire.end; wire.at++, pad++)
        if (*wire.at != pad || pad >= BLOCK) return fail(ERR_INPUT, damaged, "its padding is wrong");
    unsigned char own[32];
    crypto_sign_seed_keypair(own, secret->secret, both.at);
    if (sodium_memcmp(own, secret->key.at, 32) != 0 || sodium_memcmp(own, public_key.at, 32) != 0 ||
        sodium_memcmp(own, both.at + 32, 32) != 0)
        return fail(ERR_INPUT, damaged, "the public key in it belongs to another secret");
    sshkey_set_comment(&secret->key, (const char *)comment.at, sshwire_left(&comment));
    return 0;
}

static int read_outside(struct sshwire wire, struct sshkey_secret *secret)
{
    if (sshwire_left(&wire) < sizeof magic || memcmp(wire.at, magic, sizeof magic) != 0)
        return fail(ERR_INPUT, "the private key is damaged: it does not begin with %s", magic);
    wire.at += sizeof magic;
    struct sshwire cipher = wire, kdf;
    const bool open_ = sshwire_is(&wire, "none");
    if (!open_) {
        wire = cipher;
        (void)sshwire_string(&wire);
    }
    kdf = sshwire_string(&wire);
    struct sshwire kdf_options = sshwire_string(&wire);
    if (sshwire_u32(&wire) != 1 || wire.bad) return fail(ERR_INPUT, "the private key file is damaged, or holds several keys");
    struct sshwire blob = sshwire_string(&wire), inside = sshwire_string(&wire);
    if (wire.bad) return fail(ERR_INPUT, "the private key is damaged: it ends early");
    TRY(sshwire_key(blob, secret->key.at));
    if (!open_) return SSHKEY_LOCKED;  // the agent decrypts it
    if (sshwire_left(&kdf) != 4 || memcmp(kdf.at, "none", 4) != 0 || sshwire_left(&kdf_options) != 0 || !sshwire_done(&wire))
        return fail(ERR_INPUT, "the private key is damaged: there is more in it than there should be");
    return read_inside(inside, secret);
}

int sshkey_read_secret(const char *bytes, size_t count, struct sshkey_secret *secret)
{
    unsigned char raw[BYTES_MAX];
    size_t raw_count = 0;
    memset(secret, 0, sizeof *secret);
    if (count > FILE_MAX) return fail(ERR_INPUT, "a private key file has at most %d bytes, got %zu", FILE_MAX, count);
    int rc = sshwire_unarmour(PRIVATE, bytes, count, raw, sizeof raw, &raw_count);
    if (rc < 0) rc = fail_prefix(ERR_INPUT, "not a private key in OpenSSH's format: ");
    if (rc == 0) rc = read_outside(sshwire_over(raw, raw_count), secret);
    sshkey_wipe(raw, sizeof raw);
    if (rc != 0) sshkey_wipe(secret->secret, sizeof secret->secret);
    if (rc < 0) sshkey_wipe(secret, sizeof *secret);
    return rc;
}

// The check numbers detect a wrong passphrase and mean nothing without encryption. They are derived from the public key, so the
// same key always gives the same file.
char *sshkey_write_secret(const struct sshkey_secret *secret)
{
    enum { TEXT = 1024 };
    unsigned char raw[512], inside[320], blob[SSHWIRE_KEY], check[crypto_hash_sha256_BYTES];
    struct sshwire_out out = {raw, 0, sizeof raw}, in = {inside, 0, sizeof inside}, key = {blob, 0, sizeof blob};
    sshwire_put_key(&key, secret->key.at);
    crypto_hash_sha256(check, blob, sizeof blob);
    sshwire_put(&in, check, 4);
    sshwire_put(&in, check, 4);
    sshwire_put_key(&in, secret->key.at);
    sshwire_put_string(&in, secret->secret, sizeof secret->secret);
    sshwire_put_word(&in, secret->key.comment);
    for (unsigned char pad = 1; in.count % BLOCK != 0; pad++) sshwire_put(&in, &pad, 1);

    sshwire_put(&out, magic, sizeof magic);
    sshwire_put_word(&out, "none");
    sshwire_put_word(&out, "none");
    sshwire_put_word(&out, "");
    sshwire_put_u32(&out, 1);
    sshwire_put_string(&out, blob, sizeof blob);
    sshwire_put_string(&out, inside, in.count);
    char *text = zalloc(TEXT);
    sshwire_armour(PRIVATE, raw, out.count, text, TEXT);
    sshkey_wipe(raw, sizeof raw);
    sshkey_wipe(inside, sizeof inside);
    return text;
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
