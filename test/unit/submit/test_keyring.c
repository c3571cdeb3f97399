// SPDX-License-Identifier: Apache-2.0
// The keyring: what is found under which name, what is refused, who signs; and the ssh-agent: the real one, and one that
// answers whatever a test wants.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "submit/keys/agent.h"
#include "submit/format/ssh/sshwire.h"
#include "submit/keys/keyring.h"
#include "test/unit/submit/fixture_keys.h"

#include <cmocka.h>

static pid_t agent;  // 0: none

static int enter_home(void **state)
{
    if (enter(state) != 0) return -1;
    setenv("HOME", folder, 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("DAWN_KEY");
    unsetenv("SSH_AUTH_SOCK");
    agent = 0;
    return 0;
}

static void end_agent(void)
{
    if (agent <= 0) return;
    kill(agent, SIGTERM);
    waitpid(agent, NULL, 0);
    agent = 0;
}

static int leave_home(void **state)
{
    end_agent();
    return leave(state);
}

static void add_key(const char *name, unsigned char seed)
{
    struct sshkey_secret secret;
    secret_of(seed, name, &secret);
    if (keyring_add(name, &secret) < 0) BUG(error_text());
}

static void expect_seed(const char *wanted, unsigned char seed)
{
    struct sshkey_secret secret;
    struct keyring_key found;
    secret_of(seed, "", &secret);
    if (keyring_find(wanted, &found) < 0) fail_msg("%s: %s", wanted != NULL ? wanted : "the default", error_text());
    assert_memory_equal(found.key.at, secret.key.at, 32);
}

static void expect_error(const char *wanted, int code, const char *says)
{
    struct keyring_key found;
    int rc = keyring_find(wanted, &found);
    if (rc != code || strstr(error_text(), says) == NULL) fail_msg("%d: %s (not: %s)", rc, error_text(), says);
}

static mode_t mode_of(const char *name)
{
    struct stat st;
    assert_int_equal(stat(in(name), &st), 0);
    return st.st_mode & 07777;
}

static void keys_are_added_once(void **state)
{
    (void)state;
    struct sshkey_secret secret;
    struct keyring_names names;
    assert_int_equal(keyring_names(&names), 0);
    assert_int_equal(names.count, 0);
    mode_t old = umask(0);
    add_key("work", 1);
    umask(old);
    assert_int_equal(mode_of(".config/dawn/keys"), 0700);
    assert_int_equal(mode_of(".config/dawn/keys/work"), 0600);
    assert_int_equal(mode_of(".config/dawn/keys/work.pub"), 0644);
    secret_of(2, "", &secret);
    char *before = contents(".config/dawn/keys/work");
    assert_int_equal(keyring_add("work", &secret), ERR_INPUT);
    assert_int_equal(keyring_add_public("work", &secret.key), ERR_INPUT);
    char *after = contents(".config/dawn/keys/work");
    assert_string_equal(before, after);
    free(before);
    free(after);
    assert_int_equal(shell("ln -s nowhere .config/dawn/keys/link"), 0);  // nor through a link that leads nowhere
    assert_int_equal(keyring_add("link", &secret), ERR_INPUT);
    static const char *const bad[] = {"", ".", "..", "../x", "a/b", ".hidden", "-x", "a b", "x.pub", "\xc3\xa9",
                                      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(keyring_add(bad[i], &secret), ERR_USAGE);
    add_key("home", 3);
    assert_int_equal(keyring_names(&names), 0);
    assert_int_equal(names.count, 3);
    assert_string_equal(names.name[0], "home");
    assert_string_equal(names.name[1], "link");
    assert_string_equal(names.name[2], "work");
    // The folder of a file that cannot be: an error, and nothing left behind.
    setenv("XDG_CONFIG_HOME", in(".config/dawn/keys/work"), 1);
    assert_int_equal(keyring_add("x", &secret), ERR_IO);
    setenv("XDG_CONFIG_HOME", in("elsewhere"), 1);
    add_key("x", 4);
    assert_int_equal(mode_of("elsewhere/dawn/keys/x"), 0600);
}

static void the_right_key_is_found(void **state)
{
    (void)state;
    struct sshkey_secret secret;
    char id[SSHKEY_ID];
    expect_error(NULL, ERR_MISSING, "dawn keys new");
    expect_error("work", ERR_MISSING, "no key \"work\"");
    assert_int_equal(shell("mkdir .ssh"), 0);
    secret_of(9, "", &secret);
    char *text = sshkey_write_secret(&secret);
    put(".ssh/id_ed25519", text, "600");
    free(text);
    expect_seed(NULL, 9);
    add_key("work", 1);
    expect_seed(NULL, 1);
    add_key("home", 2);
    expect_error(NULL, ERR_USAGE, "home, work");
    expect_error("wrok", ERR_MISSING, "did you mean \"work\"");
    expect_seed("home", 2);
    expect_seed(in(".config/dawn/keys/work"), 1);
    expect_seed(in(".config/dawn/keys/work.pub"), 1);
    expect_seed(in(".ssh/id_ed25519"), 9);
    expect_error(in(".ssh/id_ed25519.pub"), ERR_MISSING, "there is no key");
    expect_seed(sshkey_id(&secret.key, id), 9);
    expect_error("SHA256:AAAA", ERR_MISSING, "SHA256:AAAA");
    secret_of(2, "", &secret);
    expect_seed(sshkey_id(&secret.key, id), 2);
    setenv("DAWN_KEY", "work", 1);
    expect_seed(NULL, 1);
    expect_seed("home", 2);
    setenv("DAWN_KEY", "play", 1);
    expect_error(NULL, ERR_MISSING, "DAWN_KEY: ");
    unsetenv("HOME");
    unsetenv("DAWN_KEY");
    expect_error(NULL, ERR_MISSING, "HOME");
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    struct sshkey_secret secret;
    struct signer signer;
    add_key("work", 1);
    static const char *const modes[] = {"640", "604", "644", "620", "666", "777", "601"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char command[80];
        snprintf(command, sizeof command, "chmod %s .config/dawn/keys/work", modes[i]);
        assert_int_equal(shell(command), 0);
        expect_error("work", ERR_INPUT, "others may read");
        assert_int_equal(keyring_choose("work", &signer), ERR_INPUT);
    }
    assert_int_equal(shell("chmod 400 .config/dawn/keys/work"), 0);
    expect_seed("work", 1);
    secret_of(2, "", &secret);
    char line[SSHKEY_TEXT + 1];
    sshkey_line(&secret.key, line);
    put(".config/dawn/keys/work.pub", line, "644");
    expect_error("work", ERR_INPUT, "do not belong together");
    put(".config/dawn/keys/work.pub", "rubbish", "644");
    expect_error("work", ERR_INPUT, "work.pub: ");
    assert_int_equal(shell("rm .config/dawn/keys/work.pub"), 0);
    expect_seed("work", 1);  // it can be derived from the secret
    put(".config/dawn/keys/work", "rubbish", "600");
    expect_error("work", ERR_INPUT, "work: not a private key");
    assert_int_equal(shell("truncate -s 100K .config/dawn/keys/work"), 0);
    expect_error("work", ERR_INPUT, "allowed");
    assert_int_equal(shell("rm .config/dawn/keys/work; mkdir .config/dawn/keys/work"), 0);
    expect_error("work", ERR_INPUT, "folder");
}

static void check_signature(struct signer *signer, unsigned char seed)
{
    static const char words[] = "what is signed";
    struct sshkey_secret secret;
    struct sshkey key;
    char text[SSHSIG_MAX], expected[SSHSIG_MAX];
    secret_of(seed, "", &secret);
    if (signer_sign(signer, "run-v1@dawn", words, strlen(words), text) < 0) fail_msg("%s", error_text());
    assert_int_equal(sshsig_verify(text, strlen(text), "run-v1@dawn", words, strlen(words), &key), 0);
    assert_string_equal(text, sshsig_sign("run-v1@dawn", words, strlen(words), &secret, expected));
}

static void files_sign(void **state)
{
    (void)state;
    struct signer signer;
    add_key("work", 1);
    assert_int_equal(keyring_choose(NULL, &signer), 0);
    assert_false(signer.by_agent);
    check_signature(&signer, 1);
    signer_close(&signer);
    for (size_t i = 0; i < sizeof signer; i++) assert_int_equal(((unsigned char *)&signer)[i], 0);
    assert_int_equal(keyring_choose("play", &signer), ERR_MISSING);
    // A public key alone, without an agent that holds the secret.
    assert_int_equal(shell("mv .config/dawn/keys/work away"), 0);
    assert_int_equal(keyring_choose("work", &signer), ERR_MISSING);
    assert_non_null(strstr(error_text(), "ssh-agent"));
}

// ---- the real agent ------------------------------------------------------------------------------------------------
static void start_agent(void)
{
    setenv("SSH_AUTH_SOCK", in("agent"), 1);
    fflush(NULL);
    agent = fork();
    if (agent == 0) {
        if (freopen("/dev/null", "w", stdout) != NULL) execlp("ssh-agent", "ssh-agent", "-D", "-a", in("agent"), (char *)NULL);
        _exit(127);
    }
    struct agent_keys keys;
    for (int i = 0; i < 500 && agent_list(&keys) < 0; i++) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if (agent_list(&keys) < 0) fail_msg("%s", error_text());
    assert_int_equal(keys.count, 0);
}

static void the_agent_signs(void **state)
{
    (void)state;
    struct agent_keys keys;
    struct signer signer;
    struct keyring_key found;
    char id[SSHKEY_ID];
    if (!has_openssh()) skip();
    add_key("work", 1);
    // Encrypted on disk: nothing can be signed until the agent has the key.
    assert_int_equal(shell("ssh-keygen -q -p -a 1 -P '' -N secret -f .config/dawn/keys/work"), 0);
    assert_int_equal(keyring_choose("work", &signer), ERR_MISSING);
    assert_non_null(strstr(error_text(), "encrypted"));
    start_agent();
    assert_int_equal(keyring_choose("work", &signer), ERR_MISSING);
    assert_int_equal(shell("ssh-keygen -q -t ecdsa -N '' -f other && ssh-add other"), 0);  // not ours to see
    assert_int_equal(agent_list(&keys), 0);
    assert_int_equal(keys.count, 0);
    put("askpass", "#!/bin/sh\necho secret\n", "700");
    assert_int_equal(shell("SSH_ASKPASS=./askpass SSH_ASKPASS_REQUIRE=force DISPLAY=:9 ssh-add .config/dawn/keys/work"), 0);
    assert_int_equal(agent_list(&keys), 0);
    assert_int_equal(keys.count, 1);
    assert_string_equal(keys.key[0].comment, "work");
    assert_int_equal(keyring_choose("work", &signer), 0);
    assert_true(signer.by_agent);
    check_signature(&signer, 1);
    // Only the public key is noted; and not even that, but its fingerprint is known.
    assert_int_equal(shell("rm .config/dawn/keys/work"), 0);
    assert_int_equal(keyring_find("work", &found), 0);
    assert_false(found.file || found.locked);
    assert_int_equal(keyring_open(&found, &signer), 0);
    check_signature(&signer, 1);
    assert_int_equal(shell("rm .config/dawn/keys/work.pub"), 0);
    assert_int_equal(keyring_choose(sshkey_id(&keys.key[0], id), &signer), 0);
    check_signature(&signer, 1);
    // The agent lets go of it, and goes. What it signed last is not signed anew: it may ask a person each time.
    char text[SSHSIG_MAX], again[SSHSIG_MAX];
    assert_int_equal(signer_sign(&signer, "run-v1@dawn", "b", 1, text), 0);
    assert_int_equal(shell("ssh-add -D"), 0);
    assert_int_equal(signer_sign(&signer, "run-v1@dawn", "b", 1, again), 0);
    assert_string_equal(again, text);
    assert_int_equal(signer_sign(&signer, "run-v1@dawn", "a", 1, text), ERR_IO);
    assert_non_null(strstr(error_text(), "does not sign"));
    end_agent();
    assert_int_equal(signer_sign(&signer, "run-v1@dawn", "a", 1, text), ERR_MISSING);
}

// ---- an agent with prepared answers -------------------------------------------------------------------------------
static void start_liar(const unsigned char *answer, size_t count, bool silent)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", in("liar"));
    unlink(name.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(listen(fd, 8), 0);
    setenv("SSH_AUTH_SOCK", name.sun_path, 1);
    fflush(NULL);
    agent = fork();
    if (agent == 0) {
        char question[4096];
        alarm(60);
        for (;;) {
            int to = accept(fd, NULL, NULL);
            if (recv(to, question, sizeof question, 0) < 0) _exit(1);
            if (count > 0 && send(to, answer, count, MSG_NOSIGNAL) < 0) _exit(1);
            if (silent) pause();
            shutdown(to, SHUT_WR);
            while (recv(to, question, sizeof question, 0) > 0) {}
            close(to);
        }
    }
    close(fd);
}

static void lies_are_noticed(void **state)
{
    (void)state;
    struct agent_keys keys;
    static const struct {
        int rc;
        size_t count;
        unsigned char answer[32];
    } lies[] = {
        {ERR_IO, 0, {0}},                                  // hangs up
        {ERR_IO, 2, {0, 0}},                               // in the middle of the length
        {ERR_IO, 4, {0, 0, 0, 5}},                         // before the answer
        {ERR_IO, 6, {0, 0, 0, 5, 12, 0}},                  // in the middle of it
        {ERR_INPUT, 4, {0, 0, 0, 0}},                      // empty
        {ERR_INPUT, 4, {0, 4, 0, 1}},                      // one more than 256 KiB
        {ERR_INPUT, 4, {255, 255, 255, 255}},              //
        {ERR_IO, 5, {0, 0, 0, 1, 5}},                      // refuses
        {ERR_INPUT, 5, {0, 0, 0, 1, 14}},                  // another kind
        {ERR_INPUT, 5, {0, 0, 0, 1, 12}},                  // no number of keys
        {ERR_INPUT, 9, {0, 0, 0, 5, 12, 255, 255, 255, 255}},
        {ERR_INPUT, 10, {0, 0, 0, 6, 12, 0, 0, 0, 0, 1}},  // something behind the end
        {0, 9, {0, 0, 0, 5, 12, 0, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        start_liar(lies[i].answer, lies[i].count, false);
        int rc = agent_list(&keys);
        end_agent();
        if (rc != lies[i].rc) fail_msg("lie %zu: %d %s", i, rc, error_text());
        assert_int_equal(keys.count, 0);
    }
    // Silence ends; also after half an answer.
    unsigned char *answer;
    size_t count;
    for (size_t n = 0; n < 6; n += 5) {
        start_liar((const unsigned char[]){0, 0, 0, 5, 12}, n, true);
        assert_int_equal(agent_ask(getenv("SSH_AUTH_SOCK"), "\x0b", 1, 50, &answer, &count), ERR_IO);
        assert_non_null(strstr(error_text(), "in time"));
        assert_null(answer);
        end_agent();
    }
    assert_int_equal(agent_list(&keys), ERR_MISSING);  // its socket is left without a process
    char path[200];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    setenv("SSH_AUTH_SOCK", path, 1);
    assert_int_equal(agent_list(&keys), ERR_MISSING);
    setenv("SSH_AUTH_SOCK", "", 1);
    assert_int_equal(agent_list(&keys), ERR_MISSING);
}

static void answers_are_parsed_strictly(void **state)
{
    (void)state;
    unsigned char bytes[16384], blob[64], inner[128], signature[64], into[64];
    struct sshkey_secret secret;
    struct agent_keys keys;
    struct sshwire_out key = {blob, 0, sizeof blob}, out = {bytes, 0, sizeof bytes}, sig = {inner, 0, sizeof inner};
    secret_of(1, "", &secret);
    sshwire_put_key(&key, secret.key.at);
    sshwire_put(&out, "\x0c", 1);
    sshwire_put_u32(&out, AGENT_KEYS + 6);
    for (int i = 0; i < AGENT_KEYS + 6; i++) {
        sshwire_put_string(&out, blob, i == 1 ? 20 : key.count);  // the second is damaged: passed over
        sshwire_put_word(&out, "com\x1bment");
    }
    assert_int_equal(agent_read_keys(bytes, out.count, &keys), 0);
    assert_int_equal(keys.count, AGENT_KEYS);
    assert_string_equal(keys.key[0].comment, "com?ment");
    for (size_t n = 0; n < out.count; n++) {
        unsigned char *exact = malloc(n);  // of no byte too many
        assert_non_null(exact);
        memcpy(exact, bytes, n);
        assert_int_equal(agent_read_keys(exact, n, &keys), ERR_INPUT);
        free(exact);
    }
    // A signature; and the agent's signature by another key.
    crypto_sign_detached(signature, NULL, (const unsigned char *)"a", 1, secret.secret);
    sshwire_put_word(&sig, "ssh-ed25519");
    sshwire_put_string(&sig, signature, 64);
    out.count = 4;
    sshwire_put(&out, "\x0e", 1);
    sshwire_put_string(&out, inner, sig.count);
    bytes[0] = bytes[1] = bytes[2] = 0;
    bytes[3] = (unsigned char)(out.count - 4);
    assert_int_equal(agent_read_signature(bytes + 4, out.count - 4, into), 0);
    assert_memory_equal(into, signature, 64);
    for (size_t n = 0; n < out.count - 4; n++) assert_int_equal(agent_read_signature(bytes + 4, n, into), ERR_INPUT);
    start_liar(bytes, out.count, false);
    assert_int_equal(agent_sign(&secret.key, "a", 1, 0, into), 0);
    assert_int_equal(agent_sign(&secret.key, "b", 1, 0, into), ERR_INPUT);
    assert_non_null(strstr(error_text(), "does not fit"));
}

int main(void)
{
#define IN_HOME(test) cmocka_unit_test_setup_teardown(test, enter_home, leave_home)
    const struct CMUnitTest tests[] = {
        IN_HOME(keys_are_added_once), IN_HOME(the_right_key_is_found), IN_HOME(what_is_wrong_is_refused), IN_HOME(files_sign),
        IN_HOME(the_agent_signs),     IN_HOME(lies_are_noticed),       IN_HOME(answers_are_parsed_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
