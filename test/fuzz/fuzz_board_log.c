// SPDX-License-Identifier: Apache-2.0
// Any bytes as a log's answers: a checkpoint, the path of a tile, a witness's key, a proof. An accepted note has all its
// parts within its bytes; accepted paths and keys are written back unchanged; a proof may be anything.
#include "submit/log/note.h"
#include "submit/log/tile.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"

static void try_note(const char *bytes, size_t count)
{
    static const struct sshkey nobody;
    static struct note note;
    int64_t seconds;
    if (note_read(bytes, count, &note) < 0) return;
    BUG_IF(note.text_count >= count || note.count < 1 || note.count > NOTE_SIGNATURES);
    BUG_IF(note.checkpoint.size < 0 || note.checkpoint.size > TREE_MOST || *note.checkpoint.origin == 0);
    BUG_IF(bytes[note.text_count - 1] != '\n' || bytes[note.text_count] != '\n');
    if (note_check(bytes, &note, &nobody) == 0) BUG("nobody signed it");
    for (int i = 0; i < note.count; i++) (void)note_is_cosignature(&note, i, &seconds);
}

static void try_words(const char *text)
{
    struct tile tile;
    struct note_witness witness;
    char path[TILE_PATH];
    int64_t seconds;
    static struct note note;
    if (tile_read_path(text, &tile) == 0) BUG_IF(strcmp(tile_write_path(&tile, path), text) != 0);
    if (note_read_witness(text, &witness) == 0) BUG_IF(note_cosigned("", &note, &witness, &seconds) != ERR_MISSING);
}

static void try_proof(const unsigned char *bytes, size_t count)
{
    struct tree_hash proof[TREE_PROOF] = {{{0}}}, root = {{0}}, leaf = {{1}};
    int64_t numbers[2] = {0};
    if (count < sizeof numbers + 1) return;
    memcpy(numbers, bytes, sizeof numbers);
    const size_t rest = count - sizeof numbers - 1;
    memcpy(proof, bytes + sizeof numbers + 1, rest < sizeof proof ? rest : sizeof proof);
    const int length = bytes[sizeof numbers] % (TREE_PROOF + 1);
    if (tree_has_leaf(&leaf, numbers[0], numbers[1], proof, length, &root)) BUG("a proof that leads to zeros");
    (void)tree_has_grown(numbers[0], &root, numbers[1], &leaf, proof, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *text = zalloc(count + 1);
    if (count > 0) memcpy(text, bytes, count);
    try_note(text, count);
    try_words(text);
    try_proof(bytes, count);
    free(text);
    return 0;
}
