// SPDX-License-Identifier: Apache-2.0
// Requests to a scoreboard. Invariant: bytes go to and come from the named origin alone, and no reply takes more memory than
// its limit. Workload: a handful of requests of a few hundred KB. Cost: the network's.
#include "submit/client/client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/build.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/file.h"
#include "submit/client/client_origin.h"
#include "submit/format/copy_path.h"
#include "submit/format/fields.h"

enum { CONNECT_MS = 10000, TOTAL_MS = 60000, PAUSE_MS = 1000 };

struct client {
    char *address;  // of a copy in a folder, the folder
    bool copy;      // answers are files (copy_path.h)
    CURL *curl;
    struct client_options options;
    bool signer_refused;  // client_signer_refused
};
struct reply {
    long status;
    long retry_after;  // seconds, 0: not said
    struct text body;
    bool too_long;
};
struct question {
    char *url;
    const char *body;  // NULL: a GET
    size_t count;
};

int client_open(const char *address, const struct client_options *options, struct client **out)
{
    *out = NULL;
    char *clean;
    TRY(origin_address(address, &clean));
    struct client *c = zalloc(sizeof *c);
    *c = (struct client){.address = clean, .curl = curl_easy_init()};
    if (options != NULL) c->options = *options;
    if (c->options.total_ms <= 0) c->options.total_ms = TOTAL_MS;
    if (c->options.pause_ms <= 0) c->options.pause_ms = PAUSE_MS;
    if (c->options.tries <= 0) c->options.tries = CLIENT_TRIES;
    if (c->curl == NULL) {
        client_close(c);
        return fail(ERR_MEMORY, "not enough memory for a connection");
    }
    *out = c;
    return 0;
}

int client_open_copy(const char *folder, struct client **out)
{
    struct client *c = zalloc(sizeof *c);
    *c = (struct client){.address = copy_text(folder), .copy = true};
    *out = c;
    return 0;
}

void client_close(struct client *c)
{
    if (c == NULL) return;
    if (c->curl != NULL) curl_easy_cleanup(c->curl);
    free(c->address);
    free(c);
}

const char *client_address(const struct client *c)
{
    return c->address;
}

bool client_reads_copy(const struct client *c)
{
    return c->copy;
}

static size_t take_body(char *bytes, size_t size, size_t n, void *context)
{
    struct reply *reply = context;
    if (reply->body.length + size * n > CLIENT_REPLY_MAX) {
        reply->too_long = true;
        return CURL_WRITEFUNC_ERROR;
    }
    text_bytes(&reply->body, bytes, size * n);
    return size * n;
}

// One request, as long as it takes.
struct patience {
    const struct client *client;
    int64_t start_ns;
    bool said;
};

static int still_waiting(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct patience *p = context;
    (void)a, (void)b, (void)c, (void)d;
    const struct client_options *o = &p->client->options;
    if (o->stop != NULL && o->stop(o->context)) return 1;
    if (p->said || o->waiting == NULL || clock_ns() - p->start_ns < (int64_t)CLIENT_QUIET_MS * 1000000) return 0;
    p->said = true;
    o->waiting(o->context, p->client->address, true);
    return 0;
}

static void set_up(struct client *c, const struct question *q, struct reply *reply, struct curl_slist *headers, char *reason)
{
    CURL *curl = c->curl;
    char agent[64];
    bool plain = strncasecmp(q->url, "http://", 7) == 0;
    snprintf(agent, sizeof agent, "dawn/%s", build_version());
    curl_easy_reset(curl);  // keeps the connection
    curl_easy_setopt(curl, CURLOPT_URL, q->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, plain ? "http" : "https");
    if (plain) curl_easy_setopt(curl, CURLOPT_PROXY, "");  // this machine is reached without one
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);    // this file follows them, because it compares origins
    curl_easy_setopt(curl, CURLOPT_USERAGENT, agent);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, c->options.stop != NULL ? 1L : 0L);  // waits for no answer about a name
#endif
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, c->options.total_ms);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
    const char *authorities = getenv("SSL_CERT_FILE");  // the library, unlike the program curl, does not look there
    if (authorities != NULL && *authorities != 0) curl_easy_setopt(curl, CURLOPT_CAINFO, authorities);
    if (q->body == NULL) return;
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, q->body);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->count);
}

static int ask_once(struct client *c, const struct question *q, struct reply *reply)
{
    char reason[CURL_ERROR_SIZE] = "";
    struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/json, */*");
    if (q->body != NULL) {
        headers = curl_slist_append(headers, "Content-Type: application/json");
        headers = curl_slist_append(headers, "Expect:");
    }
    set_up(c, q, reply, headers, reason);
    struct patience patience = {.client = c, .start_ns = clock_ns()};
    curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, still_waiting);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, &patience);
    CURLcode result = curl_easy_perform(c->curl);
    if (patience.said) c->options.waiting(c->options.context, c->address, false);
    curl_off_t retry = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &reply->status);
    curl_easy_getinfo(c->curl, CURLINFO_RETRY_AFTER, &retry);
    reply->retry_after = retry < 0 ? 0 : retry < 1 << 30 ? (long)retry : 1 << 30;
    curl_slist_free_all(headers);
    if (reply->too_long) return fail(ERR_NETWORK, "%s answers with more than %d MiB", q->url, CLIENT_REPLY_MAX >> 20);
    if (result == CURLE_OK) return 0;
    if (result == CURLE_ABORTED_BY_CALLBACK) return fail(ERR_INTERRUPTED, "%s does not answer in time", q->url);
    return fail(ERR_NETWORK, "%s does not answer: %s", q->url, *reason ? reason : curl_easy_strerror(result));
}

// Follows a redirect within the same origin.
static int follow(struct client *c, struct question *q, const struct reply *reply)
{
    char *to = NULL;
    curl_easy_getinfo(c->curl, CURLINFO_REDIRECT_URL, &to);
    if (to == NULL) return fail(ERR_NETWORK, "%s answers %ld without a location", q->url, reply->status);
    if (!origin_same(q->url, to)) {
        struct text words = {0};
        client_tame(&words, to, 200);
        int rc = fail(ERR_NETWORK,
                      "%s redirects to another server, %s; nothing was sent there (give that one with --server to use it)",
                      q->url, words.at != NULL ? words.at : "");
        text_free(&words);
        return rc;
    }
    if (q->body != NULL && reply->status != 307 && reply->status != 308)
        return fail(ERR_NETWORK, "%s answers a statement with the redirect %ld, which would drop its body",
                    q->url, reply->status);
    char *next = copy_text(to);
    free(q->url);
    q->url = next;
    return 0;
}

static int ask_along(struct client *c, struct question *q, struct reply *reply)
{
    for (int hops = 0;; hops++) {
        text_free(&reply->body);
        *reply = (struct reply){0};
        TRY(ask_once(c, q, reply));
        long s = reply->status;
        if (s != 301 && s != 302 && s != 303 && s != 307 && s != 308) return 0;
        if (hops == CLIENT_REDIRECTS) return fail(ERR_NETWORK, "%s redirects more than %d times", q->url, CLIENT_REDIRECTS);
        TRY(follow(c, q, reply));
    }
}

// A server that is busy (429) gives no other reason than that.
static void say_waiting(struct client *c, const struct reply *reply, long seconds)
{
    struct text words = {0};
    text_add(&words, "%.150s ", c->address);
    if (reply->status == 429) text_add(&words, "is busy (429)");
    else {
        text_add(&words, "cannot answer now (503, ");
        client_problem(reply->body.at != NULL ? reply->body.at : "", reply->body.length, &words, NULL);
        text_add(&words, ")");
    }
    text_add(&words, ": asking again in %ld s", seconds);
    c->options.note(c->options.context, words.at);
    text_free(&words);
}

// Repeats the request while the server is busy, and returns the last answer unchanged.
static int ask_patiently(struct client *c, struct question *q, struct reply *reply)
{
    for (int tries = 1;; tries++) {
        TRY(ask_along(c, q, reply));
        bool busy = reply->status == 429 || reply->status == 503;
        if (!busy || tries >= c->options.tries || reply->retry_after > CLIENT_WAIT_MAX) return 0;
        long ms = c->options.pause_ms << (tries - 1);
        if (reply->retry_after * 1000 > ms) ms = reply->retry_after * 1000;
        if (c->options.note != NULL) say_waiting(c, reply, (ms + 999) / 1000);
        struct timespec span = {ms / 1000, ms % 1000 * 1000000};
        nanosleep(&span, NULL);
    }
}

static int send_request(struct client *c, const char *path, const char *body, size_t count, struct reply *reply)
{
    struct text url = {0};
    text_add(&url, "%s%s", c->address, path);
    struct question q = {.url = url.at, .body = body, .count = count};
    *reply = (struct reply){0};
    int rc = ask_patiently(c, &q, reply);
    free(q.url);
    if (rc < 0) text_free(&reply->body);
    return rc;
}

// The code of a problem says whether it concerns the statement or the person who sent it.
static bool names_signer(const struct reply *reply)
{
    static const char *const codes[] = {"handle-taken", "key-taken", "revoked-key"};
    char *code = NULL;
    bool names = false;
    if (client_member(reply->body.at != NULL ? reply->body.at : "", reply->body.length, "code", &code) < 0) return false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) names = names || strcmp(code, codes[i]) == 0;
    free(code);
    return names;
}

bool client_signer_refused(const struct client *c)
{
    return c->signer_refused;
}

static int refused(struct client *c, const struct reply *reply, struct text *checks)
{
    struct text words = {0};
    char later[64] = "", wait[32];
    client_problem(reply->body.at != NULL ? reply->body.at : "", reply->body.length, &words, checks);
    c->signer_refused = names_signer(reply);
    snprintf(wait, sizeof wait, " %ld s", reply->retry_after);
    bool said = words.at != NULL && strstr(words.at, wait) != NULL;
    if (reply->retry_after > 0 && !said) snprintf(later, sizeof later, " (it asks to try again in %ld s)", reply->retry_after);
    bool ours = reply->status >= 400 && reply->status < 500 && reply->status != 429 && reply->status != 408;
    int rc = fail(reply->status == 404 ? ERR_MISSING : ours ? ERR_INPUT : ERR_NETWORK, "%s answers %ld: %s%s", c->address,
                  reply->status, words.at != NULL ? words.at : "and says no more", later);
    text_free(&words);
    return rc;
}

static int read_file(const char *path, struct text *body)
{
    char *bytes;
    size_t count;
    if (!file_exists(path)) return fail(ERR_MISSING, "there is no %s", path);
    TRY(file_read(path, CLIENT_REPLY_MAX, &bytes, &count));
    text_bytes(body, bytes, count);
    free(bytes);
    return 0;
}

static int get_answer(struct client *c, const char *path, struct text *body)
{
    struct reply reply;
    if (c->curl == NULL) {
        struct text file = {0};
        text_add(&file, "%s%s", c->address, path);
        int rc = read_file(file.at, body);
        text_free(&file);
        return rc;
    }
    TRY(send_request(c, path, NULL, 0, &reply));
    int rc = 0;
    if (reply.status != 200) {
        rc = refused(c, &reply, NULL);
        if (rc == ERR_INPUT) rc = ERR_NETWORK;
    } else if (reply.body.length > 0) text_bytes(body, reply.body.at, reply.body.length);
    text_free(&reply.body);
    return rc;
}

int client_get(struct client *c, const char *path, struct text *body)
{
    struct text file = {0};
    if (!c->copy) return get_answer(c, path, body);
    copy_path(path, &file);
    int rc = get_answer(c, file.at, body);
    text_free(&file);
    return rc;
}

static int post(struct client *c, const char *path, const char *bytes, size_t count, struct text *body, bool *again,
                bool *busy, struct text *checks)
{
    struct reply reply;
    *busy = false;
    TRY(send_request(c, path, bytes, count, &reply));
    int rc = 0;
    *again = reply.status == 200;
    if (reply.status != 200 && reply.status != 201) rc = refused(c, &reply, checks);
    else if (reply.body.length > 0) text_bytes(body, reply.body.at, reply.body.length);
    *busy = reply.status == 503;
    text_free(&reply.body);
    return rc;
}

int client_post(struct client *c, const char *envelope, size_t count, struct text *body, bool *again, struct text *checks)
{
    bool busy;
    int rc = post(c, "/api/v1/statements", envelope, count, body, again, &busy, checks);
    if (!busy || c->options.fleeting) return rc;
    return fail(rc, "%s; the same command sends it again later, and it counts once", error_text());
}

int client_send(struct client *c, const char *path, const char *body, size_t count, struct text *answer)
{
    bool again, busy;
    return post(c, path, body, count, answer, &again, &busy, NULL);
}

// Every statement holds the name. One that no statement can hold ends a command before it says that there is nothing to send.
static int check_name(const struct client *c, const char *name)
{
    if (fields_check_typed("the name of its board", statement_fields[STATEMENT_RUN], "board", name) == 0) return 0;
    return fail_prefix(ERR_USAGE, "%s cannot be used: ", c->address);
}

static int get_board(struct client *c, struct client_board *board, bool *answered)
{
    struct text body = {0};
    char *name = NULL, *key = NULL;
    *board = (struct client_board){0};
    int got = client_get(c, "/api/v1", &body);
    *answered = got == 0 || got == ERR_MISSING;
    TRY(got);
    int rc = client_member(body.at != NULL ? body.at : "", body.length, "board", &name);
    if (rc == 0) rc = client_member(body.at, body.length, "key_line", &key);
    if (rc == 0) rc = sshkey_read_line(key, strlen(key), &board->key);
    if (rc < 0) rc = fail(ERR_NETWORK, "%s is not a scoreboard: its address /api/v1 does not name a board and a key", c->address);
    else rc = check_name(c, name);
    if (rc == 0) snprintf(board->name, sizeof board->name, "%s", name);
    text_free(&body);
    free(name);
    free(key);
    return rc;
}

int client_board(struct client *c, struct client_board *board)
{
    bool answered;
    char sentence[ERROR_TEXT_MAX];
    int rc = get_board(c, board, &answered);
    if (rc == 0 || c->copy || !answered) return rc;
    snprintf(sentence, sizeof sentence, "%s", error_text());
    c->copy = true;
    if (get_board(c, board, &answered) == 0) return 0;
    c->copy = false;
    return fail(rc, "%s", sentence);
}
