// SPDX-License-Identifier: Apache-2.0
// The client's parsers on bytes that no honest scoreboard sends, which addresses it takes, and a server that says nothing.
// Conversations with one that does are in test/cli/submit.sh.
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "submit/client/client.h"
#include "submit/client/client_origin.h"
#include "submit/client/deliver.h"
#include "submit/client/pace.h"
#include "test/unit/test.h"

TEST(addresses)
{
    static const struct {
        const char *in, *out;  // NULL: refused
    } cases[] = {
        {"https://board.example", "https://board.example"},
        {"https://board.example///", "https://board.example"},
        {"https://board.example:8443/dawn/", "https://board.example:8443/dawn"},
        {"HTTPS://Board.Example", "HTTPS://Board.Example"},
        {"http://127.0.0.1:8080", "http://127.0.0.1:8080"},
        {"http://127.9.9.9/", "http://127.9.9.9"},
        {"http://localhost:1", "http://localhost:1"},
        {"http://[::1]:8080", "http://[::1]:8080"},
        {"http://board.example", NULL},
        {"http://127.0.0.1.board.example", NULL},
        {"http://localhost.board.example", NULL},
        {"http://128.0.0.1", NULL},
        {"http://0.0.0.0", NULL},
        {"http://[::2]", NULL},
        {"http://127.0.0.1@board.example", NULL},
        {"https://me@board.example", NULL},
        {"https://me:word@board.example", NULL},
        {"https://board.example/?a=b", NULL},
        {"https://board.example/#a", NULL},
        {"ftp://board.example", NULL},
        {"file:///etc/passwd", NULL},
        {"board.example", NULL},
        {"https://", NULL},
        {"https://board example", NULL},
        {"https://board.example/\r\nX: y", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *clean = NULL;
        int rc = origin_address(cases[i].in, &clean);
        if ((rc == 0) != (cases[i].out != NULL)) fail_msg("%s: %d", cases[i].in, rc);
        if (rc == 0) assert_string_equal(clean, cases[i].out);
        else assert_int_equal(rc, ERR_USAGE);
        free(clean);
    }
    char *longer = zalloc(5000), *clean;
    memset(longer, 'a', 4999);
    memcpy(longer, "https://", 8);
    assert_int_equal(origin_address(longer, &clean), ERR_USAGE);
    free(longer);
}

TEST(addresses_of_runs)
{
    static const struct {
        const char *in, *base, *name;  // NULL: refused
    } cases[] = {
        {"https://board.example/runs/12", "https://board.example", "12"},
        {"https://board.example/dawn/runs/12/index.html", "https://board.example/dawn", "12"},
        {"https://board.example/api/v1/statements/12/receipt", "https://board.example", "12"},
        {"https://ann.example/runs/board/runs/12/", "https://ann.example/runs/board", "12"},
        {"https://ann.example/runs/2026/runs/12", "https://ann.example/runs/2026", "12"},
        {"https://ann.example/runs/2026/api/v1/statements/3", "https://ann.example/runs/2026", "3"},
        {"./runs/copy#2/runs/12/index.html", "./runs/copy#2", "12"},
        {"https://board.example/runs/12?from=/runs/13", "https://board.example", "12"},
        {"https://board.example/runs/12#/runs/13", "https://board.example", "12"},
        {"https://board.example/runs/012", NULL, NULL},
        {"https://board.example/runs/", NULL, NULL},
        {"https://board.example/runs/abc/runs/x", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *base = NULL, name[DELIVERY_NAME];
        int rc = delivery_address(cases[i].in, &base, name);
        if ((rc == 0) != (cases[i].base != NULL)) fail_msg("%s: %d", cases[i].in, rc);
        if (rc < 0) continue;
        assert_string_equal(base, cases[i].base);
        assert_string_equal(name, cases[i].name);
        free(base);
    }
}

TEST(origins)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"https://board.example/a", "https://board.example/b?c", true},
        {"https://board.example", "https://BOARD.example:443/", true},
        {"https://board.example", "http://board.example", false},
        {"https://board.example", "https://board.example:444", false},
        {"https://board.example", "https://www.board.example", false},
        {"https://board.example", "https://board.example.evil.example", false},
        {"https://board.example", "https://board.example@evil.example", false},
        {"http://127.0.0.1:80", "http://127.0.0.1", true},
        {"http://127.0.0.1:81", "http://127.0.0.1", false},
        {"https://board.example", "gopher://board.example", false},
        {"https://board.example", "", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (origin_same(cases[i].a, cases[i].b) != cases[i].same) fail_msg("%s and %s", cases[i].a, cases[i].b);
}

TEST(members)
{
    char *text;
    static const char good[] = "{\"receipt\": \"{\\\"a\\\":1}\", \"n\": 3}";
    assert_int_equal(client_member(good, strlen(good), "receipt", &text), 0);
    assert_string_equal(text, "{\"a\":1}");
    free(text);
    assert_int_equal(client_member(good, strlen(good), "signature", &text), ERR_INPUT);
    assert_int_equal(client_member(good, strlen(good), "n", &text), ERR_INPUT);
    assert_null(text);
    for (size_t n = 0; n < strlen(good); n++) assert_int_equal(client_member(good, n, "receipt", &text), ERR_INPUT);
    static const char *const bad[] = {"", "[]", "{\"a\": \"x\\u0000y\"}", "3", "null", "{\"a\": \"x\", \"a\": \"y\"}",
                                      "{\"a\": \"\xff\"}", "{\"a\": \"x\"} more"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(client_member(bad[i], strlen(bad[i]), "a", &text), ERR_INPUT);
    size_t many = 1 << 20;
    char *deep = zalloc(many + 1);
    memset(deep, '[', many);
    assert_int_equal(client_member(deep, many, "a", &text), ERR_INPUT);
    free(deep);
}

TEST(problems)
{
    static const struct {
        const char *body, *sentence, *checks;
    } cases[] = {
        {"{\"title\": \"No\", \"detail\": \"because\", "
         "\"checks\": [{\"code\": \"cost\", \"level\": \"reject\", \"text\": \"off\"}]}",
         "No: because", "  reject cost: off\n"},
        {"{\"title\": \"No\"}", "No", NULL},
        {"{\"detail\": \"a\\u001b[2Jb\\u202e\"}", "a?[2Jb???", NULL},
        {"{\"checks\": [3, {}, {\"text\": \"line\\nfeed\"}], \"title\": 7}", "it gives no reason that could be read",
         "  check : \n  check : \n  check : line feed\n"},
        {"{\"checks\": \"many\"}", "it gives no reason that could be read", NULL},
        {"<html>", "it gives no reason that could be read", NULL},
        {"", "it gives no reason that could be read", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text sentence = {0}, checks = {0};
        client_problem(cases[i].body, strlen(cases[i].body), &sentence, &checks);
        assert_string_equal(sentence.at, cases[i].sentence);
        if (cases[i].checks == NULL) assert_null(checks.at);
        else assert_string_equal(checks.at, cases[i].checks);
        text_free(&sentence);
        text_free(&checks);
    }
}

TEST(what_is_shown_is_tame_and_short)
{
    struct text t = {0};
    client_tame(&t, "  Café 日本  ", 100);
    assert_string_equal(t.at, "Café 日本");
    text_free(&t);
    client_tame(&t, "ééééé", 5);  // not in the middle of a character
    assert_string_equal(t.at, "éé ...");
    text_free(&t);
    client_tame(&t, "\x1b[31m\xff", 100);
    assert_string_equal(t.at, "?[31m?");
    text_free(&t);
    client_tame(&t, "   ", 100);
    assert_null(t.at);

    struct text body = {0}, sentence = {0}, checks = {0};  // a flood
    text_add(&body, "{\"title\":\"");
    for (int i = 0; i < 100000; i++) text_add(&body, "x");
    text_add(&body, "\",\"checks\":[{}");
    for (int i = 0; i < 100000; i++) text_add(&body, ",{}");
    text_add(&body, "]}");
    client_problem(body.at, body.length, &sentence, &checks);
    assert_true(sentence.length < 700);
    assert_true(checks.length < 70 * 400);
    assert_non_null(strstr(checks.at, "and 99937 more"));
    text_free(&body);
    text_free(&sentence);
    text_free(&checks);
}

// A server that takes the connection and never answers.
#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
TEST(a_refusal_may_name_a_statement)
{
    static const struct {
        const char *sentence;
        bool names;
    } cases[] = {
        {"https://b answers 409: this run has been submitted as statement " HEX "; name that", true},
        {"https://b answers 409: " HEX, true},
        {"https://b answers 409: statement " HEX "0", false},
        {"https://b answers 409: statement 12", false},
        {"https://b answers 422: statement " HEX, false},
        {"https://b/" HEX " answers 409: something else", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char digest[DIGEST_HEX] = "";
        assert_int_equal(client_conflict(cases[i].sentence, digest), cases[i].names);
        assert_string_equal(digest, cases[i].names ? HEX : "");
    }
}

TEST(silence_ends)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &length), 0);
    char address[64];
    snprintf(address, sizeof address, "http://127.0.0.1:%d", ntohs(at.sin_port));
    struct client *c;
    struct text body = {0};
    assert_int_equal(client_open(address, &(struct client_options){.total_ms = 200}, &c), 0);
    int64_t before = clock_ns();
    assert_int_equal(client_get(c, "/api/v1", &body), ERR_NETWORK);
    assert_true(clock_ns() - before < INT64_C(30000000000));
    assert_non_null(strstr(error_text(), "does not answer"));
    assert_null(body.at);
    client_close(c);
    close(listener);
}

// Answers one request and closes the connection.
static void *answer_busy(void *context)
{
    static const char busy[] = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const int *listener = context;
    for (int i = 0; i < 2; i++) {
        char bytes[2048];
        int connection = accept(*listener, NULL, NULL);
        if (recv(connection, bytes, sizeof bytes, 0) < 0 || send(connection, busy, sizeof busy - 1, 0) < 0)
            return (void *)"failed";
        shutdown(connection, SHUT_WR);
        while (recv(connection, bytes, sizeof bytes, 0) > 0) continue;
        close(connection);
    }
    return NULL;
}

// Only what can be sent again later is said to count once.
TEST(a_busy_board_is_told_apart)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    char address[64];
    void *failed;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t server;
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &length), 0);
    snprintf(address, sizeof address, "http://127.0.0.1:%d", ntohs(at.sin_port));
    assert_int_equal(pthread_create(&server, NULL, answer_busy, &listener), 0);
    for (int fleeting = 0; fleeting < 2; fleeting++) {
        const struct client_options options = {.tries = 1, .fleeting = fleeting != 0};
        struct client *c;
        struct text body = {0}, checks = {0};
        bool again;
        assert_int_equal(client_open(address, &options, &c), 0);
        assert_fails(client_post(c, "{}", 2, &body, &again, &checks), ERR_NETWORK, "503");
        assert_int_equal(strstr(error_text(), "it counts once") != NULL, !fleeting);
        client_close(c);
        text_free(&body), text_free(&checks);
    }
    pthread_join(server, &failed);
    assert_null(failed);
    close(listener);
}

// A board that is down for long: a newer state does not wait for the pause of an older one, and the last goes at once.
TEST(a_newer_state_does_not_wait)
{
    const int64_t second = 1000000000;
    struct pace pace = {0};
    int64_t now = 100 * second;
    static const int pauses[] = {1, 2, 4, 8, 16, 32, 60, 60};
    assert_true(pace_due(&pace, true) <= now);
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        pace_tried(&pace, now, i == 0, false);
        assert_int_equal(pace_due(&pace, false), now + pauses[i] * second);
        assert_int_equal(pace_due(&pace, true), now + second);
        now += pauses[i] * second;
    }
    pace_tried(&pace, now, true, false);  // nor is it tried again as seldom as the older one
    assert_int_equal(pace_due(&pace, false), now + second);
    pace_tried(&pace, now, false, false);
    assert_int_equal(pace_due(&pace, false), now + 2 * second);
    pace_end(&pace);
    assert_true(pace_due(&pace, false) <= now);
    for (int i = 0; i < 3; i++) {
        pace_tried(&pace, now, false, false);
        pace_end(&pace);
        assert_int_equal(pace_due(&pace, false), now + second);
    }
    struct pace steady = {0};
    pace_tried(&steady, now, true, true);
    assert_int_equal(pace_due(&steady, true), now + second / 4);
    pace_tried(&steady, now, true, false);
    assert_int_equal(pace_due(&steady, false), now + second);
}
