// SPDX-License-Identifier: Apache-2.0
// An instance of the price table against machines that are it, could be it, and cannot be it.

#include "submit/results/machine/instance.h"
#include "test/unit/test.h"

#define GIB ((int64_t)1 << 30)

static int check(const char *instance, struct machine_facts m)
{
    struct price price;
    assert_int_equal(price_find(instance, &price), 0);
    return instance_check(&price, &m);
}

TEST(a_machine_like_it_passes)
{
    const struct machine_facts c7a = {.cpu = "AMD EPYC 9R14", .cores_online = 2, .memory_bytes = 4 * GIB - GIB / 8};
    assert_int_equal(check("c7a.large", c7a), 0);
    struct machine_facts half = c7a;
    half.cores_online = 1;  // its second hardware thread may be switched off
    assert_int_equal(check("c7a.large", half), 0);
    assert_int_equal(check("c7a.large", (struct machine_facts){0}), 0);  // nothing is known, nothing contradicts
    const struct machine_facts p3 = {.gpu = "Tesla V100-SXM2-16GB", .cores_online = 8, .memory_bytes = 60 * GIB};
    assert_int_equal(check("p3.2xlarge", p3), 0);
    struct machine_facts eight = {.gpu = "8 x Tesla V100-SXM2-16GB", .cores_online = 64, .memory_bytes = 480 * GIB};
    assert_int_equal(check("p3.16xlarge", eight), 0);
    struct price by_user;
    assert_int_equal(price_from_user(1, &by_user), 0);
    assert_int_equal(instance_check(&by_user, &eight), 0);
}

static void contradict(const char *instance, struct machine_facts m, const char *words)
{
    assert_int_equal(check(instance, m), ERR_USAGE);
    if (!strstr(error_text(), words)) fail_msg("\"%s\" is not in: %s", words, error_text());
}

TEST(other_hardware_is_refused)
{
    const struct machine_facts here = {.cpu = "AMD EPYC 9R14", .cores_online = 2, .memory_bytes = 4 * GIB - GIB / 8};
    struct machine_facts m = here;
    contradict("p3.2xlarge", m, "8 vCPU, 61 GiB, 1 x NVIDIA V100, but this machine shows no GPU");
    contradict("c7i.large", m, "has AMD EPYC 9R14");
    m.cores_online = 4;
    contradict("c7a.large", m, "runs 4 hardware threads");
    m.cores_online = 2, m.memory_bytes = 8 * GIB;
    contradict("c7a.large", m, "GB of memory");
    m.memory_bytes = 2 * GIB;
    contradict("c7a.large", m, "GB of memory");
    m = here, strcpy(m.gpu, "NVIDIA T4");
    contradict("c7a.large", m, "has NVIDIA T4");
    m = here, strcpy(m.product, "c7a.xlarge");
    contradict("c7a.large", m, "says that it is c7a.xlarge");
    const struct machine_facts one = {.gpu = "Tesla V100-SXM2-16GB", .cores_online = 64, .memory_bytes = 480 * GIB};
    contradict("p3.16xlarge", one, "has Tesla V100");
}

// A row that cannot be read would let everything pass.
static int read_row(void *context, const struct price *price)
{
    int vcpu;
    double gib;
    assert_int_equal(sscanf(price->what, "%d vCPU, %lf GiB", &vcpu, &gib), 2);
    assert_true(vcpu > 0 && gib > 0);
    (void)context;
    return 0;
}

TEST(every_row_says_what_it_is)
{
    assert_int_equal(price_table(read_row, NULL), 0);
}
