// SPDX-License-Identifier: Apache-2.0
// The contract of a task: inputs, forward graph, loss, metrics, models, recipes. Everything between the data and the record
// is shared: step.h builds graphs, trainer.h runs them, train.h records the run.
//
// A task writes one graph at a time through a `struct step`. It never sees a device, a slot's name or an optimiser's state.
// tasks/tasks.h lists the tasks.
#pragma once

#include "data/feed/feed.h"
#include "runtime/optim.h"
#include "runtime/session.h"
#include "tasks/common/recipe/model.h"
#include "tasks/common/recipe/recipe.h"
#include "tasks/common/recipe/schedule.h"
#include "tasks/common/step/slices.h"
#include "tasks/common/step/task_files.h"

struct author;
struct drive;
struct player;
struct step;
struct text;

// ---- metrics

enum metric_kind {
    METRIC_COUNT,  // correct answers, k of N
    METRIC_RATIO,  // a value in millionths: hits of tries, both counted on the device, or a result of the task's judge
    METRIC_MEAN,   // a value in millionths, of any range: a sum and a count from the device, up to the rounding of f32 sums
};
struct metric {
    const char *name, *unit;  // "top1", "%"
    enum metric_kind kind;
    bool lower_is_better;
};
enum { METRICS_MAX = 4 };
#define METRIC_NONE INT64_MIN  // the score of a metric that an evaluation does not have; RUN_SCORE_NONE of the record

// ---- feeds and programs

// A task's sources of batches, by number. The numbers of the first two are fixed.
enum { FEED_TRAIN, FEED_TEST, FEEDS_MAX = 4, FEED_NONE = -1 };
struct task_feed {
    const char *name;  // "train"
    enum split split;  // of the data set
    enum order_kind order;
};

// A graph that a task can run. Sizes make several programs of it (struct variant).
enum program_kind {
    PROGRAM_TRAIN,
    PROGRAM_EVALUATE,
    PROGRAM_INFER,
    PROGRAM_GO_ON,   // of an evaluation, also for the smaller batches that an answer goes on with (drive_shrunk); reads no input
    PROGRAM_SHRINK,  // of an evaluation, moves samples to the smaller batch or back; for batches that have one
};
struct task_program {
    const char *name;  // "critic"
    enum program_kind kind;
    int feed;          // the source of its batches; FEED_NONE: it draws its inputs, or the host writes them
    uint32_t trains;   // bit i: parameters of group i train
    void (*forward)(struct step *);  // inputs, network, losses, counts of the metrics, outputs for the judge
};
enum { PROGRAMS_MAX = 16 };

// ---- one training, as all functions that build a part of it see it

struct setting {
    const struct task *task;
    const struct recipe *recipe;
    const struct model *model;
    const struct dataset_facts *data;  // facts of the view, if the task has one
    struct task_files files;
    enum dtype dtype;        // type of activations
    int64_t steps_per_epoch;
    int64_t steps;           // number of steps in the schedule
    struct slices slices;    // of a training batch
    const struct feed_choice *feed[FEEDS_MAX];
    unsigned fuse;           // enum fuse_pattern
    bool single;             // inference in batches of one sample
    bool shows;              // an inference whose judge draws how it came to its answer (judge->draw, judge->exhibit)
    void *host;              // state of task->host; NULL: none
    struct device *device;   // that computes, for judges that run a network of their own; NULL: none is open yet
};

enum { OUTPUTS_MAX = 8 };

// A batch may be computed in parts. Gradients of all parts are summed, and the last part updates.
enum step_part { PART_WHOLE, PART_FIRST, PART_MIDDLE, PART_LAST };

// Differences between the graphs of one training. Each variant is a graph of its own, so that unused work costs nothing.
// Sizes and lengths are axes of one mechanism: progressive sizes, rectangular evaluation, length buckets.
struct variant {
    int64_t batch;           // size of one part
    enum step_part part;
    int slice;               // its kind (slices.h), if the batch is cut
    int bucket;              // bucket of the feed's batches
    int64_t height, width;   // image size; 0: the task has no such axis
    int64_t length;          // sequence length; 0: the task has no such axis
    uint32_t trains;         // bit i: parameters of group i train; frozen parts cost nothing in the backward pass
    bool renormalises;       // Muon restores the norm of filters before the update
    int64_t terms;           // terms in the loss's sum, set by step_loss: the mean loss is the sum divided by this number
    struct slot *output[OUTPUTS_MAX];  // outputs of an evaluation, set by step_output
    const char *note;        // a remark for people: "first layer too"; NULL: none
};

// ---- updates

// How a set of parameters is updated. The first rule that matches a parameter counts.
struct rule {
    const char *name;            // name of the learning rate's table: "filter"
    uint32_t groups, roles;      // bit i: parameters of group i; parameters of enum role i
    enum recipe_optimiser optimiser;
    struct optim_settings settings;  // the members that are graph values stay unset
    double rate;                 // the learning rate
    struct schedule share;       // factor of the rate over the steps
    struct schedule norm;        // Muon: the norm at the start of the Newton-Schulz iteration
};
enum { RULES_MAX = 16 };
#define ROLES(role) (1u << (role))
#define ANY UINT32_MAX

// ---- metrics that the host computes from outputs

// One batch of an evaluation. The first dimension of an output is the number of samples. Floats are f32, for any type
// of the graph.
struct judged {
    const int32_t *sample;             // [count] numbers of the samples in the test split (of the view)
    int64_t count;
    int bucket;
    bool last;                         // of the schedule, or of an inference: drive->last of the answer
    const void *output[OUTPUTS_MAX];   // passed by step_output; NULL: no such output
    struct shape shape[OUTPUTS_MAX];   // shape of the whole batch: [count, ...]
};
// A part of an HTML page about the answers to test samples.
struct exhibit {
    const char *name;   // begins the ids of charts
    struct text *html;  // charts and tables
    // Shows a picture (PNG, JPEG or SVG) after the charts.
    void (*picture)(struct exhibit *, const char *caption, const void *bytes, size_t count);
    void *context;
};

// One evaluation calls begin, then batch for each batch, then end. Batches come bucket by bucket, each sample once. `end` is
// called once after every successful `begin` and frees the state. It fills in the scores that the graph does not count;
// after a failure the pointer to the scores is NULL.
struct judge {
    int (*begin)(const struct setting *, struct dataset *stored, struct dataset *view, void **state);
    int (*batch)(void *state, const struct judged *);
    int (*end)(void *state, int64_t score[METRICS_MAX]);
    bool stays;  // `end` with scores frees nothing, unless it fails, but empties the state for the next evaluation
    // Writes the answers in the form that the task's official evaluator reads, between the last batch and end. May be NULL.
    int (*write)(void *state, const char *path);
    // The answer to a stored test sample as text; free() ends it. Called at the same time as `write`. NULL if answers are
    // not texts.
    char *(*tell)(void *state, int64_t sample);
    // Draws the answer to a stored test sample, where setting->shows: as an SVG file how it was found, or as a PNG the picture
    // (ASKS_PICTURE) with it. NULL: nothing can be seen.
    int (*draw)(void *state, int64_t sample, struct text *file);
    bool keeps;  // `draw` shows what the network makes, of sample 0: a training keeps each evaluation's (train_pictures.c)
    // Adds what a report shows of the answers so far: charts, tables, the best and the worst sample. NULL: nothing.
    int (*exhibit)(void *state, struct exhibit *);
    // "dawn eval TASK TRUTH ANSWERS" for answers of any program: what the two files are and how they are scored, in sentences,
    // and the scores as text or as the published evaluation prints them. NULL: none is published.
    const char *files;
    int (*evaluate)(const char *truth, const char *answers, bool json, struct text *);
};

struct baseline {  // the score of a trivial answer, made by counting alone
    char what[80];
    int metric;
    double score;
};
enum { BASELINES_MAX = 12 };

// ---- state on the host between steps

// A buffer of played games, a curriculum. All processes run this code alike. drive.h has what it may call; drive->setting->host
// is the state.
struct host {
    int (*open)(const struct setting *, void **state);  // before feeds are chosen
    void (*close)(void *state);
    int (*begin)(struct drive *);    // before the first step of a run. NULL: nothing to do
    int (*between)(struct drive *);  // after each step: it may read and write slots and run programs without a feed
    // The most runs of a program without a feed in the whole schedule: for plans and records. NULL: unknown.
    int64_t (*runs)(const struct setting *, int program);
    // The state as bytes for --resume, and back. `load` takes any bytes: it fails if they cannot be a state.
    void (*save)(const struct setting *, struct text *bytes);
    int (*load)(struct drive *, const char *bytes, size_t count) MUST_CHECK;
};

// ---- the task

struct task {
    const char *name, *title;
    const char *samples;           // the plural noun for samples: "images", "questions"; NULL: "samples"
    unsigned takes;                // accepted files (TAKES_WEIGHTS, ...); other files are refused with a sentence
    const struct metric *metrics;  // ends with name NULL; the first is the board's metric
    const char *synthetic_metric;  // name of the first metric on synthetic data, if it measures something else; NULL: the same
    double target;                 // the target of the board
    const char *const *data_sets;  // NULL-terminated; the first is the real one
    const char *const *recipes;    // the default recipe of each data set
    const struct model *models;    // ends with name NULL
    // Makes the set to train on if it is not the stored samples, for example windows of tokens. The caller owns the new set
    // and closes it before the stored one. setting->data has the facts of the stored set during the call and those of the
    // view afterwards. The record counts and digests the stored samples. May be NULL.
    int (*view)(const struct setting *, struct dataset *stored, struct dataset **);
    // Adds what people should know about the samples (of the view, if there is one) before a training, in sentences: what it
    // learns, what it leaves out. May be NULL.
    void (*note)(const struct setting *, const struct dataset *, struct text *);
    // SHA-256 of the scored samples, where the view makes them of the stored ones: of published data it must be the contest's
    // "scored_set". NULL: the stored ones are scored.
    void (*scored_digest)(const struct dataset *view, char hex[DIGEST_HEX]);
    // The stored test sample from which a sample of the view is made. Several samples of the view may come from one stored
    // sample (windows of a text) and form one request. NULL: each sample is a request.
    int64_t (*request)(const struct setting *, const struct dataset *view, int64_t sample);
    // A data set of one question about a text, or of the lines of a text (dawn infer TASK --ask, --text), or of one picture or
    // sound, whose file has the name `question`. `like` is the training data, or NULL if it is not there. NULL if the task
    // answers nothing.
    enum { ASKS_ABOUT_TEXT, ASKS_LINES, ASKS_PICTURE, ASKS_SOUND } asks;
    int (*ask)(const struct dataset *like, const char *text, size_t n, const char *question, struct dataset **);
    const struct author *author;   // continues a text (author.h); NULL: the task cannot
    const struct player *player;   // plays games (player.h); NULL: the task cannot
    const struct task_feed *feeds; // ends with name NULL; NULL: one for training and one of the test split
    // Chooses how the batches of a feed are made: the buckets with their batches, and for streamed data the fields of a batch
    // and their fill. NULL: resident, in batches of the recipe's size.
    int (*feed)(const struct setting *, int feed, struct feed_choice *);
    const char *length_field;      // of buckets by length; NULL: there are none
    // The bucket of each sample, if buckets depend on something other than a length (the shape of an image) and the choice of
    // the feed has no bucket_of_epoch. NULL: they do not.
    int (*buckets)(const struct setting *, struct dataset *, enum split, int32_t *bucket);
    // Sizes of a training program in a step of the schedule, and what trains. Batch, bucket and `trains` come filled in. Also of
    // a program without a feed that host code runs between steps; its step is 0.
    void (*variant)(const struct setting *, int64_t step, int program, struct variant *);
    // The same for an evaluation or an inference.
    void (*evaluation)(const struct setting *, struct variant *);
    // Ends with name NULL. A step runs the first training program, an evaluation the first one of its kind, and the inference of
    // a sample the first one of its kind or else the evaluation, each on a fresh batch.
    const struct task_program *programs;
    // The batches and programs of a step. Depends on the step's number alone, because plans and --resume call it without a
    // session: it reads no slot. NULL: as described above.
    int (*step)(struct drive *);
    // Runs the evaluation's programs on the current batch until its answers are complete. It may read slots between programs.
    // NULL: as described above.
    int (*answer)(struct drive *);
    const struct host *host;       // NULL: the task has no state on the host
    const struct judge *judge;     // metrics that the host computes; NULL: the graph counts them all
    int (*rules)(const struct setting *, struct rule rules[RULES_MAX]);  // their number
    // Scores of trivial answers on this data (dawn eval baselines). Returns the number of rows. NULL: there are none.
    int (*baselines)(const struct setting *, struct dataset *stored, struct dataset *view, struct baseline row[BASELINES_MAX]);
};

static inline const char *task_metric_name(const struct task *task, int number, bool synthetic)
{
    return synthetic && number == 0 && task->synthetic_metric ? task->synthetic_metric : task->metrics[number].name;
}
static inline const char *task_samples(const struct task *task)
{
    return task->samples ? task->samples : "samples";
}
int task_find_model(const struct task *, const char *name, const struct model **) MUST_CHECK;
const struct task_feed *task_feed(const struct task *, int feed);  // NULL: there is no such feed
const struct task_program *task_program(const struct setting *, int program);  // NULL: there is no such program
int task_find_program(const struct setting *, enum program_kind);  // its number; NONE: there is none
