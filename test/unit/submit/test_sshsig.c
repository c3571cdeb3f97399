// SPDX-License-Identifier: Apache-2.0
// SSHSIG: a known signature, every truncation and flipped bit of it, every field wrong in turn, texts that OpenSSH would
// not have written, and ssh-keygen's word on ours and ours on its.

#include "submit/format/ssh/sshsig.h"
#include "test/unit/test.h"
#include "test/unit/submit/fixture_keys.h"

#define SPACE "run-v1@dawn"
#define WORDS "hello\n"
static const char known[] = "-----BEGIN SSH SIGNATURE-----\n"
                            "U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgovovSjVboukHpTAJ6eN8rd96x+\n"
                            "ZqCLoHYx9VMHKz8kwAAAALcnVuLXYxQGRhd24AAAAAAAAABnNoYTUxMgAAAFMAAAALc3No\n"
                            "LWVkMjU1MTkAAABAXrUQ42vT02cwpRnt8BMmiCC4r7/gzbV6up5/riS/fQ/oRGXoxZ5fGG\n"
                            "OQcVYMY1R4KOj+vCkQpbkIwLvWL+SkCw==\n"
                            "-----END SSH SIGNATURE-----\n";
enum { KNOWN = sizeof known - 1 };

static int verify(const char *armoured, size_t count)
{
    struct sshkey key;
    return sshsig_verify(armoured, count, SPACE, WORDS, strlen(WORDS), &key);
}

TEST(known_signature)
{
    struct sshkey_secret secret;
    struct sshkey key;
    char text[SSHSIG_MAX];
    secret_of(7, "", &secret);
    assert_string_equal(sshsig_sign(SPACE, WORDS, strlen(WORDS), &secret, text), known);
    assert_int_equal(sshsig_verify(known, KNOWN, SPACE, WORDS, strlen(WORDS), &key), 0);
    assert_memory_equal(&key, &secret.key, sizeof key);
}

TEST(other_words_are_refused)
{
    struct sshkey_secret secret;
    struct sshkey key, none = {0};
    char text[SSHSIG_MAX];
    assert_fails(sshsig_verify(known, KNOWN, "withdraw-v1@dawn", WORDS, strlen(WORDS), &key), ERR_INPUT, "withdraw-v1@dawn");
    assert_int_equal(sshsig_verify(known, KNOWN, "run-v1@daw", WORDS, strlen(WORDS), &key), ERR_INPUT);
    assert_int_equal(sshsig_verify(known, KNOWN, SPACE, "hello", 5, &key), ERR_INPUT);
    assert_int_equal(sshsig_verify(known, KNOWN, SPACE, "", 0, &key), ERR_INPUT);
    assert_int_equal(sshsig_verify(known, KNOWN, SPACE, "Hello\n", 6, &key), ERR_INPUT);
    assert_memory_equal(&key, &none, sizeof key);
    for (unsigned char seed = 0; seed < 16; seed++) {
        secret_of(seed, "", &secret);
        size_t count = (size_t)seed * seed * 997;
        unsigned char *message = zalloc(count);
        memset(message, seed, count);
        sshsig_sign(SPACE, message, count, &secret, text);
        assert_int_equal(sshsig_verify(text, strlen(text), SPACE, message, count, &key), 0);
        assert_memory_equal(key.at, secret.key.at, 32);
        if (count > 0) message[count - 1] ^= 1;
        if (count > 0) assert_int_equal(sshsig_verify(text, strlen(text), SPACE, message, count, &key), ERR_INPUT);
        free(message);
    }
}

TEST(every_byte_counts)
{
    char text[KNOWN + 2];
    memcpy(text, known, sizeof known);
    for (size_t n = 0; n < KNOWN; n++) {
        char *exact = malloc(n);  // so that a sanitizer sees a step too far
        assert_non_null(exact);
        memcpy(exact, known, n);
        assert_int_equal(verify(exact, n), ERR_INPUT);
        free(exact);
    }
    for (size_t bit = 0; bit < KNOWN * 8; bit++) {
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        if (verify(text, KNOWN) != ERR_INPUT) fail_msg("bit %zu may be flipped", bit);
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
    }
    for (int c = 0; c < 256; c++) {  // one byte more, at the end or inside
        memcpy(text, known, KNOWN);
        text[KNOWN] = (char)c;
        assert_int_equal(verify(text, KNOWN + 1), ERR_INPUT);
        memmove(text + 151, known + 150, KNOWN - 150);
        text[150] = (char)c;
        assert_int_equal(verify(text, KNOWN + 1), ERR_INPUT);
    }
    char *large = zalloc(1 << 20);
    memset(large, 'A', 1 << 20);
    memcpy(large, known, 30);
    assert_int_equal(verify(large, 1 << 20), ERR_INPUT);
    assert_int_equal(verify(large, SSHSIG_MAX - 1), ERR_INPUT);
    free(large);
}

// A signature that is right in all but one thing, with the true Ed25519 signature over what it claims.
enum wrong { NOTHING, MAGIC, VERSION, KEY_TYPE, KEY_LENGTH, RESERVED, HASH, SIGNATURE_TYPE, SIGNATURE_LENGTH, INNER_TAIL, TAIL,
             LARGE_S, WRONGS };
static int verify_with(enum wrong wrong)
{
    // The order of the group: S + L signs the same words, were it not refused.
    static const unsigned char order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
                                            0xa2, 0xde, 0xf9, 0xde, 0x14, [31] = 0x10};
    unsigned char raw[1024], blob[128], inner[128], bytes[256], signature[64];
    char text[SSHSIG_MAX];
    struct sshwire_out out = {raw, 0, sizeof raw}, key = {blob, 0, sizeof blob}, sig = {inner, 0, sizeof inner};
    struct sshwire_out claim = {bytes, 0, sizeof bytes};
    struct sshkey_secret secret;
    const char *reserved = wrong == RESERVED ? "x" : "", *hash = wrong == HASH ? "sha256" : "sha512";
    unsigned char digest[64];
    secret_of(7, "", &secret);
    if (wrong == HASH) crypto_hash_sha256(digest, (const unsigned char *)WORDS, strlen(WORDS));
    else crypto_hash_sha512(digest, (const unsigned char *)WORDS, strlen(WORDS));
    sshwire_put(&claim, "SSHSIG", 6);
    sshwire_put_word(&claim, SPACE);
    sshwire_put_word(&claim, reserved);
    sshwire_put_word(&claim, hash);
    sshwire_put_string(&claim, digest, wrong == HASH ? 32 : 64);
    crypto_sign_detached(signature, NULL, bytes, claim.count, secret.secret);
    if (wrong == LARGE_S) sodium_add(signature + 32, order, 32);

    sshwire_put_word(&key, wrong == KEY_TYPE ? "ssh-ed25518" : "ssh-ed25519");
    sshwire_put_string(&key, secret.key.at, wrong == KEY_LENGTH ? 31 : 32);
    sshwire_put_word(&sig, wrong == SIGNATURE_TYPE ? "ssh-rsa" : "ssh-ed25519");
    sshwire_put_string(&sig, signature, wrong == SIGNATURE_LENGTH ? 63 : 64);
    if (wrong == INNER_TAIL) sshwire_put(&sig, "x", 1);
    sshwire_put(&out, wrong == MAGIC ? "SSHSIX" : "SSHSIG", 6);
    sshwire_put_u32(&out, wrong == VERSION ? 2 : 1);
    sshwire_put_string(&out, blob, key.count);
    sshwire_put_word(&out, SPACE);
    sshwire_put_word(&out, reserved);
    sshwire_put_word(&out, hash);
    sshwire_put_string(&out, inner, sig.count);
    if (wrong == TAIL) sshwire_put(&out, "x", 1);
    sshwire_armour("SSH SIGNATURE", raw, out.count, text, sizeof text);
    return verify(text, strlen(text));
}

TEST(every_field_is_checked)
{
    static const char *const says[WRONGS] = {
        [MAGIC] = "SSHSIG",           [VERSION] = "version",     [KEY_TYPE] = "ssh-ed25518",
        [KEY_LENGTH] = "public key",  [RESERVED] = "reserved",   [HASH] = "SHA-512",
        [SIGNATURE_TYPE] = "of type", [INNER_TAIL] = "64 bytes", [SIGNATURE_LENGTH] = "64 bytes",
        [TAIL] = "too long",          [LARGE_S] = "does not match",
    };
    assert_int_equal(verify_with(NOTHING), 0);
    for (enum wrong wrong = MAGIC; wrong < WRONGS; wrong++) {
        if (verify_with(wrong) != ERR_INPUT) fail_msg("wrong thing %d is accepted", (int)wrong);
        if (strstr(error_text(), says[wrong]) == NULL) fail_msg("wrong thing %d: %s", (int)wrong, error_text());
    }
}

// The same signature, written as others might.
TEST(one_signature_has_one_text)
{
    char text[SSHSIG_MAX];
    size_t n = 0;
    for (size_t i = 0; i < KNOWN; i++) {  // "\r\n"
        if (known[i] == '\n') text[n++] = '\r';
        text[n++] = known[i];
    }
    assert_fails(verify(text, n), ERR_INPUT, "ssh-keygen -Y sign");
    assert_int_equal(verify(known, KNOWN - 1), ERR_INPUT);  // no line end at the end
    n = 0;
    for (size_t i = 0; i < KNOWN; i++)  // all on one line
        if (known[i] != '\n' || i == 29 || known[i + 1] == '-' || i == KNOWN - 1) text[n++] = known[i];
    assert_fails(verify(text, n), ERR_INPUT, "70 digits");
    memcpy(text, known, sizeof known);
    text[KNOWN - 32] = 'x';  // bits behind the last byte
    assert_true(known[KNOWN - 31] == '=' || known[KNOWN - 30] == '=');
    assert_int_equal(verify(text, KNOWN), ERR_INPUT);
}

// What a hardware key makes of the words: it signs digests, its flags and its counter.
static const char *hardware_signature(const struct sshkey *key, const struct sshkey_secret *secret, char text[SSHSIG_MAX])
{
    unsigned char raw[1024], blob[SSHWIRE_KEY], inner[128], bytes[256], own[69], digest[64];
    struct sshwire_out out = {raw, 0, sizeof raw}, key_out = {blob, 0, sizeof blob}, sig = {inner, 0, sizeof inner};
    struct sshwire_out claim = {bytes, 0, sizeof bytes};
    crypto_hash_sha512(digest, (const unsigned char *)WORDS, strlen(WORDS));
    sshwire_put(&claim, "SSHSIG", 6);
    sshwire_put_word(&claim, SPACE);
    sshwire_put_word(&claim, "");
    sshwire_put_word(&claim, "sha512");
    sshwire_put_string(&claim, digest, 64);
    crypto_hash_sha256(own, (const unsigned char *)key->application, strlen(key->application));
    memcpy(own + 32, (const unsigned char[]){1, 0, 0, 2, 9}, 5);
    crypto_hash_sha256(own + 37, bytes, claim.count);
    crypto_sign_detached(digest, NULL, own, sizeof own, secret->secret);
    sshwire_put_key(&key_out, key->at, key->application);
    sshwire_put_word(&sig, "sk-ssh-ed25519@openssh.com");
    sshwire_put_string(&sig, digest, 64);
    sshwire_put(&sig, own + 32, 5);
    sshwire_put(&out, "SSHSIG", 6);
    sshwire_put_u32(&out, 1);
    sshwire_put_string(&out, blob, key_out.count);
    sshwire_put_word(&out, SPACE);
    sshwire_put_word(&out, "");
    sshwire_put_word(&out, "sha512");
    sshwire_put_string(&out, inner, sig.count);
    sshwire_armour("SSH SIGNATURE", raw, out.count, text, SSHSIG_MAX);
    return text;
}

TEST_WITH(hardware_keys_sign, enter, leave)
{
    struct sshkey_secret secret;
    struct sshkey key, back;
    char text[SSHSIG_MAX], line[SSHKEY_TEXT], signers[SSHKEY_TEXT + 64];
    secret_of(9, "", &secret);
    key = secret.key;
    strcpy(key.application, "ssh:dawn");
    size_t count = strlen(hardware_signature(&key, &secret, text));
    assert_int_equal(sshsig_verify(text, count, SPACE, WORDS, strlen(WORDS), &back), 0);
    assert_true(sshkey_same(&back, &key) && !sshkey_same(&back, &secret.key));
    for (size_t bit = 0; bit < count * 8; bit++) {
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        if (verify(text, count) != ERR_INPUT) fail_msg("bit %zu may be flipped", bit);
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
    }
    snprintf(signers, sizeof signers, "me namespaces=\"" SPACE "\" %s\n", sshkey_line(&key, line));
    assert_int_equal(sshkey_read_line(line, strlen(line), &back), 0);
    assert_true(sshkey_same(&back, &key));
    line[0] = 'x';
    assert_int_equal(sshkey_read_line(line + 3, strlen(line + 3), &back), ERR_INPUT);  // "ssh-ed25519@openssh.com"
    put("signers", signers, "644");
    put("words", WORDS, "644");
    put("hardware", text, "644");
    assert_int_equal(shell("ssh-keygen -Y verify -f signers -I me -n " SPACE " -s hardware <words"), 0);
}

TEST_WITH(ssh_keygen_agrees, enter, leave)
{
    struct sshkey_secret secret;
    struct sshkey key;
    char line[SSHKEY_TEXT], signers[SSHKEY_TEXT + 64], text[SSHSIG_MAX];
    // ours, checked by it
    secret_of(9, "", &secret);
    snprintf(signers, sizeof signers, "me namespaces=\"" SPACE "\" %s\n", sshkey_line(&secret.key, line));
    put("signers", signers, "644");
    put("words", WORDS, "644");
    put("ours", sshsig_sign(SPACE, WORDS, strlen(WORDS), &secret, text), "644");
    assert_int_equal(shell("ssh-keygen -Y verify -f signers -I me -n " SPACE " -s ours <words"), 0);
    assert_int_not_equal(shell("echo other | ssh-keygen -Y verify -f signers -I me -n " SPACE " -s ours"), 0);
    put("ours", sshsig_sign("amend-v1@dawn", WORDS, strlen(WORDS), &secret, text), "644");
    assert_int_not_equal(shell("ssh-keygen -Y verify -f signers -I me -n " SPACE " -s ours <words"), 0);
    // its, checked by us; and the same bytes, for Ed25519 knows no chance
    char *its = sshkey_write_secret(&secret);
    put("key", its, "600");
    free(its);
    assert_int_equal(shell("ssh-keygen -Y sign -n " SPACE " -f key words"), 0);
    its = contents("words.sig");
    assert_string_equal(its, sshsig_sign(SPACE, WORDS, strlen(WORDS), &secret, text));
    assert_int_equal(sshsig_verify(its, strlen(its), SPACE, WORDS, strlen(WORDS), &key), 0);
    assert_memory_equal(key.at, secret.key.at, 32);
    free(its);
    assert_int_equal(shell("rm words.sig; ssh-keygen -Y sign -O hashalg=sha256 -n " SPACE " -f key words"), 0);
    its = contents("words.sig");
    assert_int_equal(verify(its, strlen(its)), ERR_INPUT);
    free(its);
    assert_int_equal(shell("ssh-keygen -q -t ecdsa -N '' -f other"), 0);
    assert_int_equal(shell("rm words.sig; ssh-keygen -Y sign -n " SPACE " -f other words"), 0);
    its = contents("words.sig");
    assert_fails(verify(its, strlen(its)), ERR_INPUT, "ecdsa");
    free(its);
}
