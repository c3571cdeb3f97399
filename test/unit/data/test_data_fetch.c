// SPDX-License-Identifier: Apache-2.0
// Downloads from a small local server that truncates, lies and refuses (test/cli/data_server.py). A small archive stands for
// a published one.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <archive.h>
#include <archive_entry.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "data/fetch/fetch.h"
#include "runtime/common/base/arena.h"

enum { PAYLOAD = 300000 };

static struct source source = {
    .name = "small",
    .title = "Small",
    .part = {{.url = "https://example.invalid/archive.tar.gz"}},
    .folder = "small-bin",
    .file = {{"one.bin", SPLIT_TRAIN, PAYLOAD, NULL}},
};
static char digest[DIGEST_HEX], notes[4096];
static int port, server_input;
static pid_t server;

static void make_archive(void)
{
    struct archive *out = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    archive_write_add_filter_gzip(out);
    archive_write_set_format_pax_restricted(out);
    assert_int_equal(archive_write_open_filename(out, in("served.tar.gz")), ARCHIVE_OK);
    archive_entry_set_pathname(entry, "small-bin/one.bin");
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, PAYLOAD);
    assert_int_equal(archive_write_header(out, entry), ARCHIVE_OK);
    static uint8_t payload[PAYLOAD];
    uint32_t noise = 1;
    for (int i = 0; i < PAYLOAD; i++) noise = noise * 1664525 + 1013904223, payload[i] = (uint8_t)(noise >> 24);
    assert_int_equal(archive_write_data(out, payload, PAYLOAD), PAYLOAD);
    archive_entry_free(entry);
    archive_write_close(out);
    archive_write_free(out);
    struct stat st;
    assert_int_equal(stat(in("served.tar.gz"), &st), 0);
    source.part[0].bytes = st.st_size;
    assert_int_equal(digest_file(in("served.tar.gz"), digest), 0);
    source.part[0].sha256 = digest;
}

static void start_server(const char *what)
{
    int given[2], out[2];
    assert_int_equal(pipe2(given, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    server = fork();
    if (server == 0) {
        dup2(given[0], 0);
        dup2(out[1], 1);
        execlp("python3", "python3", "test/cli/data_server.py", what, in("log"), (char *)NULL);
        _exit(127);
    }
    close(given[0]), close(out[1]);
    server_input = given[1];
    FILE *said = fdopen(out[0], "r");
    if (fscanf(said, "%d", &port) != 1) fail_msg("the server did not start");
    fclose(said);
}

static int set_up_server(void **state)
{
    if (set_up(state) != 0) return -1;
    notes[0] = '\0';
    make_archive();
    start_server(in("served.tar.gz"));
    return 0;
}

static int tear_down_server(void **state)
{
    close(server_input);
    waitpid(server, NULL, 0);
    return leave(state);
}

static void keep_note(void *context, const char *sentence)
{
    (void)context;
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", sentence);
}

static int64_t last_have, last_total;

static void keep_progress(void *context, int64_t have, int64_t total)
{
    (void)context;
    last_have = have, last_total = total;
}

static int fetch(const char *mode, int attempts)
{
    char mirror[64];
    snprintf(mirror, sizeof mirror, "http://127.0.0.1:%d/%s", port, mode);
    struct fetch_options options = {.mirror = mirror, .to = in("out"), .attempts = attempts, .pause_ms = 1};
    options.note = keep_note, options.progress = keep_progress;
    return fetch_source(&source, &options);
}

static void assert_unpacked(void)
{
    struct stat st;
    assert_int_equal(stat(in("out/small-bin/one.bin"), &st), 0);
    assert_int_equal(st.st_size, PAYLOAD);
    assert_false(file_exists(in("out/archive.tar.gz")));
    assert_false(file_exists(in("out/archive.tar.gz.part")));
}

static int64_t part_size(void)
{
    struct stat st;
    return stat(in("out/archive.tar.gz.part"), &st) == 0 ? st.st_size : -1;
}

// The requests so far, one "PATH RANGE" a line.
static const char *requests(void)
{
    static char text[4096];
    char *bytes;
    size_t count;
    assert_int_equal(file_read(in("log"), sizeof text - 1, &bytes, &count), 0);
    memcpy(text, bytes, count + 1);
    free(bytes);
    return text;
}

TEST_WITH(a_plain_download, set_up_server, tear_down_server)
{
    if (fetch("whole", 1) != 0) fail_msg("%s", error_text());
    assert_unpacked();
    assert_int_equal(last_have, source.part[0].bytes);
    assert_int_equal(last_total, source.part[0].bytes);
    assert_string_equal(requests(), "/whole/archive.tar.gz -\n");
    assert_int_equal(fetch("whole/archive.tar.gz", 1), 0);  // the archive's own URL does as well
    assert_int_equal(fetch("redirect", 1), 0);
}

TEST_WITH(resumes_after_a_cut, set_up_server, tear_down_server)
{
    char range[96];
    assert_fails(fetch("cut", 1), ERR_NETWORK, "the next try resumes there");
    assert_int_equal(part_size(), source.part[0].bytes / 2);
    assert_false(file_exists(in("out/small-bin")));
    if (fetch("cut", 1) != 0) fail_msg("%s", error_text());  // another call, as after a restart
    assert_unpacked();
    snprintf(range, sizeof range, "/cut/archive.tar.gz -\n/cut/archive.tar.gz bytes=%lld-\n",
             (long long)source.part[0].bytes / 2);
    assert_string_equal(requests(), range);
    if (fetch("cut", 2) != 0) fail_msg("%s", error_text());  // and within one call
    assert_unpacked();
    assert_non_null(strstr(notes, "resumes there"));
}

// Where nobody publishes the size, the server says it, and the SHA-256 decides.
TEST_WITH(a_download_of_unknown_size, set_up_server, tear_down_server)
{
    const int64_t bytes = source.part[0].bytes;
    source.part[0].bytes = 0;
    OK(fetch("whole", 1));
    assert_unpacked();
    assert_int_equal(last_total, bytes);
    assert_fails(fetch("cut", 1), ERR_NETWORK, "the next try resumes there");
    OK(fetch("cut", 1));
    source.part[0].sha256 = "1234";
    assert_fails(fetch("whole", 1), ERR_INPUT, "has SHA-256");
}

// A tree keeps its folders, and nothing that is there already is overwritten.
TEST_WITH(a_download_of_a_tree, set_up_server, tear_down_server)
{
    const struct source whole = source;
    source.tree = "small-bin/", source.folder = "tree", source.file[0].name = NULL;
    OK(fetch("whole", 1));
    assert_true(file_exists(in("out/tree/one.bin")));
    assert_fails(fetch("whole", 1), ERR_USAGE, "A fetch overwrites nothing; move it away");
    source = whole;
}

TEST_WITH(a_server_without_ranges, set_up_server, tear_down_server)
{
    assert_fails(fetch("norange", 1), ERR_NETWORK, "bytes are kept in");
    if (fetch("norange", 1) != 0) fail_msg("%s", error_text());
    assert_unpacked();
    assert_non_null(strstr(notes, "starts again"));
}

TEST_WITH(a_wrong_range_is_not_pasted, set_up_server, tear_down_server)
{
    assert_fails(fetch("wrongrange", 1), ERR_NETWORK, "bytes are kept in");
    assert_fails(fetch("wrongrange", 4), ERR_NETWORK, "sent another range");
    assert_int_equal(part_size(), source.part[0].bytes / 2);
}

TEST_WITH(answers_that_say_no, set_up_server, tear_down_server)
{
    assert_fails(fetch("missing", 4), ERR_NETWORK, "/missing/archive.tar.gz answered 404 (not found)");
    assert_string_equal(requests(), "/missing/archive.tar.gz -\n");  // asked once: it would not change
    assert_int_equal(part_size(), -1);  // nothing came, so nothing is left behind
    assert_fails(fetch("page", 4), ERR_NETWORK, "offers 9 bytes; the archive of Small has");
    assert_fails(fetch("endless", 4), ERR_NETWORK, "sends more than the");
    assert_int_equal(unlink(in("out/archive.tar.gz.part")), 0);  // it may well hold all that was wanted
    assert_fails(fetch("elsewhere", 4), ERR_USAGE, "cannot fetch");
    assert_fails(fetch("busy", 2), ERR_NETWORK, "answered 503");
    assert_string_equal(notes, "");  // a try without new bytes is reported once, at the end
    assert_int_equal(part_size(), -1);
    assert_int_equal(fetch("busy", 2), 0);
    assert_unpacked();
}

TEST_WITH(a_wrong_digest_unpacks_nothing, set_up_server, tear_down_server)
{
    char other[DIGEST_HEX];
    memset(other, 'a', 64);
    other[64] = '\0';
    source.part[0].sha256 = other;
    assert_fails(fetch("whole", 1), ERR_INPUT, "it is not used, and the file is kept as");
    assert_non_null(strstr(error_text(), digest));  // what it got
    assert_non_null(strstr(error_text(), other));   // what it expected
    assert_true(file_exists(in("out/archive.tar.gz.bad")));
    assert_false(file_exists(in("out/small-bin")));
    assert_int_equal(part_size(), -1);
    source.part[0].sha256 = digest;
    assert_int_equal(fetch("whole", 1), 0);  // and the next try is not in its way
    assert_unpacked();
}

TEST_WITH(leftovers, set_up_server, tear_down_server)
{
    make_folder("out");
    char *bytes;
    size_t count;
    assert_int_equal(file_read(in("served.tar.gz"), 1 << 20, &bytes, &count), 0);
    put("out/archive.tar.gz.part", bytes, count);  // complete, but never checked: no request is needed
    assert_int_equal(fetch("missing", 1), 0);
    assert_unpacked();
    put("out/archive.tar.gz", bytes, count);  // checked, but never unpacked
    assert_int_equal(fetch("missing", 1), 0);
    assert_unpacked();
    bytes = grow(bytes, count + 10);
    memset(bytes + count, 0, 10);
    put("out/archive.tar.gz.part", bytes, count + 10);  // longer than it can be
    assert_int_equal(fetch("whole", 1), 0);
    assert_unpacked();
    assert_non_null(strstr(notes, "an earlier partial download is longer than the file"));
    put("out/archive.tar.gz.part", bytes, 100);
    int fd = open(in("out/archive.tar.gz.part"), O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_fails(fetch("whole", 1), ERR_IO, "another fetch is writing");
    close(fd);
    free(bytes);
}

TEST_WITH(no_room, set_up_server, tear_down_server)
{
    struct rlimit before, low = {100000, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    low.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    int rc = fetch("whole", 4);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_fails(rc, ERR_IO, "after byte 100000 of");
    assert_int_equal(part_size(), 100000);
    assert_int_equal(fetch("whole", 1), 0);  // the disk has space again: it goes on
    assert_unpacked();
    assert_non_null(strstr(requests(), "bytes=100000-"));
}

TEST_WITH(from_a_file, set_up_server, tear_down_server)
{
    struct fetch_options options = {.from = in("served.tar.gz"), .to = in("out")};
    if (fetch_source(&source, &options) != 0) fail_msg("%s", error_text());
    assert_unpacked();
    assert_true(file_exists(in("served.tar.gz")));
    options.from = in("nothing"), options.to = in("out");
    assert_fails(fetch_source(&source, &options), ERR_IO, "nothing");
    assert_int_equal(truncate(in("served.tar.gz"), 1000), 0);
    options.from = in("served.tar.gz");
    assert_fails(fetch_source(&source, &options), ERR_INPUT, "served.tar.gz has 1000 bytes");
    put("out/small-bin/dawn-import.json", "{}", 2);
    options.to = in("out");
    assert_fails(fetch_source(&source, &options), ERR_USAGE, "has imported images");
}

TEST_WITH(files_without_an_archive, set_up_server, tear_down_server)
{
    struct source plain = {.name = "plain", .title = "Plain", .folder = "plain", .part = {
        {.url = "https://one.invalid/a/train.json"}, {.url = "https://two.invalid/dev.json"}}};
    char mirror[64], *bytes;
    size_t count;
    for (int i = 0; i < 2; i++)
        plain.file[i] = (struct source_file){i == 0 ? "train.json" : "dev.json", i, source.part[0].bytes, digest};
    snprintf(mirror, sizeof mirror, "http://127.0.0.1:%d/whole", port);
    struct fetch_options options = {.mirror = mirror, .to = in("out"), .attempts = 1};
    if (fetch_source(&plain, &options) != 0) fail_msg("%s", error_text());
    assert_non_null(strstr(requests(), "/whole/train.json"));
    assert_int_equal(file_read(in("served.tar.gz"), 1 << 20, &bytes, &count), 0);
    for (int i = 0; i < 2; i++) {
        char hex[DIGEST_HEX];
        assert_int_equal(digest_file(in(i == 0 ? "out/plain/train.json" : "out/plain/dev.json"), hex), 0);
        assert_string_equal(hex, digest);
    }
    snprintf(mirror, sizeof mirror, "http://127.0.0.1:%d/missing", port);  // existing files need no request
    assert_int_equal(fetch_source(&plain, &options), 0);
    bytes[count / 2] ^= 1;
    put("out/plain/dev.json", bytes, count);  // a file of another origin is not touched
    assert_fails(fetch_source(&plain, &options), ERR_INPUT, "but dev.json of Plain has");
    assert_true(file_exists(in("out/plain/dev.json")));
    bytes[count / 2] ^= 1;
    make_folder("here");
    put("here/train.json", bytes, count);
    put("here/dev.json", bytes, count - 1);
    options.to = in("other"), options.from = in("here");
    assert_fails(fetch_source(&plain, &options), ERR_INPUT, "dev.json of Plain has");
    put("here/dev.json", bytes, count);
    if (fetch_source(&plain, &options) != 0) fail_msg("%s", error_text());
    assert_true(file_exists(in("other/plain/dev.json")));
    free(bytes);
}

TEST_WITH(each_part_has_a_host_of_its_own, set_up_server, tear_down_server)
{
    char first[96], second[96];
    struct source two = source;
    two.part[0].url = first, two.part[1].url = second;
    two.file[1] = (struct source_file){"list.json", SPLIT_TEST, source.part[0].bytes, digest};
    snprintf(first, sizeof first, "http://127.0.0.1:%d/whole/archive.tar.gz", port);
    snprintf(second, sizeof second, "http://127.0.0.2:%d/whole/list.json", port);  // nobody listens there
    struct fetch_options options = {.to = in("out"), .attempts = 1};
    assert_fails(fetch_source(&two, &options), ERR_NETWORK, "127.0.0.2");
    assert_false(file_exists(in("out/small-bin/one.bin")));
    second[strlen("http://127.0.0.")] = '1';
    if (fetch_source(&two, &options) != 0) fail_msg("%s", error_text());
    assert_true(file_exists(in("out/small-bin/one.bin")) && file_exists(in("out/small-bin/list.json")));
    assert_string_equal(requests(), "/whole/archive.tar.gz -\n/whole/list.json -\n");  // the archive was kept
}

// ---- a list of files

static const struct source listed = {.name = "listed", .title = "Listed", .folder = "listed", .part = {{.bytes = 1500}}};
static const char *const names[] = {"lists/one.txt", "pictures/a.jpg", "pictures/b.jpg"};
static char lines[512];

static void serve_file(int i, char letter)
{
    char path[64], bytes[500];
    snprintf(path, sizeof path, "served/%s", names[i]);
    memset(bytes, letter, sizeof bytes);
    put(path, bytes, sizeof bytes);
}

static int set_up_list(void **state)
{
    if (set_up(state) != 0) return -1;
    notes[0] = lines[0] = '\0';
    make_folder("served");
    make_folder("served/lists");
    make_folder("served/pictures");
    for (int i = 0; i < 3; i++) {
        char path[64], hex[DIGEST_HEX];
        serve_file(i, (char)('a' + i));
        snprintf(path, sizeof path, "served/%s", names[i]);
        assert_int_equal(digest_file(in(path), hex), 0);
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s 500 %s\n", hex, names[i]);
    }
    start_server(in("served"));
    return 0;
}

static int fetch_lines(const char *mode, int attempts)
{
    char mirror[64];
    snprintf(mirror, sizeof mirror, "http://127.0.0.1:%d/%s", port, mode);
    struct fetch_options options = {.mirror = mirror, .to = in("out"), .attempts = attempts, .pause_ms = 1};
    options.note = keep_note, options.progress = keep_progress;
    return fetch_list(&listed, lines, &options);
}

static void assert_listed(void)
{
    for (int i = 0; i < 3; i++) {
        char path[64], *bytes;
        size_t count;
        snprintf(path, sizeof path, "out/listed/%s", names[i]);
        assert_int_equal(file_read(in(path), 1000, &bytes, &count), 0);
        assert_int_equal(count, 500);
        assert_int_equal(bytes[499], 'a' + i);
        free(bytes);
    }
}

TEST_WITH(a_list_of_files, set_up_list, tear_down_server)
{
    if (fetch_lines("whole", 1) != 0) fail_msg("%s", error_text());
    assert_listed();
    assert_int_equal(last_have, 1500);
    assert_int_equal(last_total, 1500);
    assert_string_equal(requests(), "/whole/lists/one.txt -\n/whole/pictures/a.jpg -\n/whole/pictures/b.jpg -\n");
    assert_int_equal(fetch_lines("missing", 1), 0);  // what is there needs no request
}

TEST_WITH(a_list_goes_on_where_it_broke_off, set_up_list, tear_down_server)
{
    assert_fails(fetch_lines("cut", 1), ERR_NETWORK, "250 of 500 bytes are kept in");
    assert_string_equal(requests(), "/cut/lists/one.txt -\n");
    if (fetch_lines("cut", 2) != 0) fail_msg("%s", error_text());  // each further file breaks off once, too
    assert_listed();
    assert_string_equal(requests(), "/cut/lists/one.txt -\n/cut/lists/one.txt bytes=250-\n"
                                    "/cut/pictures/a.jpg -\n/cut/pictures/a.jpg bytes=250-\n"
                                    "/cut/pictures/b.jpg -\n/cut/pictures/b.jpg bytes=250-\n");
}

TEST_WITH(a_wrong_file_of_a_list_is_named, set_up_list, tear_down_server)
{
    serve_file(1, 'x');
    assert_fails(fetch_lines("whole", 1), ERR_INPUT, "but pictures/a.jpg of Listed has");
    assert_true(file_exists(in("out/listed/lists/one.txt")));
    assert_true(file_exists(in("out/listed/pictures/a.jpg.bad")));
    assert_false(file_exists(in("out/listed/pictures/b.jpg")));
    serve_file(1, 'b');
    if (fetch_lines("whole", 1) != 0) fail_msg("%s", error_text());
    assert_listed();
}

TEST_WITH(only_https, set_up_server, tear_down_server)
{
    struct fetch_options options = {.mirror = "ftp://127.0.0.1", .to = in("out"), .attempts = 1};
    assert_fails(fetch_source(&source, &options), ERR_USAGE, "cannot fetch");
    options.mirror = "file:///etc";
    assert_fails(fetch_source(&source, &options), ERR_USAGE, "cannot fetch");
    char mirror[64];  // a server that speaks no TLS
    snprintf(mirror, sizeof mirror, "https://127.0.0.1:%d/whole", port);
    options.mirror = mirror;
    assert_int_equal(fetch_source(&source, &options), ERR_NETWORK);
}

SETUP(clean_up_curl)
{
    curl_global_cleanup();
    return 0;
}

TEST_GROUP(NULL, clean_up_curl)
