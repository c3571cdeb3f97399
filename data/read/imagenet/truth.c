// SPDX-License-Identifier: Apache-2.0
// Reads ground truth lists in all their published forms.
//
// Invariant: every picture from 1 to the last has exactly one label, or the call fails with the line.
// Cost: two passes over 50,000 lines. Fuzzed: test/fuzz/fuzz_truth.c.
#include "data/read/imagenet/truth.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"

enum numbering { NUMBERS_UNKNOWN, NUMBERS_DEVKIT, NUMBERS_SORTED };

struct line {
    const char *file, *class;  // file NULL: the line has only a class
    size_t file_length, class_length;
};

struct list {
    const char *name, *at, *end;
    const struct synsets *synsets;
    enum numbering numbering;
    int64_t number;  // of the line
    int64_t capacity;    // for labels
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

// The next line that is not empty; false at the end.
static bool next_line(struct list *list, struct line *line)
{
    while (list->at < list->end) {
        const char *begin = list->at, *end = memchr(begin, '\n', (size_t)(list->end - begin));
        if (end == NULL) end = list->end;
        list->at = end < list->end ? end + 1 : end;
        list->number++;
        while (end > begin && is_blank(end[-1])) end--;
        while (begin < end && is_blank(*begin)) begin++;
        if (begin == end) continue;
        const char *class = end;
        while (class > begin && !is_blank(class[-1])) class--;
        const char *file_end = class;
        while (file_end > begin && is_blank(file_end[-1])) file_end--;
        *line = (struct line){file_end > begin ? begin : NULL, class, (size_t)(file_end - begin), (size_t)(end - class)};
        return true;
    }
    return false;
}

// A whole number of at most nine digits, or -1.
static int64_t number_of(const char *at, size_t length)
{
    int64_t n = 0;
    if (length < 1 || length > 9) return -1;
    for (size_t i = 0; i < length; i++) {
        if (at[i] < '0' || at[i] > '9') return -1;
        n = n * 10 + (at[i] - '0');
    }
    return n;
}

int64_t truth_number(const char *file, size_t length)
{
    const char *dot = memrchr(file, '.', length);
    size_t end = dot != NULL ? (size_t)(dot - file) : length, begin = end;
    while (begin > 0 && end - begin < 9 && file[begin - 1] >= '0' && file[begin - 1] <= '9') begin--;
    return number_of(file + begin, end - begin);
}

static int label_of(const struct list *list, const struct line *line)
{
    int64_t n = number_of(line->class, line->class_length);
    if (n < 0) return synsets_find(list->synsets, line->class, line->class_length);
    if (list->numbering == NUMBERS_DEVKIT) {
        int label = synsets_of_devkit((int)n);
        if (label < 0) return -1;
        return synsets_find(list->synsets, synsets_imagenet()->wnid[label], strlen(synsets_imagenet()->wnid[label]));
    }
    return n < list->synsets->count ? (int)n : -1;
}

// Determines the numbering of the list. If lines begin with names, numbers are positions in sorted order (Caffe's val.txt
// and its descendants).
static int choose_numbering(struct list *list)
{
    struct list copy = *list;
    struct line line;
    bool any = false, zero = false, most = false, named = false;
    while (next_line(&copy, &line)) {
        int64_t n = number_of(line.class, line.class_length);
        any = any || n >= 0, zero = zero || n == 0, most = most || n == SYNSETS_MAX, named = named || line.file != NULL;
    }
    if (zero && most) return fail(ERR_INPUT, "%s has classes 0 and %d: they count from 0 or from 1", list->name, SYNSETS_MAX);
    if (any && !zero && !most && !named)
        return fail(ERR_INPUT,
                    "%s has neither a class 0 nor a class %d, so it is unknown whether its numbers are the development kit's; "
                    "give WordNet ids instead",
                    list->name, SYNSETS_MAX);
    list->numbering = most ? NUMBERS_DEVKIT : NUMBERS_SORTED;
    return 0;
}

static int read_line(struct list *list, const struct line *line, struct truth *truth, int64_t *lines)
{
    int64_t number = line->file != NULL ? truth_number(line->file, line->file_length) : ++*lines;
    int label = label_of(list, line);
    if (label < 0)
        return fail(ERR_INPUT, "%s: line %lld: there is no class \"%.*s\"", list->name, (long long)list->number,
                    (int)(line->class_length < 60 ? line->class_length : 60), line->class);
    if (number < 1 || number > TRUTH_LINES_MAX)
        return fail(ERR_INPUT, "%s: line %lld names no picture by a number from 1 to %d", list->name, (long long)list->number,
                    TRUTH_LINES_MAX);
    if (number > truth->count) {
        if (number > list->capacity)
            truth->label = grow(truth->label, (size_t)(list->capacity = 2 * number) * sizeof *truth->label);
        while (truth->count < number) truth->label[truth->count++] = -1;
    }
    if (truth->label[number - 1] >= 0)
        return fail(ERR_INPUT, "%s: line %lld names picture %lld a second time", list->name, (long long)list->number,
                    (long long)number);
    truth->label[number - 1] = (int16_t)label;
    return 0;
}

static int read_lines(struct list *list, struct truth *truth)
{
    struct line line;
    int64_t lines = 0;
    TRY(choose_numbering(list));
    while (next_line(list, &line)) TRY(read_line(list, &line, truth, &lines));
    if (truth->count == 0) return fail(ERR_INPUT, "%s has no lines: it should name the class of each picture", list->name);
    for (int64_t i = 0; i < truth->count; i++)
        if (truth->label[i] < 0) return fail(ERR_INPUT, "%s has no class for picture %lld", list->name, (long long)i + 1);
    return 0;
}

int truth_parse(const char *name, const char *bytes, size_t count, const struct synsets *synsets, struct truth *truth)
{
    struct list list = {name, bytes, bytes + count, synsets, NUMBERS_UNKNOWN, 0, 0};
    *truth = (struct truth){0};
    int rc = read_lines(&list, truth);
    if (rc < 0) truth_free(truth);
    return rc;
}

int truth_read(const char *path, const struct synsets *synsets, struct truth *truth)
{
    char *bytes;
    size_t count;
    *truth = (struct truth){0};
    TRY(file_read(path, TRUTH_BYTES_MAX, &bytes, &count));
    int rc = truth_parse(path, bytes, count, synsets, truth);
    free(bytes);
    return rc;
}

void truth_free(struct truth *truth)
{
    free(truth->label);
    *truth = (struct truth){0};
}

int truth_of(const struct truth *truth, const char *file)
{
    int64_t number = truth_number(file, strlen(file));
    return number >= 1 && number <= truth->count ? truth->label[number - 1] : -1;
}
