// SPDX-License-Identifier: Apache-2.0
// Starts and stops the server: the listening socket and libmicrohttpd's threads. It opens the socket itself, so that the port
// is known before the threads start. Invariant: nothing that a request uses is freed before libmicrohttpd's threads have ended.
#include "scoreboard/http/http_inside.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BACKLOG = 1024,
    STOP_SECONDS = 10,
    CONNECTION_BYTES = 48 << 10,  // the largest head, as libmicrohttpd stores it, and the answer's head
};

// ---- the socket --------------------------------------------------------------------------------------------------
static int split_address(const char *listen_at, char host[256], char port[16])
{
    const char *colon = strrchr(listen_at, ':');
    int64_t number;
    if (colon == NULL || colon == listen_at || (size_t)(colon - listen_at) >= 256 || strlen(colon + 1) >= 16)
        return fail(ERR_USAGE, "\"%.100s\" is not an address to listen on, such as 127.0.0.1:8080 or [::1]:8080", listen_at);
    if (text_to_int(colon + 1, 0, 65535, &number) < 0)
        return fail(ERR_USAGE, "the port of \"%.100s\" is not a number from 0 to 65535", listen_at);
    const size_t count = (size_t)(colon - listen_at);
    const bool brackets = count >= 2 && listen_at[0] == '[' && listen_at[count - 1] == ']';
    snprintf(host, 256, "%.*s", (int)(brackets ? count - 2 : count), listen_at + (brackets ? 1 : 0));
    snprintf(port, 16, "%d", (int)number);
    return 0;
}

static int open_at(const struct addrinfo *address, const char *listen_at, int *into)
{
    const int one = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return fail_errno(ERR_IO, errno, "cannot make a socket for %s", listen_at);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
        int reason = errno;
        close(fd);
        return fail_errno(ERR_IO, reason, "cannot listen at %s", listen_at);
    }
    *into = fd;
    return 0;
}

int server_listen(const char *listen_at, int *into)
{
    char host[256], port[16];
    TRY(split_address(listen_at, host, port));
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found;
    int bad = getaddrinfo(host, port, &wanted, &found);
    if (bad != 0) return fail(ERR_USAGE, "cannot listen at %s: %s", listen_at, gai_strerror(bad));
    int rc = open_at(found, listen_at, into);
    freeaddrinfo(found);
    return rc;
}

static int port_of(int fd)
{
    struct sockaddr_storage at;
    socklen_t count = sizeof at;
    if (getsockname(fd, (struct sockaddr *)&at, &count) < 0) return 0;
    return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port : ((struct sockaddr_in *)&at)->sin_port);
}

static bool is_six(int fd)
{
    struct sockaddr_storage at = {0};
    socklen_t count = sizeof at;
    return getsockname(fd, (struct sockaddr *)&at, &count) == 0 && at.ss_family == AF_INET6;
}

// ---- libmicrohttpd -----------------------------------------------------------------------------------------------
static void take_connection(void *context, struct MHD_Connection *connection, void **ours,
                            enum MHD_ConnectionNotificationCode code)
{
    struct server *server = context;
    (void)ours;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        watch_open(server->watch, request_descriptor(connection), server->settings.read_seconds * (int64_t)1000);
    else
        watch_close(server->watch, request_descriptor(connection));
}

// Targets are decoded by guard_target, which is stricter; libmicrohttpd leaves them as they came.
static size_t leave_as_it_is(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

// Not strict: then http_guard.c refuses what the library would answer itself, without our headers (a missing Host). Version 1 of
// the library refuses that all the same unless it tolerates everything, which would be worse.
static int start_daemon(struct server *server)
{
    const struct server_settings *s = &server->settings;
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | (is_six(server->listening) ? MHD_USE_IPv6 : 0);
    const int threads = s->threads > 1 ? s->threads : 0;  // a pool of one is refused; without a pool there is one thread
    server->daemon = MHD_start_daemon(
        flags, (uint16_t)server->port, NULL, NULL, request_go_on, server, MHD_OPTION_LISTEN_SOCKET, server->listening,
        MHD_OPTION_URI_LOG_CALLBACK, request_begin, server, MHD_OPTION_NOTIFY_COMPLETED, request_end, server,
        MHD_OPTION_NOTIFY_CONNECTION, take_connection, server, MHD_OPTION_UNESCAPE_CALLBACK, leave_as_it_is, NULL,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)s->connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)s->per_address,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 0,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)threads, MHD_OPTION_END);
    if (server->daemon == NULL) return fail(ERR_IO, "libmicrohttpd cannot serve at %s", s->listen);
    return 0;
}

static void free_workers(struct server *server)
{
    for (struct worker *worker = server->workers, *next; worker != NULL; worker = next) {
        next = worker->next;
        cache_free(worker->cache);
        if (worker->reader != NULL) store_reader_close(worker->reader);
        free(worker);
    }
}

// Reads the rows of all boards before the first request, which would keep others of its thread waiting. A record that cannot be
// read now is tried again with each request.
static void make_workers(struct server *server)
{
    for (int i = 0; i < server->settings.threads; i++) {
        struct worker *worker = request_worker(server);
        if (store_reader(server->settings.store, &worker->reader) == 0 && store_ready(worker->reader) == 0) continue;
        store_reader_close(worker->reader);
        worker->reader = NULL;
    }
}

static void free_server(struct server *server)
{
    if (server->watch != NULL) watch_stop(server->watch);
    meter_free(server->meter);
    if (server->listening >= 0) close(server->listening);
    free_workers(server);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

int server_start(const struct server_settings *settings, int listening, struct server **into)
{
    struct server *server = zalloc(sizeof *server);
    server->settings = *settings;
    server->listening = listening;
    server->port = port_of(listening);
    if (server->settings.url == NULL) {
        const int host = (int)(strrchr(settings->listen, ':') - settings->listen);
        snprintf(server->url, sizeof server->url, "http://%.*s:%d", host < 255 ? host : 255, settings->listen, server->port);
        server->settings.url = server->url;
    }
    if (server->settings.threads <= 0) server->settings.threads = 2;
    if (server->settings.connections <= 0) server->settings.connections = 512;
    if (server->settings.read_seconds <= 0) server->settings.read_seconds = 5;
    pthread_mutex_init(&server->lock, NULL);
    server->meter = meter_new(server->settings.work_milliseconds);
    make_workers(server);
    int rc = watch_start(&server->watch);
    if (rc == 0) rc = start_daemon(server);
    if (rc < 0) {
        free_server(server);
        return rc;
    }
    *into = server;
    return 0;
}

int server_port(const struct server *server)
{
    return server->port;
}

// Stops accepting, lets requests in progress finish, then ends the threads.
void server_stop(struct server *server)
{
    const int64_t until = clock_ns() + STOP_SECONDS * (int64_t)1000000000;
    if (MHD_quiesce_daemon(server->daemon) == MHD_INVALID_SOCKET) BUG("libmicrohttpd does not give its socket back");
    shutdown(server->listening, SHUT_RDWR);  // the system refuses connections from now on: nobody would serve them
    watch_drain(server->watch);
    while (watch_busy(server->watch) > 0 && clock_ns() < until) usleep(5000);
    MHD_stop_daemon(server->daemon);
    free_server(server);
}
