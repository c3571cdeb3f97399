// SPDX-License-Identifier: Apache-2.0
// No acknowledged run is lost: kill9 ROUNDS [SEED]. Every round starts a server in its own process, three clients send it
// signed runs, and SIGKILL ends it at a random moment. The server of the next round must have every statement that was ever
// acknowledged, with the same receipt. At the end the database must pass store_check, in the same order and without gaps. A
// statement whose acknowledgement was lost may be stored or not; sent again, it gets a receipt in either case. The log never
// forks: every head that a receipt or the board has shown in any round is one of the tree at the end.
#include "test/unit/fixture_server.h"

#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <sys/wait.h>

#include "submit/log/proof.h"

enum { CLIENTS = 3, MOST_US = 1000000 };

// What was signed of the log: a size and its root.
struct heads {
    struct checkpoint *at;
    int count, capacity;
};

// The state of a client. Each client sends its own numbers in sequence and repeats those that were not acknowledged.
struct client {
    pthread_t thread;
    int port, number, acknowledged, repeated;
    struct sshkey_secret key;
    char handle[24];
    struct text body;   // of the run that waits for its acknowledgement
    char **receipts;    // "sequence digest", in order
    int capacity;
    struct heads heads;
};
static struct fixture_server board;
static struct client clients[CLIENTS];
static struct heads shown;   // by the board itself
static int moments_us = 60000;  // the kill comes within; doubled after a round without an acknowledgement

static pid_t start_server(int *port)
{
    int ends[2], got = 0;
    if (pipe(ends) < 0) abort();
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) abort();
    if (child == 0) {
        close(ends[0]);
        fixture_start(&board, &(struct server_settings){.threads = 2, .connections = 64, .fault = fixture_complain});
        if (write(ends[1], &board.port, sizeof board.port) != sizeof board.port) abort();
        if (write(ends[1], fixture_board_key, sizeof fixture_board_key) != sizeof fixture_board_key) abort();
        for (;;) pause();
    }
    close(ends[1]);
    if (read(ends[0], &got, sizeof got) != sizeof got ||
        read(ends[0], fixture_board_key, sizeof fixture_board_key) != sizeof fixture_board_key) {
        fprintf(stderr, "the server did not start again\n");
        exit(1);
    }
    close(ends[0]);
    *port = got;
    return child;
}

static void keep_head(struct heads *heads, const struct checkpoint *head)
{
    if (heads->count == heads->capacity) {
        heads->capacity = heads->capacity * 2 + 64;
        heads->at = grow(heads->at, (size_t)heads->capacity * sizeof *heads->at);
    }
    heads->at[heads->count++] = *head;
}

// False: the receipt of an answer does not prove its position in the log.
static bool keep_head_of(struct client *c, const struct reply *reply)
{
    struct receipt receipt;
    struct checkpoint head;
    struct sshkey server;
    json_t *answer = json_loadb(reply->body.at, reply->body.length, 0, NULL);
    const char *bytes = canonical_text(answer, "receipt");
    bool good = receipt_read(bytes, strlen(bytes), canonical_text(answer, "signature"), &receipt, &server) == 0 &&
                proof_check(&receipt, &server, &head) == 0;
    if (good) keep_head(&c->heads, &head);
    json_decref(answer);
    return good;
}

// The board's checkpoint has every statement that was acknowledged.
static bool keep_shown(int port)
{
    struct reply reply;
    struct note note;
    int64_t least = 0;
    for (int i = 0; i < CLIENTS; i++)
        for (int n = 0; n < clients[i].heads.count; n++)
            if (clients[i].heads.at[n].size > least) least = clients[i].heads.at[n].size;
    fixture_get(port, "/log/checkpoint", &reply);
    const bool good = reply.status == 200 && note_read(reply.body.at, reply.body.length, &note) == 0 &&
                      note.checkpoint.size >= least;
    if (good) keep_head(&shown, &note.checkpoint);
    else fprintf(stderr, "the checkpoint after the start (status %d) has fewer than %lld statements\n", reply.status,
                 (long long)least);
    reply_free(&reply);
    return good;
}

static char *receipt_of(const struct reply *reply)
{
    struct text text = {0};
    json_t *answer = json_loadb(reply->body.at != NULL ? reply->body.at : "", reply->body.length, 0, NULL);
    const char *digest = json_string_value(json_object_get(answer, "statement"));
    if (digest != NULL) text_add(&text, "%s %s", digest, json_string_value(json_object_get(answer, "signature")));
    json_decref(answer);
    return text.at;
}

static void keep(struct client *c, char *receipt)
{
    if (c->acknowledged == c->capacity) {
        c->capacity = c->capacity * 2 + 64;
        c->receipts = grow(c->receipts, (size_t)c->capacity * sizeof *c->receipts);
    }
    c->receipts[c->acknowledged++] = receipt;
    text_free(&c->body);
}

// Sends until the server has ended. A truncated answer is no acknowledgement.
static void *send_runs(void *at)
{
    struct client *c = at;
    for (;;) {
        struct reply reply;
        if (c->body.at == NULL) fixture_envelope(c->number++ * CLIENTS + (int)(c - clients), c->handle, &c->key, &c->body);
        fixture_post(c->port, &c->body, &reply);
        char *receipt = reply.status == 200 || reply.status == 201 ? receipt_of(&reply) : NULL;
        const int status = reply.status;
        if (receipt != NULL && !keep_head_of(c, &reply)) {
            fprintf(stderr, "a receipt proves nothing: %s\n", error_text());
            exit(1);
        }
        if (receipt != NULL) keep(c, receipt);
        else if (status >= 400) fprintf(stderr, "%d %s\n", status, reply.body.at != NULL ? reply.body.at : "");
        c->repeated += status == 200;
        reply_free(&reply);
        if (status >= 400) exit(1);
        if (receipt == NULL) return NULL;
    }
}

// The newest statements of each client (at the end all of them) must be stored as they were acknowledged.
static bool all_there(int port, int newest)
{
    for (int i = 0; i < CLIENTS; i++) {
        struct client *c = &clients[i];
        for (int n = c->acknowledged > newest ? c->acknowledged - newest : 0; n < c->acknowledged; n++) {
            char target[128];
            struct reply reply;
            snprintf(target, sizeof target, "/api/v1/statements/%.64s/receipt", c->receipts[n]);
            fixture_get(port, target, &reply);
            char *receipt = reply.status == 200 ? receipt_of(&reply) : NULL;
            const bool same = receipt != NULL && strcmp(receipt, c->receipts[n]) == 0;
            if (!same) fprintf(stderr, "LOST: %s run %d of %d: status %d\n", c->handle, n, c->acknowledged, reply.status);
            free(receipt);
            reply_free(&reply);
            if (!same) return false;
        }
    }
    return true;
}

static int count_forks(const struct heads *heads, int64_t size, const struct tree_hash *root)
{
    int forks = 0;
    for (int i = 0; i < heads->count; i++)
        forks += heads->at[i].size == size && !tree_same(&heads->at[i].root, root);
    return forks;
}

static int count_beyond(const struct heads *heads, int64_t size)
{
    int beyond = 0;
    for (int i = 0; i < heads->count; i++) beyond += heads->at[i].size > size;
    return beyond;
}

// Every head that was ever signed must be one of this tree as it grew.
static int find_forks(struct store *store)
{
    struct reader *reader;
    struct checkpoint now;
    struct tree tree = {0};
    int forks = 0;
    fixture_must(store_reader(store, &reader));
    fixture_must(store_tree_head(reader, &now));
    while (tree.size < now.size) {
        const int64_t left = now.size - tree.size;
        struct text hashes = {0};
        const struct tile tile = {0, tree.size / TILE_WIDTH, left < TILE_WIDTH ? (int)left : TILE_WIDTH};
        fixture_must(store_tile(reader, &tile, &hashes));
        for (size_t i = 0; i < hashes.length; i += TREE_HASH) {
            struct tree_hash leaf, root, tops[TREE_TOPS];
            memcpy(leaf.at, hashes.at + i, TREE_HASH);
            tree_add(&tree, &leaf, tops);
            tree_root(&tree, &root);
            forks += count_forks(&shown, tree.size, &root);
            for (int c = 0; c < CLIENTS; c++) forks += count_forks(&clients[c].heads, tree.size, &root);
        }
        text_free(&hashes);
    }
    store_reader_close(reader);
    forks += count_beyond(&shown, now.size);
    for (int c = 0; c < CLIENTS; c++) forks += count_beyond(&clients[c].heads, now.size);
    if (forks > 0) fprintf(stderr, "%d heads that were signed are not of the log at the end\n", forks);
    return forks;
}

static bool record_is_whole(void)
{
    struct store *store;
    int faults = 0;
    fixture_must(store_open(&(struct store_settings){.path = board.path}, STORE_WRITE, &store));
    fixture_must(store_check(store, fixture_say, NULL, &faults));
    faults += find_forks(store);
    store_close(store);
    return faults == 0;
}

static bool play_round(bool last)
{
    int port, status;
    pid_t server = start_server(&port);
    bool well = all_there(port, last ? 1 << 30 : 20) && keep_shown(port);
    for (int i = 0; i < CLIENTS && !last; i++) {
        clients[i].port = port;
        if (pthread_create(&clients[i].thread, NULL, send_runs, &clients[i]) != 0) abort();
    }
    if (!last) usleep(1000 + (useconds_t)(random() % moments_us));
    kill(server, SIGKILL);
    for (int i = 0; i < CLIENTS && !last; i++) pthread_join(clients[i].thread, NULL);
    waitpid(server, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return well;
    fprintf(stderr, "the server ended by itself\n");
    return false;
}

static int count_acknowledged(void)
{
    int all = 0;
    for (int i = 0; i < CLIENTS; i++) all += clients[i].acknowledged;
    return all;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 100;
    bool well = true;
    int repeated = 0;
    srandom(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    signal(SIGPIPE, SIG_IGN);
    if (sodium_init() < 0) return 1;
    strcpy(board.folder, "/tmp/dawn-test-XXXXXX");
    if (mkdtemp(board.folder) == NULL) return 1;
    snprintf(board.path, sizeof board.path, "%s/board.db", board.folder);
    for (int i = 0; i < CLIENTS; i++) {
        sshkey_new(&clients[i].key, "");
        snprintf(clients[i].handle, sizeof clients[i].handle, "person%d", i);
    }
    for (int round = 0; round < rounds && well; round++) {
        const int before = count_acknowledged();
        well = play_round(false);
        if (count_acknowledged() == before && moments_us < MOST_US) moments_us *= 2;
    }
    well = well && play_round(true) && record_is_whole();
    for (int i = 0; i < CLIENTS; i++) {
        repeated += clients[i].repeated;
        for (int n = 0; n < clients[i].acknowledged; n++) free(clients[i].receipts[n]);
        free(clients[i].receipts);
        free(clients[i].heads.at);
        text_free(&clients[i].body);
    }
    free(shown.at);
    fixture_remove(&board);
    printf("%d rounds of kill -9, %d runs acknowledged, %d of them only when sent again: %s\n", rounds, count_acknowledged(),
           repeated, well ? "none lost, the log never forked" : "FAILED");
    return well && count_acknowledged() > rounds / 4 ? 0 : 1;
}
