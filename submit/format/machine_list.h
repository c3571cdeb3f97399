// SPDX-License-Identifier: Apache-2.0
// The facts of a machine, listed once: the struct (machine.h), the row and its digest (result.c), the members of a statement
// (fields.c) and their sources (payload.c). The digest depends on their order.
#pragma once

// TEXT(name, what it says) and NUMBER(name, largest, what it says)
#define MACHINE_FACT_LIST                                                                                              \
    TEXT(cpu, "model of the processor")                                                                                \
    TEXT(cpu_flags, "the instruction sets that matter here")                                                           \
    NUMBER(sockets, 4096, "processor packages")                                                                        \
    NUMBER(cores_online, 65536, "hardware threads the system runs")                                                    \
    NUMBER(cores_usable, 65536, "of these, what the process could use")                                                \
    NUMBER(memory_bytes, (int64_t)1 << 50, "main memory")                                                              \
    TEXT(product, "the maker's name for the machine")                                                                  \
    TEXT(governor, "how the frequency is governed")                                                                    \
    TEXT(virtualised, "hypervisor, container, both or neither")                                                        \
    TEXT(gpu, "graphics processors; empty: none")                                                                      \
    TEXT(driver, "their driver")                                                                                       \
    TEXT(os, "name and version of the system")                                                                         \
    TEXT(kernel, "name and release of its kernel")
