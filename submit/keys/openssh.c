// SPDX-License-Identifier: Apache-2.0
// Runs ssh-keygen and ssh-add. Invariant: without a time limit the program has the terminal and may ask; with one it has none.
// Workload: a few runs of a program per command. Cost: a process and, for a signature, a folder of temporary files.
#include "submit/keys/openssh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"

enum { LIST_WAIT_MS = 5000, FILE_WAIT_MS = 60000, SAID_MAX = 64 * 1024, PATH_ROOM = 1100 };
extern char **environ;

// Keeps what the program writes until it ends.
static int read_output(int from, const char *program, int wait_ms, struct text *said)
{
    const int64_t end_ns = clock_ns() + (int64_t)wait_ms * 1000000;
    char part[1024];
    for (;;) {
        const int64_t left_ms = (end_ns - clock_ns()) / 1000000;
        struct pollfd event = {.fd = from, .events = POLLIN};
        int ready = wait_ms > 0 && left_ms <= 0 ? 0 : poll(&event, 1, wait_ms > 0 ? (int)left_ms : -1);
        if (ready == 0) return fail(ERR_IO, "%s does not end in time", program);
        if (ready < 0 && errno == EINTR) continue;
        ssize_t n = read(from, part, sizeof part);
        if (n <= 0) return 0;
        if (said->length < SAID_MAX) text_bytes(said, part, (size_t)n);
    }
}

// POSIX: where posix_spawnp() cannot report that a program is missing, the child exits with this status.
enum { PROGRAM_MISSING = 127 };

static int fail_missing(const char *program)
{
    return fail(ERR_MISSING, "%s is not installed: it is in the package openssh-client", program);
}

static int start_program(const char *const argv[], int what, int to, bool alone, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (alone) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (alone) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_addopen(&actions, what == STDERR_FILENO ? STDOUT_FILENO : STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, to, what);
    int error = posix_spawnp(child, argv[0], &actions, &attributes, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT) return fail_missing(argv[0]);
    return error == 0 ? 0 : fail_errno(ERR_IO, error, "cannot start %s", argv[0]);
}

// Runs a program and keeps its output (`what`: STDOUT_FILENO or STDERR_FILENO). Returns its exit status, or an error.
static int run_program(const char *const argv[], int what, int wait_ms, struct text *said)
{
    int ends[2], status;
    pid_t child;
    if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno(ERR_IO, errno, "cannot make a pipe");
    int rc = start_program(argv, what, ends[1], wait_ms > 0, &child);
    close(ends[1]);
    if (rc == 0) {
        rc = read_output(ends[0], argv[0], wait_ms, said);
        if (rc < 0) kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    }
    close(ends[0]);
    TRY(rc);
    if (WIFEXITED(status) && WEXITSTATUS(status) == PROGRAM_MISSING) return fail_missing(argv[0]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void openssh_list(struct openssh_keys *keys)
{
    static const char *const argv[] = {"ssh-add", "-L", NULL};
    struct text said = {0};
    keys->count = 0;
    int rc = run_program(argv, STDOUT_FILENO, LIST_WAIT_MS, &said);
    for (const char *line = said.at; rc == 0 && line != NULL && *line && keys->count < OPENSSH_KEYS;) {
        const size_t length = strcspn(line, "\n");
        if (sshkey_read_line(line, length, &keys->key[keys->count]) == 0) keys->count++;  // other types are skipped
        line += length + (line[length] == '\n');
    }
    text_free(&said);
}

bool openssh_lists(const struct openssh_keys *keys, const struct sshkey *key)
{
    for (int i = 0; i < keys->count; i++)
        if (sshkey_same(&keys->key[i], key)) return true;
    return false;
}

static bool has_terminal(void)
{
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (terminal >= 0) close(terminal);
    return terminal >= 0;
}

// The last line that ssh-keygen wrote has its reason; a prompt may precede it.
static int fail_refused(const char *what, const char *path, bool alone, struct text *said)
{
    while (said->length > 0 && strchr("\r\n", said->at[said->length - 1]) != NULL) said->at[--said->length] = '\0';
    const char *line = said->length > 0 ? strrchr(said->at, '\n') : NULL;
    line = line != NULL ? line + 1 : said->length > 0 ? said->at : "it does not say why";
    if (strncmp(line, "Enter ", 6) == 0 && strstr(line, ": ") != NULL) line = strstr(line, ": ") + 2;
    const bool mute = strstr(line, "passphrase") != NULL && (alone || !has_terminal());
    return fail(ERR_IO, "ssh-keygen does not %s %s: %s%s", what, path, line,
                mute ? "; there is no terminal to ask for the passphrase: \"ssh-add\" the key first" : "");
}

int openssh_new(const char *path, const char *comment)
{
    const char *const argv[] = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path, NULL};
    struct text said = {0};
    int rc = run_program(argv, STDERR_FILENO, FILE_WAIT_MS, &said);
    if (rc > 0) rc = fail_refused("make", path, true, &said);
    text_free(&said);
    return rc;
}

int openssh_public(const char *path, struct sshkey *key)
{
    const char *const argv[] = {"ssh-keygen", "-y", "-P", "", "-f", path, NULL};
    struct text said = {0};
    int rc = run_program(argv, STDOUT_FILENO, FILE_WAIT_MS, &said);
    if (rc > 0) rc = fail(ERR_INPUT, "ssh-keygen finds no public key in it, and there is no %s.pub", path);
    if (rc == 0) rc = sshkey_read_line(said.at != NULL ? said.at : "", said.length, key);
    text_free(&said);
    return rc;
}

static int sign_file(const struct openssh_signing *s, const char *key, const char *file, char into[SSHSIG_MAX])
{
    const char *const argv[] = {"ssh-keygen", "-q", "-Y", "sign", "-n", s->namespace_, "-f", key, file, NULL};
    char name[PATH_ROOM], *signature;
    struct text said = {0};
    struct sshkey signer;
    size_t count;
    snprintf(name, sizeof name, "%s.sig", file);
    int rc = run_program(argv, STDERR_FILENO, s->wait_ms, &said);
    if (rc > 0) rc = fail_refused("sign with", s->path != NULL ? s->path : "a key of the ssh-agent", s->wait_ms > 0, &said);
    text_free(&said);
    TRY(rc);
    rc = file_read(name, SSHSIG_MAX - 1, &signature, &count);
    unlink(name);
    TRY(rc);
    snprintf(into, SSHSIG_MAX, "%s", signature);
    free(signature);
    TRY(sshsig_verify(into, strlen(into), s->namespace_, s->message, s->count, &signer));
    return sshkey_same(&signer, s->key) ? 0 : fail(ERR_INPUT, "ssh-keygen has signed with another key");
}

int openssh_sign(const struct openssh_signing *s, char into[SSHSIG_MAX])
{
    char folder[PATH_ROOM - 64], file[PATH_ROOM - 8], key[PATH_ROOM - 8], line[SSHKEY_TEXT];
    const char *above = getenv("TMPDIR");
    if (above == NULL || *above == 0) above = "/tmp";
    const bool fits = snprintf(folder, sizeof folder, "%s/dawn-sign-XXXXXX", above) < (int)sizeof folder;
    if (!fits || mkdtemp(folder) == NULL)
        return fail_errno(ERR_IO, fits ? errno : ENAMETOOLONG, "cannot make a folder in %.200s", above);
    snprintf(file, sizeof file, "%s/statement", folder);
    snprintf(key, sizeof key, "%s/key.pub", folder);
    sshkey_line(s->key, line);
    int rc = file_write(file, s->message, s->count);
    if (rc == 0 && s->path == NULL) rc = file_write(key, line, strlen(line));
    if (rc == 0) rc = sign_file(s, s->path != NULL ? s->path : key, file, into);
    unlink(file);
    snprintf(file, sizeof file, "%s/statement.sig", folder);  // which ssh-keygen may leave when it is stopped
    unlink(file);
    unlink(key);
    rmdir(folder);
    return rc;
}
