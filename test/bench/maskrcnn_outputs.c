// SPDX-License-Identifier: Apache-2.0
// What Mask R-CNN on ResNet-50 computes of a picture with any weights, in f32 (test/bench/torch_maskrcnn.py compares).
//
//   maskrcnn_outputs WEIGHTS PICTURE ROWS COLUMNS    PICTURE: f32[ROWS,COLUMNS,3], normalised; each value goes to PICTURE.NAME
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/common/base/text.h"
#include "tasks/detection/two_stage.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEPT = 10 };

static void check(int rc)
{
    if (rc >= 0) return;
    fprintf(stderr, "%s\n", error_text());
    exit(1);
}

static int state(struct graph *g, const char *name, struct shape shape, enum dtype type)
{
    return graph_state(g, name, shape, type, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
}

static void keep_value(struct graph *g, const char *name, int v)
{
    check(graph_check(g));
    int to = graph_state(g, name, g->value[v].shape, g->value[v].dtype, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    graph_node_over(g, OP_ASSIGN, (int[]){to, v}, 2, NULL, &to, NULL);
}

static const char *const names[KEPT] = {"boxes",         "scores",       "classes",   "masks",        "count",
                                        "anchor_logits", "anchor_codes", "proposals", "class_logits", "class_codes"};

static void build(struct graph *g, const struct maskrcnn *o)
{
    static const struct task task = {.name = "maskrcnn"};
    static const struct setting setting = {.task = &task};
    static const struct task_program evaluate = {.kind = PROGRAM_EVALUATE};
    struct step step = {.g = g, .setting = &setting, .program = &evaluate};
    struct net n = net_of(&step);
    const struct maskrcnn_batch in = {.x = state(g, "x", SHAPE(1, o->rows, o->columns, 3), F32),
                                      .sizes = state(g, "sizes", SHAPE(1, 2), F32), .anchors = two_stage_anchors(g, o),
                                      .levels = two_stage_levels(g, o)};
    const int64_t classes = o->classes - 1, most = maskrcnn_levels(o, NULL), rows = o->proposals < most ? o->proposals : most;
    const struct maskrcnn_found f = maskrcnn_found(&n, o, &in, state(g, "class_table", SHAPE(rows * classes), I32));
    const int value[KEPT] = {f.boxes,         f.scores,       f.classes,   f.masks,        f.count,
                             f.anchor_logits, f.anchor_codes, f.proposals, f.class_logits, f.class_codes};
    for (int i = 0; i < KEPT; i++) keep_value(g, names[i], value[i]);
}

static void load(struct session *s, const char *path)
{
    const struct model *m = two_stage_large;
    const struct checkpoint_import how = {m->prefixes, m->fresh, m->inside, m->older};
    struct checkpoint_imported imported;
    struct checkpoint *c;
    check(checkpoint_open(path, &c));
    check(checkpoint_import(c, s, &how, &imported));
    checkpoint_close(c);
    printf("%s\n", imported.text);
}

static void put(struct session *s, const struct maskrcnn *o, const char *path)
{
    const float sizes[2] = {(float)o->rows, (float)o->columns};
    const size_t table = slot_bytes(slot_find(s->store, "class_table"));
    char *pixels;
    size_t bytes;
    check(file_read(path, 1 << 30, &pixels, &bytes));
    check(session_put(s, "x", pixels, 0, bytes));
    check(session_put(s, "sizes", sizes, 0, sizeof sizes));
    int32_t *classes = zalloc(table);
    for (size_t i = 0; i < table / sizeof *classes; i++) classes[i] = 1 + (int32_t)(i % (size_t)(o->classes - 1));
    check(session_put(s, "class_table", classes, 0, table));
    free(classes), free(pixels);
}

static void write_values(struct session *s, const char *path)
{
    for (int i = 0; i < KEPT; i++) {
        struct slot *slot = slot_find(s->store, names[i]);
        struct text to = {0};
        char *bytes = zalloc(slot_bytes(slot));
        text_add(&to, "%s.%s", path, names[i]);
        check(session_get(s, names[i], bytes, slot_bytes(slot)));
        check(file_write(to.at, bytes, slot_bytes(slot)));
        text_free(&to), free(bytes);
    }
}

int main(int argc, char **argv)
{
    struct maskrcnn o = maskrcnn_r50_fpn;
    struct device *device;
    struct session *s;
    if (argc != 5) return 2;
    o.rows = atoi(argv[3]), o.columns = atoi(argv[4]);
    check(device_open("cpu", 1, &device));
    check(session_new(device, &s));
    struct graph *g = graph_new(s->store, "outputs");
    build(g, &o);
    check(session_add(s, g));
    check(session_ready(s));
    check(session_reset(s, 1));
    load(s, argv[1]);
    put(s, &o, argv[2]);
    check(session_run(s, 0));
    write_values(s, argv[2]);
    session_free(s);
    device_close(device);
    return 0;
}
