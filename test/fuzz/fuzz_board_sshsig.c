// SPDX-License-Identifier: Apache-2.0
// Fuzzes a server's parsers of keys and signatures. The first byte chooses the form of the rest: an armoured signature, a public
// line, a private key file, or the bytes inside such a signature or file, which are armoured first. The keys in the seeds come
// from published numbers and belong to no person.
#include "submit/format/ssh/sshsig.h"
#include "submit/format/ssh/sshwire.h"

#include <stdlib.h>
#include <string.h>

static const char space[] = "run-v1@dawn", words[] = "hello\n";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void try_signature(const char *text, size_t count)
{
    struct sshkey key, none = {0};
    int rc = sshsig_verify(text, count, space, words, strlen(words), &key);
    BUG_IF(rc > 0 || (rc < 0 && (error_text()[0] == 0 || memcmp(&key, &none, sizeof key) != 0)));
    // A signature of one message must not hold for another.
    if (rc == 0) BUG_IF(sshsig_verify(text, count, space, words, strlen(words) - 1, &key) == 0);
}

static void try_line(const char *text, size_t count)
{
    struct sshkey key, again;
    char line[SSHKEY_TEXT];
    if (sshkey_read_line(text, count, &key) < 0) return;
    sshkey_line(&key, line);
    for (const char *c = line; *c != 0; c++) BUG_IF(*c < 0x20 || *c > 0x7e);
    if (sshkey_read_line(line, strlen(line), &again) < 0) BUG(error_text());
    BUG_IF(memcmp(&key, &again, sizeof key) != 0);
}

static void try_secret(const char *text, size_t count)
{
    struct sshkey_secret secret, again, none = {0};
    int rc = sshkey_read_secret(text, count, &secret);
    if (rc != 0) {
        BUG_IF(memcmp(secret.secret, none.secret, sizeof none.secret) != 0);
        return;
    }
    char *written = sshkey_write_secret(&secret);
    if (sshkey_read_secret(written, strlen(written), &again) != 0) BUG(error_text());
    BUG_IF(memcmp(&secret, &again, sizeof secret) != 0);
    free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    enum { RAW_MAX = 2048 };
    char text[8192];
    if (count < 1) return 0;
    const char *rest = (const char *)bytes + 1;
    count--;
    switch (*bytes) {
    case 's': try_signature(rest, count); break;
    case 'l': try_line(rest, count); break;
    case 'p': try_secret(rest, count); break;
    case 'S':
        sshwire_armour("SSH SIGNATURE", rest, count < RAW_MAX ? count : RAW_MAX, text, sizeof text);
        try_signature(text, strlen(text));
        break;
    case 'P':
        sshwire_armour("OPENSSH PRIVATE KEY", rest, count < RAW_MAX ? count : RAW_MAX, text, sizeof text);
        try_secret(text, strlen(text));
        break;
    }
    return 0;
}
