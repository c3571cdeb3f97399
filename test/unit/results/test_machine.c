// SPDX-License-Identifier: Apache-2.0
// The machine's facts are plausible, stable and free of names; the program's own digest is true.
#include <sys/stat.h>

#include "runtime/common/base/arena.h"
#include "submit/results/machine/machine.h"
#include "submit/results/machine/machine_counter.h"
#include "test/unit/test.h"

TEST(facts_are_plausible)
{
    struct machine_facts a, b;
    machine_read(&a);
    machine_read(&b);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(strlen(a.kernel) > 6);
    assert_true(a.cores_online >= 1);
    assert_true(a.cores_usable >= 1 && a.cores_usable <= a.cores_online);
    assert_true(a.memory_bytes > (int64_t)64 << 20);
    const char *texts[] = {a.cpu, a.cpu_flags, a.product, a.governor, a.virtualised, a.gpu, a.driver, a.os, a.kernel};
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (const char *c = texts[i]; *c != 0; c++) assert_true((unsigned char)*c >= 0x20);
        if (strlen(host) > 8) assert_null(strstr(texts[i], host));
    }
#ifdef __x86_64__
    assert_true(strlen(a.cpu) > 3);
    assert_true(a.sockets >= 1 || strlen(a.virtualised) > 0);
    assert_true(!__builtin_cpu_supports("avx2") == (strstr(a.cpu_flags, "avx2") == NULL));
#endif
}

TEST(software_names_what_runs)
{
    struct software_facts s;
    char hex[DIGEST_HEX], self[512];
    assert_int_equal(machine_software(&s), 0);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    assert_int_equal(digest_file(self, hex), 0);
    assert_string_equal(s.binary_digest, hex);
    assert_non_null(strstr(s.libraries, "oneDNN "));
    assert_non_null(strstr(s.libraries, "SQLite 3."));
    assert_true(strlen(s.compiler) > 0);
}

TEST(peak_memory_follows_use)
{
    int64_t before = machine_peak_memory();
    assert_true(before > 0);
    size_t size = (size_t)64 << 20;
    volatile char *memory = zalloc(size);
    for (size_t i = 0; i < size; i += 4096) memory[i] = 1;
    assert_true(machine_peak_memory() >= (int64_t)size);
    free((void *)memory);
    machine_peak_memory_reset();  // may be refused; it must only never raise the figure
    assert_true(machine_peak_memory() > 0);
}

TEST(energy_only_grows)
{
    struct machine_meter meter;
    int64_t a = -1, b = -1;
    if (!machine_meter_start(&meter)) {
        assert_false(machine_energy_uj(&meter, &a));
        assert_int_equal(a, -1);
        return;
    }
    assert_true(machine_energy_uj(&meter, &a) && machine_energy_uj(&meter, &b));
    assert_true(a >= 0 && b >= a);
    machine_meter_stop(&meter);
}

static void write_counter(const char *folder, const char *name, const char *value)
{
    char path[160];
    snprintf(path, sizeof path, "%s/intel-rapl:0/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(value, file);
    fclose(file);
}

static int64_t energy_of(struct machine_meter *meter)
{
    int64_t used = -1;
    assert_true(machine_energy_uj(meter, &used));
    return used;
}

// A counter with a range of 1,000 that goes round twice between two questions: only who looks in between can know.
TEST(counters_wrap)
{
    char folder[] = "/tmp/dawn-test-XXXXXX", path[96], command[96];
    struct machine_meter meter;
    assert_non_null(mkdtemp(folder));
    assert_false(machine_meter_start_at(&meter, folder, 1));
    machine_meter_stop(&meter);  // nothing to stop
    int64_t used;
    assert_false(machine_energy_uj(&meter, &used));
    snprintf(path, sizeof path, "%s/intel-rapl:0", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_counter(folder, "name", "package-0\n");
    write_counter(folder, "max_energy_range_uj", "1000\n");
    write_counter(folder, "energy_uj", "900\n");
    assert_true(machine_meter_start_at(&meter, folder, 1));
    assert_int_equal(energy_of(&meter), 0);
    static const char *const values[] = {"300\n", "800\n", "100\n"};  // 400, 500 and 300 more
    for (int i = 0; i < 3; i++) {
        write_counter(folder, "energy_uj", values[i]);
        usleep(200000);  // the thread looks every millisecond
    }
    assert_int_equal(energy_of(&meter), 1200);
    machine_meter_stop(&meter);
    write_counter(folder, "name", "psys\n");  // counts the packages again
    assert_false(machine_meter_start_at(&meter, folder, 1));
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

// A counter that grows by 5 with every reading. The first takes long, as loading a library does; `broken`: it is not known.
struct fake_counter {
    int readings;
    bool broken;
};

static bool read_fake(void *context, int64_t *uj)
{
    struct fake_counter *fake = context;
    if (fake->readings++ == 0) usleep(50000);
    *uj = 1000 + 5 * fake->readings;
    return !fake->broken;
}

TEST(a_counter_is_followed)
{
    struct fake_counter fake = {0}, broken = {.broken = true};
    int64_t uj = -1;
    struct machine_counter *c = machine_counter_start(read_fake, &fake);
    assert_non_null(c);
    assert_true(machine_counter_uj(c, true, &uj));  // waits for the first reading
    assert_true(uj == 0 || uj == 5);                // 0 if this was the first
    int64_t before = uj;
    assert_true(machine_counter_uj(c, false, &uj));
    assert_true(uj >= before);
    assert_true(machine_counter_uj(c, true, &uj));
    assert_true(uj >= before + 5);
    machine_counter_stop(c);
    c = machine_counter_start(read_fake, &broken);
    assert_false(machine_counter_uj(c, true, &uj));
    machine_counter_stop(c);
    assert_false(machine_counter_uj(NULL, true, &uj));
    machine_counter_stop(NULL);
}
