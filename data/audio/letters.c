// SPDX-License-Identifier: Apache-2.0
#include "data/audio/letters.h"

#include <string.h>

static const char alphabet[LETTERS + 1] = "_'ABCDEFGHIJKLMNOPQRSTUVWXYZ ";

char letters_char(int label)
{
    return label >= 0 && label < LETTERS ? alphabet[label] : '?';
}

int letters_label(char c)
{
    if (c >= 'a' && c <= 'z') c = (char)(c - 'a' + 'A');
    const char *at = c != '\0' && c != alphabet[LETTERS_BLANK] ? strchr(alphabet, c) : NULL;
    return at != NULL ? (int)(at - alphabet) : -1;
}

int letters_encode(const char *name, const char *text, size_t n, int32_t *into, int64_t *count)
{
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        int label = text[i] == '\t' ? LETTERS_SPACE : letters_label(text[i]);
        unsigned char byte = (unsigned char)text[i];
        if (label < 0 && byte > ' ' && byte < 127)
            return fail(ERR_INPUT, "%s: character %zu is \"%c\"; a transcript has letters, ' and spaces alone", name, i + 1,
                        byte);
        if (label < 0)
            return fail(ERR_INPUT, "%s: byte %zu is 0x%02x; a transcript has letters, ' and spaces alone", name, i + 1, byte);
        if (label == LETTERS_SPACE && (*count == 0 || into[*count - 1] == LETTERS_SPACE)) continue;
        into[(*count)++] = label;
    }
    if (*count > 0 && into[*count - 1] == LETTERS_SPACE) --*count;
    return *count > 0 ? 0 : fail(ERR_INPUT, "%s: the transcript is empty", name);
}

int64_t letters_join(const int32_t *labels, int64_t n, char *into)
{
    int64_t length = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t label = labels[i];
        if (label == LETTERS_BLANK || (i > 0 && labels[i - 1] == label)) continue;
        if (label == LETTERS_SPACE && (length == 0 || into[length - 1] == ' ')) continue;
        into[length++] = letters_char(label);
    }
    if (length > 0 && into[length - 1] == ' ') length--;
    into[length] = '\0';
    return length;
}
