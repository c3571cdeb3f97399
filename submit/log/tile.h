// SPDX-License-Identifier: Apache-2.0
// Tiles: how a log serves its tree as files that never change (c2sp.org/tlog-tiles). A tile has 256 hashes, each of a complete
// subtree; the last one of a level may have fewer. A bundle has the entries themselves.
// Workload: a page or a proof needs a tile of each level, three of ten million leaves. Cost: at most 255 hashes per tile.
#pragma once

#include "submit/log/tree.h"

enum {
    TILE_WIDTH = 256,
    TILE_BYTES = TILE_WIDTH * TREE_HASH,
    TILE_LEVEL_MOST = 63,
    TILE_ENTRIES = -1,     // as a level: a bundle of entries
    TILE_PATH = 64,
    TILE_ENTRY_MOST = 65535,
};
struct tile {
    int level;       // a hash stands for 256^level leaves; or TILE_ENTRIES
    int64_t number;  // of the tile in its level
    int width;       // 1 to 256
};
// The pure parser of "tile/0/x001/234", "tile/1/000.p/7", "tile/entries/000": only the one form of each is accepted.
int tile_read_path(const char *path, struct tile *) MUST_CHECK;
char *tile_write_path(const struct tile *, char into[TILE_PATH]);
// Whether a tree of that size has all of the tile.
bool tile_exists(const struct tile *, int64_t size);
// All tiles and bundles that a tree of that size is served as, the last ones partial. Stops when `each` fails.
int tile_each(int64_t size, int (*each)(void *, const struct tile *), void *) MUST_CHECK;
// The bundle's form of an entry: its length in two bytes, then itself. False: it is too long.
bool tile_entry_head(size_t count, unsigned char into[2]);

// A source of hashes (tree.h) out of tiles, each of which is fetched once.
struct tile_reader {
    int64_t size;  // of the tree whose tiles these are
    int (*fetch)(void *context, const struct tile *, unsigned char bytes[TILE_BYTES]);  // TREE_HASH bytes for each hash
    void *context;
    struct tile_kept *kept;
    int count;
};
struct tree_source tile_source(struct tile_reader *);
void tile_reader_free(struct tile_reader *);
