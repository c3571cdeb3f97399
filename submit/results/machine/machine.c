// SPDX-License-Identifier: Apache-2.0
// Reads /proc and /sys. Invariant: an unreadable fact is empty or 0, never a guess. Nothing that names the host, its owner
// or a serial number is read. Cost: a few milliseconds, once per process, most of them for the program's own digest.
#include "submit/results/machine/machine.h"

#include <archive.h>
#include <curl/curl.h>
#include <dirent.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <oneapi/dnnl/dnnl.h>
#include <png.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/common/base/build.h"
#include "runtime/common/base/text.h"
#include "runtime/common/base/threads.h"

// Files of /proc and /sys have size 0 until they are read. Returns the bytes read, NUL-terminated, or -1.
static long read_small(const char *path, char *into, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    size_t have = 0;
    while (have < capacity - 1) {
        ssize_t n = read(fd, into + have, capacity - 1 - have);
        if (n <= 0) break;
        have += (size_t)n;
    }
    close(fd);
    into[have] = '\0';
    return (long)have;
}

// Copies one line without surrounding white space. Control characters become spaces, because odd firmware must not reach the
// record or a terminal.
static void copy_line(char *into, size_t capacity, const char *from)
{
    while (*from == ' ' || *from == '\t') from++;
    size_t n = strcspn(from, "\n");
    if (n > capacity - 1) n = capacity - 1;
    for (size_t i = 0; i < n; i++) into[i] = (unsigned char)from[i] < 0x20 || from[i] == 0x7f ? ' ' : from[i];
    while (n > 0 && into[n - 1] == ' ') n--;
    into[n] = '\0';
}

static void read_line(const char *path, char *into, size_t capacity)
{
    char bytes[512];
    into[0] = '\0';
    if (read_small(path, bytes, sizeof bytes) > 0) copy_line(into, capacity, bytes);
}

// The text after "key<spaces>:" or "key=" at the beginning of a line; NULL if there is none.
static const char *find_value(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line != 0; line = strchr(line, '\n'), line += line != NULL) {
        if (strncmp(line, key, length) != 0) continue;
        const char *after = line + length + strspn(line + length, " \t");
        if (*after == ':' || *after == '=') return after + 1;
    }
    return NULL;
}

static bool has_word(const char *line, const char *word)
{
    size_t length = strlen(word), end = strcspn(line, "\n");
    for (const char *at = line; (at = strstr(at, word)) != NULL && at < line + end; at += length)
        if (at[-1] == ' ' && (at[length] == ' ' || at[length] == '\n' || at[length] == '\0')) return true;
    return false;
}

static void add_word(char *into, size_t capacity, const char *separator, const char *word)
{
    size_t used = strlen(into);
    snprintf(into + used, capacity - used, "%s%s", used > 0 ? separator : "", word);
}

static void cpu_read(struct machine_facts *m)
{
    // Only the flags that select kernels. The order is fixed, so that equal machines have equal texts.
    static const char *const matter[] = {"sse4_2",       "avx",         "avx2",        "fma",         "f16c",     "avx512f",
                                         "avx512bw",     "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16",
                                         "amx_int8",     "sve",         "bf16",        "asimd"};
    enum { ROOM = 1 << 22 };  // the text of 512 processors takes about 1 MB
    char *info = malloc(ROOM);
    if (info == NULL || read_small("/proc/cpuinfo", info, ROOM) <= 0) {
        free(info);
        return;
    }
    const char *model = find_value(info, "model name");
    if (model != NULL) copy_line(m->cpu, sizeof m->cpu, model);
    const char *flags = find_value(info, "flags");
    if (flags == NULL) flags = find_value(info, "Features");
    for (size_t i = 0; flags != NULL && i < sizeof matter / sizeof *matter; i++)
        if (has_word(flags, matter[i])) add_word(m->cpu_flags, sizeof m->cpu_flags, " ", matter[i]);
    if (flags != NULL && has_word(flags, "hypervisor")) add_word(m->virtualised, sizeof m->virtualised, ", ", "hypervisor");
    for (const char *at = info; (at = strstr(at, "physical id")) != NULL; at++) {
        const char *value = find_value(at, "physical id");
        int64_t id = value != NULL ? strtoll(value, NULL, 10) : 0;
        if (id + 1 > m->sockets) m->sockets = id + 1;  // ids are dense on all systems met so far
    }
    free(info);
}

static void gpu_read(struct machine_facts *m)
{
    DIR *folder = opendir("/proc/driver/nvidia/gpus");
    if (folder == NULL) return;
    int count = 0;
    char first[MACHINE_TEXT - 16] = "";
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[512], information[2048];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%s/information", entry->d_name);
        if (read_small(path, information, sizeof information) <= 0) continue;
        const char *model = find_value(information, "Model");
        if (model != NULL && count++ == 0) copy_line(first, sizeof first, model);
    }
    closedir(folder);
    if (count == 1) snprintf(m->gpu, sizeof m->gpu, "%s", first);
    if (count > 1) snprintf(m->gpu, sizeof m->gpu, "%d x %s", count, first);
    read_line("/sys/module/nvidia/version", m->driver, sizeof m->driver);
}

void machine_read(struct machine_facts *m)
{
    *m = (struct machine_facts){0};
    cpu_read(m);
    m->cores_online = sysconf(_SC_NPROCESSORS_ONLN);
    m->cores_usable = threads_available();
    m->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", m->governor, sizeof m->governor);
    read_line("/sys/class/dmi/id/product_name", m->product, sizeof m->product);
    if (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
        access("/run/systemd/container", F_OK) == 0)
        add_word(m->virtualised, sizeof m->virtualised, ", ", "container");
    gpu_read(m);
    char release[4096];
    if (read_small("/etc/os-release", release, sizeof release) > 0 ||
        read_small("/usr/lib/os-release", release, sizeof release) > 0) {
        const char *name = find_value(release, "PRETTY_NAME");
        if (name != NULL) copy_line(m->os, sizeof m->os, name + (*name == '"'));
        size_t n = strlen(m->os);
        if (n > 0 && m->os[n - 1] == '"') m->os[n - 1] = '\0';
    }
    struct utsname system;
    if (uname(&system) == 0) snprintf(m->kernel, sizeof m->kernel, "%.60s %.60s", system.sysname, system.release);
}

int machine_software(struct software_facts *s)
{
    *s = (struct software_facts){.dirty = build_dirty()};
    snprintf(s->commit, sizeof s->commit, "%s", build_commit());
    snprintf(s->compiler, sizeof s->compiler, "%s", build_compiler());
    snprintf(s->flags, sizeof s->flags, "%s", build_flags());
    const dnnl_version_t *dnnl = dnnl_version();
    snprintf(s->libraries, sizeof s->libraries,
             "oneDNN %d.%d.%d; glibc %s; SQLite %s; jansson %s; libsodium %s; libcurl %s; libpng %s; %s", dnnl->major,
             dnnl->minor, dnnl->patch, gnu_get_libc_version(), sqlite3_libversion(), jansson_version_str(),
             sodium_version_string(), curl_version_info(CURLVERSION_NOW)->version, png_get_libpng_ver(NULL),
             archive_version_string());
    char bytes[FILE_PROGRAM], starter[FILE_PROGRAM];
    TRY(file_program(bytes, starter));
    return digest_file(bytes, s->binary_digest);
}

int64_t machine_peak_memory(void)
{
    char status[8192];
    if (read_small("/proc/self/status", status, sizeof status) <= 0) return 0;
    const char *peak = find_value(status, "VmHWM");
    return peak != NULL ? strtoll(peak, NULL, 10) * 1024 : 0;
}

void machine_peak_memory_reset(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t n = write(fd, "5", 1);  // proc(5): 5 resets the peak to the current resident size
    (void)n;                        // if refused, the peak covers the whole process
    close(fd);
}
