// SPDX-License-Identifier: Apache-2.0
// Slow clients do not block others. drip [CONNECTIONS] opens that many connections (400): half send a head one byte at a time,
// a quarter a body of 1 MiB, and a quarter nothing. Meanwhile valid requests are timed and valid runs submitted, all of which
// must be accepted. The server must close slow heads within 5 s and slow bodies within 10 s of their beginning, and half of
// the valid requests must take less than 50 ms (a busy machine delays the rest).
#include "test/unit/fixture_server.h"

#include <errno.h>
#include <sodium.h>
#include <sys/resource.h>

enum { MOST = 4096, GOOD = 4096 };
static const char HEAD[] = "GET / HTTP/1.1\r\nHost: test\r\nX: ";
static const char BODY[] = "POST /api/v1/statements HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                           "Content-Length: 1048576\r\n\r\n{";  // a hundred of them announce more than the limit

struct dripper {
    int fd;
    double begun, ended;  // seconds; ended 0: still there
};

static double now(void)
{
    return (double)clock_ns() / 1e9;
}

static bool drips_body(int i)
{
    return i % 4 == 1;
}

static void begin(struct dripper *d, int i, int port)
{
    d->fd = fixture_connect(port);
    d->begun = now();
    if (d->fd < 0) {
        fprintf(stderr, "connection %d: %s\n", i, strerror(errno));
        exit(1);
    }
    if (i % 4 == 3) return;
    if (drips_body(i)) fixture_send(d->fd, BODY, strlen(BODY));
    else fixture_send(d->fd, HEAD, strlen(HEAD));
}

static bool drip(struct dripper *d, int i)
{
    char c;
    if (i % 4 != 3) send(d->fd, " ", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    ssize_t got = recv(d->fd, &c, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    d->ended = now();
    return false;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double ask(int port)
{
    struct reply reply;
    const double begun = now();
    fixture_get(port, "/boards/cifar10/training-time", &reply);
    if (reply.status != 200) {
        fprintf(stderr, "a good request got status %d\n", reply.status);
        exit(1);
    }
    reply_free(&reply);
    return (now() - begun) * 1000;
}

static void submit(int number, const struct sshkey_secret *key, int port)
{
    struct text envelope = {0};
    struct reply reply;
    fixture_envelope(number, "ada", key, &envelope);
    fixture_post(port, &envelope, &reply);
    if (reply.status != 201) {
        fprintf(stderr, "a good run got status %d\n", reply.status);
        exit(1);
    }
    reply_free(&reply);
    text_free(&envelope);
}

int main(int argc, char **argv)
{
    static struct dripper drippers[MOST];
    static double good[GOOD];
    const int count = argc > 1 && atoi(argv[1]) < MOST ? atoi(argv[1]) : 400;
    struct fixture_server board = {0};
    struct rlimit files;
    double head = 0, body = 0;
    int asked = 0, submitted = 0, open = count;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < MOST * 2) {
        files.rlim_cur = files.rlim_max < MOST * 2 ? files.rlim_max : MOST * 2;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    struct sshkey_secret ada;
    if (sodium_init() < 0) return 1;
    sshkey_new(&ada, "ada");
    fixture_start(&board, &(struct server_settings){.threads = 2, .connections = count + 112});
    for (int i = 0; i < count; i++) begin(&drippers[i], i, board.port);
    for (const double until = now() + 30; open > 0 && now() < until;) {
        usleep(50000);
        open = 0;
        for (int i = 0; i < count; i++) open += drippers[i].ended == 0 && drip(&drippers[i], i);
        if (asked < GOOD) good[asked++] = ask(board.port);
        submit(submitted++, &ada, board.port);
    }
    for (int i = 0; i < count; i++) {
        const double took = drippers[i].ended == 0 ? 999 : drippers[i].ended - drippers[i].begun;
        if (drips_body(i)) body = took > body ? took : body;
        else head = took > head ? took : head;
        close(drippers[i].fd);
    }
    fixture_remove(&board);
    qsort(good, (size_t)asked, sizeof good[0], compare);
    printf("%d dripping connections: heads ended within %.1f s, bodies within %.1f s (goal 10); "
           "%d good requests: p50 %.1f ms, p99 %.1f ms, worst %.1f ms (goal 50); %d runs accepted\n",
           count, head, body, asked, good[asked / 2], good[asked * 99 / 100], good[asked - 1], submitted);
    return head <= 5.5 && body <= 10 && good[asked / 2] < 50 ? 0 : 1;
}
