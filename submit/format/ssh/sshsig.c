// SPDX-License-Identifier: Apache-2.0
// SSHSIG (OpenSSH's PROTOCOL.sshsig). Invariant: a signature has one text. Namespace, key and signature determine it, so the
// verification writes it again and demands the same bytes, as canonical.h does with payloads. It accepts the output of ssh-keygen
// -Y sign and refuses other line lengths, "\r\n" and a missing last line end.
// Workload: a payload of up to 1 MiB, some hundred a second. Cost: SHA-512 of it, one Ed25519 verification.
#include "submit/format/ssh/sshsig.h"

#include <sodium.h>
#include <string.h>

#include "submit/format/ssh/sshwire.h"

static const char magic[6] = {'S', 'S', 'H', 'S', 'I', 'G'};
#define SIGNATURE "SSH SIGNATURE"
enum { VERSION = 1, NAMESPACE_MAX = 128, RAW_MAX = 512 };

size_t sshsig_signed(const char *namespace_, const void *message, size_t count, unsigned char into[SSHSIG_SIGNED])
{
    unsigned char digest[crypto_hash_sha512_BYTES];
    struct sshwire_out out = {into, 0, SSHSIG_SIGNED};
    BUG_IF(*namespace_ == 0 || strlen(namespace_) > NAMESPACE_MAX);
    crypto_hash_sha512(digest, message, count);
    sshwire_put(&out, magic, sizeof magic);
    sshwire_put_word(&out, namespace_);
    sshwire_put_word(&out, "");  // reserved
    sshwire_put_word(&out, "sha512");
    sshwire_put_string(&out, digest, sizeof digest);
    return out.count;
}

char *sshsig_armour(const char *namespace_, const struct sshkey *key, const unsigned char signature[64], char into[SSHSIG_MAX])
{
    unsigned char raw[RAW_MAX], blob[SSHWIRE_KEY], signed_[128];
    struct sshwire_out out = {raw, 0, sizeof raw}, key_out = {blob, 0, sizeof blob}, inner = {signed_, 0, sizeof signed_};
    BUG_IF(*namespace_ == 0 || strlen(namespace_) > NAMESPACE_MAX);
    sshwire_put_key(&key_out, key->at);
    sshwire_put_word(&inner, "ssh-ed25519");
    sshwire_put_string(&inner, signature, crypto_sign_BYTES);
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
    unsigned char bytes[SSHSIG_SIGNED], signature[crypto_sign_BYTES];
    const size_t length = sshsig_signed(namespace_, message, count, bytes);
    crypto_sign_detached(signature, NULL, bytes, length, secret->secret);
    return sshsig_armour(namespace_, &secret->key, signature, into);
}

// All fields before the signature, in their order.
static int parse(struct sshwire wire, const char *namespace_, struct sshkey *key, unsigned char signature[64])
{
    if (sshwire_left(&wire) < sizeof magic || memcmp(wire.at, magic, sizeof magic) != 0)
        return fail(ERR_INPUT, "the signature is damaged: it does not begin with SSHSIG");
    wire.at += sizeof magic;
    if (sshwire_u32(&wire) != VERSION) return fail(ERR_INPUT, "the signature's version is not %d", VERSION);
    TRY(sshwire_key(sshwire_string(&wire), key->at));
    if (!sshwire_is(&wire, namespace_))
        return fail(ERR_INPUT, "the signature was not made for this: its namespace is not %s", namespace_);
    if (!sshwire_is(&wire, "")) return fail(ERR_INPUT, "the signature's reserved field is not empty");
    if (!sshwire_is(&wire, "sha512")) return fail(ERR_INPUT, "the signature is not over SHA-512");
    struct sshwire inner = sshwire_string(&wire);
    if (!sshwire_done(&wire)) return fail(ERR_INPUT, "the signature is damaged: it is too short or too long");
    if (!sshwire_is(&inner, "ssh-ed25519")) return fail(ERR_INPUT, "the signature is not of type ssh-ed25519");
    struct sshwire bytes = sshwire_string(&inner);
    if (!sshwire_done(&inner) || sshwire_left(&bytes) != crypto_sign_BYTES)
        return fail(ERR_INPUT, "the signature is damaged: it does not have %u bytes", crypto_sign_BYTES);
    memcpy(signature, bytes.at, crypto_sign_BYTES);
    return 0;
}

int sshsig_verify(const char *armoured, size_t armoured_count, const char *namespace_, const void *message, size_t count,
                  struct sshkey *key)
{
    unsigned char raw[RAW_MAX], signature[crypto_sign_BYTES], bytes[SSHSIG_SIGNED];
    char again[SSHSIG_MAX];
    size_t raw_count = 0;
    struct sshkey signer = {0};
    memset(key, 0, sizeof *key);
    if (armoured_count >= SSHSIG_MAX) return fail(ERR_INPUT, "a signature has fewer than %d bytes", SSHSIG_MAX);
    int rc = sshwire_unarmour(SIGNATURE, armoured, armoured_count, raw, sizeof raw, &raw_count);
    if (rc < 0) return fail_prefix(ERR_INPUT, "not a signature in OpenSSH's format: ");
    TRY(parse(sshwire_over(raw, raw_count), namespace_, &signer, signature));
    sshsig_armour(namespace_, &signer, signature, again);
    if (strlen(again) != armoured_count || memcmp(again, armoured, armoured_count) != 0)
        return fail(ERR_INPUT, "the signature's lines are not as ssh-keygen -Y sign writes them (70 digits, each line ended by "
                               "one line feed, the last too)");
    const size_t length = sshsig_signed(namespace_, message, count, bytes);
    if (crypto_sign_verify_detached(signature, bytes, length, signer.at) != 0)
        return fail(ERR_INPUT, "the signature does not match: the text or the key is another one");
    *key = signer;
    return 0;
}
