// SPDX-License-Identifier: Apache-2.0
// Fetches a published data set with libcurl: archives, which are then unpacked, and single files, from one host or several.
//
// Invariant: only bytes with the published size and SHA-256 are unpacked. Other bytes are kept under another name, so that
// no download is lost. TLS is verified; plain http is used only if --mirror names it. Cost: the download, one pass of
// SHA-256 over each part, and one of unpacking.
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "data/read/cifar/cifar.h"
#include "data/fetch/fetch.h"
#include "data/fetch/unpack.h"
#include "data/pack/packer.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/embed.h"
#include "runtime/common/base/text.h"

enum { FETCH_ATTEMPTS = 4, FETCH_PAUSE_MS = 1000, FETCH_STALL_S = 30, FETCH_PROGRESS_MS = 100, FETCH_QUALITY = 95 };

// A transfer of an archive or of one file of a source.
struct wanted {
    const char *title;  // "the archive of CIFAR-10"
    const char *name, *url;
    int64_t bytes;
    const char *sha256;
    bool ours;  // a file with that name comes from an earlier fetch and may be moved
    CURLSH *connections;  // shared with other transfers; NULL: a connection of its own
};

struct transfer {
    const struct wanted *wanted;
    const struct fetch_options *options;
    const char *url, *part;
    CURL *curl;
    int fd;
    int64_t bytes;    // of the whole file; 0: the server has not said yet
    int64_t have;     // bytes in the file
    int64_t told_ns;  // when progress was last reported
    bool begun;       // the head of the answer was checked
    bool taking;      // the body goes to the file
    int rc;           // the error of a callback; its sentence is this thread's
};

static void fetch_note(const struct fetch_options *options, const char *sentence)
{
    if (options->note != NULL) options->note(options->context, sentence);
}

static void fetch_progress(struct transfer *t, bool at_once)
{
    int64_t now = clock_ns();
    if (t->options->progress == NULL || (!at_once && now - t->told_ns < FETCH_PROGRESS_MS * INT64_C(1000000))) return;
    t->told_ns = now;
    t->options->progress(t->options->context, t->have, t->bytes);
}

static int fetch_restart(struct transfer *t)
{
    t->have = 0;
    if (ftruncate(t->fd, 0) != 0 || lseek(t->fd, 0, SEEK_SET) != 0)
        return fail_errno(ERR_IO, errno, "cannot restart %s", t->part);
    return 0;
}

// The headers of an answer decide what its body is: the whole archive, the rest of it, or an error page.
static int fetch_begin(struct transfer *t)
{
    long code = 0;
    curl_off_t length = -1;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_getinfo(t->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    t->begun = true;
    t->taking = code == 200 || code == 206;
    if (!t->taking) return 0;
    if (code == 206) {
        struct curl_header *range = NULL;
        long long first = -1;
        if (curl_easy_header(t->curl, "Content-Range", 0, CURLH_HEADER, -1, &range) == CURLHE_OK) {
            sscanf(range->value, "bytes %lld-", &first);
        }
        if (first != t->have) {
            return fail(ERR_NETWORK, "%s was asked to resume at byte %lld but sent another range", t->url,
                        (long long)t->have);
        }
    } else if (t->have > 0) {
        fetch_note(t->options, "the server cannot resume a download, so it starts again");
        TRY(fetch_restart(t));
    }
    if (t->bytes == 0 && length >= 0) t->bytes = t->have + length;
    if (t->bytes == 0) return fail(ERR_NETWORK, "%s does not say how many bytes %s has", t->url, t->wanted->title);
    if (length >= 0 && t->have + length != t->bytes) {
        return fail(ERR_NETWORK, "%s offers %lld bytes; %s has %lld", t->url,
                    (long long)(t->have + length), t->wanted->title, (long long)t->bytes);
    }
    return 0;
}

static int fetch_store(struct transfer *t, const char *bytes, size_t count)
{
    if (!t->begun) TRY(fetch_begin(t));
    if (!t->taking) return 0;
    if (t->have + (int64_t)count > t->bytes) {
        return fail(ERR_NETWORK, "%s sends more than the %lld bytes of %s", t->url, (long long)t->bytes, t->wanted->title);
    }
    while (count > 0) {
        ssize_t put = write(t->fd, bytes, count);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) {
            return fail_errno(ERR_IO, errno,
                              "cannot write %s after byte %lld of %lld (the next download resumes there)",
                              t->part, (long long)t->have, (long long)t->bytes);
        }
        bytes += put, count -= (size_t)put, t->have += put;
    }
    fetch_progress(t, false);
    return 0;
}

static size_t fetch_body(char *bytes, size_t size, size_t n, void *context)
{
    struct transfer *t = context;
    t->rc = fetch_store(t, bytes, size * n);
    return t->rc < 0 ? CURL_WRITEFUNC_ERROR : size * n;
}

static void fetch_set_up(struct transfer *t, char reason[CURL_ERROR_SIZE])
{
    CURL *curl = t->curl;
    const char *protocols = strncasecmp(t->url, "http://", 7) == 0 ? "http,https" : "https";
    curl_easy_setopt(curl, CURLOPT_URL, t->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, protocols);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "dawn");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)FETCH_STALL_S);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 100L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)FETCH_STALL_S);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, fetch_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
    if (t->wanted->connections != NULL) curl_easy_setopt(curl, CURLOPT_SHARE, t->wanted->connections);
    if (t->have > 0) {
        char range[32];
        snprintf(range, sizeof range, "%lld-", (long long)t->have);
        curl_easy_setopt(curl, CURLOPT_RANGE, range);
    }
}

// Judges an attempt: 0 (the archive is complete) or an error with its sentence; *again: another try may help.
static int fetch_judge(struct transfer *t, CURLcode result, const char *reason, bool *again)
{
    long code = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    if (t->rc < 0) return t->rc;
    if (code == 416 && t->have > 0) {
        const long long kept = (long long)t->have;
        *again = true;
        TRY(fetch_restart(t));
        return fail(ERR_NETWORK, "%s has no byte after the %lld that an earlier download kept", t->url, kept);
    }
    if (result == CURLE_OK && code != 200 && code != 206) {
        *again = code == 429 || code >= 500;
        return fail(ERR_NETWORK, "%s answered %ld%s", t->url, code, code == 404 ? " (not found)" : "");
    }
    if (result == CURLE_OK && t->begun && t->have == t->bytes) return 0;
    if (reason[0] == '\0') reason = result == CURLE_OK ? "the connection ended" : curl_easy_strerror(result);
    switch (result) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
        return fail(ERR_USAGE, "cannot fetch %s: %s (https, or http if --mirror names it)", t->url, reason);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_TOO_MANY_REDIRECTS: return fail(ERR_NETWORK, "cannot fetch %s: %s", t->url, reason);
    default: *again = true;
    }
    if (t->have == 0)
        return fail(ERR_NETWORK, "cannot fetch %s: %s (--mirror URL fetches from elsewhere, --from FILE takes a file of this "
                    "machine)", t->url, reason);
    return fail(ERR_NETWORK, "%s: %s; %lld of %lld bytes are kept in %s, and the next try resumes there", t->url, reason,
                (long long)t->have, (long long)t->bytes, t->part);
}

static int fetch_attempt(struct transfer *t, bool *again)
{
    char reason[CURL_ERROR_SIZE] = "";
    t->curl = curl_easy_init();
    if (t->curl == NULL) return fail(ERR_MEMORY, "not enough memory for a connection");
    t->begun = t->taking = false;
    t->rc = 0;
    fetch_set_up(t, reason);
    int rc = fetch_judge(t, curl_easy_perform(t->curl), reason, again);
    curl_easy_cleanup(t->curl);
    return rc;
}

static void fetch_pause(const struct fetch_options *options, int tries)
{
    long ms = (options->pause_ms > 0 ? options->pause_ms : FETCH_PAUSE_MS) * (1L << (tries < 6 ? tries : 6));
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

static int fetch_loop(struct transfer *t)
{
    int most = t->options->attempts > 0 ? t->options->attempts : FETCH_ATTEMPTS;
    for (int tries = 0; t->bytes == 0 || t->have < t->bytes; tries++) {
        bool again = false;
        int64_t before = t->have;
        int rc = fetch_attempt(t, &again);
        if (rc == 0) break;
        if (t->have > before) tries = 0;
        if (!again || tries + 1 >= most) return rc;
        if (t->have > before) fetch_note(t->options, error_text());  // a try without new bytes has the same sentence as the last
        fetch_pause(t->options, tries);
    }
    fetch_progress(t, true);
    if (fsync(t->fd) != 0) return fail_errno(ERR_IO, errno, "cannot write %s to the disk", t->part);
    return 0;
}

static int fetch_download(struct transfer *t)
{
    t->fd = open(t->part, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (t->fd < 0) return fail_errno(ERR_IO, errno, "cannot write %s", t->part);
    int rc = 0;
    if (flock(t->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        rc = fail(ERR_IO, "another fetch is writing %s now", t->part);
    bool ours = rc == 0;
    t->have = lseek(t->fd, 0, SEEK_END);
    if (rc == 0 && t->bytes > 0 && t->have > t->bytes) {
        fetch_note(t->options, "an earlier partial download is longer than the file, so it starts again");
        rc = fetch_restart(t);
    }
    if (rc == 0) rc = fetch_loop(t);
    if (rc < 0 && ours && t->have == 0) unlink(t->part);  // nothing was received
    if (close(t->fd) != 0 && rc == 0) rc = fail_errno(ERR_IO, errno, "cannot write %s", t->part);
    return rc;
}

// Returns 0 if the bytes are the published ones. `kept`: new name for other bytes; NULL: they stay.
static int fetch_check(const struct wanted *wanted, const char *path, const char *kept)
{
    struct stat st;
    char hex[DIGEST_HEX];
    if (stat(path, &st) != 0) return fail_errno(ERR_IO, errno, "cannot open %s", path);
    if (S_ISDIR(st.st_mode))
        return fail(ERR_USAGE, "%s is a folder, not %s; \"dawn train\" reads a folder of unpacked files with --data", path,
                    wanted->title);
    if (wanted->bytes > 0 && st.st_size != wanted->bytes) {
        return fail(ERR_INPUT, "%s has %lld bytes; %s has %lld", path, (long long)st.st_size, wanted->title,
                    (long long)wanted->bytes);
    }
    TRY(digest_file(path, hex));
    if (strcmp(hex, wanted->sha256) == 0) return 0;
    bool moved = kept != NULL && rename(path, kept) == 0;
    return fail(ERR_INPUT, "%s has SHA-256 %s, but %s has %s; it is not used%s%s", path, hex, wanted->title,
                wanted->sha256, moved ? ", and the file is kept as " : "", moved ? kept : "");
}

// Downloads into FOLDER/NAME unless it exists. The file gets that name after it was checked.
static int fetch_over_network(const struct wanted *wanted, const struct fetch_options *options, const char *folder)
{
    struct text path = {0}, part = {0}, bad = {0};
    text_add(&path, "%s/%s", folder, wanted->name);
    text_add(&part, "%s.part", path.at);
    text_add(&bad, "%s.bad", path.at);
    struct transfer t = {.wanted = wanted, .options = options, .url = wanted->url, .part = part.at, .bytes = wanted->bytes};
    int rc = 0;
    if (!file_exists(path.at)) {
        rc = fetch_download(&t);
        if (rc == 0) rc = fetch_check(wanted, part.at, bad.at);
        if (rc == 0 && rename(part.at, path.at) != 0) rc = fail_errno(ERR_IO, errno, "cannot put %s in its place", path.at);
    } else {
        rc = fetch_check(wanted, path.at, wanted->ours ? bad.at : NULL);
    }
    text_free(&bad), text_free(&part), text_free(&path);
    return rc;
}

// FOLDER/NAME with one slash between; free() it.
static char *fetch_join(const char *folder, const char *name)
{
    struct text path = {0};
    size_t length = strlen(folder);
    text_add(&path, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name);
    return path.at;
}

// ---- the parts of a source

static char *fetch_url(const struct source *source, const struct source_part *part, const char *mirror)
{
    const char *name = source_part_name(part), *ending = strrchr(name, '.');
    if (mirror == NULL) return copy_text(part->url);
    size_t length = strlen(mirror), tail = ending != NULL ? strlen(ending) : 0;
    bool whole = source->part[1].url == NULL && tail > 0 && length > tail && strcmp(mirror + length - tail, ending) == 0;
    return whole ? copy_text(mirror) : fetch_join(mirror, name);
}

static int fetch_copy(const struct wanted *wanted, const char *from, const char *to)
{
    char *bytes = NULL;
    size_t count = 0;
    TRY(fetch_check(wanted, from, NULL));
    int rc = file_read(from, (size_t)wanted->bytes, &bytes, &count);
    if (rc == 0) rc = file_write(to, bytes, count);
    free(bytes);
    return rc;
}

// A part of this machine, for --from: the file itself if the source is one archive, else a file of that folder.
static char *fetch_local(const struct source *source, const struct source_part *part, const char *from)
{
    bool alone = source->part[1].url == NULL && source_part_file(source, part) == NULL;
    return alone ? copy_text(from) : fetch_join(from, source_part_name(part));
}

// Gets one part, checked. *at: where it is.
static int fetch_part(const struct source *source, const struct source_part *part, const struct fetch_options *options,
                      const char *folder, char **at)
{
    const struct source_file *file = source_part_file(source, part);
    const char *name = source_part_name(part), *to = file != NULL ? folder : options->to;
    bool alone = file == NULL && source->part[1].url == NULL;
    struct text title = {0};
    text_add(&title, "%s of %s", alone ? "the archive" : name, source->title);
    struct wanted wanted = {title.at, name, NULL, file ? file->bytes : part->bytes, file ? file->sha256 : part->sha256,
                            file == NULL, NULL};
    char *url = fetch_url(source, part, options->mirror), *local = NULL;
    int rc;
    *at = fetch_join(to, name);
    if (options->from == NULL) {
        wanted.url = url;
        rc = fetch_over_network(&wanted, options, to);
    } else {
        local = fetch_local(source, part, options->from);
        rc = file != NULL ? fetch_copy(&wanted, local, *at) : fetch_check(&wanted, local, NULL);
        if (file == NULL) {
            free(*at);
            *at = local, local = NULL;
        }
    }
    free(local);
    free(url);
    text_free(&title);
    return rc;
}

// Unpacks or packs the archives. All of them appear, or nothing.
static int fetch_take(const struct source *source, const struct fetch_options *options, char *const *archive, int count)
{
    if (source->tree != NULL) return unpack_tree(source, (const char *const *)archive, count, options->to);
    if (!source->packed) return unpack_archives(source, (const char *const *)archive, count, options->to);
    struct packer_report report;
    struct text to = {0};
    text_add(&to, "%s/%s%s", options->to, source->name, PACK_ENDING);
    struct packer_choice pack = {.flavour = imagenet_flavour(source->name), .from = archive[0], .to = to.at,
                                 .quality = FETCH_QUALITY, .progress = options->packing, .note = options->note,
                                 .context = options->context};
    int rc = packer_run(&pack, &report);
    text_free(&to);
    return rc;
}

static int fetch_parts(const struct source *source, const struct fetch_options *options, const char *folder)
{
    char *archive[SOURCE_PARTS_MAX] = {NULL};
    int rc = 0, archives = 0;
    for (const struct source_part *part = source->part; part->url != NULL && rc == 0; part++) {
        char *at = NULL;
        bool plain = source_part_file(source, part) != NULL;
        if (plain) rc = file_make_folder(folder);
        if (rc == 0) rc = fetch_part(source, part, options, folder, &at);
        if (!plain) archive[archives++] = at;
        else free(at);
    }
    if (rc == 0 && archives > 0) rc = fetch_take(source, options, archive, archives);
    for (int i = 0; i < archives; i++) {
        if (rc == 0 && options->from == NULL) unlink(archive[i]);  // a checked archive is kept if it could not be unpacked
        free(archive[i]);
    }
    return rc;
}

// ---- a list of small files

struct fetched_list {
    const struct source *source;
    const struct fetch_options *options;
    const char *folder;
    CURLSH *connections;
    int64_t done;  // bytes of the files before
};

static void sum_progress(void *context, int64_t have, int64_t total)
{
    const struct fetched_list *l = context;
    (void)total;
    if (l->options->progress != NULL) l->options->progress(l->options->context, l->done + have, l->source->part[0].bytes);
}

static void pass_note(void *context, const char *sentence)
{
    fetch_note(((const struct fetched_list *)context)->options, sentence);
}

static int fetch_line(struct fetched_list *l, const char *sha256, int64_t bytes, const char *name)
{
    struct fetch_options options = *l->options;
    options.progress = sum_progress, options.note = pass_note, options.context = l;
    struct text title = {0};
    text_add(&title, "%s of %s", name, l->source->title);
    const char *base = options.from != NULL ? options.from : options.mirror != NULL ? options.mirror : l->source->part[0].url;
    char *from = fetch_join(base, name);
    char *at = fetch_join(l->folder, name), *below = copy_text(at);
    struct wanted wanted = {title.at, name, from, bytes, sha256, true, l->connections};
    *strrchr(below, '/') = '\0';
    int rc = file_make_folder(below);
    if (rc == 0) rc = options.from != NULL ? fetch_copy(&wanted, from, at) : fetch_over_network(&wanted, &options, l->folder);
    l->done += bytes;
    if (rc == 0) sum_progress(l, 0, 0);
    free(below), free(at), free(from);
    text_free(&title);
    return rc;
}

int fetch_list(const struct source *source, const char *lines, const struct fetch_options *options)
{
    char *folder = fetch_join(options->to, source->folder);
    struct fetched_list l = {.source = source, .options = options, .folder = folder, .connections = curl_share_init()};
    if (l.connections != NULL) curl_share_setopt(l.connections, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
    int rc = 0;
    for (const char *line = lines; *line != '\0' && rc == 0; line = strchr(line, '\n') + 1) {
        char sha256[DIGEST_HEX], name[128];
        long long bytes;
        BUG_IF(sscanf(line, "%64s %lld %127s", sha256, &bytes, name) != 3);
        rc = fetch_line(&l, sha256, bytes, name);
    }
    curl_share_cleanup(l.connections);
    free(folder);
    return rc;
}

static int fetch_embedded(const struct source *source, const struct fetch_options *options)
{
    const struct embedded *list = embedded_find(source->list);
    BUG_IF(list == NULL);
    return fetch_list(source, list->at, options);
}

// Checked before anything is downloaded.
static int check_target(const struct source *source, const struct fetch_options *options)
{
    struct text to = {0};
    int rc = 0;
    if (source->packed) text_add(&to, "%s/%s%s", options->to, source->name, PACK_ENDING);
    else if (source->tree != NULL) text_add(&to, "%s/%s", options->to, source->folder);
    if (to.at != NULL && file_exists(to.at))
        rc = fail(ERR_USAGE, "%s exists already, but it is not %s as published, or it is damaged: \"dawn data verify\" says "
                  "which. A fetch overwrites nothing; move it away, or use another folder with --to", to.at, source->title);
    text_free(&to);
    return rc;
}

int fetch_source(const struct source *source, const struct fetch_options *options)
{
    TRY(check_target(source, options));
    struct text note = {0};
    text_add(&note, "%s/%s/%s", options->to, source->folder, CIFAR_IMPORT_NOTE);
    int rc = 0;
    if (file_exists(note.at)) {
        rc = fail(ERR_USAGE, "%s/%s has imported images, which a fetch would replace; use another folder with --to",
                  options->to, source->folder);
    }
    text_free(&note);
    TRY(rc);
    TRY(file_make_folder(options->to));
    if (source->list != NULL) return fetch_embedded(source, options);
    char *folder = fetch_join(options->to, source->folder);
    rc = fetch_parts(source, options, folder);
    free(folder);
    return rc;
}
