// SPDX-License-Identifier: Apache-2.0
// Finds the route of a path by a linear search of a short table. If several patterns match, the one with the most literal
// characters wins (/boards/x/feed.atom before /boards/{task}/{board}). Pure. Cost: some microseconds.
#include "scoreboard/http/server.h"

#include <string.h>

// The text between a name's brace and the next slash must end that part of the path: "{board}.csv". "{tile*}" takes all that is
// left, with its slashes.
static bool match_name(const char **pattern, const char **path, char buffer[256])
{
    const char *after = strchr(*pattern, '}') + 1;
    const bool rest = after[-2] == '*';
    const size_t tail = strcspn(after, "/"), part = rest ? strlen(*path) : strcspn(*path, "/");
    if (part <= tail || part - tail > 255) return false;
    const size_t count = part - tail;
    if (strncmp(*path + count, after, tail) != 0) return false;
    memcpy(buffer, *path, count);
    buffer[count] = 0;
    *pattern = after + tail;
    *path += part;
    return true;
}

// How many literal characters matched, or -1.
static int match_pattern(const char *pattern, const char *path, char buffer[REQUEST_WORDS][256])
{
    int literal = 0, words = 0;
    while (*pattern != 0) {
        if (*pattern == '{') {
            BUG_IF(words == REQUEST_WORDS);
            const char *brace = pattern;
            if (!match_name(&pattern, &path, buffer[words++])) return -1;
            literal += (int)strlen(strchr(brace, '}') + 1) - (int)strlen(pattern);
        } else {
            if (*pattern++ != *path++) return -1;
            literal++;
        }
    }
    return *path == 0 ? literal : -1;
}

const struct route *route_find(const struct route *table, const char *method, const char *path,
                               char buffer[REQUEST_WORDS][256], bool *others)
{
    const struct route *best = NULL;
    char words[REQUEST_WORDS][256];
    int most = -1;
    *others = false;
    for (const struct route *route = table; route->method != NULL; route++) {
        memset(words, 0, sizeof words);
        int literal = match_pattern(route->pattern, path, words);
        if (literal < 0) continue;
        if (strcmp(route->method, method) != 0) {
            *others = true;
        } else if (literal > most) {
            most = literal;
            best = route;
            memcpy(buffer, words, sizeof words);
        }
    }
    return best;
}
