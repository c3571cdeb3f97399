// SPDX-License-Identifier: Apache-2.0
// Announces the runs of dawn train to a scoreboard: asks for a ticket before each run, and sends beats while it goes on. All
// requests are made by a thread of their own, so the training never waits for a server. Invariant: only the newest state of the
// chain is sent, and one that did not arrive is sent again. Cost: a small request per point, at most four per second.
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "submit/client/deliver.h"
#include "submit/client/pace.h"
#include "submit/submit_commands.h"
#include "submit/format/score/ticket.h"
#include "submit/keys/handle.h"

enum { REQUEST_MS = 4000, ASK_MS = 9000, ASK_TRIES = 2, ANSWER_MS = 1000, END_MS = 4000, LOOK_MS = 100 };

struct announcer {
    char *server, handle[HANDLE_MAX];
    struct signer signer;
    // These describe the run in progress. The thread owns the members before the lock.
    bool runs;                    // there is a thread
    pthread_t thread;
    json_t *plan;                 // the members of the ticket that the training states
    struct client *client;
    int64_t asked_ns;
    bool (*stopped)(void);
    pthread_mutex_t lock;         // of all that follows
    pthread_cond_t wake;
    enum { ASKING, HOLDING, REFUSED } state;
    int rc;                       // of REFUSED
    char why[ERROR_TEXT_MAX];     // the last failure; "": none
    struct run_ticket ticket;
    int64_t seed, end_ns;         // no request begins after this moment; 0: the run has not ended
    struct ticket_beat next;      // the newest state
    bool fresh;                   // the board does not have it yet
};

// ---- the thread

static int add_members(struct announcer *a, const struct client_board *board, const char *secret)
{
    char id[SSHKEY_ID], lock[DIGEST_HEX];
    struct software_facts software;
    TRY(machine_software(&software));
    ticket_lock(secret, lock);
    json_object_set_new(a->plan, "board", json_string(board->name));
    json_object_set_new(a->plan, "board_key", json_string(sshkey_id(&board->key, id)));
    json_object_set_new(a->plan, "binary_digest", json_string(software.binary_digest));
    json_object_set_new(a->plan, "lock", json_string(lock));
    json_object_set_new(a->plan, "made_ms", json_integer(clock_unix_ms()));
    return 0;
}

static int64_t left_to_ask_ms(const struct announcer *a)
{
    return ASK_MS - (clock_ns() - a->asked_ns) / 1000000;
}

// A signal ends the wait for the ticket, but not the beats: the run may still finish. Nobody waits for a ticket longer than
// wait_for_ticket does.
static bool wants_end(void *context)
{
    struct announcer *a = context;
    pthread_mutex_lock(&a->lock);
    bool over = a->end_ns != 0 && clock_ns() >= a->end_ns;
    bool asking = a->state == ASKING;
    pthread_mutex_unlock(&a->lock);
    return over || (asking && (a->stopped() || left_to_ask_ms(a) <= 0));
}

// The same bytes get the same receipt, so a ticket whose answer was lost is not announced twice. A key that asks a person to
// confirm has as long as leaves time for the request.
static int deliver_ticket(struct announcer *a, const struct client_board *board, const struct statement *statement,
                          struct delivery *delivery)
{
    struct text checks = {0};
    int rc = fail(ERR_NETWORK, "%s does not answer in time", a->server);
    for (int tries = 0; rc == ERR_NETWORK && tries < ASK_TRIES && left_to_ask_ms(a) > ANSWER_MS; tries++) {
        a->signer.wait_ms = (int)left_to_ask_ms(a) - ANSWER_MS / 2;
        rc = deliver(a->client, board, &a->signer, statement, delivery, &checks);
    }
    text_free(&checks);
    return rc;
}

static int ask_board(struct announcer *a, struct run_ticket *ticket)
{
    const struct client_options options = {.total_ms = REQUEST_MS, .tries = 1, .fleeting = true, .stop = wants_end, .context = a};
    struct client_board board;
    struct statement statement;
    struct delivery delivery;
    TRY(client_open(a->server, &options, &a->client));
    TRY(client_board(a->client, &board));
    TRY(add_members(a, &board, a->next.secret));
    TRY(statement_make(json_incref(a->plan), &statement));
    int rc = deliver_ticket(a, &board, &statement, &delivery);
    if (rc == 0) {
        snprintf(ticket->statement, sizeof ticket->statement, "%s", statement.digest);
        sshkey_id(&board.key, ticket->board_key);
        ticket_proof(delivery.signature, ticket->proof);
        delivery_free(&delivery);
        if (handle_remember(a->handle) < 0) rc = 0;  // the ticket counts without it
    }
    statement_free(&statement);
    return rc;
}

static void ask_ticket(struct announcer *a)
{
    struct run_ticket ticket = {.statement = ""};
    int rc = ask_board(a, &ticket);
    if (rc == ERR_INTERRUPTED && !a->stopped()) rc = ERR_NETWORK;  // the time was up
    pthread_mutex_lock(&a->lock);
    a->state = rc < 0 ? REFUSED : HOLDING;
    a->rc = rc;
    a->ticket = ticket;
    if (rc < 0) snprintf(a->why, sizeof a->why, "%s", error_text());
    else a->seed = ticket_seed(ticket.proof);
    pthread_cond_broadcast(&a->wake);
    pthread_mutex_unlock(&a->lock);
}

static int send_beat(struct announcer *a, const struct ticket_beat *beat)
{
    char path[DIGEST_HEX + 32], body[TICKET_BEAT_BYTES + 1];
    struct text answer = {0};
    snprintf(path, sizeof path, "/api/v1/tickets/%s/beats", a->ticket.statement);
    ticket_write_beat(beat, body);
    int rc = client_send(a->client, path, body, TICKET_BEAT_BYTES, &answer);
    text_free(&answer);
    return rc;
}

// Sleeps until that moment or until something is new. The caller holds the lock.
static void sleep_until(struct announcer *a, int64_t ns)
{
    const struct timespec at = {ns / 1000000000, ns % 1000000000};
    pthread_cond_timedwait(&a->wake, &a->lock, &at);
}

// A state is not sent again if the board refuses it or does not know the ticket. After other failures it is.
static void send_states(struct announcer *a)
{
    struct pace pace = {0};
    struct ticket_beat beat = {{0}, {0}};
    pthread_mutex_lock(&a->lock);
    while (a->end_ns == 0 || (a->fresh && clock_ns() < a->end_ns)) {
        if (a->end_ns != 0) pace_end(&pace);
        if (!a->fresh) {
            pthread_cond_wait(&a->wake, &a->lock);
            continue;
        }
        const bool newer = strcmp(a->next.hash, beat.hash) != 0;
        const int64_t due_ns = pace_due(&pace, newer);
        if (clock_ns() < due_ns) {
            sleep_until(a, a->end_ns != 0 && a->end_ns < due_ns ? a->end_ns : due_ns);
            continue;
        }
        beat = a->next;
        a->fresh = false;
        pthread_mutex_unlock(&a->lock);
        int rc = send_beat(a, &beat);
        pthread_mutex_lock(&a->lock);
        snprintf(a->why, sizeof a->why, "%s", rc < 0 ? error_text() : "");
        if (rc < 0 && rc != ERR_INPUT && rc != ERR_MISSING) a->fresh = true;
        pace_tried(&pace, clock_ns(), newer, rc == 0);
    }
    pthread_mutex_unlock(&a->lock);
}

static void *work(void *context)
{
    struct announcer *a = context;
    ask_ticket(a);
    if (a->state == HOLDING) send_states(a);
    client_close(a->client);
    a->client = NULL;
    return NULL;
}

// ---- the training's side

static int open_announcer(const char *server, struct announcer **out)
{
    struct client *client;
    *out = NULL;
    TRY(client_open(server, NULL, &client));  // checks the address
    client_close(client);
    struct announcer *a = zalloc(sizeof *a);
    int rc = handle_choose(NULL, a->handle);
    if (rc < 0 && !handle_known())
        rc = fail(ERR_USAGE, "--ticket needs your name on the boards: set DAWN_HANDLE once; it is remembered");
    if (rc == 0) rc = keyring_choose(NULL, &a->signer);
    if (rc < 0) {
        free(a);
        return rc;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);  // the clock of clock_ns
    pthread_cond_init(&a->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&a->lock, NULL);
    a->server = copy_text(server);
    *out = a;
    return 0;
}

static int ask_for_ticket(struct announcer *a, const struct announce_plan *p)
{
    unsigned char secret[32];
    BUG_IF(a->runs);
    json_decref(a->plan);
    a->plan = json_pack("{s:s, s:i, s:s, s:s, s:I, s:s, s:s, s:s}", "type", "ticket", "version", 1, "handle", a->handle, "task",
                        p->task, "target_micro", (json_int_t)p->target_micro, "model", p->model, "recipe", p->recipe,
                        "recipe_digest", p->recipe_digest);
    if (a->plan == NULL) return fail(ERR_INPUT, "the name of the model or of the recipe is not valid UTF-8");
    if (p->group != NULL)
        json_object_set_new(a->plan, "group", json_pack("{s:s, s:I, s:I}", "nonce", p->group, "index", (json_int_t)p->index,
                                                        "planned", (json_int_t)p->planned));
    if (sodium_init() < 0) BUG("libsodium finds no random numbers");
    randombytes_buf(secret, sizeof secret);
    a->state = ASKING, a->fresh = false, a->end_ns = 0, a->why[0] = 0;
    a->next = (struct ticket_beat){{0}, {0}};
    sodium_bin2hex(a->next.secret, DIGEST_HEX, secret, sizeof secret);
    a->asked_ns = clock_ns(), a->stopped = p->stopped;
    if (pthread_create(&a->thread, NULL, work, a) != 0) return fail(ERR_MEMORY, "cannot start a thread that asks for a ticket");
    a->runs = true;
    return 0;
}

static int wait_for_ticket(struct announcer *a, struct run_ticket *ticket, int64_t *seed)
{
    const int64_t until = a->asked_ns + ASK_MS * (int64_t)1000000;
    int rc = 0;
    pthread_mutex_lock(&a->lock);
    while (a->state == ASKING && clock_ns() < until && !a->stopped()) sleep_until(a, clock_ns() + LOOK_MS * (int64_t)1000000);
    bool stopped = a->stopped();  // no signal wakes the condition
    if (stopped) rc = fail(ERR_INTERRUPTED, "stopped by a signal before the training of this run began");
    else if (a->state == HOLDING) *ticket = a->ticket, *seed = a->seed;
    else if (a->state == REFUSED) rc = fail(a->rc, "%s", a->why);
    else rc = fail(ERR_NETWORK, "%s does not answer in time", a->server);
    pthread_mutex_unlock(&a->lock);
    if (rc < 0 && !stopped) return fail_prefix(rc, "there is no ticket (leave out --ticket to train without one): ");
    return rc;
}

static void send_state(struct announcer *a, const char *hash)
{
    pthread_mutex_lock(&a->lock);
    snprintf(a->next.hash, sizeof a->next.hash, "%s", hash);
    a->fresh = true;
    pthread_cond_broadcast(&a->wake);
    pthread_mutex_unlock(&a->lock);
}

static bool end_run(struct announcer *a, const char *hash, char why[ERROR_TEXT_MAX])
{
    why[0] = 0;
    if (!a->runs) return true;
    if (hash != NULL) send_state(a, hash);
    pthread_mutex_lock(&a->lock);
    if (hash == NULL) a->fresh = false;
    a->end_ns = clock_ns() + (hash != NULL ? END_MS : 0) * (int64_t)1000000;
    pthread_cond_broadcast(&a->wake);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    a->runs = false;
    if (hash == NULL) snprintf(why, ERROR_TEXT_MAX, "it did not finish");
    else if (a->fresh && !*a->why) snprintf(why, ERROR_TEXT_MAX, "the board did not get the end in time");
    else snprintf(why, ERROR_TEXT_MAX, "%s", a->why);
    return *why == 0;
}

static void close_announcer(struct announcer *a)
{
    char why[ERROR_TEXT_MAX];
    (void)end_run(a, NULL, why);
    json_decref(a->plan);
    pthread_cond_destroy(&a->wake);
    pthread_mutex_destroy(&a->lock);
    sodium_memzero(&a->next, sizeof a->next);
    free(a->server);
    free(a);
}

const struct announce_type announcer_type = {
    .open = open_announcer, .close = close_announcer, .ask = ask_for_ticket, .wait = wait_for_ticket, .beat = send_state,
    .end = end_run,
};
