// SPDX-License-Identifier: Apache-2.0
// `dawn models`: what the networks are and what they cost. The figures are counted from the graph of one sample,
// which is built and thrown away; nothing runs.
#include "runtime/base/options.h"
#include "runtime/base/text.h"
#include "tasks/commands.h"
#include "tasks/task.h"

#include <stdio.h>

enum { SIDE = 32, CHANNELS = 3, CLASSES = 10 };  // the samples of CIFAR10

static const struct option OPTIONS[] = {{OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0}};
static const struct usage USAGE = {
    "models", "[NAME]",
    "Lists the networks that \"dawn train TASK --model NAME\" knows, with their parameters and the operations of one "
    "forward pass of a 32 x 32 sample (a multiplication and an addition count as two). With the NAME of one, lists its "
    "layers.",
    OPTIONS,
    "Example:\n"
    "  dawn models resnet9\n",
};

struct network {
    struct store *store;
    struct graph *graph;
};

static void network_free(struct network *n)
{
    graph_free(n->graph);
    store_free(n->store);
}

// The network as it answers one sample. Widths are its own: the recipe only gives activations and pools.
static int network_new(const struct model *m, struct network *into)
{
    struct recipe recipe;
    TRY(recipe_embedded("airbench94", &recipe));
    recipe.widths.count = 0;
    struct network n = {.store = store_new()};
    n.graph = graph_new(n.store, m->name);
    int x = graph_state(n.graph, "x", SHAPE(1, SIDE, SIDE, CHANNELS), F32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    m->logits(n.graph, x, &(struct model_build){&recipe, false, false, CLASSES});
    int rc = graph_check(n.graph);
    if (rc < 0)
        network_free(&n);
    else
        *into = n;
    return rc;
}

static int64_t parameters(const struct network *n)
{
    int64_t sum = 0;
    for (int i = 0; i < n->store->count; i++)
        if (n->store->slot[i]->memory == MEMORY_WEIGHTS) sum += shape_count(&n->store->slot[i]->shape);
    return sum;
}

static double flops(const struct network *n)
{
    double sum = 0;
    for (int i = 0; i < n->graph->nodes; i++) sum += node_cost(n->graph, &n->graph->node[i]).flops;
    return sum;
}

static int list(void)
{
    printf("%-10s  %12s  %12s\n", "name", "parameters", "forward pass");
    for (const struct model *m = model_table; m->name; m++) {
        struct network n;
        char count[TEXT_FIGURE], work[TEXT_FIGURE];
        TRY(network_new(m, &n));
        printf("%-10s  %12s  %12s\n", m->name, text_count(count, parameters(&n)), text_si(work, flops(&n), "FLOP"));
        network_free(&n);
        struct text about = {0};
        text_add(&about, "    ");
        text_wrap(&about, m->about, 4, 4);
        puts(about.at);
        text_free(&about);
    }
    printf("\n\"dawn models NAME\" lists the layers of one.\n");
    return 0;
}

// A layer is a convolution or the head: what carries filters, and nearly all the work.
static int layer_row(const struct network *n, const struct node *node, int number)
{
    if (node->op != OP_CONV && node->op != OP_MATMUL) return number;
    const struct value *w = &n->graph->value[node->in[1]], *y = &n->graph->value[node->out[0]];
    char filters[SHAPE_TEXT], out[SHAPE_TEXT], count[TEXT_FIGURE], work[TEXT_FIGURE];
    struct shape one = y->shape;  // without the dimension of samples
    one.rank--;
    for (int i = 0; i < one.rank; i++) one.dim[i] = y->shape.dim[i + 1];
    printf("%3d  %-29s  %-11s  %-10s  %9s  %s\n", number + 1, w->slot ? w->slot->name : node->scope,
           shape_text(filters, &w->shape), shape_text(out, &one), text_count(count, shape_count(&w->shape)),
           text_si(work, node_cost(n->graph, node).flops, ""));
    return number + 1;
}

static int layers(const struct model *m)
{
    struct network n;
    char count[TEXT_FIGURE], work[TEXT_FIGURE];
    TRY(network_new(m, &n));
    printf("%3s  %-29s  %-11s  %-10s  %9s  %s\n", "no.", "filters", "shape", "result", "weights", "FLOP");
    int number = 0;
    for (int i = 0; i < n.graph->nodes; i++) number = layer_row(&n, &n.graph->node[i], number);
    printf("\n%s: %s parameters, %s a sample\n", m->name, text_count(count, parameters(&n)),
           text_si(work, flops(&n), "FLOP"));
    network_free(&n);
    return 0;
}

int cmd_models(int argc, char **argv)
{
    int rc = options_parse(&USAGE, &argc, argv);
    if (rc != 0) return rc < 0 ? rc : 0;
    if (argc > 2) return fail(ERR_USAGE, "one model at a time: \"%.60s\" is too much", argv[2]);
    if (argc == 1) return list();
    for (int i = 0; task_table[i]; i++)
        if (!strcmp(task_table[i]->name, argv[1])) return list();  // there is one task so far: all are its
    const struct model *m;
    TRY(model_find(argv[1], &m));
    return layers(m);
}
