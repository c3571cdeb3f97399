// SPDX-License-Identifier: Apache-2.0
// One pass over the tags. The open elements are one path ("annotation/object/name"), so what an element is follows from its path.
#include "data/read/voc/voc.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

enum { PATH = 256, SHOWN = 60 };
enum { WIDTH = VOC_MEMBERS, HEIGHT, VALUES };
static const char ROOT[] = "annotation", OBJECT[] = "annotation/object";
static const char *const paths[VALUES] = {
    [VOC_CLASS] = "annotation/object/name", [VOC_LEFT] = "annotation/object/bndbox/xmin",
    [VOC_TOP] = "annotation/object/bndbox/ymin", [VOC_RIGHT] = "annotation/object/bndbox/xmax",
    [VOC_BOTTOM] = "annotation/object/bndbox/ymax", [WIDTH] = "annotation/size/width", [HEIGHT] = "annotation/size/height",
};

struct reading {
    const char *name, *text;
    size_t n, at;
    int64_t line;
    const char *const *classes;
    struct voc *into;
    int64_t capacity;
    char path[PATH];
    size_t length;  // of the path; 0: no element is open
    size_t begun;   // where the text of the innermost element begins
    bool leaf;      // no element has ended in it
    bool ended;     // the annotation
    int32_t value[VALUES];
    bool has[VALUES];
    int64_t object_line;
};

static int fail_at(const struct reading *r, int64_t line, int rc)
{
    return fail_prefix(rc, "%s:%lld: ", r->name, (long long)line);
}

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void go_to(struct reading *r, size_t to)
{
    for (; r->at < to; r->at++) r->line += r->text[r->at] == '\n';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// ---- values

static int take_class(struct reading *r, const char *word)
{
    struct text all = {0};
    int count = 0;
    for (; r->classes[count] != NULL; count++)
        if (strcmp(r->classes[count], word) == 0) {
            r->value[VOC_CLASS] = count;
            return 0;
        }
    text_list(&all, r->classes, count, " and ");
    int rc = fail_at(r, r->line, fail(ERR_INPUT, "there is no class \"%s\"; the classes are %s", word, all.at));
    text_free(&all);
    return rc;
}

static int take_number(struct reading *r, int v, const char *word)
{
    int64_t number;
    if (text_to_int(word, 0, VOC_SIDE, &number) < 0)
        return fail_at(r, r->line, fail(ERR_INPUT, "<%s> is \"%s\", which is no whole number from 0 to %d", last_of(paths[v]),
                                        word, VOC_SIDE));
    r->value[v] = (int32_t)number;
    return 0;
}

// The text of the element that ends, if it is one of those that are read.
static int take_value(struct reading *r, size_t end)
{
    char word[SHOWN + 1];
    int v = 0;
    while (v < VALUES && strcmp(r->path, paths[v]) != 0) v++;
    if (v == VALUES) return 0;
    size_t begin = r->begun;
    while (begin < end && is_blank(r->text[begin])) begin++;
    while (begin < end && is_blank(r->text[end - 1])) end--;
    if (!r->leaf || end - begin > SHOWN || memchr(r->text + begin, '&', end - begin) != NULL)
        return fail_at(r, r->line, fail(ERR_INPUT, "<%s> has elements, an entity or more than %d characters", last_of(paths[v]),
                                        SHOWN));
    if (r->has[v]) return fail_at(r, r->line, fail(ERR_INPUT, "a second <%s>", last_of(paths[v])));
    memcpy(word, r->text + begin, end - begin);
    word[end - begin] = '\0';
    r->has[v] = true;
    return v == VOC_CLASS ? take_class(r, word) : take_number(r, v, word);
}

static int take_object(struct reading *r)
{
    struct voc *voc = r->into;
    const int32_t *at = r->value;
    for (int v = 0; v < VOC_MEMBERS; v++)
        if (!r->has[v])
            return fail_at(r, r->object_line, fail(ERR_INPUT, "the object that begins here has no <%s>", last_of(paths[v])));
    if (at[VOC_LEFT] > at[VOC_RIGHT] || at[VOC_TOP] > at[VOC_BOTTOM])
        return fail_at(r, r->object_line, fail(ERR_INPUT, "the box goes from %d, %d back to %d, %d", at[VOC_LEFT], at[VOC_TOP],
                                               at[VOC_RIGHT], at[VOC_BOTTOM]));
    if (voc->objects == VOC_OBJECTS)
        return fail_at(r, r->object_line, fail(ERR_INPUT, "the picture has more than %d objects", VOC_OBJECTS));
    if (voc->objects == r->capacity) {
        r->capacity = 2 * r->capacity + 16;
        voc->object = grow(voc->object, (size_t)r->capacity * sizeof *voc->object);
    }
    struct voc_object *object = &voc->object[voc->objects++];
    memcpy(object->at, at, sizeof object->at);
    object->line = r->object_line;
    return 0;
}

// ---- elements

static int open_element(struct reading *r, const char *name, size_t length)
{
    if (r->ended) return fail_at(r, r->line, fail(ERR_INPUT, "an element begins after the annotation"));
    if (r->length + length + 2 > PATH)
        return fail_at(r, r->line, fail(ERR_INPUT, "the names of the open elements have more than %d characters", PATH - 2));
    if (r->length > 0) r->path[r->length++] = '/';
    memcpy(r->path + r->length, name, length);
    r->length += length;
    r->path[r->length] = '\0';
    if (strchr(r->path, '/') == NULL && strcmp(r->path, ROOT) != 0)
        return fail_at(r, r->line, fail(ERR_INPUT, "<%s> begins, not <%s>", r->path, ROOT));
    if (strcmp(r->path, OBJECT) == 0) {
        r->object_line = r->line;
        memset(r->has, 0, VOC_MEMBERS * sizeof *r->has);
    }
    r->leaf = true;
    return 0;
}

static int close_element(struct reading *r, const char *name, size_t length)
{
    const char *open = last_of(r->path);
    if (r->length == 0 || strlen(open) != length || memcmp(open, name, length) != 0)
        return fail_at(r, r->line, fail(ERR_INPUT, "</%.*s> ends %s%s", length < SHOWN ? (int)length : SHOWN, name,
                                        r->length > 0 ? "an element that is open as " : "no element", r->length > 0 ? open : ""));
    TRY(take_value(r, r->at));
    if (strcmp(r->path, OBJECT) == 0) TRY(take_object(r));
    r->length = open == r->path ? 0 : (size_t)(open - r->path) - 1;
    r->path[r->length] = '\0';
    r->leaf = false;
    r->ended = r->length == 0;
    return 0;
}

// The position of the '>' of the tag at r->at, or n. A quoted value of an attribute may hold one.
static size_t tag_end(const struct reading *r)
{
    char quote = '\0';
    for (size_t i = r->at + 1; i < r->n; i++) {
        char c = r->text[i];
        if (quote != '\0') quote = c == quote ? '\0' : quote;
        else if (c == '>') return i;
        else if (c == '<') return r->n;
        else if (c == '"' || c == '\'') quote = c;
    }
    return r->n;
}

static int read_tag(struct reading *r)
{
    size_t end = tag_end(r);
    bool closes = r->at + 1 < r->n && r->text[r->at + 1] == '/';
    const char *name = r->text + r->at + 1 + closes;
    if (end == r->n) return fail_at(r, r->line, fail(ERR_INPUT, "the tag that begins here has no end"));
    bool alone = !closes && r->text[end - 1] == '/';
    size_t length = 0, most = (size_t)(r->text + end - name) - (alone && r->text + end > name);
    while (length < most && !is_blank(name[length]) && name[length] != '/') length++;
    if (length == 0) return fail_at(r, r->line, fail(ERR_INPUT, "a tag without a name"));
    if (closes) TRY(close_element(r, name, length));
    else TRY(open_element(r, name, length));
    go_to(r, end + 1);
    r->begun = r->at;
    return alone ? close_element(r, name, length) : 0;
}

static bool begins_with(const struct reading *r, const char *word)
{
    return r->n - r->at >= strlen(word) && memcmp(r->text + r->at, word, strlen(word)) == 0;
}

static int skip_past(struct reading *r, const char *end)
{
    const char *found = memmem(r->text + r->at, r->n - r->at, end, strlen(end));
    if (found == NULL) return fail_at(r, r->line, fail(ERR_INPUT, "what begins here has no %s", end));
    go_to(r, (size_t)(found - r->text) + strlen(end));
    return 0;
}

static int read_elements(struct reading *r)
{
    while (r->at < r->n) {
        if (r->text[r->at] != '<') {
            if (r->length == 0 && !is_blank(r->text[r->at]))
                return fail_at(r, r->line, fail(ERR_INPUT, "a text outside of the annotation"));
            go_to(r, r->at + 1);
        } else if (begins_with(r, "<?")) {
            TRY(skip_past(r, "?>"));
        } else if (begins_with(r, "<!--")) {
            TRY(skip_past(r, "-->"));
        } else if (begins_with(r, "<!")) {
            return fail_at(r, r->line, fail(ERR_INPUT, "document types, entities and CDATA are not read"));
        } else {
            TRY(read_tag(r));
        }
    }
    if (r->length > 0) return fail_at(r, r->line, fail(ERR_INPUT, "the file ends, and <%s> is open", last_of(r->path)));
    return r->ended ? 0 : fail(ERR_INPUT, "%s has no <%s>", r->name, ROOT);
}

static int check_boxes(const struct reading *r)
{
    const struct voc *voc = r->into;
    if (!r->has[WIDTH] || !r->has[HEIGHT] || voc->width < 1 || voc->height < 1)
        return fail(ERR_INPUT, "%s does not say how large the picture is: <size> has no <width> or <height> above 0", r->name);
    for (int64_t i = 0; i < voc->objects; i++) {
        const int32_t *at = voc->object[i].at;
        if (at[VOC_RIGHT] > voc->width || at[VOC_BOTTOM] > voc->height)
            return fail_at(r, voc->object[i].line, fail(ERR_INPUT, "the box ends at %d, %d, outside of the picture of %d x %d",
                                                        at[VOC_RIGHT], at[VOC_BOTTOM], voc->width, voc->height));
    }
    return 0;
}

static int check_text(const char *name, const char *text, size_t n)
{
    if (n > VOC_BYTES) return fail(ERR_INPUT, "%s has %zu bytes; at most %d are read", name, n, VOC_BYTES);
    size_t valid = unicode_valid(text, n), plain = 0;
    while (plain < valid && (is_blank(text[plain]) || (unsigned char)text[plain] >= ' ')) plain++;
    return plain == n ? 0 : fail(ERR_INPUT, "%s: byte %zu is a control character or not UTF-8", name, plain + 1);
}

int voc_parse(const char *name, const char *text, size_t n, const char *const *classes, struct voc *into)
{
    struct reading r = {.name = name, .text = text, .n = n, .line = 1, .classes = classes, .into = into};
    *into = (struct voc){0};
    TRY(check_text(name, text, n));
    int rc = read_elements(&r);
    into->width = r.value[WIDTH], into->height = r.value[HEIGHT];
    if (rc == 0) rc = check_boxes(&r);
    if (rc < 0) voc_free(into);
    return rc;
}

void voc_free(struct voc *voc)
{
    free(voc->object);
    *voc = (struct voc){0};
}

bool voc_is_empty(const struct voc_object *object)
{
    return object->at[VOC_LEFT] == object->at[VOC_RIGHT] || object->at[VOC_TOP] == object->at[VOC_BOTTOM];
}

// ---- lists of names

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int check_once(const char *name, const struct voc_names *names)
{
    if (names->count == 0) return 0;
    size_t bytes = (size_t)names->count * sizeof *names->name;
    char(*sorted)[VOC_NAME] = memcpy(zalloc(bytes), names->name, bytes);
    int rc = 0;
    qsort(sorted, (size_t)names->count, sizeof *sorted, by_bytes);
    for (int64_t i = 1; i < names->count && rc == 0; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0) rc = fail(ERR_INPUT, "%s has %s twice", name, sorted[i]);
    free(sorted);
    return rc;
}

static int take_name(const char *name, int64_t line, const char *text, size_t n, struct voc_names *into)
{
    size_t good = 0;
    while (good < n && is_of_name(text[good])) good++;
    if (good < n || n >= VOC_NAME || text[0] == '.')
        return fail(ERR_INPUT, "%s:%lld: a name has letters, digits, \"_\", \"-\" and \".\", at most %d, and no \".\" first",
                    name, (long long)line, VOC_NAME - 1);
    if (into->count == VOC_NAMES) return fail(ERR_INPUT, "%s has more than %d names", name, VOC_NAMES);
    if ((into->count & (into->count - 1)) == 0)
        into->name = grow(into->name, (size_t)(2 * into->count + 1) * sizeof *into->name);
    memset(into->name[into->count], 0, VOC_NAME);
    memcpy(into->name[into->count++], text, n);
    return 0;
}

int voc_parse_names(const char *name, const char *text, size_t n, struct voc_names *into)
{
    int64_t line = 1;
    int rc = 0;
    *into = (struct voc_names){0};
    for (size_t at = 0; at < n && rc == 0; line++) {
        const char *end = memchr(text + at, '\n', n - at), *begin = text + at;
        size_t length = end != NULL ? (size_t)(end - begin) : n - at;
        at += length + 1;
        while (length > 0 && is_blank(begin[length - 1])) length--;
        if (length > 0) rc = take_name(name, line, begin, length, into);
    }
    if (rc == 0) rc = check_once(name, into);
    if (rc == 0 && into->count == 0) rc = fail(ERR_INPUT, "%s has no name", name);
    if (rc < 0) voc_names_free(into);
    return rc;
}

void voc_names_free(struct voc_names *names)
{
    free(names->name);
    *names = (struct voc_names){0};
}
