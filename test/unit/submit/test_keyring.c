// SPDX-License-Identifier: Apache-2.0
// The keyring: files found by name, refusals, who signs: ssh-keygen with files and with the real ssh-agent; and
// programs of its name that refuse, lie or wait.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "submit/keys/keyring.h"
#include "test/unit/test.h"
#include "test/unit/submit/fixture_keys.h"

static pid_t agent;  // 0: none

static int enter_home(void **state)
{
    if (enter(state) != 0) return -1;
    setenv("HOME", folder, 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("DAWN_KEY");
    unsetenv("SSH_AUTH_SOCK");
    agent = 0;
    setenv("TMPDIR", in("tmp"), 1);
    return mkdir(in("tmp"), 0700);
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

// A key that is known beforehand.
static void add_key(const char *name, unsigned char seed)
{
    struct sshkey_secret secret;
    char path[128], line[SSHKEY_TEXT];
    secret_of(seed, name, &secret);
    char *text = sshkey_write_secret(&secret);
    if (shell("mkdir -p -m 700 .config .config/dawn .config/dawn/keys") != 0) BUG("no folder");
    snprintf(path, sizeof path, ".config/dawn/keys/%s", name);
    put(path, text, "600");
    free(text);
    strcat(path, ".pub");
    put(path, sshkey_line(&secret.key, line), "644");
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

TEST_WITH(keys_are_made_once, enter_home, leave_home)
{
    struct keyring_names names;
    struct keyring_key found;
    assert_int_equal(keyring_names(&names), 0);
    assert_int_equal(names.count, 0);
    mode_t old = umask(0);
    assert_int_equal(keyring_new("work"), 0);
    umask(old);
    assert_int_equal(mode_of(".config/dawn/keys"), 0700);
    assert_int_equal(mode_of(".config/dawn/keys/work"), 0600);
    assert_int_equal(mode_of(".config/dawn/keys/work.pub"), 0644);
    assert_int_equal(keyring_find("work", &found), 0);
    assert_string_equal(found.key.comment, "work");
    char *before = contents(".config/dawn/keys/work");
    assert_int_equal(keyring_new("work"), ERR_INPUT);
    char *after = contents(".config/dawn/keys/work");
    assert_string_equal(before, after);
    free(before);
    free(after);
    assert_int_equal(shell("ln -s nowhere .config/dawn/keys/link"), 0);  // nor through a link that leads nowhere
    assert_int_equal(keyring_new("link"), ERR_INPUT);
    static const char *const bad[] = {"", ".", "..", "../x", "a/b", ".hidden", "-x", "a b", "x.pub", "\xc3\xa9",
                                      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(keyring_new(bad[i]), ERR_USAGE);
    add_key("home", 3);
    assert_int_equal(keyring_names(&names), 0);
    assert_int_equal(names.count, 3);
    assert_string_equal(names.name[0], "home");
    assert_string_equal(names.name[1], "link");
    assert_string_equal(names.name[2], "work");
    // The folder of a file that cannot be: an error, and nothing left behind.
    setenv("XDG_CONFIG_HOME", in(".config/dawn/keys/work"), 1);
    assert_int_equal(keyring_new("x"), ERR_IO);
    setenv("XDG_CONFIG_HOME", in("elsewhere"), 1);
    assert_int_equal(keyring_new("x"), 0);
    assert_int_equal(mode_of("elsewhere/dawn/keys/x"), 0600);
}

TEST_WITH(the_right_key_is_found, enter_home, leave_home)
{
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

TEST_WITH(what_is_wrong_is_refused, enter_home, leave_home)
{
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
    put(".config/dawn/keys/work.pub", "rubbish", "644");
    expect_error("work", ERR_INPUT, "work.pub: ");
    assert_int_equal(shell("truncate -s 100K .config/dawn/keys/work.pub"), 0);
    expect_error("work", ERR_INPUT, "allowed");
    assert_int_equal(shell("rm .config/dawn/keys/work.pub"), 0);
    expect_seed("work", 1);  // it can be derived from the secret
    assert_int_equal(shell("chmod 600 .config/dawn/keys/work; echo rubbish >.config/dawn/keys/work"), 0);
    expect_error("work", ERR_INPUT, "work: ssh-keygen finds no public key in it");
    assert_int_equal(shell("rm .config/dawn/keys/work; mkdir .config/dawn/keys/work"), 0);
    expect_error("work", ERR_INPUT, "is no file");
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

static void expect_refusal(struct signer *signer, int code, const char *says)
{
    char text[SSHSIG_MAX];
    int rc = signer_sign(signer, "run-v1@dawn", "a", 1, text);
    if (rc != code || strstr(error_text(), says) == NULL) fail_msg("%d: %s (not: %s)", rc, error_text(), says);
}

TEST_WITH(files_sign, enter_home, leave_home)
{
    struct signer signer;
    add_key("work", 1);
    assert_int_equal(keyring_choose(NULL, &signer), 0);
    check_signature(&signer, 1);
    assert_int_equal(keyring_choose("play", &signer), ERR_MISSING);
    // A public key alone, without an agent that holds the secret.
    assert_int_equal(shell("mv .config/dawn/keys/work away"), 0);
    assert_fails(keyring_choose("work", &signer), ERR_MISSING, "ssh-agent");
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
    for (int i = 0; i < 500 && shell("ssh-add -l; test $? = 1") != 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    struct openssh_keys keys;
    openssh_list(&keys);
    assert_int_equal(keys.count, 0);
}

TEST_WITH(the_agent_signs, enter_home, leave_home)
{
    struct openssh_keys keys;
    struct signer signer;
    struct keyring_key found;
    char id[SSHKEY_ID];
    add_key("work", 1);
    // Encrypted on disk: ssh-keygen asks for the passphrase if it may.
    assert_int_equal(shell("ssh-keygen -q -p -a 1 -P '' -N secret -f .config/dawn/keys/work"), 0);
    put("askpass", "#!/bin/sh\necho ${PASS:-secret}\n", "700");
    assert_int_equal(keyring_choose("work", &signer), 0);
    signer.wait_ms = 30000;  // as when no person may be asked
    expect_refusal(&signer, ERR_IO, "no terminal");
    setenv("SSH_ASKPASS", in("askpass"), 1);
    setenv("SSH_ASKPASS_REQUIRE", "force", 1);
    setenv("PASS", "wrong", 1);
    expect_refusal(&signer, ERR_IO, "incorrect passphrase");
    unsetenv("PASS");
    check_signature(&signer, 1);
    unsetenv("SSH_ASKPASS_REQUIRE");
    unsetenv("SSH_ASKPASS");
    start_agent();
    assert_int_equal(shell("ssh-keygen -q -t ecdsa -N '' -f other && ssh-add other"), 0);  // not ours to see
    openssh_list(&keys);
    assert_int_equal(keys.count, 0);
    assert_int_equal(shell("SSH_ASKPASS=./askpass SSH_ASKPASS_REQUIRE=force DISPLAY=:9 ssh-add .config/dawn/keys/work"), 0);
    openssh_list(&keys);
    assert_int_equal(keys.count, 1);
    assert_string_equal(keys.key[0].comment, "work");
    assert_int_equal(keyring_choose("work", &signer), 0);
    check_signature(&signer, 1);
    // Only the public key is noted; and not even that, but its fingerprint is known.
    assert_int_equal(shell("rm .config/dawn/keys/work"), 0);
    assert_int_equal(keyring_find("work", &found), 0);
    assert_false(found.file);
    assert_int_equal(keyring_open(&found, &signer), 0);
    check_signature(&signer, 1);
    assert_int_equal(shell("rm .config/dawn/keys/work.pub"), 0);
    assert_int_equal(keyring_choose(sshkey_id(&keys.key[0], id), &signer), 0);
    check_signature(&signer, 1);
    // The agent lets go of it, and goes. Its last signature is used again: it may ask a person each time.
    char text[SSHSIG_MAX], again[SSHSIG_MAX];
    assert_int_equal(signer_sign(&signer, "run-v1@dawn", "b", 1, text), 0);
    assert_int_equal(shell("ssh-add -D"), 0);
    assert_int_equal(signer_sign(&signer, "run-v1@dawn", "b", 1, again), 0);
    assert_string_equal(again, text);
    expect_refusal(&signer, ERR_IO, "No private key found");
    end_agent();
    expect_refusal(&signer, ERR_IO, "No private key found");
}

// What ssh-keygen says ends in our sentence; a time limit ends a program that waits.
TEST_WITH(refusals_are_quoted, enter_home, leave_home)
{
    struct signer signer;
    add_key("work", 1);
    assert_int_equal(keyring_choose("work", &signer), 0);
    char *path = copy_text(getenv("PATH"));
    setenv("PATH", folder, 1);
    expect_refusal(&signer, ERR_MISSING, "ssh-keygen is not installed");
    char both[4096];
    snprintf(both, sizeof both, "%s:%s", folder, path);
    setenv("PATH", both, 1);
    put("ssh-keygen", "#!/bin/sh\necho first >&2\necho 'agent refused operation' >&2\nexit 255\n", "755");
    expect_refusal(&signer, ERR_IO, "work: agent refused operation");
    put("ssh-keygen", "#!/bin/sh\nexit 127\n", "755");  // as a child whose program could not be started
    expect_refusal(&signer, ERR_MISSING, "ssh-keygen is not installed");
    put("ssh-keygen", "#!/bin/sh\nexit 1\n", "755");
    expect_refusal(&signer, ERR_IO, "does not say why");
    put("ssh-keygen", "#!/bin/sh\nexit 0\n", "755");
    expect_refusal(&signer, ERR_IO, ".sig");
    put("ssh-keygen", "#!/bin/sh\nfor f; do :; done\necho rubbish >$f.sig\n", "755");
    expect_refusal(&signer, ERR_INPUT, "not a signature");
    put("ssh-keygen", "#!/bin/sh\nexec sleep 60\n", "755");
    signer.wait_ms = 50;
    expect_refusal(&signer, ERR_IO, "in time");
    setenv("PATH", path, 1);
    free(path);
    signer.wait_ms = 0;
    add_key("other", 2);
    assert_int_equal(shell("cp .config/dawn/keys/other .config/dawn/keys/work"), 0);
    expect_refusal(&signer, ERR_IO, "doesn't match private");
    assert_int_equal(shell("cp .config/dawn/keys/other.pub .config/dawn/keys/work.pub"), 0);
    expect_refusal(&signer, ERR_INPUT, "signed with another key");
    assert_int_equal(shell("test -z \"$(ls tmp)\""), 0);  // no temporary file is left
}
