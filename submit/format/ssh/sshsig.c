// SPDX-License-Identifier: Apache-2.0
// SSHSIG (OpenSSH's PROTOCOL.sshsig). Invariant: a signature has one text. Namespace, key and signature determine it, so the
// verification writes it again and demands the same bytes, as canonical.h does with payloads. It accepts the output of ssh-keygen
// -Y sign and refuses other line lengths, "\r\n" and a missing last line end.
// Workload: a payload of up to 1 MiB, some hundred a second. Cost: SHA-512 of it, one Ed25519 verification.
#include "submit/format/ssh/sshsig.h"

#include <sodium.h>
#include <string.h>


static const char magic[6] = {'S', 'S', 'H', 'S', 'I', 'G'};
#define SIGNATURE "SSH SIGNATURE"
enum { VERSION = 1, NAMESPACE_MAX = 128, RAW_MAX = 512, SIGNED_MAX = 256 };

struct proof {
    unsigned char at[crypto_sign_BYTES];
    unsigned char flags;  // as a hardware key signs them: 1: a person was there
    uint32_t counter;
};

// Builds the bytes that are signed. Returns their length.
static size_t write_signed(const char *namespace_, const void *message, size_t count, unsigned char into[SIGNED_MAX])
{
    unsigned char digest[crypto_hash_sha512_BYTES];
    struct sshwire_out out = {into, 0, SIGNED_MAX};
    BUG_IF(*namespace_ == 0 || strlen(namespace_) > NAMESPACE_MAX);
    crypto_hash_sha512(digest, message, count);
    sshwire_put(&out, magic, sizeof magic);
    sshwire_put_word(&out, namespace_);
    sshwire_put_word(&out, "");  // reserved
    sshwire_put_word(&out, "sha512");
    sshwire_put_string(&out, digest, sizeof digest);
    return out.count;
}

static char *write_armoured(const char *namespace_, const struct sshkey *key, const struct proof *proof, char into[SSHSIG_MAX])
{
    unsigned char raw[RAW_MAX], blob[SSHWIRE_KEY], signed_[128];
    struct sshwire_out out = {raw, 0, sizeof raw}, key_out = {blob, 0, sizeof blob}, inner = {signed_, 0, sizeof signed_};
    BUG_IF(*namespace_ == 0 || strlen(namespace_) > NAMESPACE_MAX);
    sshwire_put_key(&key_out, key->at, key->application);
    sshwire_put_word(&inner, sshwire_type(key->application));
    sshwire_put_string(&inner, proof->at, sizeof proof->at);
    if (*key->application) sshwire_put(&inner, &proof->flags, 1);
    if (*key->application) sshwire_put_u32(&inner, proof->counter);
    sshwire_put(&out, magic, sizeof magic);
    sshwire_put_u32(&out, VERSION);
    sshwire_put_string(&out, blob, key_out.count);
    sshwire_put_word(&out, namespace_);
    sshwire_put_word(&out, "");
    sshwire_put_word(&out, "sha512");
    sshwire_put_string(&out, signed_, inner.count);
    sshwire_armour(SIGNATURE, raw, out.count, into, SSHSIG_MAX);
    return into;
}

char *sshsig_sign(const char *namespace_, const void *message, size_t count, const struct sshkey_secret *secret,
                  char into[SSHSIG_MAX])
{
    unsigned char bytes[SIGNED_MAX];
    struct proof proof = {.flags = 0};
    const size_t length = write_signed(namespace_, message, count, bytes);
    crypto_sign_detached(proof.at, NULL, bytes, length, secret->secret);
    return write_armoured(namespace_, &secret->key, &proof, into);
}

// All fields before the signature, in their order.
static int parse(struct sshwire wire, const char *namespace_, struct sshkey *key, struct proof *proof)
{
    if (sshwire_left(&wire) < sizeof magic || memcmp(wire.at, magic, sizeof magic) != 0)
        return fail(ERR_INPUT, "the signature is damaged: it does not begin with SSHSIG");
    wire.at += sizeof magic;
    if (sshwire_u32(&wire) != VERSION) return fail(ERR_INPUT, "the signature's version is not %d", VERSION);
    TRY(sshwire_key(sshwire_string(&wire), key->at, key->application));
    if (!sshwire_is(&wire, namespace_))
        return fail(ERR_INPUT, "the signature was not made for this: its namespace is not %s", namespace_);
    if (!sshwire_is(&wire, "")) return fail(ERR_INPUT, "the signature's reserved field is not empty");
    if (!sshwire_is(&wire, "sha512")) return fail(ERR_INPUT, "the signature is not over SHA-512");
    struct sshwire inner = sshwire_string(&wire);
    if (!sshwire_done(&wire)) return fail(ERR_INPUT, "the signature is damaged: it is too short or too long");
    if (!sshwire_is(&inner, sshwire_type(key->application)))
        return fail(ERR_INPUT, "the signature is not of type %s, as its key", sshwire_type(key->application));
    struct sshwire bytes = sshwire_string(&inner);
    if (*key->application && sshwire_left(&inner) == 5) {
        proof->flags = *inner.at++;
        proof->counter = sshwire_u32(&inner);
    }
    if (!sshwire_done(&inner) || sshwire_left(&bytes) != sizeof proof->at)
        return fail(ERR_INPUT, "the signature is damaged: it does not have %zu bytes", sizeof proof->at);
    memcpy(proof->at, bytes.at, sizeof proof->at);
    return 0;
}

// Hardware signs the digest of its application, its flags, its counter and the digest of the bytes (OpenSSH's PROTOCOL.u2f).
static int verify_bytes(const struct sshkey *key, const struct proof *proof, const unsigned char *bytes, size_t count)
{
    unsigned char own[2 * crypto_hash_sha256_BYTES + 5], digest[crypto_hash_sha256_BYTES];
    struct sshwire_out out = {own, 0, sizeof own};
    if (!*key->application) return crypto_sign_verify_detached(proof->at, bytes, count, key->at);
    crypto_hash_sha256(digest, (const unsigned char *)key->application, strlen(key->application));
    sshwire_put(&out, digest, sizeof digest);
    sshwire_put(&out, &proof->flags, 1);
    sshwire_put_u32(&out, proof->counter);
    crypto_hash_sha256(digest, bytes, count);
    sshwire_put(&out, digest, sizeof digest);
    return crypto_sign_verify_detached(proof->at, own, out.count, key->at);
}

int sshsig_verify(const char *armoured, size_t armoured_count, const char *namespace_, const void *message, size_t count,
                  struct sshkey *key)
{
    unsigned char raw[RAW_MAX], bytes[SIGNED_MAX];
    char again[SSHSIG_MAX];
    size_t raw_count = 0;
    struct sshkey signer = {0};
    struct proof proof = {.flags = 0};
    memset(key, 0, sizeof *key);
    if (armoured_count >= SSHSIG_MAX) return fail(ERR_INPUT, "a signature has fewer than %d bytes", SSHSIG_MAX);
    int rc = sshwire_unarmour(SIGNATURE, armoured, armoured_count, raw, sizeof raw, &raw_count);
    if (rc < 0) return fail_prefix(ERR_INPUT, "not a signature in OpenSSH's format: ");
    TRY(parse(sshwire_over(raw, raw_count), namespace_, &signer, &proof));
    write_armoured(namespace_, &signer, &proof, again);
    if (strlen(again) != armoured_count || memcmp(again, armoured, armoured_count) != 0)
        return fail(ERR_INPUT, "the signature's lines are not as ssh-keygen -Y sign writes them (70 digits, each line ended by "
                               "one line feed, the last too)");
    const size_t length = write_signed(namespace_, message, count, bytes);
    if (verify_bytes(&signer, &proof, bytes, length) != 0)
        return fail(ERR_INPUT, "the signature does not match: the text or the key is another one");
    *key = signer;
    return 0;
}
