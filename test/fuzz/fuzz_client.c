// SPDX-License-Identifier: Apache-2.0
// Any bytes as the answer of a scoreboard: a problem, an answer with a receipt, a group, an address to go on to. No result
// holds a control character or is longer than its limit, and no unsigned receipt is accepted.
#include "submit/client/deliver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/client/client_origin.h"
#include "submit/original.h"

static void check_tame(const struct text *text, size_t limit)
{
    BUG_IF(text->length > limit);
    for (size_t i = 0; i < text->length; i++) {
        unsigned char c = (unsigned char)text->at[i];
        BUG_IF((c < 0x20 && c != '\n') || c == 0x7f);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct text sentence = {0}, checks = {0}, words = {0};
    char *member = NULL, *clean = NULL, *text = zalloc(count + 1);
    if (count > 0) memcpy(text, bytes, count);
    client_problem(text, count, &sentence, &checks);
    check_tame(&sentence, 700);
    check_tame(&checks, 70 * 400);
    client_tame(&words, text, 100);
    check_tame(&words, 104);
    if (client_member(text, count, "receipt", &member) == 0) BUG_IF(member == NULL);

    free(member);
    if (client_object(text, count, "envelope", &member) == 0) BUG_IF(*member != '{');
    char digest[DIGEST_HEX];
    if (client_conflict(text, digest))
        BUG_IF(strspn(digest, "0123456789abcdef") != DIGEST_HEX - 1 || strlen(digest) >= DIGEST_HEX);

    struct group_facts facts;
    if (original_group(text, count, &facts) == 0)
        BUG_IF(facts.finished < 0 || facts.finished > 1000 || !(facts.accuracy.sigma >= 0) || !isfinite(facts.accuracy.mean));

    static const struct client_board board = {.name = "board"};
    static const struct statement nothing;
    struct delivery delivery;
    if (delivery_read(text, count, &board, &nothing, NULL, 0, &delivery) == 0) BUG("a receipt from nobody");

    if (origin_address(text, &clean) == 0) BUG_IF(strncasecmp(clean, "http", 4) != 0);
    BUG_IF(origin_same("https://board.example", text) && strcasestr(text, "board.example") == NULL && strchr(text, '%') == NULL);
    text_free(&sentence);
    text_free(&checks);
    text_free(&words);
    free(member);
    free(clean);
    free(text);
    return 0;
}
