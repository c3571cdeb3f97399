// SPDX-License-Identifier: Apache-2.0
// Lines of a list, without their ends.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct speech_list {
    const char *name, *text;  // the file's name, for errors, and its n bytes
    size_t n;
};
struct speech_lines {
    const struct speech_list *list;
    size_t at;
    int64_t number;  // of the last line
};

// The next line that is not empty. False at the end.
static inline bool speech_next_line(struct speech_lines *l, const char **line, size_t *n)
{
    while (l->at < l->list->n) {
        *line = l->list->text + l->at;
        const char *end = (const char *)memchr(*line, '\n', l->list->n - l->at);
        *n = end != NULL ? (size_t)(end - *line) : l->list->n - l->at;
        l->at += *n + 1;
        l->number++;
        while (*n > 0 && ((*line)[*n - 1] == '\r' || (*line)[*n - 1] == ' ')) --*n;
        if (*n > 0) return true;
    }
    return false;
}
