// SPDX-License-Identifier: Apache-2.0
// dawn models: lists the networks and their cost. The figures are counted on the graph of one sample, which is built and
// freed; nothing runs.
#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/options.h"
#include "runtime/fuse.h"
#include "tasks/commands.h"
#include "tasks/common/step/step.h"
#include "tasks/common/step/supply.h"
#include "tasks/tasks.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 64 };
static bool as_json;
static const struct option OPTIONS[] = {{OPTION_FLAG, 0, "json", NULL, "one JSON array instead of text", &as_json, 0, 0},
                                        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0}};
static const struct usage USAGE = {
    "models", "[TASK | MODEL]",
    "Lists the networks that \"dawn train TASK --model NAME\" can train, with their parameters and the operations of one "
    "forward pass of one sample, as inference runs it: norms are folded into filters, and a multiplication and an addition "
    "count as two. \"dawn plan\" counts in the same way. With the NAME of a model, lists its layers.",
    OPTIONS,
    "Example:\n"
    "  dawn models resnet9\n",
};

// The inference graph of one sample, built on the null device.
struct network {
    struct device *device;
    struct dataset *data, *view;  // view: NULL if the task trains on the stored samples
    struct session *session;
    struct supply supply;  // for a task that streams its samples
    const struct graph *graph;
};

static void network_free(struct network *n)
{
    if (n->session) session_free(n->session);
    supply_free(&n->supply);
    dataset_close(n->view);
    dataset_close(n->data);
    device_close(n->device);
}

// Builds the graph that answers for one sample. If an answer takes several programs, builds the forward graph of a training on
// one sample instead.
static int build_answer(struct network *n, struct setting *c)
{
    const bool loops = c->task->answer != NULL;
    const int feed = loops ? FEED_TRAIN : FEED_TEST, program = task_find_program(c, loops ? PROGRAM_TRAIN : PROGRAM_INFER);
    struct step_slots slots = {0};
    int fold = NONE;
    c->single = true;
    if (c->task->view) {
        TRY(c->task->view(c, n->data, &n->view));
        c->data = dataset_facts(n->view);
    }
    TRY(supply_new(&n->supply, c, n->view ? n->view : n->data, feed));
    c->feed[feed] = &n->supply.choice;
    struct variant is = {.batch = 1};
    if (loops && c->task->variant) c->task->variant(c, 0, program, &is);
    if (!loops && c->task->evaluation) c->task->evaluation(c, &is);
    return step_evaluate(n->session, c, &slots, &is, program, &fold);
}

// Uses the network's own widths. Only activations and pools come from the recipe.
static int network_build(const struct task *task, const struct model *m, struct network *n)
{
    struct recipe recipe;
    int answer;
    TRY(recipe_embedded(m->recipe ? m->recipe : task->recipes[0], &recipe));
    recipe.widths.count = 0;
    if (recipe.views > 1) recipe.views = 1;
    TRY(device_open("null", 1, &n->device));
    TRY(dataset_open_noise(task->data_sets[0], &n->data));
    TRY(session_new(n->device, &n->session));
    struct setting setting = {.task = task, .recipe = &recipe, .model = m, .data = dataset_facts(n->data), .dtype = F32,
                              .steps = 1, .steps_per_epoch = 1, .fuse = FUSE_ALL};  // counted as it runs, with folded norms
    TRY(answer = build_answer(n, &setting));
    n->graph = n->session->graph[answer];
    return 0;
}

static int network_new(const struct task *task, const struct model *m, struct network *n)
{
    *n = (struct network){0};
    int rc = network_build(task, m, n);
    if (rc < 0) network_free(n);
    return rc;
}

static int64_t count_parameters(const struct network *n)
{
    int64_t sum = 0;
    const struct slot_store *store = n->session->store;
    for (int i = 0; i < store->count; i++)
        if (role_is_parameter(store->slot[i]->role)) sum += shape_count(&store->slot[i]->shape);
    return sum;
}

static double count_flops(const struct network *n)
{
    double sum = 0;
    for (int i = 0; i < n->graph->nodes; i++) sum += node_cost(n->graph, &n->graph->node[i]).flops;
    return sum;
}

// The image that the first convolution takes: " at 224 x 224"; "" for a network without one.
static const char *size_text(const struct network *n, char into[48])
{
    *into = '\0';
    for (int i = 0; i < n->graph->nodes && *into == 0; i++) {
        const struct node *node = &n->graph->node[i];
        const struct shape *image = &n->graph->value[node->in[0]].shape;  // sample, height, width, channel
        if (node->op == OP_CONV && image->rank == 4)
            snprintf(into, 48, " at %lld x %lld", (long long)image->dim[1], (long long)image->dim[2]);
    }
    return into;
}

// Figures that a task without an answer for single samples does not have are left out.
static int collect_models(const struct task *task, json_t *list)
{
    for (const struct model *m = task->models; m->name; m++) {
        struct network n;
        int rc = network_new(task, m, &n);
        if (rc < 0 && rc != ERR_UNSUPPORTED) return rc;
        json_t *row = json_pack("{ss ss ss}", "task", task->name, "name", m->name, "about", m->about);
        if (rc == 0) {
            json_object_set_new(row, "parameters", json_integer(count_parameters(&n)));
            json_object_set_new(row, "flops", json_integer((json_int_t)count_flops(&n)));
            network_free(&n);
        }
        json_array_append_new(list, row);
    }
    return 0;
}

// The same for every task, so that one list is a part of another.
static int longest_name(void)
{
    int longest = 0;
    for (int i = 0; task_at(i); i++)
        for (const struct model *m = task_at(i)->models; m->name; m++)
            if ((int)strlen(m->name) > longest) longest = (int)strlen(m->name);
    return longest;
}

static int list_models(const struct task *task)
{
    const int width = longest_name();
    printf("%-*s  %12s  %12s   of %s\n", width, "name", "parameters", "forward pass", task->title);
    for (const struct model *m = task->models; m->name; m++) {
        struct network n;
        char count[TEXT_FIGURE], work[TEXT_FIGURE], size[48] = "";
        int rc = network_new(task, m, &n);
        if (rc < 0 && rc != ERR_UNSUPPORTED) return rc;  // a task that cannot infer single samples has no such figures
        printf("%-*s  %12s  %12s%s\n", width, m->name, rc < 0 ? "-" : text_count(count, count_parameters(&n)),
               rc < 0 ? "-" : text_si(work, count_flops(&n), "FLOP"), rc < 0 ? "" : size_text(&n, size));
        if (rc == 0) network_free(&n);
        struct text about = {0};
        text_add(&about, "    ");
        text_wrap(&about, m->about, 4, 4);
        puts(about.at);
        text_free(&about);
    }
    return 0;
}

// A row of the list of layers: number, filters, shape, result, weights, operations.
enum { LAYER_CELLS = 6, LAYER_CELL = 96 };
typedef char layer_row[LAYER_CELLS][LAYER_CELL];

// A layer is a convolution or the head. Layers have filters and do nearly all of the work.
static bool describe_layer(const struct network *n, const struct node *node, int number, layer_row cell)
{
    if (node->op != OP_CONV && node->op != OP_MATMUL) return false;
    const struct value *w = &n->graph->value[node->in[1]], *y = &n->graph->value[node->out[0]];
    struct shape one = y->shape;  // without the sample dimension
    one.rank--;
    for (int i = 0; i < one.rank; i++) one.dim[i] = y->shape.dim[i + 1];
    const char *name = w->slot ? w->slot->name : node->scope;
    static const char folded[] = "folded.";  // filters with the norm folded in
    if (!strncmp(name, folded, sizeof folded - 1)) name += sizeof folded - 1;
    snprintf(cell[0], LAYER_CELL, "%3d", number);
    snprintf(cell[1], LAYER_CELL, "%s", name);
    shape_text(cell[2], &w->shape);
    shape_text(cell[3], &one);
    text_count(cell[4], shape_count(&w->shape));
    text_si(cell[5], node_cost(n->graph, node).flops, "");
    return true;
}

// Prints the rows, or widens the columns to them.
static void each_layer(const struct network *n, bool print, int width[LAYER_CELLS])
{
    layer_row row = {"no.", "filters", "shape", "result", "weights", "FLOP"};
    for (int i = -1, number = 0; i < n->graph->nodes; i++) {
        if (i >= 0 && !describe_layer(n, &n->graph->node[i], number + 1, row)) continue;
        if (i >= 0) number++;
        for (int c = 0; c < LAYER_CELLS; c++) {
            const int length = (int)strlen(row[c]), left = c == LAYER_CELLS - 1 ? 0 : -width[c];  // the weights are numbers
            if (length > width[c]) width[c] = length;
            if (print) printf("%*s%s", c == 4 ? width[c] : left, row[c], c < LAYER_CELLS - 1 ? "  " : "\n");
        }
    }
}

static int list_layers(const struct task *task, const struct model *m)
{
    struct network n;
    char count[TEXT_FIGURE], work[TEXT_FIGURE], size[48];
    int width[LAYER_CELLS] = {0};
    TRY(network_new(task, m, &n));
    each_layer(&n, false, width);
    each_layer(&n, true, width);
    printf("\n%s: %s parameters, %s per sample%s\n", m->name, text_count(count, count_parameters(&n)),
           text_si(work, count_flops(&n), "FLOP"), size_text(&n, size));
    network_free(&n);
    return 0;
}

// The models of a task, or of all if `task` is NULL.
static int print_models_json(const struct task *task)
{
    json_t *list = json_array();
    int rc = 0;
    for (int i = 0; task_at(i) && rc == 0; i++)
        if (task == NULL || task == task_at(i)) rc = collect_models(task_at(i), list);
    if (rc == 0) return json_text_print(list);
    json_decref(list);
    return rc;
}

static int list_all(void)
{
    for (int i = 0; task_at(i); i++) TRY(list_models(task_at(i)));
    printf("\n\"dawn models NAME\" lists the layers of one.\n");
    return 0;
}

int cmd_models(int argc, char **argv)
{
    int rc = options_parse(&USAGE, &argc, argv);
    if (rc != 0) return rc;
    if (argc > 2) return fail(ERR_USAGE, "expected one task or model; \"%.60s\" is one too many", argv[2]);
    if (argc == 1) return as_json ? print_models_json(NULL) : list_all();
    const char *names[NAMES_MAX + 1] = {0};
    int count = 0;
    for (int i = 0; task_at(i); i++) {
        const struct task *task = task_at(i);
        if (!strcmp(task->name, argv[1])) return as_json ? print_models_json(task) : list_models(task);
        for (const struct model *m = task->models; m->name; m++) {
            if (!strcmp(m->name, argv[1]) && as_json) return fail(ERR_USAGE, "--json lists models, not the layers of one");
            if (!strcmp(m->name, argv[1])) return list_layers(task, m);
            if (count < NAMES_MAX) names[count++] = m->name;
        }
    }
    return fail_unknown(ERR_USAGE, "model", argv[1], names, "\"dawn models\" lists them");
}
