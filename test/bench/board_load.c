// SPDX-License-Identifier: Apache-2.0
// Load test of the scoreboard: board_load [RUNS [SECONDS]] fills a record with RUNS signed runs (10,000), serves it, and sends
// requests from up to 64 connections for SECONDS (5) each: a cached page, boards under new filters, and submissions, verified
// and durable. Then 12 clients, each of an address of its own, ask for CSV that no cache has, with the server's usual limits, and
// a thirteenth client's `health` and its cached page are measured. Server and load share the machine. Figures go to
// standard output; the exit status is 1 if an answer was wrong.
#include "runtime/common/base/sort.h"
#include "test/unit/fixture_server.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <sys/epoll.h>

enum { CONNECTIONS = 64, PEOPLE = 40, LATENCIES = 4 << 20, SUBMISSIONS = 2000, ROOM = 1 << 20 };

struct connection {
    int fd, number;
    int64_t begun;
    size_t sent, got, wanted;  // wanted: bytes of the whole answer, 0 until its head has arrived
    struct text request;
    char *answer;
};
struct load {
    const char *name, *goal;
    void (*next)(struct load *, struct text *request);  // leaves the request empty when there is nothing more to send
    const char *probe;  // what one more client asks for every 5 ms: then that is measured; NULL: what `next` asks for
    int port, expected, asked, connections, number;  // number: of the connection that asks
    struct text *bodies;  // of submissions
    int64_t ends;
    int wrong, count, limited;
    float *milliseconds;
};

static void next_cached(struct load *load, struct text *request)
{
    (void)load;
    text_add(request, "GET /boards/cifar10/training-time HTTP/1.1\r\nHost: test\r\n\r\n");
}

static void next_filter(struct load *load, struct text *request)
{
    static const char *const sorts[] = {"value", "date", "author", "model", "hardware", "framework", "cost", "accuracy", "trust"};
    static const char *const cpus[] = {"epyc", "xeon", "graviton", "ampere", "core"};
    const int i = load->asked;
    text_add(request,
             "GET /boards/cifar10/training-time?hardware=~%s&devices_max=%d&sort=%s&order=%s HTTP/1.1\r\nHost: test\r\n\r\n",
             cpus[i % 5], 1 + i, sorts[i % 9], i / 9 % 2 ? "desc" : "asc");
}

static void next_submission(struct load *load, struct text *request)
{
    if (load->asked < SUBMISSIONS) fixture_post_request(&load->bodies[load->asked], request);
}

// Every answer differs, because `since` and the order change from request to request. A client that waits for a second has
// received its 429.
static void next_csv(struct load *load, struct text *request)
{
    const int i = load->asked;
    text_add(request, "GET /boards/cifar10/training-time.csv?since=2000-01-%02d&devices_max=%d HTTP/1.1\r\nHost: test\r\n"
             "X-Real-IP: 192.0.2.%d\r\n\r\n", 1 + i % 28, 1 + i, 1 + load->number);
}

// ---- the generator: one thread, keep-alive connections, one request in flight per connection ----------------------
static bool begin_connection(struct load *load, struct connection *c)
{
    c->request.length = 0;
    c->sent = c->got = c->wanted = 0;
    load->number = c->number;
    if (clock_ns() < load->ends) load->next(load, &c->request);
    if (c->request.length == 0) return false;
    load->asked++;
    c->begun = clock_ns();
    return true;
}

static void measure_answer(struct connection *c)
{
    c->answer[c->got] = 0;
    const char *end = strstr(c->answer, "\r\n\r\n"), *length = strstr(c->answer, "Content-Length: ");
    if (end != NULL && length != NULL && length < end)
        c->wanted = (size_t)(end + 4 - c->answer) + (size_t)atol(length + strlen("Content-Length: "));
}

// Continues as far as the socket allows. False: the connection has nothing more to do.
static bool continue_connection(struct load *load, struct connection *c)
{
    for (;;) {
        while (c->sent < c->request.length) {
            ssize_t sent = send(c->fd, c->request.at + c->sent, c->request.length - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno == EAGAIN) return true;
            if (sent <= 0) return load->wrong++, false;
            c->sent += (size_t)sent;
        }
        ssize_t got = recv(c->fd, c->answer + c->got, ROOM - 1 - c->got, MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) return true;
        if (got <= 0) return load->wrong++, false;
        c->got += (size_t)got;
        if (c->wanted == 0) measure_answer(c);
        if (c->wanted == 0 || c->got < c->wanted) continue;
        const int status = atoi(c->answer + 9);
        const bool measured = load->probe == NULL, limited = !measured && status == 429;
        if (status != load->expected && !limited && load->wrong++ == 0) fprintf(stderr, "%s\n", c->answer);
        load->limited += limited;
        if (measured && load->count < LATENCIES) load->milliseconds[load->count++] = (float)(clock_ns() - c->begun) / 1e6f;
        if (!begin_connection(load, c)) return false;
    }
}

static void report_load(struct load *load, double seconds)
{
    char rate[TEXT_FIGURE];
    qsort(load->milliseconds, (size_t)load->count, sizeof *load->milliseconds, sort_f32);
    if (load->count == 0) return;
    printf("%-44s %8s/s  p50 %6.2f ms  p99 %6.2f ms  worst %6.1f ms   goal %s%s\n", load->name,
           text_count(rate, (int64_t)(load->count / seconds)), load->milliseconds[load->count / 2],
           load->milliseconds[load->count * 99L / 100], load->milliseconds[load->count - 1], load->goal,
           load->wrong ? "  WRONG ANSWERS" : "");
    if (load->probe != NULL)
        printf("%-44s %d requests next to it, %d of them refused with 429\n", "", load->asked, load->limited);
    fflush(stdout);
}

// One more client, with a connection and an address of its own.
static void *probe(void *context)
{
    struct load *load = context;
    struct text request = {0};
    int fd = fixture_connect(load->port);
    text_add(&request, "GET %s HTTP/1.1\r\nHost: test\r\nX-Real-IP: 198.51.100.1\r\n\r\n", load->probe);
    while (clock_ns() < load->ends && load->count < LATENCIES) {
        struct reply reply;
        const int64_t begun = clock_ns();
        bool sent = fixture_send(fd, request.at, request.length);
        reply_read(fd, false, &reply);
        load->milliseconds[load->count++] = (float)(clock_ns() - begun) / 1e6f;
        if (!sent || reply.status != load->expected) load->wrong++;
        reply_free(&reply);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    text_free(&request);
    close(fd);
    return NULL;
}

static int run_load(struct load *load, int seconds)
{
    pthread_t thread;
    static struct connection connections[CONNECTIONS];
    int poller = epoll_create1(EPOLL_CLOEXEC), open = 0;
    const int64_t begun = clock_ns();
    load->ends = begun + seconds * (int64_t)1000000000;
    load->milliseconds = zalloc(LATENCIES * sizeof *load->milliseconds);
    if (load->probe != NULL && pthread_create(&thread, NULL, probe, load) != 0) abort();
    for (int i = 0; i < load->connections; i++) {
        struct connection *c = &connections[i];
        *c = (struct connection){.fd = fixture_connect(load->port), .number = i, .answer = zalloc(ROOM)};
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c};
        if (c->fd < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event) < 0) abort();
        if (begin_connection(load, c)) open += continue_connection(load, c);
    }
    while (open > 0) {
        struct epoll_event events[CONNECTIONS];
        int ready = epoll_wait(poller, events, CONNECTIONS, 30000);
        if (ready <= 0) return load->wrong++, fprintf(stderr, "no answer for 30 s\n"), 1;
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            if (c->request.length > 0 && !continue_connection(load, c)) c->request.length = 0, open--;
        }
    }
    if (load->probe != NULL) pthread_join(thread, NULL);
    report_load(load, (double)(clock_ns() - begun) / 1e9);
    for (int i = 0; i < load->connections; i++) {
        close(connections[i].fd);
        text_free(&connections[i].request);
        free(connections[i].answer);
    }
    close(poller);
    free(load->milliseconds);
    return load->wrong > 0;
}

// ---- the requests ------------------------------------------------------------------------------------------------
static struct sshkey_secret keys[PEOPLE];

static void make_body(int number, struct text *into)
{
    char handle[16];
    snprintf(handle, sizeof handle, "person%d", number % PEOPLE);
    fixture_envelope(number, handle, &keys[number % PEOPLE], into);
}

static void fill_record(struct fixture_server *f, int runs)
{
    int64_t spent = 0;
    struct acceptance *acceptance = zalloc(sizeof *acceptance);
    for (int i = 0; i < runs; i++) {
        struct text body = {0};
        struct envelope envelope;
        make_body(i, &body);
        const int64_t begun = clock_ns();
        fixture_must(envelope_read(body.at, body.length, &envelope));
        memset(acceptance, 0, sizeof *acceptance);
        fixture_must(store_accept(f->store, &envelope, clock_unix_ms(), acceptance));
        spent += clock_ns() - begun;
        if (acceptance->problem != PROBLEM_NONE) {
            fprintf(stderr, "run %d: %s: %s %s\n", i, problem_code(acceptance->problem), acceptance->detail,
                    acceptance->findings.count > 0 ? acceptance->findings.at[0].text : "");
            abort();
        }
        free(acceptance->receipt);
        envelope_free(&envelope);
        text_free(&body);
    }
    free(acceptance);
    printf("%-44s %8.0f/s  one after another, each durable\n", "filling the record", runs / ((double)spent / 1e9));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const int runs = argc > 1 ? atoi(argv[1]) : 10000, seconds = argc > 2 ? atoi(argv[2]) : 5;
    static struct text bodies[SUBMISSIONS];
    struct fixture_server f = {0};
    int wrong = 0;
    if (sodium_init() < 0) return 1;
    for (int i = 0; i < PEOPLE; i++) sshkey_new(&keys[i], "");
    fixture_start(&f, &(struct server_settings){.threads = 2, .connections = 512, .fault = fixture_complain});
    for (int i = 0; i < SUBMISSIONS; i++) make_body(runs + i, &bodies[i]);  // for the key of the board that runs now
    fill_record(&f, runs);
    struct load loads[] = {
        {.name = "a page that the cache has, 64 connections", .goal = "20,000/s, p99 20 ms", .next = next_cached, .expected = 200,
         .connections = 64},
        {.name = "a board under new filters, 32 connections", .goal = "1,000/s, p99 50 ms", .next = next_filter, .expected = 200,
         .connections = 32},
        {.name = "submissions, durable, 16 connections", .goal = "100/s", .next = next_submission, .expected = 201,
         .connections = 16, .bodies = bodies},
        {.name = "health, next to 12 clients that ask for CSV", .goal = "worst 50 ms", .next = next_csv, .expected = 200,
         .connections = 12, .probe = "/api/v1/health"},
        {.name = "a cached page, next to the same 12 clients", .goal = "worst 50 ms", .next = next_csv, .expected = 200,
         .connections = 12, .probe = "/boards/cifar10/training-time"},
    };
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        if (loads[i].probe != NULL && loads[i - 1].probe == NULL) {  // as dawn-scoreboard serves
            fixture_stop(&f);
            fixture_start(&f, &(struct server_settings){.threads = 2, .connections = 512, .fault = fixture_complain,
                                                        .work_milliseconds = 250, .health = "/api/v1/health"});
        }
        loads[i].port = f.port;
        wrong |= run_load(&loads[i], seconds);
    }
    fixture_remove(&f);
    for (int i = 0; i < SUBMISSIONS; i++) text_free(&bodies[i]);
    return wrong;
}
