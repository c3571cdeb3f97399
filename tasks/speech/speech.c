// SPDX-License-Identifier: Apache-2.0
// Speech to text, scored by the share of words that are wrong. In this order: the step, the update rules, the tasks. Batches are
// in utterances.h, the network in deepspeech.h, the score in speech_judge.h.
#include "tasks/speech/speech.h"

#include "data/read/speech/speech_ask.h"
#include "tasks/common/step/rule.h"
#include "tasks/common/step/step.h"
#include "tasks/speech/deepspeech.h"
#include "tasks/speech/speech_judge.h"
#include "tasks/speech/speech_keys.h"
#include "tasks/speech/utterances.h"

// ---- the step

static int forward_utterances(struct step *s)
{
    graph_scope(s->g, "samples");
    const int in[MODEL_VALUES] = {step_input(s, "frames"), step_input(s, "half"), step_input(s, "steps"), NONE};
    int out[MODEL_VALUES] = {NONE, NONE, NONE, NONE};
    s->setting->model->forward(s, in, out);
    return out[0];
}

// The mean over utterances of the loss of all their letters. One that has more letters than steps does not count.
static void train_batch(struct step *s)
{
    struct graph *g = s->g;
    int logits = forward_utterances(s), out[3];
    graph_scope(g, "loss");
    g_ctc(g, (int[]){logits, step_input(s, "steps"), step_input(s, "letters"), step_input(s, "letters.length")}, out);
    int counts = g_map(g, MAP_SHIFT, g_map(g, MAP_NEG, out[2], 0, 0), 1, 0);
    step_mean_loss(s, "ctc", out[0], g_reshape(g, g_reduce(g, counts, 1, false, F32), SHAPE(1)), 1);
}

static void evaluate_batch(struct step *s)
{
    step_output(s, SPEECH_LOGITS, forward_utterances(s));
    step_output(s, SPEECH_STEPS, step_input(s, "steps"));
}

static void choose_variant(const struct setting *c, int64_t step, int program, struct variant *v)
{
    (void)step, (void)program;
    v->length = utterances_frames(c, FEED_TRAIN, v->bucket);
}

static void choose_evaluation(const struct setting *c, struct variant *v)
{
    v->length = utterances_frames(c, FEED_TEST, v->bucket);
}

// ---- updates: filters and matrices decay by optimiser.filters.decay. Norms and biases decay only if the recipe says so

static int update_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    const struct recipe *r = c->recipe;
    rule[0] = rule_of_others(c, "head", ROLES(ROLE_MATRIX), r->head_lr);
    rule[0].groups = ROLES(SPEECH_HEAD);
    rule[0].settings.decay = rule_of_filters(c, "", 0).settings.decay;
    rule[1] = rule_of_filters(c, "filter", ROLES(ROLE_FILTER) | ROLES(ROLE_MATRIX));
    rule[2] = rule_of_others(c, "bias", ANY, r->bias_lr);
    return 3;
}

// ---- the tasks

static int ask_utterance(const struct dataset *like, const char *bytes, size_t count, const char *name, struct dataset **into)
{
    struct dataset *noise = NULL;  // has the facts of the published set
    if (!like) TRY(dataset_open_noise(task_an4.data_sets[0], &noise));
    int rc = speech_ask(dataset_facts(like ? like : noise), name, bytes, count, into);
    dataset_close(noise);
    return rc;
}

static const struct task_program programs[] = {
    {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, train_batch},
    {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, evaluate_batch},
    {0},
};
static const struct task_feed feeds[] = {{"train", SPLIT_TRAIN, ORDER_SORTED_FIRST}, {"test", SPLIT_TEST, ORDER_FILE}, {0}};
static const struct metric metrics[] = {{"wer", "", METRIC_RATIO, true}, {"cer", "", METRIC_RATIO, true}, {0}};
static const char *const an4_sets[] = {"an4", "an4-val", "chords", NULL}, *const an4_recipes[] = {"an4", "an4", "chords", NULL};
static const char *const hundred_sets[] = {"librispeech-100", "chords", NULL};
static const char *const hundred_recipes[] = {"deepspeech2", "chords", NULL};
static const char *const whole_sets[] = {"librispeech", "chords", NULL};
static const char *const whole_recipes[] = {"deepspeech2-tbd", "chords", NULL};

#define SHARED                                                                                                             \
    .samples = "utterances", .metrics = metrics, .models = deepspeech_models, .note = utterances_note, .asks = ASKS_SOUND,  \
    .ask = ask_utterance, .feeds = feeds, .feed = utterances_feed, .length_field = "spectrum", .variant = choose_variant,   \
    .evaluation = choose_evaluation, .programs = programs, .judge = &speech_judge, .rules = update_rules

const struct task task_an4 = {
    SHARED, .name = "an4", .title = "AN4", .target = 0.105, .data_sets = an4_sets, .recipes = an4_recipes,
};
// TBD's Deep Speech 2, which MLPerf had before its first round.
const struct task task_librispeech_100 = {
    SHARED, .name = "librispeech-100", .title = "LibriSpeech, 100 hours", .target = 0.23, .data_sets = hundred_sets,
    .recipes = hundred_recipes,
};
const struct task task_librispeech = {
    SHARED, .name = "librispeech", .title = "LibriSpeech", .target = 0.23, .data_sets = whole_sets, .recipes = whole_recipes,
};

const struct task *const tasks_speech[] = {&task_an4, &task_librispeech_100, &task_librispeech, NULL};
