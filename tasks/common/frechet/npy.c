// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/frechet/npy.h"

#include <string.h>

enum { MAGIC = 6, DIMENSIONS = 2 };

// ---- the head, a dictionary of Python: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }

struct head {
    const char *name, *at, *end;
    bool has[3];
    struct npy *npy;
};
static const char *const keys[] = {"descr", "fortran_order", "shape", NULL};

static void skip_blanks(struct head *h)
{
    while (h->at < h->end && strchr(" \t\n", *h->at) != NULL && *h->at != '\0') h->at++;
}

static bool takes(struct head *h, char c)
{
    skip_blanks(h);
    if (h->at == h->end || *h->at != c) return false;
    h->at++;
    return true;
}

static int refuse_head(const struct head *h, const char *why)
{
    return fail(ERR_INPUT, "%s: its head is not an array's: %s", h->name, why);
}

// A text in quotes, at most 31 bytes.
static int take_text(struct head *h, char into[32])
{
    skip_blanks(h);
    const char quote = h->at < h->end ? *h->at : 0;
    if (quote != '\'' && quote != '"') return refuse_head(h, "a text in quotes was expected");
    const char *from = ++h->at;
    while (h->at < h->end && *h->at != quote) h->at++;
    const size_t n = (size_t)(h->at - from);
    if (h->at == h->end || n > 31 || memchr(from, '\0', n) != NULL) return refuse_head(h, "a text has no end");
    memcpy(into, from, n);
    into[n] = '\0';
    h->at++;
    return 0;
}

static int take_type(struct head *h)
{
    char type[32];
    skip_blanks(h);
    if (h->at < h->end && *h->at == '[') return fail(ERR_INPUT, "%s is an array of records; f32 or f64 are read", h->name);
    TRY(take_text(h, type));
    h->npy->wide = strcmp(type, "<f8") == 0;
    if (h->npy->wide || strcmp(type, "<f4") == 0) return 0;
    return fail(ERR_INPUT, "%s has numbers of type \"%s\"; \"<f4\" (f32) or \"<f8\" (f64) are read", h->name, type);
}

static int take_order(struct head *h)
{
    skip_blanks(h);
    const size_t left = (size_t)(h->end - h->at);
    h->npy->by_columns = left >= 4 && memcmp(h->at, "True", 4) == 0;
    if (!h->npy->by_columns && (left < 5 || memcmp(h->at, "False", 5) != 0))
        return refuse_head(h, "fortran_order is neither True nor False");
    h->at += h->npy->by_columns ? 4 : 5;
    return 0;
}

static int take_number(struct head *h, int64_t *into)
{
    skip_blanks(h);
    const char *from = h->at;
    for (*into = 0; h->at < h->end && *h->at >= '0' && *h->at <= '9' && *into < INT64_C(1) << 40; h->at++)
        *into = *into * 10 + (*h->at - '0');
    return h->at > from && *into < INT64_C(1) << 40 ? 0 : refuse_head(h, "a size is not a number below 2^40");
}

static int take_shape(struct head *h)
{
    int64_t size[DIMENSIONS];
    int count = 0;
    if (!takes(h, '(')) return refuse_head(h, "a shape in brackets was expected");
    while (!takes(h, ')')) {
        int64_t number;
        TRY(take_number(h, &number));
        if (count < DIMENSIONS) size[count] = number;
        count++;
        if (takes(h, ',')) continue;
        if (!takes(h, ')')) return refuse_head(h, "the shape has no end");
        break;
    }
    if (count != DIMENSIONS)
        return fail(ERR_INPUT, "%s has %d dimensions; two are read, a row of features for each sample", h->name, count);
    h->npy->rows = size[0], h->npy->columns = size[1];
    return 0;
}

static int take_member(struct head *h)
{
    static int (*const values[])(struct head *) = {take_type, take_order, take_shape};
    char key[32];
    int i = 0;
    TRY(take_text(h, key));
    while (keys[i] != NULL && strcmp(keys[i], key) != 0) i++;
    if (keys[i] == NULL || h->has[i]) return refuse_head(h, keys[i] == NULL ? "it has another key" : "it has a key twice");
    if (!takes(h, ':')) return refuse_head(h, "a colon was expected");
    h->has[i] = true;
    return values[i](h);
}

static int take_head(struct head *h)
{
    if (!takes(h, '{')) return refuse_head(h, "it does not begin with {");
    while (!takes(h, '}')) {
        TRY(take_member(h));
        if (takes(h, ',')) continue;
        if (!takes(h, '}')) return refuse_head(h, "a comma was expected");
        break;
    }
    skip_blanks(h);
    if (h->at < h->end) return refuse_head(h, "something follows it");
    for (int i = 0; keys[i] != NULL; i++)
        if (!h->has[i]) return fail(ERR_INPUT, "%s: its head does not have \"%s\"", h->name, keys[i]);
    return 0;
}

// ---- the file

int npy_parse(const char *name, const char *bytes, size_t size, struct npy *into)
{
    const unsigned char *b = (const unsigned char *)bytes;
    *into = (struct npy){0};
    if (size < MAGIC + 2 || memcmp(bytes, "\x93NUMPY", MAGIC) != 0)
        return fail(ERR_INPUT, "%s is not an array that NumPy saved (.npy)", name);
    if (b[6] != 1 && b[6] != 2)
        return fail(ERR_INPUT, "%s is an array of version %d.%d; versions 1 and 2 are read", name, b[6], b[7]);
    const size_t before = b[6] == 1 ? 10 : 12;
    if (size < before) return fail(ERR_INPUT, "%s ends within its head", name);
    size_t length = (size_t)b[8] | (size_t)b[9] << 8;
    if (b[6] == 2) length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (size - before < length) return fail(ERR_INPUT, "%s ends within its head", name);
    struct head h = {name, bytes + before, bytes + before + length, {false}, into};
    TRY(take_head(&h));
    into->values = h.end;
    const size_t have = size - before - length, each = into->wide ? 8 : 4;
    if (into->columns > 0 && into->rows > (int64_t)(SIZE_MAX / each) / into->columns)
        return fail(ERR_INPUT, "%s says that it has %lld x %lld numbers", name, (long long)into->rows, (long long)into->columns);
    const size_t want = (size_t)(into->rows * into->columns) * each;
    if (have != want)
        return fail(ERR_INPUT, "%s has %zu bytes of numbers, and %lld x %lld of them need %zu: it %s", name, have,
                    (long long)into->rows, (long long)into->columns, want, have < want ? "was cut" : "is too long");
    return 0;
}

void npy_row(const struct npy *npy, int64_t row, double *into)
{
    const int64_t first = npy->by_columns ? row : row * npy->columns, step = npy->by_columns ? npy->rows : 1;
    for (int64_t j = 0; j < npy->columns; j++) {
        const int64_t at = first + j * step;
        float narrow;
        if (npy->wide) {
            memcpy(&into[j], npy->values + 8 * at, sizeof into[j]);
            continue;
        }
        memcpy(&narrow, npy->values + 4 * at, sizeof narrow);
        into[j] = narrow;
    }
}
