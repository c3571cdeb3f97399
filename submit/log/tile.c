// SPDX-License-Identifier: Apache-2.0
// Paths of tiles, and hashes out of tiles. Invariant: an accepted path is the one form in which this file writes it, so a
// tile has one address.
#include "submit/log/tile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"

enum { HEIGHT = 8, PARTS_MOST = 5, DIGITS_MOST = 2 };

// ---- paths
static bool read_digits(const char **at, int count, int64_t *into)
{
    for (int i = 0; i < count; i++) {
        if ((*at)[i] < '0' || (*at)[i] > '9') return false;
        *into = *into * 10 + ((*at)[i] - '0');
    }
    *at += count;
    return true;
}

// A number without leading zeros, of at most `most` digits.
static bool read_plain(const char **at, int most, int *into)
{
    int64_t value = 0;
    int count = 0;
    while (count < most && (*at)[count] >= '0' && (*at)[count] <= '9') count++;
    if (count == 0 || (count > 1 && **at == '0')) return false;
    if (!read_digits(at, count, &value)) return false;
    *into = (int)value;
    return true;
}

// "x001/x234/067": three digits per part, an x before all parts but the last, and no part of zeros in front.
static bool read_number(const char **at, int64_t *into)
{
    *into = 0;
    for (int part = 0; part < PARTS_MOST; part++) {
        const bool more = **at == 'x';
        *at += more;
        if (!read_digits(at, 3, into)) return false;
        if (!more) return true;
        if (*into == 0 || **at != '/') return false;
        ++*at;
    }
    return false;
}

static int no_path(const char *path)
{
    return fail(ERR_MISSING, "\"%.80s\" is not the address of a tile", path);
}

int tile_read_path(const char *path, struct tile *t)
{
    const char *at = path;
    *t = (struct tile){.width = TILE_WIDTH};
    if (strncmp(at, "tile/", 5) != 0) return no_path(path);
    at += 5;
    if (strncmp(at, "entries/", 8) == 0) {
        t->level = TILE_ENTRIES;
        at += 7;
    } else if (!read_plain(&at, DIGITS_MOST, &t->level) || t->level > TILE_LEVEL_MOST) {
        return no_path(path);
    }
    if (*at++ != '/' || !read_number(&at, &t->number)) return no_path(path);
    if (strncmp(at, ".p/", 3) == 0) {
        at += 3;
        if (!read_plain(&at, 3, &t->width) || t->width < 1 || t->width >= TILE_WIDTH) return no_path(path);
    }
    return *at == 0 ? 0 : no_path(path);
}

char *tile_write_path(const struct tile *t, char into[TILE_PATH])
{
    int parts = 1;
    size_t length;
    if (t->level == TILE_ENTRIES) length = (size_t)snprintf(into, TILE_PATH, "tile/entries");
    else length = (size_t)snprintf(into, TILE_PATH, "tile/%d", t->level);
    for (int64_t rest = t->number / 1000; rest > 0; rest /= 1000) parts++;
    BUG_IF(t->number < 0 || parts > PARTS_MOST);
    for (int part = parts - 1; part >= 0; part--) {
        int64_t unit = 1;
        for (int i = 0; i < part; i++) unit *= 1000;
        length += (size_t)snprintf(into + length, TILE_PATH - length, "/%s%03d", part > 0 ? "x" : "",
                                   (int)(t->number / unit % 1000));
    }
    if (t->width < TILE_WIDTH) snprintf(into + length, TILE_PATH - length, ".p/%d", t->width);
    return into;
}

// ---- the tiles of a tree
static int64_t hashes_of(int level, int64_t size)
{
    const int bits = level == TILE_ENTRIES ? 0 : HEIGHT * level;
    return bits < 63 ? size >> bits : 0;
}

bool tile_exists(const struct tile *t, int64_t size)
{
    return t->number <= TREE_MOST / TILE_WIDTH && t->number * TILE_WIDTH + t->width <= hashes_of(t->level, size);
}

int tile_each(int64_t size, int (*each)(void *, const struct tile *), void *to)
{
    for (int level = TILE_ENTRIES; level <= TILE_LEVEL_MOST && hashes_of(level, size) > 0; level++) {
        const int64_t count = hashes_of(level, size);
        for (int64_t number = 0; number * TILE_WIDTH < count; number++) {
            const int64_t left = count - number * TILE_WIDTH;
            TRY(each(to, &(struct tile){level, number, left < TILE_WIDTH ? (int)left : TILE_WIDTH}));
        }
    }
    return 0;
}

bool tile_entry_head(size_t count, unsigned char into[2])
{
    into[0] = (unsigned char)(count >> 8);
    into[1] = (unsigned char)count;
    return count <= TILE_ENTRY_MOST;
}

// ---- hashes out of tiles
struct tile_kept {
    struct tile tile;
    struct tree_hash hash[TILE_WIDTH];
};

static int find_tile(struct tile_reader *r, const struct tile *t, const struct tile_kept **found)
{
    for (int i = 0; i < r->count; i++) {
        *found = &r->kept[i];
        if (r->kept[i].tile.level == t->level && r->kept[i].tile.number == t->number) return 0;
    }
    unsigned char bytes[TILE_BYTES];
    TRY(r->fetch(r->context, t, bytes));
    r->kept = grow(r->kept, (size_t)(r->count + 1) * sizeof *r->kept);
    struct tile_kept *kept = &r->kept[r->count++];
    *kept = (struct tile_kept){.tile = *t};
    memcpy(kept->hash, bytes, (size_t)t->width * TREE_HASH);
    *found = kept;
    return 0;
}

// The subtree of hashes [first, first + 2^levels) of a tile.
static void join_hashes(const struct tree_hash *first, int levels, struct tree_hash *into)
{
    struct tree part = {0};
    struct tree_hash tops[TREE_TOPS];
    for (int i = 0; i < 1 << levels; i++) tree_add(&part, &first[i], tops);
    tree_root(&part, into);
}

static int read_hash(void *context, int level, int64_t index, struct tree_hash *into)
{
    struct tile_reader *r = context;
    const struct tile_kept *kept;
    const int within = level % HEIGHT;
    const int64_t first = index << within, count = hashes_of(level / HEIGHT, r->size);
    struct tile t = {level / HEIGHT, first / TILE_WIDTH, TILE_WIDTH};
    const int64_t left = count - t.number * TILE_WIDTH;
    BUG_IF(first + (1 << within) > count);
    if (left < TILE_WIDTH) t.width = (int)left;
    TRY(find_tile(r, &t, &kept));
    join_hashes(&kept->hash[first % TILE_WIDTH], within, into);
    return 0;
}

struct tree_source tile_source(struct tile_reader *r)
{
    return (struct tree_source){read_hash, r};
}

void tile_reader_free(struct tile_reader *r)
{
    free(r->kept);
    r->kept = NULL;
    r->count = 0;
}
