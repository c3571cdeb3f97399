// SPDX-License-Identifier: Apache-2.0
// A debt of time for each address, which is paid off as time goes by. Addresses share a fixed table: one that meets another's
// place takes it over if that owes less. Thread-safe. Cost: a short lock twice per request that the cache did not answer.
#include "scoreboard/http/http_meter.h"

#include "runtime/common/base/arena.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { PLACES = 4096, AT_ONCE = 4, SECOND_NS = 1000000000 };

struct debt {
    uint64_t address;
    int64_t at_ns, owed_ns;  // owed at that moment
};
struct meter {
    pthread_mutex_t lock;
    int64_t a_second_ns;
    struct debt debts[PLACES];
};

struct meter *meter_new(int64_t milliseconds)
{
    struct meter *meter = zalloc(sizeof *meter);
    pthread_mutex_init(&meter->lock, NULL);
    meter->a_second_ns = milliseconds * 1000000;
    return meter;
}

void meter_free(struct meter *meter)
{
    if (meter == NULL) return;
    pthread_mutex_destroy(&meter->lock);
    free(meter);
}

// An IPv4 address in the form in which a socket that listens on [::] reports it, so that every socket reports the same.
static struct in6_addr mapped(const struct in_addr *four)
{
    struct in6_addr six = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    memcpy(&six.s6_addr[12], four, sizeof *four);
    return six;
}

static bool parse_address(const char *text, struct in6_addr *into)
{
    struct in_addr four;
    if (inet_pton(AF_INET, text, &four) != 1) return inet_pton(AF_INET6, text, into) == 1;
    *into = mapped(&four);
    return true;
}

static bool is_this_machine(const struct in6_addr *a)
{
    return IN6_IS_ADDR_LOOPBACK(a) || (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
}

uint64_t meter_address(const struct sockaddr *peer, const char *forwarded)
{
    struct in6_addr from = {0}, said;
    if (peer != NULL && peer->sa_family == AF_INET) {
        struct sockaddr_in four;
        memcpy(&four, peer, sizeof four);
        from = mapped(&four.sin_addr);
    } else if (peer != NULL && peer->sa_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, peer, sizeof six);
        from = six.sin6_addr;
    }
    if (is_this_machine(&from) && forwarded != NULL && parse_address(forwarded, &said)) from = said;
    uint64_t network;
    // The whole of an IPv4 address, the first half of an IPv6 address: one client has all of it.
    memcpy(&network, &from.s6_addr[IN6_IS_ADDR_V4MAPPED(&from) ? 8 : 0], sizeof network);
    network = (network + 1) * 0x9e3779b97f4a7c15;
    return network ^ network >> 32;
}

static int64_t owed(const struct meter *meter, const struct debt *debt, int64_t now_ns)
{
    double paid = (double)(now_ns - debt->at_ns) / SECOND_NS * (double)meter->a_second_ns;
    return debt->owed_ns > paid ? debt->owed_ns - (int64_t)paid : 0;
}

int meter_wait(struct meter *meter, uint64_t address, int64_t now_ns)
{
    if (meter->a_second_ns == 0) return 0;
    pthread_mutex_lock(&meter->lock);
    const struct debt *debt = &meter->debts[address % PLACES];
    int64_t over = debt->address == address ? owed(meter, debt, now_ns) - AT_ONCE * meter->a_second_ns : 0;
    pthread_mutex_unlock(&meter->lock);
    return over <= 0 ? 0 : (int)(over / meter->a_second_ns) + 1;
}

void meter_take(struct meter *meter, uint64_t address, int64_t now_ns, int64_t taken_ns)
{
    if (meter->a_second_ns == 0) return;
    pthread_mutex_lock(&meter->lock);
    struct debt *debt = &meter->debts[address % PLACES];
    int64_t before = owed(meter, debt, now_ns);
    if (debt->address == address) *debt = (struct debt){address, now_ns, before + taken_ns};
    else if (before <= taken_ns) *debt = (struct debt){address, now_ns, taken_ns};
    pthread_mutex_unlock(&meter->lock);
}
