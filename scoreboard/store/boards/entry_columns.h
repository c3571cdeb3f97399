// SPDX-License-Identifier: Apache-2.0
// The columns of the table `entries` that are members of struct entry, each named once: C(kind, column, member of *e), with the
// kinds of sql_start. All use it: the insertion, the reader, the texts of a shelf, the check of the record.
#pragma once

#define ENTRY_COLUMNS(C)                                                                                               \
    C(t, source, e->source) C(d, value, e->value) C(d, low, e->low) C(d, high, e->high) C(d, cost, e->cost)            \
    C(d, energy, e->energy) C(d, accuracy, e->accuracy) C(d, p, e->p) C(i, runs, e->runs) C(i, trust, e->trust)        \
    C(i, accepted_ms, e->accepted_ms) C(i, sequence, e->sequence) C(i, devices, e->devices) C(i, views, e->views)      \
    C(i, flags, e->flags) C(i, self, e->self) C(t, group_nonce, e->group) C(t, author, e->author) C(t, team, e->team)  \
    C(t, model, e->model) C(t, hardware, e->hardware) C(t, framework, e->framework) C(t, precision, e->precision)      \
    C(t, division, e->division) C(t, date, e->date) C(t, code_url, e->code_url) C(t, tags, e->tags)
