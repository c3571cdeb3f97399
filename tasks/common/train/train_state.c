// SPDX-License-Identifier: Apache-2.0
// The states of a run: when one is written, what it holds besides the training (resume.h), and the checks before a run is
// resumed.
#include "tasks/common/train/train_inside.h"

#include "runtime/common/base/clock.h"
#include "runtime/ranks/ranks.h"
#include "submit/results/record.h"
#include "tasks/common/train/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Reads the energy of the processor packages, once per machine, and of each device with a meter. Unknown if a GPU or a machine
// that trains cannot be read, or was not before the run was resumed: a part would pass for the whole.
int train_energy(struct training *r, bool now)
{
    int64_t packages = 0, gpu = 0, before = r->o->resume ? r->o->resume->note.energy_uj : 0;
    bool metered = machine_energy_uj(&r->meter, &packages), counted = machine_counter_uj(r->gpu, now, &gpu);
    bool mine = metered && ranks_local() == 0;
    bool known = (r->device->type->energy_uj ? counted : metered) && (!r->o->resume || before > 0);
    int64_t sums[] = {!known, (mine ? packages : 0) + (counted ? gpu : 0)};
    TRY(ranks_add(sums, 2));
    r->energy_uj = sums[0] ? 0 : before + sums[1];
    return 0;
}

// Total time that steps waited for data, in earlier processes too.
int64_t train_stalled_ns(const struct training *r)
{
    return r->stalled_before_ns + supply_stalled_ns(&r->trainer->supply[SPLIT_TRAIN]);
}

// ---- states

// Numbers of the damaged pictures of a split; free() ends the list.
static int32_t *list_damaged(const struct supply *s, int64_t *count)
{
    int32_t *list = NULL;
    *count = 0;
    for (int64_t at = 0; s->choice.damage && (at = damage_next(s->choice.damage, at)) >= 0; at++) {
        list = grow(list, (size_t)(*count + 1) * sizeof *list);
        list[(*count)++] = (int32_t)at;
    }
    return list;
}

// A path that is stored for another process is absolute unless it is relative to the database. "" and NULL are returned as
// they are.
char *train_absolute_path(const char *path)
{
    char *folder = path && *path && *path != '/' ? getcwd(NULL, 0) : NULL, *whole = NULL;
    if (!path) return NULL;
    if (!folder) return copy_text(path);
    if (asprintf(&whole, "%s/%s", folder, path) < 0) BUG("out of memory");
    free(folder);
    return whole;
}

static struct state_run state_run_of(const struct training *r, const char *note)
{
    return (struct state_run){{digests_hex(r->digests, SPLIT_TRAIN), digests_hex(r->digests, SPLIT_TEST)}, note};
}

bool train_keeps_states(const struct training *r)
{
    return r->o->pace.steps || r->o->pace.ns;
}

int train_states_open(struct training *r)
{
    json_t *record;
    if (!train_keeps_states(r)) return 0;
    for (int f = 0; f < r->trainer->feeds; f++)
        if (ranks_size() > 1 && r->trainer->supply[f].choice.order.kind == ORDER_STREAMS)
            return fail(ERR_UNSUPPORTED, "a training over streams in several processes writes no states, because each process has"
                        " the recurrent states of its own rows: leave --checkpoint-every out");
    if (!r->run) return 0;
    TRY(record_read(r->kept->results, result_id(r->run), &record));
    r->nonce = copy_text(record_text(record, "nonce"));
    json_decref(record);
    r->state = resume_file(r->kept->results, result_id(r->run), "state");
    resume_clear(r->state);
    r->saved_ns = stopwatch_end_to_end_ns(&r->watch);
    return 0;
}

// Stores the segments first. Time that the segments hold and the state does not is lost work, and it counts.
static int write_state(struct training *r)
{
    const struct train_options *o = r->o;
    char *folder = train_absolute_path(o->data_folder), *save = train_absolute_path(o->save);
    char *weights = train_absolute_path(o->files.weights), *vocab = train_absolute_path(o->files.vocab);
    char *vectors = train_absolute_path(o->files.vectors);
    struct resume_note note = {
        .nonce = r->nonce, .device = o->device ? o->device : "", .folder = folder, .save = save,
        .files = {weights, vocab, vectors}, .pace = o->pace,
        .evaluated = r->evaluated, .reached = r->reached, .crossed = r->crossed,
        .crossed_score = r->crossed_score, .point_samples = r->point_samples,
        .point_terms = r->trainer->terms - r->point_terms, .point_warm_ns = r->point_began_ns, .energy_uj = r->energy_uj,
        .stall_ns = train_stalled_ns(r),
        .saved = {clock_unix_ms(), stopwatch_end_to_end_ns(&r->watch)},
    };
    memcpy(note.score, r->score, sizeof note.score);
    int32_t *damaged[SPLIT_COUNT];
    for (int s = 0; s < SPLIT_COUNT; s++)
        note.damaged[s] = damaged[s] = list_damaged(&r->trainer->supply[s], &note.damaged_count[s]);
    char *text = resume_note_text(&note);
    for (int s = 0; s < SPLIT_COUNT; s++) free(damaged[s]);
    const struct state_run run = state_run_of(r, text);
    int rc = result_checkpoint(r->run);
    if (rc == 0) rc = state_save(r->state, r->trainer, &run);
    free(text), free(folder), free(save), free(weights), free(vocab), free(vectors);
    return rc;
}

int train_state_write(struct training *r)
{
    TRY(session_sync(r->trainer->session));  // queued work is training, not checkpoint
    stopwatch_enter(&r->watch, SEGMENT_CHECKPOINT);
    TRY(train_energy(r, true));
    TRY(train_join(r));
    int rc = ranks_agree(r->state ? write_state(r) : 0);
    stopwatch_enter(&r->watch, SEGMENT_TRAIN);
    r->saved_ns = stopwatch_end_to_end_ns(&r->watch);
    return rc;
}

bool train_state_is_due(const struct training *r)
{
    const struct resume_pace *pace = &r->o->pace;
    if (!r->state || r->trainer->at == r->began || r->trainer->at == r->trainer->steps) return false;
    return pace->steps ? r->trainer->at % pace->steps == 0 : stopwatch_end_to_end_ns(&r->watch) - r->saved_ns >= pace->ns;
}

int train_state_load(struct training *r)
{
    const struct resume *from = r->o->resume;
    const struct resume_note *note = &from->note;
    const struct state_run run = state_run_of(r, "");
    TRY(state_load(from->state, r->trainer, &run, STATE_SAME));
    r->evaluated = note->evaluated;
    memcpy(r->score, note->score, sizeof r->score);
    r->reached = note->reached, r->crossed = note->crossed, r->crossed_score = note->crossed_score;
    r->point_samples = note->point_samples, r->point_began_ns = note->point_warm_ns;
    r->trainer->terms = note->point_terms, r->point_terms = 0;
    r->stalled_before_ns = note->stall_ns, r->energy_uj = note->energy_uj;
    for (int s = 0; s < SPLIT_COUNT; s++)
        for (int64_t i = 0; i < note->damaged_count[s] && r->trainer->supply[s].choice.damage; i++)
            damage_restore(r->trainer->supply[s].choice.damage, note->damaged[s][i]);
    return 0;
}

// The record names one machine and one program. A run can be resumed only there.
static int check_program(const struct training *r)
{
    struct machine_facts machine;
    struct software_facts software;
    json_t *record;
    TRY(facts_read(&r->device_facts, &machine, &software));
    TRY(record_read(r->kept->results, result_id(r->run), &record));
    const json_t *was = json_object_get(record, "machine_facts"), *program = json_object_get(record, "software_facts");
    bool same_machine = !strcmp(machine.cpu, record_text(was, "cpu")) && !strcmp(machine.gpu, record_text(was, "gpu"));
    bool same_program = !strcmp(software.binary_digest, record_text(program, "binary_digest"));
    int rc = same_machine && same_program ? 0
             : fail(ERR_USAGE, "run %lld began on another %s: it can be resumed only there", (long long)result_id(r->run),
                    same_machine ? "build of this program" : "machine");
    json_decref(record);
    return rc;
}

// The files given to a resumed run must equal its record's, byte for byte.
static int compare_files(const struct training *r)
{
    struct run_file files[TASK_FILES];
    json_t *record;
    int count = digests_files(r->digests, files), rc = 0;
    TRY(record_read(r->kept->results, result_id(r->run), &record));
    const json_t *list = json_object_get(record, "files");
    for (int i = 0; i < count && rc == 0; i++) {
        size_t at = 0;
        while (at < json_array_size(list) && strcmp(record_text(json_array_get(list, at), "kind"), files[i].kind)) at++;
        if (strcmp(record_text(json_array_get(list, at), "digest"), files[i].digest))
            rc = fail(ERR_INPUT, "run %lld began with another %s file: the digest of %s differs", (long long)result_id(r->run),
                      files[i].kind, files[i].name);
    }
    if (rc == 0 && json_array_size(list) != (size_t)count)
        rc = fail(ERR_INPUT, "run %lld began with other files than its state names", (long long)result_id(r->run));
    json_decref(record);
    return rc;
}

int train_check_match(struct training *r)
{
    const struct run_process *places;
    int count = train_processes(r, &places);
    if (!r->run) return 0;
    TRY(check_program(r));
    TRY(compare_files(r));
    return count ? result_places(r->run, state_facts(r->o->resume->state)->step, places, count) : 0;
}
