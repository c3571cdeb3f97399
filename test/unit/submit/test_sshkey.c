// SPDX-License-Identifier: Apache-2.0
// OpenSSH's key formats: known bytes, every truncation and flipped bit, what contradicts itself, and ssh-keygen's view.

#include "submit/format/ssh/sshkey.h"
#include "test/unit/test.h"
#include "test/unit/submit/fixture_keys.h"

#define LINE "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKL6L0o1W6LpB6UwCenjfK3fesfmagi6B2MfVTBys/JM"

TEST(known_texts)
{
    struct sshkey_secret secret;
    char id[SSHKEY_ID], line[SSHKEY_TEXT], digest[DIGEST_HEX];
    secret_of(7, "me@here", &secret);
    assert_string_equal(sshkey_id(&secret.key, id), "SHA256:6N2Z+2fjK19peuYn8BcXEDt3q9SNJwTVFHSsSHENmI0");
    assert_string_equal(sshkey_line(&secret.key, line), LINE " me@here");
    char *text = sshkey_write_secret(&secret);
    digest_bytes(text, strlen(text), digest);  // as ssh-keygen would write it, but for its random check numbers
    assert_string_equal(digest, "6f07608195c93e273cf7d8ad936cab46cb115799e193ea8b43d0b1d27e9df14b");
    free(text);
    secret.key.comment[0] = 0;
    assert_string_equal(sshkey_line(&secret.key, line), LINE);
}

static int read_line(const char *line, struct sshkey *key)
{
    return sshkey_read_line(line, strlen(line), key);
}

TEST(lines_are_read_strictly)
{
    struct sshkey key;
    struct sshkey_secret secret;
    secret_of(7, "", &secret);
    static const char *const good[][2] = {
        {LINE, ""}, {LINE "\n", ""}, {LINE "\r\n", ""}, {LINE " me", "me"}, {LINE "  me and  you \n", "me and  you"},
        {LINE " \n", ""}, {LINE " a\tb\x1b[2J\x7f\xc3\xa9", "a?b?[2J???"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (read_line(good[i][0], &key) < 0) fail_msg("line %zu: %s", i, error_text());
        assert_memory_equal(key.at, secret.key.at, 32);
        assert_string_equal(key.comment, good[i][1]);
    }
    static const char *const bad[] = {
        "", "\n", "ssh-ed25519", "ssh-ed25519 ", " " LINE, LINE "\n\n", LINE "\n" LINE, "ssh-ed25519\t" LINE, "#" LINE,
        LINE "A", LINE "=", LINE "\tme",
        "ssh-ed25519  AAAAC3NzaC1lZDI1NTE5AAAAIKL6L0o1W6LpB6UwCenjfK3fesfmagi6B2MfVTBys/JM",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKL6L0o1W6LpB6UwCenjfK3fesfmagi6B2MfVTBys_JM",  // the other base64
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIaL6L0o1W6LpB6UwCenjfK3fesfmagi6B2MfVTBys/JM",  // 33 bytes claimed
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE2AAAAIKL6L0o1W6LpB6UwCenjfK3fesfmagi6B2MfVTBys/JM",  // ssh-ed25516
        "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIKL6L0o1W6LpB6UwCenjfK3fesfmagi6B2MfVTBys/JM",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (read_line(bad[i], &key) != ERR_INPUT) fail_msg("taken: %s", bad[i]);
        assert_true(*error_text() != 0);
    }
    for (size_t n = 0; n < strlen(LINE); n++) assert_int_equal(sshkey_read_line(LINE, n, &key), ERR_INPUT);
    char *large = calloc(1, 1 << 16);
    memset(large, 'a', (1 << 16) - 1);
    memcpy(large, LINE " ", strlen(LINE) + 1);
    assert_int_equal(sshkey_read_line(large, 1 << 16, &key), ERR_INPUT);
    assert_int_equal(sshkey_read_line(large, 1000, &key), 0);
    assert_int_equal(strlen(key.comment), SSHKEY_COMMENT - 1);
    free(large);
}

TEST(secrets_come_back)
{
    struct sshkey_secret secret, back;
    char comment[SSHKEY_COMMENT] = "";
    for (size_t n = 0; n < SSHKEY_COMMENT; n++) {  // every length of padding
        secret_of((unsigned char)n, comment, &secret);
        char *text = sshkey_write_secret(&secret);
        assert_int_equal(sshkey_read_secret(text, strlen(text), &back), 0);
        assert_memory_equal(&back, &secret, sizeof back);
        free(text);
        comment[n] = 'c';
        comment[n + 1 < SSHKEY_COMMENT ? n + 1 : n] = 0;
    }
    sshkey_new(&secret, "fresh");
    sshkey_new(&back, "fresh");
    assert_memory_not_equal(secret.secret, back.secret, 64);
    sshkey_wipe(&secret, sizeof secret);
    for (size_t i = 0; i < sizeof secret; i++) assert_int_equal(((unsigned char *)&secret)[i], 0);
}

TEST(damage_is_noticed)
{
    struct sshkey_secret secret, back;
    secret_of(3, "c", &secret);
    char *text = sshkey_write_secret(&secret);
    const size_t count = strlen(text);
    for (size_t n = 0; n < count; n++) assert_int_equal(sshkey_read_secret(text, n, &back), ERR_INPUT);
    int taken = 0;
    for (size_t bit = 0; bit < count * 8; bit++) {
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        int rc = sshkey_read_secret(text, count, &back);
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        taken += rc == 0;  // nothing covers the comment
        if (rc == 0) assert_memory_equal(back.secret, secret.secret, sizeof back.secret);
        for (size_t i = 0; rc < 0 && i < sizeof back; i++) assert_int_equal(((unsigned char *)&back)[i], 0);
    }
    assert_in_range(taken, 1, 8);
    free(text);
}

TEST_WITH(ssh_keygen_agrees, enter, leave)
{
    struct sshkey_secret secret, back;
    struct sshkey key;
    char id[SSHKEY_ID], line[SSHKEY_TEXT];
    secret_of(7, "me@here", &secret);
    char *text = sshkey_write_secret(&secret);  // ours, read by it
    put("ours", text, "600");
    free(text);
    assert_int_equal(shell("ssh-keygen -y -f ours"), 0);
    text = contents("said");
    assert_string_equal(strtok(text, "\n"), sshkey_line(&secret.key, line));
    free(text);
    assert_int_equal(shell("ssh-keygen -l -f ours"), 0);
    text = contents("said");
    assert_non_null(strstr(text, sshkey_id(&secret.key, id)));
    free(text);
    // its, read by us: the secret, the public line, an encrypted one, and another type
    assert_int_equal(shell("ssh-keygen -q -t ed25519 -N '' -C theirs -f theirs"), 0);
    text = contents("theirs");
    assert_int_equal(sshkey_read_secret(text, strlen(text), &back), 0);
    free(text);
    text = contents("theirs.pub");
    assert_int_equal(read_line(text, &key), 0);
    free(text);
    assert_memory_equal(&key, &back.key, sizeof key);
    assert_string_equal(key.comment, "theirs");
    assert_int_equal(shell("ssh-keygen -q -t ed25519 -a 1 -N secret -f locked"), 0);
    text = contents("locked");
    assert_int_equal(sshkey_read_secret(text, strlen(text), &back), ERR_INPUT);
    free(text);
    assert_int_equal(shell("ssh-keygen -q -t ecdsa -N '' -f other"), 0);
    text = contents("other");
    assert_int_equal(sshkey_read_secret(text, strlen(text), &back), ERR_INPUT);
    free(text);
}
