// SPDX-License-Identifier: Apache-2.0
// Every system call of SQLite for a submission or a page fails once, with ENOSPC and with EIO: the first call of a submission,
// then the second, until a submission makes no more. Each time the client must get 503 (or its receipt, if SQLite can do
// without the call), pages must still be served, the same submission must be accepted when it is sent again, and at the end
// the database must be intact. Calls are replaced through SQLite's own table (xSetSystemCall). fsync and fdatasync are not in
// it; functions of this program replace the C library's.
#include "test/unit/fixture_server.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define CALL_LIST                                                                                                      \
    CALL(open) CALL(access) CALL(stat) CALL(fstat) CALL(ftruncate) CALL(fcntl) CALL(read) CALL(pread) CALL(pread64)      \
    CALL(write) CALL(pwrite) CALL(pwrite64) CALL(fallocate) CALL(unlink) CALL(openDirectory) CALL(mmap)
enum call {
#define CALL(name) CALL_##name,
    CALL_LIST
#undef CALL
        CALL_fsync,
    CALLS
};
static const char *const call_names[] = {
#define CALL(name) #name,
    CALL_LIST
#undef CALL
    "fsync"};
static sqlite3_syscall_ptr originals[CALLS];

static atomic_int armed = CALLS, left, reason, failed;

// True if this call must fail.
static bool strikes(enum call call)
{
    if (atomic_load(&armed) != (int)call || atomic_fetch_sub(&left, 1) != 1) return false;
    atomic_store(&failed, 1);
    errno = atomic_load(&reason);
    return true;
}

#define WRAP(name, type, parameters, arguments)                                                                        \
    static type wrap_##name parameters                                                                                 \
    {                                                                                                                  \
        return strikes(CALL_##name) ? (type)-1 : ((type(*) parameters)originals[CALL_##name])arguments;                \
    }
WRAP(open, int, (const char *path, int flags, int mode), (path, flags, mode))
WRAP(access, int, (const char *path, int mode), (path, mode))
WRAP(stat, int, (const char *path, struct stat *into), (path, into))
WRAP(fstat, int, (int fd, struct stat *into), (fd, into))
WRAP(ftruncate, int, (int fd, off_t size), (fd, size))
WRAP(read, ssize_t, (int fd, void *at, size_t count), (fd, at, count))
WRAP(pread, ssize_t, (int fd, void *at, size_t count, off_t from), (fd, at, count, from))
WRAP(pread64, ssize_t, (int fd, void *at, size_t count, off_t from), (fd, at, count, from))
WRAP(write, ssize_t, (int fd, const void *at, size_t count), (fd, at, count))
WRAP(pwrite, ssize_t, (int fd, const void *at, size_t count, off_t to), (fd, at, count, to))
WRAP(pwrite64, ssize_t, (int fd, const void *at, size_t count, off_t to), (fd, at, count, to))
WRAP(unlink, int, (const char *path), (path))
WRAP(mmap, void *, (void *at, size_t count, int may, int flags, int fd, off_t from), (at, count, may, flags, fd, from))

static int wrap_fallocate(int fd, off_t from, off_t count)  // posix_fallocate returns the reason
{
    if (strikes(CALL_fallocate)) return atomic_load(&reason);
    return ((int (*)(int, off_t, off_t))originals[CALL_fallocate])(fd, from, count);
}

static int wrap_openDirectory(const char *path, int *fd)
{
    if (strikes(CALL_openDirectory)) return SQLITE_CANTOPEN;
    return ((int (*)(const char *, int *))originals[CALL_openDirectory])(path, fd);
}

static int wrap_fcntl(int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    // Releasing a lock does not fail on local file systems, and SQLite could not handle it.
    const bool gives_back = command == F_SETLK && ((const struct flock *)argument)->l_type == F_UNLCK;
    if (!gives_back && strikes(CALL_fcntl)) return -1;
    return ((int (*)(int, int, ...))originals[CALL_fcntl])(fd, command, argument);
}

int fsync(int fd)
{
    return strikes(CALL_fsync) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return strikes(CALL_fsync) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

// Some calls are not in every build of SQLite: those are not replaced.
static void take_calls(void)
{
    static const sqlite3_syscall_ptr wraps[] = {
#define CALL(name) (sqlite3_syscall_ptr)wrap_##name,
        CALL_LIST
#undef CALL
    };
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    for (int call = 0; call < CALL_fsync; call++) {
        originals[call] = vfs->xGetSystemCall(vfs, call_names[call]);
        if (originals[call] != NULL) vfs->xSetSystemCall(vfs, call_names[call], wraps[call]);
    }
}

// ---- the walk ----------------------------------------------------------------------------------------------------
static struct fixture_server board;
static struct sshkey_secret key;
static int number, refused, faults;

static int post(const struct text *body, struct reply *reply)
{
    fixture_post(board.port, body, reply);
    const int status = reply->status;
    return status;
}

static int get(const char *target)
{
    struct reply reply;
    fixture_get(board.port, target, &reply);
    const int status = reply.status;
    reply_free(&reply);
    return status;
}

static void wrong(enum call call, int nth, int error, const char *what, int status)
{
    fprintf(stderr, "%s number %d fails with %s: %s answers %d\n", call_names[call], nth, strerror(error), what, status);
    faults++;
}

static void arm(enum call call, int nth, int error)
{
    atomic_store(&failed, 0);
    atomic_store(&left, nth);
    atomic_store(&reason, error);
    atomic_store(&armed, (int)call);
}

static bool disarm(void)
{
    atomic_store(&armed, CALLS);
    return atomic_load(&failed) != 0;
}

// A submission whose nth call fails. False if it makes fewer calls.
static bool break_submission(enum call call, int nth, int error)
{
    struct text body = {0};
    struct reply reply;
    fixture_envelope(number++, "ada", &key, &body);
    arm(call, nth, error);
    const int status = post(&body, &reply);
    const bool reached = disarm();
    if (status != 201 && status != 503) wrong(call, nth, error, "a submission", status);
    if (status == 503 && reply_header(&reply, "Retry-After") == NULL) wrong(call, nth, error, "no Retry-After", status);
    refused += status == 503;
    reply_free(&reply);
    const int page = get("/boards/cifar10/training-time"), again = post(&body, &reply);
    reply_free(&reply);
    if (page != 200) wrong(call, nth, error, "a page after it", page);
    if (again != 200 && !(again == 201 && status == 503)) wrong(call, nth, error, "the same again", again);
    text_free(&body);
    return reached;
}

// A page with an uncached query whose nth call fails. The next request must get the page.
static bool break_page(enum call call, int nth, int error)
{
    char target[96];
    static int asked;
    snprintf(target, sizeof target, "/api/v1/statements?after=%d", asked++ % 50);
    struct text body = {0};
    struct reply reply;
    fixture_envelope(number++, "ada", &key, &body);  // so that readers have something to read
    if (post(&body, &reply) != 201) wrong(call, nth, error, "a submission before", reply.status);
    reply_free(&reply);
    text_free(&body);
    arm(call, nth, error);
    const int status = get(target);
    const bool reached = disarm();
    if (status != 200 && status != 503) wrong(call, nth, error, "a page", status);
    refused += status == 503;
    const int after = get(target);
    if (after != 200) wrong(call, nth, error, "the same page later", after);
    return reached;
}

static void check_record(void)
{
    struct store *store;
    int found = 0;
    fixture_must(store_open(&(struct store_settings){.path = board.path}, STORE_WRITE, &store));
    fixture_must(store_check(store, fixture_say, NULL, &found));
    store_close(store);
    faults += found;
}

int main(void)
{
    static const int errors[] = {ENOSPC, EIO};
    int struck = 0;
    enum { MOST = 400 };
    if (sodium_init() < 0) return 1;
    sshkey_new(&key, "");
    take_calls();
    fixture_start(&board, &(struct server_settings){.threads = 2});
    for (int call = 0; call < CALLS; call++) {
        for (int e = 0; e < 2; e++) {
            for (int nth = 1; nth < MOST && break_submission(call, nth, errors[e]); nth++) struck++;
            for (int nth = 1; nth < MOST && break_page(call, nth, errors[e]); nth++) struck++;
        }
    }
    fixture_stop(&board);
    check_record();
    fixture_remove(&board);
    printf("%d system calls failed, %d answers of 503, %d submissions: %s\n", struck, refused, number,
           faults == 0 ? "no fault" : "FAULTS");
    return faults == 0 && struck > 20 && refused > 10 ? 0 : 1;
}
