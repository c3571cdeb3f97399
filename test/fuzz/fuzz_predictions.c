// SPDX-License-Identifier: Apache-2.0
// Any bytes as predictions. A text is exact against itself, and scores between 0 and 1 against any other.
#include "tasks/squad/predictions.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_pair(const char *a, const char *b)
{
    struct evaluate_score one = evaluate_pair(a, b), other = evaluate_pair(b, a);
    BUG_IF(one.f1 < 0 || one.f1 > 1 || one.f1 != other.f1 || one.exact != other.exact);
    struct text left = {0};
    evaluate_normalise(a, &left);
    BUG_IF(left.length > 0 && (left.at[0] == ' ' || left.at[left.length - 1] == ' ' || strstr(left.at, "  ") != NULL));
    struct evaluate_score self = evaluate_pair(a, a);
    BUG_IF(!self.exact || self.f1 != (left.length > 0 ? 1 : 0));
    text_free(&left);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct predictions *p;
    size_t half = count / 2;
    char *a = calloc(half + 1, 1), *b = calloc(count - half + 1, 1);
    memcpy(a, bytes, half);
    memcpy(b, bytes + half, count - half);
    check_pair(a, b);
    free(a);
    free(b);
    if (predictions_parse("predictions", (const char *)bytes, count, &p) < 0) {
        BUG_IF(p != NULL || strncmp(error_text(), "predictions", 11) != 0);
        return 0;
    }
    const struct squad_answer answer = {"the end", 0};
    const struct squad_question question = {"a", "?", 0, &answer, 1};
    const struct squad squad = {.question = &question, .questions = 1};
    struct evaluate_total total = predictions_score(p, &squad);
    BUG_IF(total.questions != 1 || total.f1 < 0 || total.f1 > 1 || predictions_count(p) < 1 - total.missing);
    predictions_free(p);
    return 0;
}
