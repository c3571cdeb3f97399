// SPDX-License-Identifier: Apache-2.0
// dawn doctor: says what this machine and this build can do, and how to repair what does not work. Other files collect the
// facts; this file judges each in a line. It writes nothing, but a device may fill its caches. Cost: about three seconds
// with the measurements.
#include "data/dataset.h"
#include "runtime/common/base/build.h"
#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/options.h"
#include "runtime/common/cli/program.h"
#include "runtime/device.h"
#include "submit/results/machine/others.h"
#include "submit/results/result.h"
#include "tasks/commands.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum verdict { OK, BUSY, MISSING, BROKEN, VERDICTS };  // BUSY: a rate that is too low, because other programs ran
static const char *const verdict_text[VERDICTS] = {"ok", "busy", "missing", "BROKEN"};

// A finding is a verdict, a sentence and, if something can be repaired, the way to do it. It is printed as a wrapped line or
// becomes an element of a JSON array.
struct report {
    bool as_json;
    json_t *json, *section;
    int count[VERDICTS], sections;
};

static void begin_section(struct report *r, const char *key, const char *title)
{
    if (r->as_json) {
        r->section = json_array();
        json_object_set_new(r->json, key, r->section);
    } else {
        printf("%s%s\n", r->sections ? "\n" : "", title);
    }
    r->sections++;
}

static void add_finding(struct report *r, enum verdict verdict, const char *name, const char *says, const char *mend)
{
    r->count[verdict]++;
    if (r->as_json) {
        json_array_append_new(r->section, json_pack("{ss ss ss ss*}", "name", name, "verdict", verdict_text[verdict],
                                                    "says", says, "mend", mend));
        return;
    }
    struct text t = {0};
    enum { COLUMN = 24 };
    text_add(&t, "  %-7s  %-13s  ", verdict_text[verdict], name);
    text_wrap(&t, says, (int)t.length, COLUMN + 2);
    if (mend) {
        text_add(&t, "\n%*s", COLUMN + 2, "");
        text_wrap(&t, mend, COLUMN + 2, COLUMN + 2);
    }
    puts(t.at);
    text_free(&t);
}

// ---- the program and the machine

static void report_program(struct report *r)
{
    struct software_facts s;
    struct text line = {0};
    begin_section(r, "program", "Program");
    text_add(&line, "%s, %s%.12s%s, built by %s", build_version(), *build_commit() ? "commit " : "without git",
             build_commit(), build_dirty() ? " and uncommitted changes" : "", build_compiler());
    add_finding(r, OK, "dawn", line.at, NULL);
    text_free(&line);
    int rc = machine_software(&s);
    add_finding(r, rc < 0 ? BROKEN : OK, "libraries", rc < 0 ? error_text() : s.libraries, NULL);
}

static void report_machine(struct report *r)
{
    struct machine_facts m;
    struct text line = {0};
    char size[TEXT_FIGURE];
    machine_read(&m);
    begin_section(r, "machine", "Machine");
    add_finding(r, OK, "processor", *m.cpu ? m.cpu : "unknown", NULL);
    add_finding(r, OK, "instructions", *m.cpu_flags ? m.cpu_flags : "unknown", NULL);
    text_add(&line, "%lld of %lld usable here%s%s", (long long)m.cores_usable, (long long)m.cores_online,
             *m.virtualised ? "; " : "", m.virtualised);
    bool slow = *m.governor && strcmp(m.governor, "performance") != 0;
    if (*m.governor) text_add(&line, "; frequency governor %s", m.governor);
    add_finding(r, OK, "processors", line.at,
         slow ? "For reproducible times: cpupower frequency-set -g performance (as root)." : NULL);
    add_finding(r, OK, "memory", text_size(size, (double)m.memory_bytes), NULL);
    add_finding(r, OK, "system", *m.os ? m.os : m.kernel, NULL);
    text_free(&line);
}

// ---- devices

static void report_measurements(struct report *r, const char *device_name, int threads)
{
    struct device *device;
    struct device_facts f;
    struct others others;
    char figure[TEXT_FIGURE], name[32], why[OTHERS_TEXT];
    begin_section(r, "measured", "Measured");
    int rc = device_open(device_name, threads, &device);
    others_begin(&others);
    program_status("measuring a matrix product and a copy");
    if (rc == 0) rc = device_measure(device, &f);
    program_status_end();
    const struct others_share share = others_end(&others);
    device_close(device);
    if (rc < 0) {
        add_finding(r, BROKEN, "matmul", error_text(), NULL);
        return;
    }
    add_finding(r, OK, "device", f.name, NULL);
    const bool doubted = others_doubt(&share, f.peak_spread, why) != NULL;
    const enum verdict verdict = doubted ? BUSY : OK;
    for (enum dtype t = F32; t <= F16; t++) {
        if (!(f.peak_flops[t] > 0)) continue;
        snprintf(name, sizeof name, "matmul %s", dtype_name(t));
        add_finding(r, verdict, name, text_si(figure, f.peak_flops[t], "FLOP/s"), NULL);
    }
    if (f.peak_bytes > 0) add_finding(r, verdict, "copy", text_si(figure, f.peak_bytes, "B/s"), NULL);
    if (doubted) add_finding(r, BUSY, "disturbed", why, "Measure again when nothing else runs.");
}

// A missing GPU, driver or build is a defect only if the user asked for that device.
static enum verdict verdict_of_failure(int rc, bool asked)
{
    return !asked && (rc == ERR_MISSING || rc == ERR_UNSUPPORTED) ? MISSING : BROKEN;
}

// `wanted`: the requested device ("cuda:1") if it is of this type, else NULL.
static void report_device(struct report *r, const struct device_type *type, const char *wanted, int threads)
{
    struct device *device;
    struct device_facts f;
    struct text line = {0};
    int rc = device_open(wanted ? wanted : type->name, threads, &device);
    if (rc < 0) {
        add_finding(r, verdict_of_failure(rc, wanted != NULL), type->name, error_text(), NULL);
        return;
    }
    rc = device_check(device);
    if (rc == 0) rc = type->facts(device, &f);
    if (rc == 0) text_add(&line, "%s: %s", type->about, f.name);
    if (rc == 0 && type != &device_ref && type != &device_null) text_add(&line, "; %s", f.library);
    device_close(device);
    add_finding(r, rc < 0 ? BROKEN : OK, type->name, rc < 0 ? error_text() : line.at, NULL);
    text_free(&line);
}

static void report_devices(struct report *r, const char *wanted, int threads)
{
    begin_section(r, "devices", "Devices");
    for (int i = 0; device_types[i]; i++) {
        size_t length = strlen(device_types[i]->name);
        bool asked = wanted && !strncmp(wanted, device_types[i]->name, length) && (!wanted[length] || wanted[length] == ':');
        report_device(r, device_types[i], asked ? wanted : NULL, threads);
    }
}

// ---- data and records

static void report_data_set(struct report *r, const char *name, const char *folder)
{
    struct dataset *data;
    struct text line = {0};
    char train[TEXT_FIGURE], test[TEXT_FIGURE];
    if (dataset_open(name, folder, &data) < 0) {
        add_finding(r, MISSING, name, error_text(), NULL);  // the sentence names the command that downloads it
        return;
    }
    const struct dataset_facts *f = dataset_facts(data);
    text_add(&line, "%s training and %s test ", text_count(train, f->count[SPLIT_TRAIN]),
             text_count(test, f->count[SPLIT_TEST]));
    dataset_samples_text(f, &line);
    text_add(&line,
             f->synthetic ? ", generated by this program"
             : !f->folder ? ", part of this program"
                          : " in %s; the sizes are correct, \"dawn data verify %s\" checks every byte",
             f->folder, name);
    add_finding(r, OK, name, line.at, NULL);
    text_free(&line);
    dataset_close(data);
}

static void report_data_sets(struct report *r, const char *folder)
{
    begin_section(r, "data", "Data sets");
    for (int i = 0; dataset_name(i); i++) report_data_set(r, dataset_name(i), folder);
}

static void report_record(struct report *r, const char *database)
{
    static const char elsewhere[] = "Move the file away, or use another with --db.";
    const char *path = results_path(database);
    struct results *results;
    struct text line = {0};
    begin_section(r, "results", "Record of runs");
    if (!file_exists(path)) {
        text_add(&line, "%s does not exist yet; the first \"dawn train\" creates it", path);
        add_finding(r, OK, "results.db", line.at, NULL);
    } else if (results_open(path, RESULTS_READ, &results) < 0) {
        add_finding(r, BROKEN, "results.db", error_text(), elsewhere);
    } else {
        bool writable = access(path, W_OK) == 0;
        int rc = results_check(results);
        results_close(results);
        text_add(&line, "%s opens%s", path, writable ? "" : ", but cannot be written");
        if (rc < 0) add_finding(r, BROKEN, "results.db", error_text(), elsewhere);
        else if (writable) add_finding(r, OK, "results.db", line.at, NULL);
        else add_finding(r, BROKEN, "results.db", line.at, "Make it writable, or use another with --db.");
    }
    text_free(&line);
}

// ---- the command

struct arguments {
    const char *data, *device, *database;
    int64_t threads;
    bool measure, json;
};

static int finish_report(struct report *r)
{
    if (r->as_json) TRY(json_text_print(r->json));
    int broken = r->count[BROKEN];
    if (broken) return fail(ERR_DEVICE, "%d check%s failed: see above", broken, broken == 1 ? "" : "s");
    return 0;
}

int cmd_doctor(int argc, char **argv)
{
    struct arguments a = {.measure = true};
    const struct option options[] = {
        {OPTION_PATH, 0, "data", "DIR", "the folder of the data sets", &a.data, 0, 0},
        {OPTION_PATH, 0, "db", "FILE", "the record (default: $DAWN_RESULTS, else results.db)", &a.database, 0, 0},
        {OPTION_TEXT, 0, "device", "NAME", "the device to measure", &a.device, 0, 0},
        {OPTION_INT, 0, "threads", "N", "threads of the cpu device; 0: all", &a.threads, 0, 1024},
        {OPTION_FLAG, 0, "measure", NULL, "measure a matrix product and a copy", &a.measure, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object instead of text", &a.json, 0, 0},
        {0},
    };
    const struct usage usage = {
        "doctor", "[OPTIONS]", "Shows what this machine and this build can do, and how to repair what does not work.",
        options, "Exit status: 0 ready to train, 1 something is broken (not: missing or busy).\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc > 1) return fail(ERR_USAGE, "takes no operand; got \"%.60s\"", argv[1]);
    struct device *device;
    rc = device_open(a.device, (int)a.threads, &device);
    if (rc == ERR_USAGE) return rc;  // a wrong name is a usage error; any other failure is a finding
    device_close(device);
    struct report r = {.as_json = a.json, .json = a.json ? json_object() : NULL};
    report_program(&r);
    report_machine(&r);
    report_devices(&r, a.device, (int)a.threads);
    if (a.measure) report_measurements(&r, a.device, (int)a.threads);
    report_data_sets(&r, a.data);
    report_record(&r, a.database);
    return finish_report(&r);
}
