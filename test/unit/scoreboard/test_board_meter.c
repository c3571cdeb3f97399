// SPDX-License-Identifier: Apache-2.0
// The number of an address for the meter: one for each client, on any socket, and a proxy on this machine
// speaks for its clients.
#include <arpa/inet.h>

#include "scoreboard/http/http_meter.h"
#include "test/unit/test.h"

// Makes the number of a peer from its address, as a socket of that family reports it.
static uint64_t number_of(const char *peer, const char *forwarded)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, peer, &four.sin_addr) == 1) return meter_address((struct sockaddr *)&four, forwarded);
    assert_int_equal(inet_pton(AF_INET6, peer, &six.sin6_addr), 1);
    return meter_address((struct sockaddr *)&six, forwarded);
}

// A socket that listens on [::] reports 1.2.3.4 as ::ffff:1.2.3.4.
TEST(each_client_has_its_own)
{
    assert_true(number_of("::ffff:1.2.3.4", NULL) != number_of("::ffff:1.2.3.5", NULL));
    assert_true(number_of("::ffff:1.2.3.4", NULL) == number_of("1.2.3.4", NULL));
    assert_true(number_of("2001:db8:1:2::3", NULL) == number_of("2001:db8:1:2:ffff::4", NULL));  // a network is one client
    assert_true(number_of("2001:db8:1:2::3", NULL) != number_of("2001:db8:1:3::3", NULL));
}

TEST(a_proxy_here_names_its_client)
{
    static const char *const here[] = {"127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1", "::ffff:127.9.9.9"};
    for (size_t i = 0; i < sizeof here / sizeof *here; i++) {
        assert_true(number_of(here[i], "1.2.3.4") == number_of("1.2.3.4", NULL));
        assert_true(number_of(here[i], "::ffff:1.2.3.4") == number_of("1.2.3.4", NULL));
        assert_true(number_of(here[i], "no address") == number_of(here[i], NULL));
    }
    assert_true(number_of("::ffff:128.0.0.1", "1.2.3.4") == number_of("128.0.0.1", NULL));  // anybody can write the header
    assert_true(number_of("8.8.8.8", "1.2.3.4") == number_of("8.8.8.8", NULL));
}
