// SPDX-License-Identifier: Apache-2.0
// Pictures are taken in the order of the pack, some hundred at a time: threads read and convert them, then one appends them.
//
// The seed permutes each split, training before validation, so that any window of the file is a random sample of all classes.
//
// Cost: converting, on all cores; the source is read at random, one picture at a time. 490 pictures per second and core from
// ILSVRC's originals to a short side of 256, 640 if they keep their size. Memory: 150 bytes per picture, and the pictures of
// one round.
#include "data/pack/packer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/pack/convert.h"
#include "data/pack/origin.h"
#include "data/pack/part.h"
#include "data/pieces.h"
#include "runtime/common/base/rng.h"
#include "runtime/common/base/text.h"
#include "runtime/common/base/threads.h"
#include "runtime/common/base/whole.h"

enum { ROUND_PER_THREAD = 128, CONVERT_GRAIN = 8, NOTES_MAX = 20 };

struct piece {  // a picture of a round
    enum split split;
    int64_t index;  // in the listing
    struct converted converted;
    uint8_t *bytes;  // a copy
};

struct packer {
    const struct packer_choice *choice;
    struct packer_report *report;
    struct origin *origin;
    struct part part;
    int32_t *order[SPLIT_COUNT];
    uint32_t *name[SPLIT_COUNT];  // position of the name of each listed picture
    struct text names;
    struct piece *piece;
    int notes;
};

static void packer_note(struct packer *p, const char *sentence)
{
    if (p->choice->note != NULL) p->choice->note(p->choice->context, sentence);
}

// ---- order and names

// Fisher-Yates, one draw per picture; the epoch of the draw is the split.
static int32_t *draw_order(uint64_t seed, enum split split, int64_t n)
{
    int32_t *order = zalloc((size_t)n * sizeof *order + 1);
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = rng_draw(seed, RNG_PACK, (uint32_t)split, (uint32_t)i, 0).v[0];
        int64_t j = rng_below(bits, (uint32_t)i + 1);
        order[i] = order[j];
        order[j] = (int32_t)i;
    }
    return order;
}

// Names have the order of the listing, so they can be written before the first picture.
static int list_names(struct packer *p)
{
    const struct listing *l = &p->origin->listing;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        p->name[s] = zalloc((size_t)l->count[s] * sizeof *p->name[s] + 1);
        for (int64_t i = 0; i < l->count[s]; i++) {
            if (p->names.length > PACK_NAMES_MAX - (1 << 16))
                return fail(ERR_INPUT, "the names of the pictures have more than %d bytes", PACK_NAMES_MAX);
            p->name[s][i] = (uint32_t)p->names.length;
            listing_path(l, (enum split)s, i, &p->names);
            if (p->names.length - p->name[s][i] > UINT16_MAX)
                return fail(ERR_INPUT, "the name of %.60s... is longer than %d bytes", p->names.at + p->name[s][i], UINT16_MAX);
        }
    }
    return 0;
}

static uint32_t asked_flags(const struct packer_choice *c)
{
    return (uint32_t)((c->partial ? PACK_PARTIAL : 0) | (c->own ? PACK_OWN : 0));
}

static int open_part(struct packer *p)
{
    const struct packer_choice *c = p->choice;
    const struct listing *l = &p->origin->listing;
    struct pack_header h = {.version = PACK_VERSION, .flags = asked_flags(c),
                            .classes = (uint32_t)l->synsets->count, .short_side = (uint32_t)c->short_side,
                            .quality = (uint32_t)c->quality, .seed = c->seed};
    snprintf(h.name, sizeof h.name, "%s", c->flavour->name);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        if (l->count[s] > PACK_RECORDS_MAX)
            return fail(ERR_INPUT, "%s has %lld pictures in a split, more than %d", c->from, (long long)l->count[s],
                        PACK_RECORDS_MAX);
        h.records[s] = (uint64_t)l->count[s];
        p->order[s] = draw_order(c->seed, (enum split)s, l->count[s]);
    }
    TRY(list_names(p));
    h.names_bytes = p->names.length;
    origin_digest(p->origin, h.source);
    origin_version(p->origin, h.content[0]);
    TRY(part_open(&p->part, c->to, &h, p->names.at));
    if (p->part.restarted)
        packer_note(p, "an earlier command left a part of a pack, but its source or its options were others: it starts again");
    return 0;
}

// ---- a round

static int convert_one(struct packer *p, struct converter *converter, struct piece *piece)
{
    const struct listing *l = &p->origin->listing;
    int64_t count = 0;
    size_t capacity = (size_t)l->picture[piece->split][piece->index].bytes;
    uint8_t *bytes = malloc(capacity + 1);
    struct text name = {0};
    listing_path(l, piece->split, piece->index, &name);
    int rc = bytes == NULL ? fail(ERR_MEMORY, "%s: not enough memory for its %zu bytes", name.at, capacity)
                           : origin_read(p->origin, piece->split, piece->index, bytes, capacity, &count);
    if (rc == 0) rc = converter_run(converter, name.at, bytes, (size_t)count, &piece->converted);
    if (rc == 0 && piece->converted.bytes != bytes) {
        uint8_t *copy = piece->converted.codec == PACK_NONE ? NULL : malloc(piece->converted.count);
        if (copy != NULL) memcpy(copy, piece->converted.bytes, piece->converted.count);
        else if (piece->converted.codec != PACK_NONE) rc = fail(ERR_MEMORY, "%s: not enough memory", name.at);
        piece->bytes = copy;
        free(bytes);
    } else {
        piece->bytes = bytes;
    }
    text_free(&name);
    return rc;
}

static int convert_pieces(void *context, int64_t begin, int64_t end)
{
    struct packer *p = context;
    struct converter *converter = converter_new(&(struct convert_choice){p->choice->short_side, p->choice->quality});
    int rc = 0;
    for (int64_t i = begin; i < end && rc == 0; i++) rc = convert_one(p, converter, &p->piece[i]);
    converter_free(converter);
    return rc;
}

// Counts damaged pictures and names the first ones. The pack marks all of them.
static int note_damage(struct packer *p, const struct piece *piece)
{
    const struct converted *c = &piece->converted;
    int64_t bad = p->report->damaged + p->report->absent;
    if (c->codec != PACK_NONE && !(c->marks & PACK_DAMAGED)) return 0;
    struct text sentence = {0};
    text_add(&sentence, "%s (%s)", c->why, c->codec == PACK_NONE ? "left out" : "the readable part is kept, the rest is gray");
    if (p->notes < NOTES_MAX) packer_note(p, sentence.at);
    else if (p->notes == NOTES_MAX) packer_note(p, "further damaged pictures are counted but not named");
    p->notes++;
    text_free(&sentence);
    if (bad <= p->choice->damaged) return 0;
    return fail(ERR_INPUT, "%lld pictures are damaged, and at most %lld are allowed (--damaged); the last is %s", (long long)bad,
                (long long)p->choice->damaged, c->why);
}

static void count_marks(struct packer_report *report, enum split split, int codec, int marks)
{
    report->encoded += (marks & PACK_ENCODED) != 0;
    report->converted += (marks & PACK_CONVERTED) != 0;
    report->damaged += (marks & PACK_DAMAGED) != 0;
    if (codec == PACK_NONE) report->absent++;
    else report->count[split]++;
}

static int append_one(struct packer *p, const struct piece *piece)
{
    const struct listed *picture = &p->origin->listing.picture[piece->split][piece->index];
    const struct converted *c = &piece->converted;
    struct pack_record r = {.width = (uint16_t)c->width, .height = (uint16_t)c->height, .label = (uint16_t)picture->label,
                            .split = (uint8_t)piece->split, .codec = (uint8_t)c->codec, .marks = (uint8_t)c->marks};
    struct text name = {0};
    listing_path(&p->origin->listing, piece->split, piece->index, &name);
    int rc = c->count <= PACK_PICTURE_MAX
                 ? 0
                 : fail(ERR_INPUT, "%s: a picture of %zu bytes is too large for a pack", name.at, c->count);
    r.name = p->name[piece->split][piece->index];
    r.name_length = (uint16_t)name.length;
    r.length = (uint32_t)c->count;
    text_free(&name);
    TRY(rc);
    TRY(part_add(&p->part, &r, piece->bytes));
    count_marks(p->report, piece->split, c->codec, c->marks);
    return note_damage(p, piece);
}

static int run_round(struct packer *p, int64_t first, int64_t count)
{
    int64_t train = p->origin->listing.count[SPLIT_TRAIN];
    for (int64_t i = 0; i < count; i++) {
        enum split split = first + i < train ? SPLIT_TRAIN : SPLIT_TEST;
        p->piece[i] = (struct piece){.split = split, .index = p->order[split][first + i - (split == SPLIT_TRAIN ? 0 : train)]};
    }
    int rc = pieces_crew(count, CONVERT_GRAIN, convert_pieces, p);
    for (int64_t i = 0; i < count; i++) {
        if (rc == 0) rc = append_one(p, &p->piece[i]);
        free(p->piece[i].bytes);
    }
    if (rc == 0) return part_keep(&p->part);
    return rc;
}

static void count_resumed(struct packer *p)
{
    const struct pack_header *h = &p->part.header;
    uint64_t offset = pack_begin(h);
    for (uint64_t i = 0; i < h->done; i++) {
        struct pack_record r;
        BUG_IF(pack_parse_record(p->part.path, h, i, p->part.index + i * PACK_RECORD, &offset, &r) < 0);  // part_open did it
        count_marks(p->report, (enum split)r.split, r.codec, r.marks);
    }
    p->report->resumed = (int64_t)h->done;
}

static int run_rounds(struct packer *p)
{
    const struct packer_choice *c = p->choice;
    int64_t total = (int64_t)pack_records(&p->part.header), round = ROUND_PER_THREAD * threads_count();
    count_resumed(p);
    p->piece = zalloc((size_t)round * sizeof *p->piece);
    for (int64_t done; (done = (int64_t)p->part.header.done) < total;) {
        if (c->progress != NULL) c->progress(c->context, done, total);
        TRY(run_round(p, done, total - done < round ? total - done : round));
    }
    if (c->progress != NULL) c->progress(c->context, total, total);
    return 0;
}

// ---- the interface

static int finish(struct packer *p)
{
    struct packer_report *r = p->report;
    uint32_t flags = asked_flags(p->choice);
    for (int s = 0; s < SPLIT_COUNT; s++)
        if (r->count[s] == 0) return fail(ERR_INPUT, "no picture of %s/%s can be decoded", p->choice->from, listing_split[s]);
    TRY(origin_official(p->origin, &r->official, r->says));
    // The earlier command compared the archives that it packed. The present archives may be other ones.
    if (r->official && p->part.finished && !(p->part.found & PACK_OFFICIAL)) {
        r->official = false;
        snprintf(r->says, sizeof r->says, "the command that packed it had other archives than the published ones");
    }
    if (r->official && r->absent > 0) {
        r->official = false;
        snprintf(r->says, sizeof r->says, "the source is as published, but %lld pictures are left out", (long long)r->absent);
    }
    TRY(part_commit(&p->part, flags | (r->official ? PACK_OFFICIAL : 0)));
    r->bytes = (int64_t)p->part.header.end;
    return 0;
}

static int run(struct packer *p)
{
    const struct packer_choice *c = p->choice;
    struct origin_choice from = {c->flavour, c->from, c->truth, c->to, c->partial, c->own, c->share};
    if (file_exists(c->to)) return fail(ERR_USAGE, "%s exists already, and a pack overwrites nothing", c->to);
    TRY(whole_check_target(c->to));
    TRY(origin_open(&from, &p->origin));
    p->report->foreign = p->origin->listing.foreign;
    TRY(open_part(p));
    TRY(run_rounds(p));
    return finish(p);
}

int packer_run(const struct packer_choice *choice, struct packer_report *report)
{
    struct packer p = {.choice = choice, .report = report, .part = {.fd = -1}};
    *report = (struct packer_report){0};
    int rc = run(&p);
    part_close(&p.part);
    origin_close(p.origin);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        free(p.order[s]);
        free(p.name[s]);
    }
    free(p.piece);
    text_free(&p.names);
    return rc;
}
