// SPDX-License-Identifier: Apache-2.0
// Lines without the tokenizer's blanks. The expected ones come from sacremoses 0.2.0, MosesDetokenizer of "en".
#include "runtime/common/base/text.h"
#include "tasks/common/words/detokenize.h"
#include "test/unit/test.h"

static const struct {
    const char *line, *expected;
} rows[] = {
    {"Der Hund läuft , über 1,5 km weit .", "Der Hund läuft, über 1,5 km weit."},
    {"Sie sagte : &quot; Das ist 's , nicht wahr ? &quot; und ging .", "Sie sagte: \"Das ist's, nicht wahr?\" und ging."},
    {"Er hat ( wie immer ) 5 % &amp; $ 3 bezahlt !", "Er hat (wie immer) 5% & $3 bezahlt!"},
    {"&quot; A &quot; und &quot; B &quot;", "\"A\" und \"B\""},
    {"„ Ja “ , „ nein “ .", "„Ja“, „nein“."},
    {"der Jones &apos; Hund &apos; Katze &apos;", "der Jones' Hund 'Katze'"},
    {"&#91; 1 &#93; a @-@ b @-@ @-@ c &bar; d &lt;br&gt;", "[1] a-b-@-@ c | d <br>"},
    {"&amp;lt; bleibt &amp;amp; so", "&lt; bleibt &amp; so"},
    {"` a ` `` b `` '' c ''", "`a` ``b`` ''c''"},
    {"¿ que ? ¡ ja ! $( 2 )", "¿que? ¡ja! $(2)"},
    {"  viele\tBlanks\xc2\xa0" "hier  ", "viele Blanks hier"},
    {"", ""},
    {"...", "..."},
    {"Das geht &apos;s &apos;1", "Das geht's '1"},
    {"„” x ” y", "„” x ” y"},
    {"dogs ' house ' x", "dogs' house 'x"},
};

TEST(lines_equal_those_of_sacremoses)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text got = {0};
        text_bytes(&got, "", 0);
        detokenize(rows[i].line, strlen(rows[i].line), &got);
        assert_string_equal(got.at, rows[i].expected);
        text_free(&got);
    }
}
