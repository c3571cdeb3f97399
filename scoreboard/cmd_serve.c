// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard [serve]: opens the record and serves it. SIGTERM or SIGINT stops it after the requests in progress; a second
// signal does not wait. Each failure of the server is a line on standard error.
#include "runtime/common/base/reserve.h"
#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/pages/pages.h"
#include "scoreboard/routes.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// Eight of them outlast a request: a statement has at most 1 MiB, and the largest pages a few.
enum { RESERVE_BLOCK = 2 << 20 };

struct choice {
    const char *db, *listen, *origin, *url;
    int64_t threads, connections, per_address, submissions, seconds, work;
    bool new_log;
};

// Pages show it in commands that people copy into a shell.
static int check_url(const char *url)
{
    if (url == NULL) return 0;
    const char *host = strncmp(url, "https://", 8) == 0 ? url + 8 : strncmp(url, "http://", 7) == 0 ? url + 7 : "";
    size_t length = strlen(host);
    if (length > 0 && length < 200 &&
        strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~:[]") == length)
        return 0;
    return fail(ERR_USAGE, "--url takes an address such as https://board.example, without a path; got \"%.80s\"",
                url);
}

static int read_choice(int *argc, char **argv, struct choice *c)
{
    *c = (struct choice){.db = "scoreboard.db", .listen = "127.0.0.1:8080", .threads = 2, .connections = 512, .per_address = 32,
                         .submissions = 20, .seconds = 5, .work = 250};
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the record; created if it is missing", &c->db, 0, 0},
        {OPTION_TEXT, 0, "listen", "ADDRESS:PORT", "where to listen; port 0 takes a free one",
         &c->listen, 0, 0},
        {OPTION_TEXT, 0, "origin", "NAME",
         "the board's name, in every statement made for it (default: the record's, else one of its key)", &c->origin, 0, 0},
        {OPTION_TEXT, 0, "url", "URL", "where people reach the board, in commands and feeds (default: http:// and --listen)",
         &c->url, 0, 0},
        {OPTION_FLAG, 0, "new", NULL,
         "begin a log under the key that is there: the record is empty (a lost one's checkpoint is kept as "
         "FILE.checkpoint.old), or its checkpoint is missing", &c->new_log, 0, 0},
        {OPTION_INT, 0, "threads", "N", "threads that answer", &c->threads, 1, 64},
        {OPTION_INT, 0, "connections", "N", "connections at a time", &c->connections, 1, 65536},
        {OPTION_INT, 0, "per-address", "N",
         "connections at a time of one address; 0 for no limit, as behind a proxy", &c->per_address, 0, 65536},
        {OPTION_INT, 0, "submissions-per-hour", "N", "runs per hour and person, and as many amendments; 0: no limit",
         &c->submissions, 0, 1000000000},
        {OPTION_INT, 0, "work-milliseconds", "N",
         "CPU budget per client, in ms per second, for uncached pages (behind a local proxy: per X-Real-IP); 0: no limit",
         &c->work, 0, 1000000},
        {OPTION_INT, 0, "read-seconds", "N", "time for a head to arrive, and again for its body",
         &c->seconds, 1, 600},
        {0},
    };
    const struct usage usage = {
        "serve", "[OPTIONS]",
        "Keeps a record of signed runs and serves its boards, pages and API over HTTP, for a "
        "proxy on the same machine that adds TLS.",
        options,
        "FILE.key, next to the record FILE, is the key that signs receipts: keep both.\n"
        "SIGTERM and Ctrl-C answer the requests under way, then stop.",
    };
    int rc = options_parse(&usage, argc, argv);
    if (rc == 0 && *argc > 1) return fail(ERR_USAGE, "serve does not take \"%.60s\"", argv[1]);
    return rc == 0 ? check_url(c->url) : rc;
}

// Descriptors for every connection, the record, its readers and the libraries.
static void raise_limit(int64_t connections)
{
    struct rlimit limit;
    const rlim_t wanted = (rlim_t)connections + 256;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted) return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void say_fault(const char *sentence)
{
    fprintf(stderr, "dawn-scoreboard: %s\n", sentence);
}

// The address comes last: a program that reads it can rely on the server being ready.
static void say_where(const struct store *store, const char *db, const char *listen_at, int port)
{
    char id[SSHKEY_ID];
    const int host = (int)(strrchr(listen_at, ':') - listen_at);
    printf("Its record is %s, its key %s.key: keep copies of both\n", db, db);
    printf("Serving %s at http://%.*s:%d/ (key %s), Ctrl-C stops\n", store_origin(store), host, listen_at, port,
           sshkey_id(store_key(store), id));
    fflush(stdout);
}

static void block(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    pthread_sigmask(SIG_BLOCK, set, NULL);
}

static void say_set_aside(const struct store *store)
{
    if (store_set_aside(store) != NULL)
        fprintf(stderr, "dawn-scoreboard: the checkpoint of the lost record is kept as %s; this key now signs a second log\n",
                store_set_aside(store));
}

static int serve(const struct choice *c, struct store *store, int listening)
{
    const struct server_settings settings = {
        .routes = route_table, .problem_page = page_problem,
        .url = c->url, .listen = c->listen, .store = store, .threads = (int)c->threads, .connections = (int)c->connections,
        .per_address = (int)c->per_address, .read_seconds = (int)c->seconds, .submissions_per_hour = c->submissions,
        .work_milliseconds = c->work, .health = "/api/v1/health", .fault = say_fault,
    };
    struct server *server;
    sigset_t set;
    int got;
    block(&set);  // before other threads start, so that none of them is interrupted
    signal(SIGHUP, SIG_IGN);
    reserve_keep(RESERVE_BLOCK);
    TRY(server_start(&settings, listening, &server));
    say_set_aside(store);
    say_where(store, c->db, c->listen, server_port(server));
    while (sigwait(&set, &got) != 0) continue;
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);  // a second signal ends the program at once
    server_stop(server);
    return 0;
}

int cmd_serve(int argc, char **argv)
{
    struct choice c;
    struct store *store;
    int listening, rc = read_choice(&argc, argv, &c);
    if (rc != 0) return rc;
    const struct store_settings settings = {.path = c.db, .origin = c.origin, .submissions_per_hour = c.submissions,
                                            .new_log = c.new_log};
    raise_limit(c.connections);
    TRY(server_listen(c.listen, &listening));
    rc = store_open(&settings, STORE_WRITE, &store);
    if (rc < 0) {
        close(listening);
        return rc;
    }
    rc = serve(&c, store, listening);
    store_close(store);
    return rc;
}
