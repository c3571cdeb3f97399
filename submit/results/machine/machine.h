// SPDX-License-Identifier: Apache-2.0
// The machine that a run used, according to the system. Never the host's name, a user's name or a serial number, because
// records are published. A fact that cannot be read is empty or 0, never a guess.
#pragma once

#include "runtime/common/base/file.h"
#include "submit/format/machine_list.h"

enum { MACHINE_TEXT = 160 };
// cores_usable: by affinity and control group. product: at some clouds the instance type. governor: of the first core. os:
// PRETTY_NAME.
struct machine_facts {
#define TEXT(name, what) char name[MACHINE_TEXT];
#define NUMBER(name, most, what) int64_t name;
    MACHINE_FACT_LIST
#undef TEXT
#undef NUMBER
};
void machine_read(struct machine_facts *);

struct software_facts {
    char commit[MACHINE_TEXT];      // of DAWN's sources; "" if built outside git
    bool dirty;
    char compiler[MACHINE_TEXT];
    char flags[512];                // compiler flags
    char binary_digest[DIGEST_HEX];  // SHA-256 of the running program
    char libraries[512];            // "oneDNN 2.6.3; SQLite 3.40.1; ...", versions at run time
};
int machine_software(struct software_facts *) MUST_CHECK;

// Energy used by all processor packages since the meter was started, from the kernel's power capping counters. False if the
// counters are missing or not readable (often only root may read them). A thread reads the counters often enough to notice
// when they wrap. Every started meter must be stopped.
struct machine_meter {
    struct meter *inside;  // NULL: no counter can be read
};
bool machine_meter_start(struct machine_meter *);
bool machine_energy_uj(struct machine_meter *, int64_t *since_start);
void machine_meter_stop(struct machine_meter *);
// Starts a meter with the folder of the counters and the interval between readings as arguments, for tests.
bool machine_meter_start_at(struct machine_meter *, const char *folder, int64_t every_ms);

int64_t machine_peak_memory(void);     // of this process (VmHWM), bytes; 0: unknown
void machine_peak_memory_reset(void);  // for later runs of a group, if the kernel allows it
