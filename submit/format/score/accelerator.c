// SPDX-License-Identifier: Apache-2.0
// Cost: a walk over some fifty rows for each question.
#include "submit/format/score/accelerator.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/embed.h"
#include "submit/format/canonical.h"

static json_t *accelerators, *processors;  // stay as long as the program runs

static void read_table(void)
{
    const struct embedded *file = embedded_find("submit/format/score/peaks.json");
    BUG_IF(file == NULL);
    json_t *table = json_loadb(file->at, file->size, JSON_REJECT_DUPLICATES, NULL);
    accelerators = json_incref(json_object_get(table, "accelerators"));
    processors = json_incref(json_object_get(table, "processors"));
    BUG_IF(!json_is_array(accelerators) || !json_is_array(processors));
    json_decref(table);
}

static void need_table(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_table);
}

// ---- names of accelerators, word by word

// The next word of ASCII letters and digits. False at the end.
static bool next_word(const char **at, const char **word, size_t *length)
{
    while (**at != 0 && !isalnum((unsigned char)**at)) ++*at;
    *word = *at;
    while (isalnum((unsigned char)**at)) ++*at;
    *length = (size_t)(*at - *word);
    return *length > 0;
}

static bool is_one_of(const char *word, size_t length, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strlen(*list) == length && strncasecmp(word, *list, length) == 0) return true;
    return false;
}

// "8 x NAME": the name. A count of 0 is none.
static const char *skip_count(const char *gpu, int64_t *count)
{
    const size_t digits = strspn(gpu, "0123456789");
    *count = *gpu != 0;
    if (digits == 0 || digits > 9 || strncmp(gpu + digits, " x ", 3) != 0) return gpu;
    *count = strtoll(gpu, NULL, 10);
    return gpu + digits + 3;
}

static const char *skip_makers(const char *gpu)
{
    static const char *const makers[] = {"nvidia", "tesla", "geforce", "grid", "amd", "instinct", "radeon", NULL};
    const char *at = gpu, *word;
    size_t length;
    while (next_word(&at, &word, &length) && is_one_of(word, length, makers)) gpu = at;
    return gpu;
}

// A form ("PCIe", "SXM6 AC", "NVL"), a memory ("HBM3", "80GB") or a part of a GPU ("MIG 1g.10gb", "40C") is no other model.
static bool is_form(const char *word, size_t length)
{
    static const char *const forms[] = {"pcie", "pci", "e", "ac", "nvl", "oam", "mig", "vf", "gpu", "laptop", "max", "q", "d",
                                        NULL};
    const size_t digits = strspn(word, "0123456789");
    if (digits > 0) return digits + 2 >= length;  // at most two letters behind a size
    return is_one_of(word, length, forms) || (length <= 4 && strncasecmp(word, "sxm", 3) == 0) ||
           (length <= 5 && strncasecmp(word, "hbm", 3) == 0);
}

static bool is_called(const char *gpu, const char *name)
{
    const char *word, *own;
    size_t length, own_length;
    while (next_word(&name, &own, &own_length))
        if (!next_word(&gpu, &word, &length) || length != own_length || strncasecmp(word, own, length) != 0) return false;
    while (next_word(&gpu, &word, &length))
        if (!is_form(word, length)) return false;
    return true;
}

const json_t *accelerator_find(const char *gpu)
{
    int64_t count;
    const json_t *found = NULL;
    size_t longest = 0;
    need_table();
    gpu = skip_makers(skip_count(gpu, &count));
    for (size_t i = 0; i < json_array_size(accelerators); i++) {
        const json_t *row = json_array_get(accelerators, i);
        const char *name = canonical_text(row, "name");
        if (strlen(name) > longest && is_called(gpu, name)) found = row, longest = strlen(name);
    }
    return found;
}

int64_t accelerator_count(const char *gpu)
{
    int64_t count;
    skip_count(gpu, &count);
    return count;
}

// ---- processors

static bool begins_a_word(const char *text, const char *begin)
{
    for (const char *at = text; (at = strcasestr(at, begin)) != NULL; at++)
        if (at == text || !isalnum((unsigned char)at[-1])) return true;
    return false;
}

int64_t accelerator_threads(const char *cpu)
{
    int64_t least = 1024;
    need_table();
    for (size_t i = 0; i < json_array_size(processors); i++) {
        const json_t *row = json_array_get(processors, i);
        const int64_t threads = canonical_int(row, "threads");
        if (threads < least && begins_a_word(cpu, canonical_text(row, "name"))) least = threads;
    }
    return least;
}
