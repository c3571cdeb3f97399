// SPDX-License-Identifier: Apache-2.0
// Declarations shared by the loop (train.c) and the states of a run (train_state.c).
#pragma once

#include "submit/results/machine/machine_counter.h"
#include "submit/results/machine/others.h"
#include "tasks/common/train/digests.h"
#include "tasks/common/train/train.h"
#include "tasks/common/train/trainer.h"

// The record of the runs of one command. It is opened, and a group is announced, when the first run is ready to train. An
// earlier failure leaves no file behind.
struct kept_record {
    struct results *results;  // NULL: not open yet
    int64_t group;            // 0: none
    struct run_metric board;  // the board's metric of the last run
    int64_t began_ns;         // start of the first run
    char nonce[33];           // of the group, if its runs are announced; "": not drawn
};

// A run in progress.
struct training {
    const struct train_options *o;
    struct kept_record *kept;
    struct stopwatch watch;
    struct device *device;
    struct device_facts device_facts;
    struct dataset *data;
    struct digests *digests;
    struct trainer *trainer;
    struct run *run;
    struct progress progress;
    struct others others;               // since the run was shown
    int64_t index, seed;
    bool asked_ticket, has_ticket;      // the announcer is at work on it; the run has it
    struct run_ticket ticket;
    bool evaluated;                     // an evaluation has been made
    bool pictures_lost;                 // its picture could not be written
    int64_t score[METRICS_MAX];         // scores of the last evaluation
    struct run_metric metrics[METRICS_MAX];
    struct stopwatch_clocks reached;    // clocks at the end of the last evaluation
    struct stopwatch_clocks crossed;    // clocks at the end of the first evaluation that met the target; else 0
    int64_t crossed_score;              // the score of that evaluation; 0: none
    struct machine_meter meter;
    struct machine_counter *gpu;        // the device's own meter; NULL: it has none
    int64_t energy_uj;                  // 0: not measured
    int64_t point_began_ns, point_samples, point_terms;  // counters at the last point
    int64_t stalled_before_ns;          // time that earlier processes of this run waited for data
    char *state, *nonce;                // path of the state file, NULL: no states; the nonce of the run
    int64_t saved_ns;                   // time of the last state on the end-to-end clock
    int64_t damaged[SPLIT_COUNT];       // damaged pictures, set at the end
    char weights_digest[DIGEST_HEX];
    char *checkpoint;
    struct price price;                 // of all machines; counts where the options have one
    int64_t peak_of_all;                // memory that all processes took; 0 before the end
    int64_t began;                      // steps that were done when this process began
    bool asked;                         // an exchange of wishes is in progress
    bool alike;                         // all processes have left the loop, with the same success or failure
    bool alone;                         // this process failed, and the others may still train
    struct run_process *places;           // of all processes; NULL: this one is alone
    struct own_machine *own;                // what they borrow
};

// ---- the record (train_record.c)

int train_metrics(const struct training *, struct run_metric into[METRICS_MAX]);  // the record's; the first is the board's
int64_t train_target_micro(const struct train_options *);
int train_record_open(const struct train_options *, struct kept_record *) MUST_CHECK;  // and announces the group
int train_record_begin(struct training *) MUST_CHECK;

// ---- totals that include earlier processes of a resumed run (train_state.c)

int train_energy(struct training *, bool now) MUST_CHECK;  // of all machines and devices; `now`: see machine_counter.h
int64_t train_stalled_ns(const struct training *);       // time that steps waited for data

// ---- damaged pictures (train_damage.c)

const int64_t *train_damaged(struct training *);  // the counts; NULL if nobody counted
void train_damaged_text(const struct training *, struct text *);  // a paragraph for each split that has some

// ---- pictures of evaluations (train_pictures.c)

bool train_keeps_pictures(const struct training *);
void train_keep_picture(struct training *, const struct text *picture);  // run-N.pictures/STEP.png

// ---- tickets (train_ticket.c)

int train_ticket_check(const struct train_options *) MUST_CHECK;
int train_ticket_ask(struct training *, bool (*stopped)(void)) MUST_CHECK;
int train_ticket_take(struct training *) MUST_CHECK;   // sets the seed
void train_ticket_beat(struct training *);             // the chain has a new state
void train_ticket_end(struct training *, int64_t run);  // after the record of the run has ended; 0: it never began

// ---- seeds

// Fails where a seed of a new run or group would undo the order of an old pack (train_seed.c).
int train_check_seed(const struct training *) MUST_CHECK;

// ---- a replay

// Fails where data or files differ from the run that is repeated (train_replay.c).
int train_check_replay(const struct train_replay *, const struct run_data *, int data, const struct run_file *, int files)
    MUST_CHECK;

// ---- several processes (train_ranks.c); all of them make these calls in the same order. Alone each is done at once.

enum { TRAIN_DEVICES = 192 };
const char *train_devices_text(const struct training *, char into[TRAIN_DEVICES]);  // "2 x AMD EPYC 9B45, 1 thread"
bool train_leads(void);  // the process that records and shows
int train_compare_options(const struct training *) MUST_CHECK;
// After `prepare`, which ended with rc: they are all ready, and have the same data.
int train_together(struct training *, int rc) MUST_CHECK;
int train_processes(const struct training *, const struct run_process **);
void train_places_free(struct training *);
int64_t train_threads(const struct training *);
int train_price(struct training *) MUST_CHECK;
enum train_wish { WISH_NOTHING, WISH_STATE, WISH_STOP };
int train_wish(struct training *, enum train_wish mine, enum train_wish *) MUST_CHECK;  // before each step: what all of them do
int train_wish_end(struct training *, enum train_wish *) MUST_CHECK;  // after the last one
int train_join(struct training *) MUST_CHECK;  // the first process gets what all have counted

// ---- states

char *train_absolute_path(const char *path);          // "" and NULL are returned as they are; free() ends it
bool train_keeps_states(const struct training *);        // so that a run can be resumed
int train_states_open(struct training *) MUST_CHECK;
bool train_state_is_due(const struct training *);
int train_state_write(struct training *) MUST_CHECK;
int train_state_load(struct training *) MUST_CHECK;      // replaces trainer_begin
// The record names one machine, one program and the files of the run. Fails if any of them differs.
int train_check_match(struct training *) MUST_CHECK;
