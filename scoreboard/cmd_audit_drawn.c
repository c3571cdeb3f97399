// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard audit --drawn and --replayed: has "dawn replay" train again what the log has drawn and nobody has repeated, and
// signs the result. Invariant: a difference is signed only where the same bytes are due; equal figures are equal wherever
// they were computed. Cost: the trainings.
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/common/base/clock.h"
#include "scoreboard/cmd_audit.h"
#include "submit/format/canonical.h"

extern char **environ;
enum { SAID_MOST = 1 << 20, TOO_LONG = 256, EXIT_DIFFERS = 3 };  // the last: of a "dawn replay" that found other figures

struct auditing {
    const struct audit_drawn *asked;
    char folder[64], program[FILE_PROGRAM];
    int equal, differs, open;
};

// ---- the program
// By default the dawn next to this program, else the one found by PATH.
static void find_program(struct auditing *a)
{
    char bytes[FILE_PROGRAM];
    int rc = a->asked->program == NULL ? file_program(bytes, a->program) : -1;
    char *name = rc == 0 && strlen(a->program) < FILE_PROGRAM - 8 ? strrchr(a->program, '/') : NULL;
    if (name != NULL) snprintf(name + 1, 5, "%s", "dawn");
    if (name != NULL && access(a->program, X_OK) == 0) return;
    snprintf(a->program, sizeof a->program, "%s", a->asked->program != NULL ? a->asked->program : "dawn");
}

// What it writes until its end, or until the moment `until_ns`; true if it came to its end.
static bool read_until(int from, int64_t until_ns, struct text *said)
{
    char part[4096];
    for (;;) {
        const int64_t left = until_ns == 0 ? 1000 : (until_ns - clock_ns() + 999999) / 1000000;
        struct pollfd ready = {.fd = from, .events = POLLIN};
        if (left <= 0) return false;
        if (poll(&ready, 1, left < 1000 ? (int)left : 1000) <= 0) continue;
        const ssize_t n = read(from, part, sizeof part);
        if (n == 0 || (n < 0 && errno != EINTR)) return true;
        if (n > 0 && said->length + (size_t)n > SAID_MOST) said->length = 0;
        if (n > 0) text_bytes(said, part, (size_t)n);
    }
}

static void keep_last_line(struct text *line)
{
    while (line->length > 0 && line->at[line->length - 1] == '\n') line->at[--line->length] = 0;
    const char *last = line->length > 0 ? strrchr(line->at, '\n') : NULL;
    if (last == NULL) return;
    struct text kept = {0};
    text_add(&kept, "%s", last + 1);
    text_free(line);
    *line = kept;
}

// A stranger chose the recipe, and may have chosen more than this machine computes in a year.
static bool wait_for_end(const struct auditing *a, pid_t child, int from, struct text *line)
{
    const int64_t until_ns = a->asked->seconds > 0 ? clock_ns() + a->asked->seconds * 1000000000 : 0;
    const bool ended = read_until(from, until_ns, line);
    if (!ended) kill(child, SIGKILL);
    keep_last_line(line);
    return ended;
}

// Runs it with its errors on ours. Returns its exit status, or an error; TOO_LONG if the time was up.
static int run_replay(const struct auditing *a, const char *file, struct text *line)
{
    char epochs[24], database[96];
    posix_spawn_file_actions_t actions;
    int ends[2], status;
    pid_t child;
    snprintf(epochs, sizeof epochs, "%lld", (long long)a->asked->epochs);
    snprintf(database, sizeof database, "%s/replays.db", a->folder);
    const char *argv[16] = {a->program, "replay", file, "--json", "--db", database, "--save", ""};
    int count = 8;
    if (a->asked->epochs > 0) argv[count++] = "--epochs", argv[count++] = epochs;
    if (a->asked->data != NULL) argv[count++] = "--data", argv[count++] = a->asked->data;
    if (pipe(ends) != 0) return fail_errno(ERR_IO, errno, "cannot make a pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    int error = posix_spawnp(&child, a->program, &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    const bool ended = error != 0 || wait_for_end(a, child, ends[0], line);
    close(ends[0]);
    while (error == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (error != 0) return fail_errno(ERR_MISSING, error, "cannot start %s", a->program);
    if (!ended) return TOO_LONG;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// ---- the outcome
static int sign_outcome(struct auditing *a, const struct stored *run, const json_t *said, const char *verdict)
{
    static const char *const members[] = {"epoch_micro", "points", "equal", "device", "hardware", "binary_digest"};
    struct store *store;
    struct acceptance done = {0};
    struct decision decision = {verdict, run->digest, a->asked->by, "the log drew it, and it was trained again", json_object()};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_object_set(decision.repeated, members[i], json_object_get(said, members[i]));
    int rc = store_open(&(struct store_settings){.path = a->asked->db}, STORE_WRITE, &store);
    if (rc == 0) {
        rc = store_decide(store, &decision, clock_unix_ms(), &done);
        store_close(store);
    }
    if (rc == 0 && done.problem != PROBLEM_NONE) rc = fail(ERR_INPUT, "%s", done.detail);
    if (rc == 0)
        printf("statement %lld: run %lld %s: %lld of %lld points are the same in %.6g epoch%s\n", (long long)done.sequence,
               (long long)run->sequence, strcmp(verdict, "equal") == 0 ? "is equal to the last bit" : "DIFFERS",
               (long long)canonical_int(said, "equal"), (long long)canonical_int(said, "points"),
               (double)canonical_int(said, "epoch_micro") * 1e-6, canonical_int(said, "epoch_micro") == 1000000 ? "" : "s");
    free(done.receipt);
    json_decref(decision.repeated);
    return rc;
}

static void leave_open(struct auditing *a, const struct stored *run, const char *why)
{
    printf("run %lld stays open: %s\n", (long long)run->sequence, why);
    a->open++;
}

static int judge_line(struct auditing *a, const struct stored *run, int status, const char *line)
{
    char why[ERROR_TEXT_MAX];
    json_t *said = status == 0 || status == EXIT_DIFFERS ? json_loads(line, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const bool equal = strcmp(canonical_text(said, "verdict"), "exact") == 0;
    const bool differs = strcmp(canonical_text(said, "verdict"), "differs") == 0 && canonical_int(said, "settings") == 0;
    int rc = 0;
    if (said == NULL && a->asked->replayed != NULL)
        rc = fail(ERR_INPUT, "the last line of %s is not what \"dawn replay --json\" writes", a->asked->replayed);
    else if (said == NULL) {
        if (status == TOO_LONG) snprintf(why, sizeof why, "the time was up after %lld s", (long long)a->asked->seconds);
        else snprintf(why, sizeof why, "\"dawn replay\" ended with %d, and said why", status);
        leave_open(a, run, why);
    } else if (!equal && !differs)
        leave_open(a, run, strcmp(canonical_text(said, "verdict"), "none") == 0
                               ? "there is nothing to compare"
                               : "its figures differ, but so do program, machine or settings, so the same bytes are not due");
    else {
        rc = sign_outcome(a, run, said, equal ? "equal" : "differs");
        a->equal += rc == 0 && equal, a->differs += rc == 0 && differs;
    }
    json_decref(said);
    return rc;
}

static int repeat_run(struct auditing *a, const struct stored *run)
{
    char file[128];
    struct text line = {0};
    snprintf(file, sizeof file, "%s/run-%lld.json", a->folder, (long long)run->sequence);
    TRY(file_write(file, run->payload, run->payload_count));
    int rc = run_replay(a, file, &line);
    if (rc >= 0) rc = judge_line(a, run, rc, line.at != NULL ? line.at : "");
    text_free(&line);
    return rc;
}

// ---- open runs
static void print_run(const struct stored *run, const struct drawn *d)
{
    static const char *const whys[] = {"drawn", "drawn again", "the best of a board"};
    struct statement s;
    char since[TEXT_FIGURE];
    if (statement_read(run->payload, run->payload_count, &s) < 0) return;
    printf("run %lld of %s: %s, recipe %s, %s, %s since %s\n", (long long)run->sequence, run->handle,
           canonical_text(s.json, "task"), canonical_text(s.json, "recipe.name"),
           canonical_text(s.json, strcmp(canonical_text(s.json, "device"), "cuda") == 0 ? "hardware.gpu" : "hardware.cpu"),
           whys[d->why], text_moment(since, d->since_ms));
    fflush(stdout);
    statement_free(&s);
}

static int walk_open(struct auditing *a, struct reader *reader, struct arena *arena)
{
    int64_t *runs;
    int count;
    TRY(store_drawn_waiting(reader, arena, &runs, &count));
    for (int i = 0; i < count; i++) {
        struct stored run;
        struct drawn d;
        TRY(store_statement(reader, arena_text(arena, "%lld", (long long)runs[i]), arena, &run));
        TRY(store_drawn(reader, runs[i], arena, &d));
        print_run(&run, &d);
        if (!a->asked->list) TRY(repeat_run(a, &run));
    }
    if (count == 0) printf("Nothing is drawn and open.\n");
    return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info, (void)kind, (void)at;
    return remove(path);
}

// True if the line is about this run: it has the last hash of the run's points.
static bool is_about(const char *line, const struct stored *run)
{
    struct statement s;
    json_t *said = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    bool about = said == NULL || statement_read(run->payload, run->payload_count, &s) < 0;  // judge_line says why
    if (!about) {
        const json_t *points = json_object_get(s.json, "points");
        const json_t *last = json_array_get(points, json_array_size(points) - 1);
        about = strcmp(canonical_text(said, "head"), canonical_text(last, "hash")) == 0;
        statement_free(&s);
    }
    json_decref(said);
    return about;
}

// Another machine of the operator has trained the run again.
static int take_replayed(struct auditing *a, struct reader *reader, struct arena *arena)
{
    struct stored run;
    char *bytes;
    size_t count;
    TRY(store_statement(reader, a->asked->run, arena, &run));
    TRY(file_read(a->asked->replayed, SAID_MOST, &bytes, &count));
    while (count > 0 && bytes[count - 1] == '\n') bytes[--count] = 0;
    const char *last = strrchr(bytes, '\n');
    const char *line = last != NULL ? last + 1 : bytes;
    int rc = is_about(line, &run) ? 0 : fail(ERR_INPUT, "%s is about another run than %lld", a->asked->replayed,
                                             (long long)run.sequence);
    if (rc == 0) rc = judge_line(a, &run, 0, line);
    free(bytes);
    return rc;
}

static int walk_in_folder(struct auditing *a, struct reader *reader, struct arena *arena)
{
    const char *where = getenv("TMPDIR");
    if (where == NULL || strlen(where) > 40) where = "/tmp";
    snprintf(a->folder, sizeof a->folder, "%s/dawn-audit-XXXXXX", where);
    if (mkdtemp(a->folder) == NULL) return fail_errno(ERR_IO, errno, "cannot make a folder in %s", where);
    int rc = walk_open(a, reader, arena);
    (void)nftw(a->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return rc;
}

int cmd_audit_drawn(const struct audit_drawn *asked)
{
    struct auditing a = {.asked = asked};
    struct store *store;
    struct reader *reader;
    struct arena arena = {0};
    find_program(&a);
    TRY(store_open(&(struct store_settings){.path = asked->db}, STORE_READ, &store));
    int rc = store_reader(store, &reader);
    if (rc == 0) {
        rc = asked->replayed != NULL ? take_replayed(&a, reader, &arena) : walk_in_folder(&a, reader, &arena);
        store_reader_close(reader);
    }
    store_close(store);
    arena_free(&arena);
    TRY(rc);
    if (a.differs > 0)
        return fail(ERR_DIFFERS, "%d drawn run%s not come to the figures of the statement", a.differs,
                    a.differs == 1 ? " does" : "s do");
    return a.open == 0 ? 0 : fail(ERR_INPUT, "%d drawn run%s open", a.open, a.open == 1 ? " stays" : "s stay");
}
