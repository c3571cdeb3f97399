// SPDX-License-Identifier: Apache-2.0
// synsets.txt is map_clsloc.txt of the development kit: line i is the class with number i in its lists. The order was
// checked against two public lists of the 50,000 validation labels, one with these numbers and one numbered by sorted ids.
#include "data/read/imagenet/synsets.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/embed.h"

static struct {
    struct synsets all, ten;
    int of_devkit[SYNSETS_MAX];
    struct arena texts;  // kept until the program ends
} known;
static pthread_once_t known_once = PTHREAD_ONCE_INIT;

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int synsets_find(const struct synsets *synsets, const char *wnid, size_t length)
{
    char key[256] = "";  // longer than the name of a folder
    if (length == 0 || length >= sizeof key) return -1;
    memcpy(key, wnid, length);
    const char *at = key;
    const char *const *found = bsearch(&at, synsets->wnid, (size_t)synsets->count, sizeof at, compare_texts);
    return found != NULL ? (int)(found - synsets->wnid) : -1;
}

static void add_class(struct synsets *synsets, const char *name)
{
    synsets->name[synsets->count] = name;
    synsets->wnid[synsets->count++] = arena_text(&known.texts, "%.*s", SYNSETS_WNID, name);
}

static void read_known(void)
{
    static const char *const imagenette[] = {"n01440764", "n02102040", "n02979186", "n03000684", "n03028079",
                                             "n03394916", "n03417042", "n03425413", "n03445777", "n03888257"};
    const char *lines[SYNSETS_MAX], *sorted[SYNSETS_MAX];
    const struct embedded *file = embedded_find("data/read/imagenet/synsets.txt");
    BUG_IF(file == NULL);
    const char *at = file->at;
    for (int i = 0; i < SYNSETS_MAX; i++) {
        const char *end = strchr(at, '\n');
        BUG_IF(end == NULL || end - at <= SYNSETS_WNID + 1);
        char *line = arena_text(&known.texts, "%.*s", (int)(end - at), at);
        for (char *c = line; *c; c++)
            if (*c == '_') *c = ' ';
        lines[i] = sorted[i] = line;
        at = end + 1;
    }
    qsort(sorted, SYNSETS_MAX, sizeof sorted[0], compare_texts);
    for (int i = 0; i < SYNSETS_MAX; i++) add_class(&known.all, sorted[i]);
    for (int i = 0; i < SYNSETS_MAX; i++) known.of_devkit[i] = synsets_find(&known.all, lines[i], SYNSETS_WNID);
    for (size_t i = 0; i < sizeof imagenette / sizeof imagenette[0]; i++)
        add_class(&known.ten, known.all.name[synsets_find(&known.all, imagenette[i], SYNSETS_WNID)]);
}

const struct synsets *synsets_imagenet(void)
{
    pthread_once(&known_once, read_known);
    return &known.all;
}

const struct synsets *synsets_imagenette(void)
{
    pthread_once(&known_once, read_known);
    return &known.ten;
}

int synsets_of_devkit(int id)
{
    pthread_once(&known_once, read_known);
    return id >= 1 && id <= SYNSETS_MAX ? known.of_devkit[id - 1] : -1;
}
