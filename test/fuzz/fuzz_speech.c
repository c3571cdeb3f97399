// SPDX-License-Identifier: Apache-2.0
// Any bytes as AN4's two lists, parted by the first zero byte, and as a list of LibriSpeech: they are refused with a sentence
// that names a list, or utterances with a text of letters and a name that may become part of a path.
#include "data/audio/letters.h"
#include "data/read/speech/an4.h"
#include "data/read/speech/librispeech.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_split(const struct speech_split *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        const struct utterance *u = &s->at[i];
        const size_t n = strlen(u->text);
        BUG_IF(n == 0 || u->text[0] == ' ' || u->text[n - 1] == ' ' || strstr(u->text, "  ") != NULL);
        for (size_t k = 0; k < n; k++) BUG_IF(letters_char(letters_label(u->text[k])) != u->text[k]);
        BUG_IF(u->file[0] == '/' || u->file[0] == '.' || strstr(u->file, "/.") != NULL || strstr(u->file, "//") != NULL);
        BUG_IF(u->line < 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const char *text = (const char *)bytes, *zero = count > 0 ? memchr(text, '\0', count) : NULL;
    const size_t first = zero != NULL ? (size_t)(zero - text) : count, rest = zero != NULL ? count - first - 1 : 0;
    const struct speech_list names = {"names", text, first}, texts = {"texts", text + count - rest, rest};
    struct speech_split s;
    if (an4_parse(&names, &texts, &s) < 0)
        BUG_IF(strncmp(error_text(), "names", 5) != 0 && strncmp(error_text(), "texts", 5) != 0);
    check_split(&s);
    speech_split_free(&s);
    if (librispeech_parse(&names, "a/b", &s) < 0) BUG_IF(strncmp(error_text(), "names", 5) != 0);
    check_split(&s);
    speech_split_free(&s);
    return 0;
}
