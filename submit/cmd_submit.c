// SPDX-License-Identifier: Apache-2.0
// dawn submit: shows the texts that would become public, asks, signs, sends, and keeps the receipts. Invariant: it can be
// interrupted anywhere and repeated, and every run has one entry. Cost: the network's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/program.h"
#include "runtime/common/cli/options.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/file.h"
#include "submit/cmd_sending.h"
#include "submit/submit_commands.h"
#include "submit/cmd_competing.h"
#include "submit/keys/handle.h"
#include "submit/submission.h"

struct choice {
    struct sending sending;
    const char *db, *handle, *team, *note, *code_url, *out, *board_key, *competition;
    struct option_list runs, benches, scalings, tags;
    int64_t group;
    bool dry_run, open, all_new, json;
    char own_handle[HANDLE_MAX];  // "": not chosen
    const char *board;            // NULL: not chosen
    const char *server_key;       // as in submission_choice
    struct competing competing;   // open if `competition` is given
    json_t *prepared;             // with --json: submissions_json
};
static const char not_chosen[] = "not-chosen";  // handle and board in the statements of a dry run

static void print(struct text *text)
{
    if (text->at != NULL) fputs(text->at, stdout);
    text_free(text);
}

static int choose_handle(struct choice *c)
{
    const char *variable = getenv("DAWN_HANDLE");
    bool said = c->handle != NULL || (variable != NULL && *variable != 0);
    int rc = handle_choose(c->handle, c->own_handle);
    if (rc == 0 || said || !c->dry_run) return rc;
    c->own_handle[0] = '\0';
    return 0;
}

// Names every text that cannot be published, the handle first.
static int check_texts(struct choice *c, const struct payload_words *words)
{
    char fault[ERROR_TEXT_MAX];
    int rc = choose_handle(c);
    snprintf(fault, sizeof fault, "%s", rc < 0 ? error_text() : "");
    int others = payload_check_words(words);
    if (rc < 0 && others < 0) return fail_prefix(rc, "%s, and ", fault);
    return rc < 0 ? fail(rc, "%s", fault) : others;
}

// Every statement holds the board's name. Without a server the user must give it, except for a dry run, which is compared with
// no board.
static int choose_board(struct choice *c, struct results *r)
{
    struct sending *s = &c->sending;
    bool offline = c->dry_run || c->out != NULL;
    if (!offline || (s->board == NULL && sending_server(s) != NULL)) {
        TRY(sending_open(s));
        if (c->board_key != NULL && strcmp(c->board_key, s->about_key) != 0)
            return fail(ERR_USAGE, "the key of %s is %s, not %.60s", client_address(s->client), s->about_key, c->board_key);
        c->board = s->about.name;
        c->board_key = c->server_key = s->about_key;
        return sending_compare(s, r);
    }
    if (c->out != NULL) {
        if (s->board == NULL) return fail(ERR_USAGE, "no scoreboard is named: give --board NAME or --server https://...");
        TRY(keyring_choose(s->key, &s->signer));
    }
    c->board = s->board;
    c->server_key = s->board != NULL ? c->board_key : not_chosen;  // no receipt has this signer
    return 0;
}

static bool measures(const struct choice *c)
{
    return c->benches.count > 0 || c->scalings.count > 0;
}

static bool names_runs(const struct choice *c)
{
    return measures(c) || c->runs.count > 0 || c->group != 0;
}

static int read_runs(const struct choice *c, struct results *r, int64_t runs[OPTION_LIST_MAX])
{
    for (int i = 0; i < c->runs.count; i++) TRY(record_find(r, c->runs.word[i], &runs[i]));
    return 0;
}

static bool fails(const struct submission *s)
{
    return s->findings.rejects > 0 || s->refusal != NULL;
}

// If one run of a group fails a check, the whole group stays here: a part of it would be unfinished on the board.
static bool group_fails(const struct submissions *all, const struct submission *s)
{
    for (int i = 0; i < all->count && s->group != 0; i++)
        if (fails(&all->at[i]) && all->at[i].group == s->group) return true;
    return false;
}

// A run that fails a check is never sent. The message names the runs that pass, so that the user can send them.
static int judge_submissions(const struct submissions *all)
{
    int rejected = 0;
    struct text findings = {0}, rest = {0};
    for (int i = 0; i < all->count; i++) {
        const struct submission *s = &all->at[i];
        rejected += fails(s);
        if (!fails(s) && !s->nothing_new && !group_fails(all, s))
            text_add(&rest, " --%s %lld", submission_option(s), (long long)s->run);
    }
    submissions_findings(all, &findings);
    if (findings.at != NULL) printf("\nChecks:\n");
    print(&findings);
    int rc = 0;
    if (all->count == 1 && all->at[0].refusal != NULL)
        rc = fail(all->at[0].refusal_code, "%s %lld cannot be submitted: %s", submission_noun(&all->at[0]),
                  (long long)all->at[0].run, all->at[0].refusal);
    else if (rejected > 0)
        rc = fail(ERR_INPUT, "%d of %d %s%s cannot be submitted: a check fails; nothing was sent%s%s%s", rejected, all->count,
                  submission_noun(&all->at[0]), all->count == 1 ? "" : "s", rest.at != NULL ? " (these pass:" : "",
                  rest.at != NULL ? rest.at : "", rest.at != NULL ? ")" : "");
    text_free(&rest);
    return rc;
}

static void drop_those(struct submissions *all, const bool *drop)
{
    int kept = 0;
    for (int i = 0; i < all->count; i++) {
        struct submission *s = &all->at[i];
        if (drop[i]) submission_clear(s);
        else if (kept++ != i) all->at[kept - 1] = *s, *s = (struct submission){0};
    }
    all->count = kept;
}

// A run that fails a check would keep the new runs here for ever. A submission that names no run leaves it out with its group.
static int leave_out(struct submissions *all)
{
    int dropped = 0;
    struct text findings = {0};
    bool *drop = zalloc((size_t)all->count + 1);
    for (int i = 0; i < all->count; i++) {
        const struct submission *s = &all->at[i];
        drop[i] = fails(s) || group_fails(all, s);
        if (!drop[i]) continue;
        text_add(&findings, "run %lld is left out: %s\n", (long long)s->run,
                 fails(s) ? "a check fails" : "a check of its group fails");
        submission_findings(s, &findings);
        dropped++;
    }
    drop_those(all, drop);
    free(drop);
    print(&findings);
    return dropped;
}

// "3" is a run, and with it its group; "g2" is a group. False: none of them is meant.
static bool keep_word(const struct submissions *all, const char *word, bool *drop)
{
    const bool by_group = *word == 'g';
    int64_t number, group = 0;
    bool any = false;
    if (text_to_int(word + by_group, 1, INT64_MAX, &number) < 0) return false;
    for (int i = 0; i < all->count && group == 0; i++)
        if ((by_group ? all->at[i].group : all->at[i].run) == number) any = true, drop[i] = false, group = all->at[i].group;
    for (int i = 0; i < all->count && group != 0; i++)
        if (all->at[i].group == group) drop[i] = false;
    return any;
}

// Several new runs may hold private experiments, so the answer may be a part of the list.
static int ask_which(struct submissions *all)
{
    char line[256] = "";
    bool *drop = zalloc((size_t)all->count + 1);
    int rc = 0;
    memset(drop, true, (size_t)all->count);
    printf("\nSign this and publish it? [y/N], or numbers of runs and groups (3 g2): ");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL) line[0] = '\0';
    const char *word = strtok(line, " ,\n");
    if (word != NULL && (*word == 'y' || *word == 'Y')) word = NULL, memset(drop, false, (size_t)all->count);
    else if (word == NULL || *word == 'n' || *word == 'N') rc = fail(ERR_INTERRUPTED, "nothing was sent");
    for (; rc == 0 && word != NULL; word = strtok(NULL, " ,\n"))
        if (!keep_word(all, word, drop)) rc = fail(ERR_USAGE, "nothing was sent: \"%.20s\" is no run or group of the list", word);
    if (rc == 0) drop_those(all, drop);
    free(drop);
    return rc;
}

static bool any_statement(const struct submissions *all)
{
    for (int i = 0; i < all->count; i++)
        if (!all->at[i].nothing_new && all->at[i].refusal == NULL) return true;
    return false;
}

// --yes implies consent, so the texts are only counted.
static void show_texts(const struct choice *c, const struct submissions *all)
{
    struct text t = {0};
    if (c->sending.yes && !c->dry_run && c->out == NULL) {
        int count = submission_texts(all, false, NULL);
        printf("\n%d text%s public (--dry-run shows them)\n", count, count == 1 ? " becomes" : "s become");
        return;
    }
    printf("\nTexts that become public, with figures, dates and digests:\n");
    submission_texts(all, c->dry_run || c->out != NULL || !isatty(STDIN_FILENO), &t);
    print(&t);
}

static void describe(const struct choice *c, const struct submissions *all)
{
    struct text t = {0};
    char id[SSHKEY_ID];
    const struct sending *s = &c->sending;
    const char *board = c->board != NULL ? c->board : "(not chosen)";
    text_entry(&t, "board", "%s%s%s", board, s->client != NULL ? " at " : "", s->client != NULL ? client_address(s->client) : "");
    text_entry(&t, "handle", "%s", *c->own_handle ? c->own_handle : "(not chosen)");
    if (s->client != NULL || c->out != NULL) text_entry(&t, "key", "%s", sshkey_id(&s->signer.key, id));
    for (int i = 0; i < all->count; i++) submission_describe(&all->at[i], &t);
    if (s->client != NULL && c->competition == NULL && !measures(c)) competing_warn(s->client, all, &t);
    print(&t);
    if (any_statement(all)) show_texts(c, all);
}

static int write_files(const struct choice *c, struct signer *signer, const struct submission *s)
{
    struct text path = {0}, signature_path = {0}, signers = {0}, command = {0};
    char signature[SSHSIG_MAX];
    const char *space = statement_namespace(s->statement.type);
    TRY(signer_sign(signer, space, s->statement.payload, s->statement.count, signature));
    text_add(&path, "%s/%s-%lld.json", c->out, submission_option(s), (long long)s->run);
    text_add(&signature_path, "%s.sig", path.at);
    int rc = file_write(path.at, s->statement.payload, s->statement.count);
    if (rc == 0) rc = file_write(signature_path.at, signature, strlen(signature));
    if (rc == 0) {
        text_add(&signers, "%s/allowed_signers", c->out);
        const char *const words[] = {"ssh-keygen", "-Y",  "verify", "-f", signers.at, "-I",
                                     c->own_handle, "-n", space,    "-s", signature_path.at};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            text_quote(&command, words[i]);
            text_add(&command, " ");
        }
        text_add(&command, "< ");
        text_quote(&command, path.at);
        printf("%s\n", command.at);
    }
    text_free(&path);
    text_free(&signature_path);
    text_free(&signers);
    text_free(&command);
    return rc;
}

static int write_all(const struct choice *c, struct signer *signer, const struct submissions *all)
{
    struct text path = {0}, line = {0};
    struct sshkey key = signer->key;
    char words[SSHKEY_TEXT];
    key.comment[0] = '\0';  // it may name a person or a machine
    TRY(file_make_folder(c->out));
    text_add(&path, "%s/allowed_signers", c->out);
    text_add(&line, "%s %s\n", c->own_handle, sshkey_line(&key, words));
    int rc = file_write(path.at, line.at, line.length);
    text_free(&path);
    text_free(&line);
    TRY(rc);
    if (c->board_key == NULL)
        fprintf(stderr, "these files do not name a board's key, so no board takes them (--board-key, or --server)\n");
    printf("\nWritten to %s; anybody who has the files can check them with:\n", c->out);
    for (int i = 0; i < all->count; i++)
        if (!all->at[i].nothing_new) TRY(write_files(c, signer, &all->at[i]));
    return 0;
}

static int fetch(void *context, const char *digest, struct statement *s)
{
    struct choice *c = context;
    return delivery_statement(c->sending.client, digest, s);
}

// The server may have the run already if its answer was lost. Then the statement replaces the stored one.
static int send_one(struct choice *c, struct results *r, const struct payload_words *words, struct submission *s,
                    const char *name)
{
    int rc = sending_send(&c->sending, r, submission_row(s), name, &s->statement);
    if (rc != ERR_INPUT || !c->sending.refused || s->bench) return rc;
    TRY(sending_recover(&c->sending, r, s->run, name, &s->statement));
    const struct submission_choice same = {.server_key = c->server_key, .fetch = fetch, .context = c};
    TRY(submission_again(r, &same, words, s));
    return s->nothing_new ? 0 : sending_send(&c->sending, r, s->run, name, &s->statement);
}

// A handle that cannot be stored does not stop the submission.
static void remember(const char *handle)
{
    if (handle_remember(handle) < 0) fprintf(stderr, "the handle is not remembered: %s\n", error_text());
}

// After a refusal of one statement the others are still sent. After a refusal of the handle or the key, or an error of the
// network, none is.
static int send_all(struct choice *c, struct results *r, const struct payload_words *words, struct submissions *all)
{
    int refused = 0, sent = 0;
    for (int i = 0; i < all->count; i++) {
        struct submission *s = &all->at[i];
        char name[32];
        if (s->nothing_new) continue;
        snprintf(name, sizeof name, "%s %lld", submission_noun(s), (long long)s->run);
        int rc = send_one(c, r, words, s, name);
        if (rc == ERR_INPUT && c->sending.refused && client_signer_refused(c->sending.client))
            return fail(rc, "%s: refused: %s%s", name, error_text(),
                        i + 1 < all->count ? "; this holds for the rest, too, which was not sent" : "");
        if (rc == ERR_INPUT && c->sending.refused) {
            printf("%s: refused: %s\n", name, error_text());
            refused++;
            continue;
        }
        if (rc < 0 && sent > 0)
            return fail(rc, "%s: %s (%d of the %ss arrived; run the same command again to send the rest)",
                        name, error_text(), sent, submission_noun(s));
        TRY(rc);
        if (++sent == 1) remember(c->own_handle);
    }
    if (refused > 0)
        return fail(ERR_INPUT, "%d of %d %ss were refused by the server", refused, all->count, submission_noun(&all->at[0]));
    return 0;
}

static void say_nothing_new(const struct choice *c, const struct submissions *all)
{
    struct text t = {0};
    for (int i = 0; i < all->count; i++) submission_describe(&all->at[i], &t);
    print(&t);
    bool named = c->runs.count > 0 || c->group != 0;
    const char *which = measures(c) ? "measurement that was named" : named ? "run that was named" : "finished run";
    int withdrawn = 0;
    for (int i = 0; i < all->count; i++) withdrawn += all->at[i].withdrawn != NULL;
    printf("Nothing to submit: %s already has %severy %s%s.\n", c->board != NULL ? c->board : "the board",
           withdrawn > 0 ? "or had " : "", which, withdrawn > 0 ? ", and a run that was withdrawn cannot come back" : "");
}

static int commit(struct choice *c, struct results *r, const struct submissions *all)
{
    TRY(sending_ask(&c->sending, "Sign this commitment and publish it?"));
    TRY(competing_commit(&c->sending, r, &c->competing, all, c->own_handle));
    remember(c->own_handle);
    return 0;
}

static int proceed(struct choice *c, struct results *r, const struct payload_words *words, struct submissions *all)
{
    int news = 0, dropped = 0;
    if (!names_runs(c)) dropped = leave_out(all);
    for (int i = 0; i < all->count; i++) news += !all->at[i].nothing_new;
    if (news == 0) {
        if (dropped > 0) return fail(ERR_INPUT, "nothing was sent: no other finished run is new");
        say_nothing_new(c, all);
        return 0;
    }
    describe(c, all);
    TRY(judge_submissions(all));
    if (c->competition != NULL) TRY(competing_check(&c->competing, all, c->board));
    if (c->competition != NULL) competing_describe(&c->competing);
    if (c->dry_run) {
        printf("\nNothing was sent (--dry-run).\n");
        return 0;
    }
    if (c->out != NULL) return write_all(c, &c->sending.signer, all);
    if (c->competition != NULL) return commit(c, r, all);
    if (all->count > 1 && !names_runs(c) && !c->all_new && !c->sending.yes && isatty(STDIN_FILENO)) TRY(ask_which(all));
    else TRY(sending_ask(&c->sending, "Sign this and publish it?"));
    return send_all(c, r, words, all);
}

// Without --run the only run of the record enters a competition of single runs.
static int take_only_run(struct choice *c, struct results *r, int64_t runs[OPTION_LIST_MAX])
{
    json_t *rows;
    TRY(record_rows(r, "SELECT count(*) AS count FROM runs", 0, &rows));
    const int64_t count = record_int(json_array_get(rows, 0), "count");
    json_decref(rows);
    if (c->competing.group || count != 1)
        return fail(ERR_USAGE, "this competition ranks %s: name the one that enters it with %s",
                    c->competing.group ? "groups" : "single runs", c->competing.group ? "--group GROUP" : "--run RUN");
    c->runs.word[0] = "last";
    c->runs.count = 1;
    return read_runs(c, r, runs);
}

// `*done`: the record has a commitment, and its next step was taken.
static int compete(struct choice *c, struct results *r, struct payload_words *words, int64_t runs[OPTION_LIST_MAX], bool *done)
{
    struct competing *competing = &c->competing;
    if (c->sending.client == NULL) return fail(ERR_USAGE, "--competition needs the scoreboard that has it: give --server URL");
    TRY(competing_open(&c->sending, r, c->competition, competing));
    words->competition = competing->statement.digest;
    words->salt = competing->salt;
    *done = competing_has_rows(competing);
    if (*done) {
        competing_describe(competing);
        if (c->dry_run) printf("\nNothing was sent (--dry-run).\n");
        if (c->dry_run) return 0;
        TRY(sending_ask(&c->sending, "Go on with this commitment?"));
        return competing_go_on(&c->sending, r, competing);
    }
    return c->runs.count > 0 || c->group != 0 ? 0 : take_only_run(c, r, runs);
}

static int submit(struct choice *c, struct results *r)
{
    int64_t runs[OPTION_LIST_MAX], last;
    struct payload_words words = {.board = c->sending.board, .team = c->team, .note = c->note, .code_url = c->code_url,
                                  .tags = c->tags.word, .tag_count = c->tags.count, .open = c->open};
    TRY(check_texts(c, &words));
    if (!measures(c)) TRY(record_find(r, "last", &last));  // fails with a sentence if the record is empty
    TRY(read_runs(c, r, runs));
    TRY(choose_board(c, r));
    words.board = c->board != NULL ? c->board : not_chosen;
    words.board_key = c->board_key;
    words.handle = *c->own_handle ? c->own_handle : not_chosen;
    bool done = false;
    if (c->competition != NULL) TRY(compete(c, r, &words, runs, &done));
    if (done) return 0;
    const struct submission_choice choice = {.runs = runs, .run_count = c->runs.count, .group = c->group,
                                             .benches = c->benches.word, .bench_count = c->benches.count,
                                             .scalings = c->scalings.word, .scaling_count = c->scalings.count,
                                             .server_key = c->server_key, .context = c,
                                             .fetch = c->sending.client != NULL ? fetch : NULL};
    struct submissions all;
    struct text notes = {0}, wrapped = {0};
    int rc = measures(c) ? submission_bench_build(r, &choice, &words, clock_unix_ms(), &all)
                         : submissions_build(r, &choice, &words, clock_unix_ms(), &all, &notes);
    if (notes.at != NULL) text_wrap(&wrapped, notes.at, 0, 0);
    print(&wrapped);
    text_free(&notes);
    if (rc < 0) return rc;
    if (c->json) c->prepared = submissions_json(&all);
    rc = proceed(c, r, &words, &all);
    submissions_free(&all);
    return rc;
}

// One JSON object on standard output, with `rc` the failure to open the record, if any; text for people goes to standard error.
static int submit_json(struct choice *c, struct results *r, int rc)
{
    c->sending.sent = json_object();
    if (rc == 0) {
        TRY(program_aside());
        rc = submit(c, r);
        program_aside_end();
    }
    if (c->prepared == NULL) c->prepared = json_array();
    json_t *o = json_pack("{sb ss* ss* so so}", "dry_run", c->dry_run, "board", c->board, "handle",
                          *c->own_handle ? c->own_handle : NULL, "prepared", c->prepared, "sent", c->sending.sent);
    if (rc < 0) json_object_set_new(o, "error", json_string(error_text()));
    int printed = json_text_print(o);
    return rc < 0 ? rc : printed;
}

int cmd_submit(int argc, char **argv)
{
    struct choice c = {0};
    const struct option options[] = {
        {OPTION_TEXT, 0, "server", "URL", "the scoreboard (default: $DAWN_SERVER)", &c.sending.server, 0, 0},
        {OPTION_LIST, 0, "run", "RUN", "submit this run, also once more after new latencies", &c.runs, 0, 0},
        {OPTION_GROUP, 0, "group", "GROUP", "submit the runs of this group: 1 or g1", &c.group, 1, 1e15},
        {OPTION_FLAG, 0, "new", NULL, "submit all new runs, without the question which of them", &c.all_new, 0, 0},
        {OPTION_LIST, 0, "bench", "N", "submit this measurement of \"dawn bench\" instead of runs, or all", &c.benches, 0, 0},
        {OPTION_LIST, 0, "scaling", "N", "submit this scaling of \"dawn bench --scaling\" instead of runs, or all",
         &c.scalings, 0, 0},
        {OPTION_TEXT, 0, "competition", "NAME", "commit the run or group to a competition; after its deadline, send it",
         &c.competition, 0, 0},
        {OPTION_TEXT, 0, "handle", "NAME", "your name on the boards (default: $DAWN_HANDLE, else as last time)", &c.handle, 0, 0},
        {OPTION_TEXT, 0, "team", "TEXT", "team or organisation, as you say", &c.team, 0, 0},
        {OPTION_TEXT, 0, "note", "TEXT", "a remark that is shown with the runs", &c.note, 0, 0},
        {OPTION_TEXT, 0, "code-url", "URL", "https address of the code", &c.code_url, 0, 0},
        {OPTION_LIST, 0, "tag", "WORD", "a word to find the runs by", &c.tags, 0, 0},
        {OPTION_FLAG, 0, "open", NULL, "the open division: not a model and recipe of DAWN", &c.open, 0, 0},
        {OPTION_TEXT, 0, "key", "KEY", "the key that signs, as \"dawn keys\" names it", &c.sending.key, 0, 0},
        {OPTION_FLAG, 'n', "dry-run", NULL, "show and check everything, send nothing", &c.dry_run, 0, 0},
        {OPTION_FLAG, 'y', "yes", NULL, "publish without asking, and without showing every text", &c.sending.yes, 0, 0},
        {OPTION_PATH, 0, "out", "FOLDER", "write signed files instead of sending them", &c.out, 0, 0},
        {OPTION_TEXT, 0, "board", "NAME", "name of the scoreboard, when no server is asked", &c.sending.board, 0, 0},
        {OPTION_TEXT, 0, "board-key", "KEY", "fingerprint of its key; without it the board takes no files of --out",
         &c.board_key, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object: prepared runs, the answers of the server; text goes to standard error",
         &c.json, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "submit",
        .operands = "[results.db] [OPTIONS]",
        .about = "Signs recorded runs and submits them to a scoreboard: by default every run that has ended and "
                 "that the board does not have yet, or the ones that you choose from the list. Single runs that "
                 "missed their target, failed or were interrupted are sent only if they are named. Measurements are sent only "
                 "with --bench and --scaling; they appear on the page of their machine and on no board.\n\n"
                 "The record is $DAWN_RESULTS, else results.db, unless it is named.",
        .options = options,
        .more = "Examples:\n"
                "  dawn submit --server https://board.example --handle ada\n"
                "  dawn submit --dry-run      show what would be sent, and the checks\n"
                "  dawn submit --run 3 --out signed/ --board board.example\n"
                "  dawn submit --bench all    the measurements that the board does not have yet\n"
                "  dawn submit --competition winter-2026 --group 2\n\n"
                "$SSL_CERT_FILE names a file of certificates to trust, as with curl.",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc > 2) return fail(ERR_USAGE, "submit takes one record, not also \"%s\"", argv[2]);
    if (argc > 1) c.db = argv[1];
    if (c.board_key != NULL && !sshkey_is_id(c.board_key))
        return fail(ERR_USAGE, "--board-key must be a fingerprint, SHA256: and 43 base64 digits; got \"%.60s\"", c.board_key);
    if (measures(&c) && (c.runs.count > 0 || c.group != 0 || c.team != NULL || c.note != NULL || c.code_url != NULL ||
                         c.tags.count > 0 || c.open))
        return fail(ERR_USAGE, "--bench and --scaling submit figures alone: they take no --run, --group, --team, --note, "
                               "--code-url, --tag or --open");
    if (c.all_new && names_runs(&c)) return fail(ERR_USAGE, "--new submits all new runs; it excludes naming some");
    if (c.competition != NULL && c.out != NULL) return fail(ERR_USAGE, "a competition takes no files: leave out --out");
    if (c.competition != NULL && measures(&c)) return fail(ERR_USAGE, "a competition takes runs, no --bench or --scaling");
    struct results *r = NULL;
    rc = sending_record(c.db, c.dry_run || c.out != NULL ? RESULTS_READ : RESULTS_WRITE, &r);
    if (c.json) rc = submit_json(&c, r, rc);
    else if (rc == 0) rc = submit(&c, r);
    competing_close(&c.competing);
    sending_close(&c.sending);
    results_close(r);
    return rc;
}
