// SPDX-License-Identifier: Apache-2.0
// The log of a record: every receipt leads into it, its tiles give its root, it survives restarts, and a record that is not the
// one whose checkpoint was signed is refused. A record of before there was a log gets one.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "runtime/common/base/file.h"
#include "scoreboard/store/file/sql.h"
#include "submit/log/proof.h"
#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_board.h"

static void read_last(struct receipt *r)
{
    struct sshkey server;
    assert_int_equal(receipt_read(last.receipt, strlen(last.receipt), last.receipt_signature, r, &server), 0);
}

static struct checkpoint signed_head(void)
{
    struct text text = {0};
    struct note note;
    if (store_checkpoint(store, &text) < 0) fail_msg("%s", error_text());
    assert_int_equal(note_read(text.at, text.length, &note), 0);
    assert_int_equal(note_check(text.at, &note, store_key(store)), 0);
    text_free(&text);
    return note.checkpoint;
}

static int fetch(void *unused, const struct tile *t, unsigned char bytes[TILE_BYTES])
{
    struct text text = {0};
    (void)unused;
    TRY(store_tile(reader, t, &text));
    assert_int_equal(text.length, (size_t)t->width * TREE_HASH);
    memcpy(bytes, text.at, text.length);
    text_free(&text);
    return 0;
}

static void check_tiles(const struct checkpoint *head)
{
    struct tile_reader tiles = {.size = head->size, .fetch = fetch};
    const struct tree_source source = tile_source(&tiles);
    struct tree_hash root;
    assert_int_equal(tree_root_at(&source, head->size, &root), 0);
    assert_memory_equal(root.at, head->root.at, TREE_HASH);
    tile_reader_free(&tiles);
}

TEST_WITH(test_receipts_lead_into_the_log, set_up, tear_down)
{
    struct receipt r;
    struct checkpoint head;
    struct tree_hash first;
    struct text entries = {0}, entry = {0};
    assert_int_equal(signed_head().size, 0);  // an empty log is signed, too
    for (int i = 1; i <= 5; i++) {
        assert_int_equal(hand_in(run_of("ada", i), &ada), PROBLEM_NONE);
        read_last(&r);
        assert_int_equal(proof_check(&r, store_key(store), &head), 0);
        assert_int_equal(head.size, i);
        if (i == 1) proof_leaf(&r, &first);
        const struct checkpoint shown = signed_head();
        assert_int_equal(shown.size, i);
        assert_memory_equal(shown.root.at, head.root.at, TREE_HASH);
        assert_string_equal(shown.origin, "test/log");
        check_tiles(&shown);
        struct checkpoint now;
        assert_int_equal(store_tree_head(reader, &now), 0);
        assert_int_equal(now.size, i);
        assert_memory_equal(now.root.at, head.root.at, TREE_HASH);
    }
    // Entries hash to the leaves, and name nobody.
    assert_int_equal(store_tile(reader, &(struct tile){TILE_ENTRIES, 0, 5}, &entries), 0);
    const size_t count = (size_t)(unsigned char)entries.at[0] << 8 | (unsigned char)entries.at[1];
    struct tree_hash leaf;
    tree_hash_leaf(entries.at + 2, count, &leaf);
    assert_memory_equal(leaf.at, first.at, TREE_HASH);
    assert_null(memmem(entries.at, entries.length, "handle", 6));
    assert_int_equal(store_tile(reader, &(struct tile){TILE_ENTRIES, 0, 6}, &entries), ERR_MISSING);
    assert_int_equal(store_tile(reader, &(struct tile){0, 1, 1}, &entries), ERR_MISSING);
    assert_int_equal(store_tile(reader, &(struct tile){1, 0, 1}, &entries), ERR_MISSING);
    assert_whole();
    // A withdrawn statement keeps its entry, and gets another.
    assert_int_equal(hand_in(about("withdraw", r.payload), &ada), PROBLEM_NONE);
    assert_int_equal(signed_head().size, 6);
    check_tiles(&(struct checkpoint){.size = 5, .root = head.root});
    close_all();
    open_all();
    assert_int_equal(hand_in(run_of("ada", 6), &ada), PROBLEM_NONE);
    read_last(&r);
    assert_int_equal(proof_check(&r, store_key(store), &head), 0);
    assert_int_equal(head.size, 7);
    assert_whole();
    text_free(&entries);
    text_free(&entry);
}

// Two processes write in turn: each goes on from the other's tree, and the larger checkpoint stays.
TEST_WITH(test_two_writers, set_up, tear_down)
{
    struct store *first = store, *second;
    struct receipt r;
    struct checkpoint head;
    assert_int_equal(store_open(&(struct store_settings){.path = path}, STORE_WRITE, &second), 0);
    for (int i = 1; i <= 6; i++) {
        store = i % 3 == 0 ? second : first;
        assert_int_equal(hand_in(run_of("ada", i), &ada), PROBLEM_NONE);
        read_last(&r);
        assert_int_equal(proof_check(&r, store_key(store), &head), 0);
        store = first;
        const struct checkpoint shown = signed_head();
        assert_int_equal(shown.size, i);
        assert_memory_equal(shown.root.at, head.root.at, TREE_HASH);
    }
    store_close(second);
    assert_whole();
}

static void copy(const char *from, const char *to)
{
    char command[400];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

static void assert_refused(const char *what, bool new_log)
{
    const struct store_settings settings = {.path = path, .new_log = new_log};
    if (store_open(&settings, STORE_WRITE, &store) == 0) fail_msg("it was opened: %s", what);
    if (strstr(error_text(), what) == NULL) fail_msg("no \"%s\" in: %s", what, error_text());
    store = NULL;
}

TEST_WITH(test_older_record_is_refused, set_up, tear_down)
{
    char old[192], head[192], kept[192];
    snprintf(old, sizeof old, "%s/old.db", folder);
    snprintf(kept, sizeof kept, "%s/kept", folder);
    snprintf(head, sizeof head, "%s.checkpoint", path);
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(run_of("ada", 2), &ada), PROBLEM_NONE);
    assert_int_equal(store_backup(store, old), 0);
    close_all();
    copy(head, kept);
    open_all();  // a copy of now is as good as the record
    close_all();
    copy(old, path);
    open_all();
    assert_int_equal(hand_in(run_of("ada", 3), &ada), PROBLEM_NONE);
    close_all();
    copy(old, path);  // one of before is not
    assert_refused("older than the last checkpoint", false);
    assert_refused("older than the last checkpoint", true);
    // Nor is one that goes on otherwise.
    copy(kept, head);
    open_all();
    assert_int_equal(hand_in(run_of("bob", 4), &bob), PROBLEM_NONE);
    close_all();
    do_sql("UPDATE hashes SET hash = zeroblob(32) WHERE number = 1");
    assert_refused("contradicts the last checkpoint", false);
    int faults;
    struct text said = {0};
    assert_int_equal(store_open(&(struct store_settings){.path = path}, STORE_READ, &store), 0);
    assert_int_equal(store_check(store, say, &said, &faults), 0);
    assert_int_equal(faults, 2);
    assert_non_null(strstr(said.at, "is not of this record"));
    assert_non_null(strstr(said.at, "hash of the log, 1 level 0"));
    text_free(&said);
    store_close(store);
    do_sql("DELETE FROM hashes WHERE number = 2");
    assert_refused("3 statements, and its log 2 entries", false);
    copy(old, path);
    copy(kept, head);
    open_all();
    assert_whole();
}

// One of the two places may be cut off; a file without any, or none at all, is not begun again by itself.
TEST_WITH(test_checkpoint_file, set_up, tear_down)
{
    char head[192];
    struct receipt r;
    snprintf(head, sizeof head, "%s.checkpoint", path);
    for (int i = 1; i <= 3; i++) assert_int_equal(hand_in(run_of("ada", i), &ada), PROBLEM_NONE);
    close_all();
    for (int block = 0; block < 2; block++) {
        const int file = open(head, O_WRONLY);
        assert_int_equal(pwrite(file, "torn", 4, block * 4096 + 20), 4);
        close(file);
        if (block > 0) break;
        open_all();  // and signs the missing checkpoints
        assert_int_equal(signed_head().size, 3);
        assert_int_equal(hand_in(run_of("ada", 4), &ada), PROBLEM_NONE);
        assert_int_equal(hand_in(run_of("ada", 5), &ada), PROBLEM_NONE);
        close_all();
    }
    open_all();
    assert_int_equal(signed_head().size, 5);
    close_all();
    assert_int_equal(truncate(head, 100), 0);
    assert_refused("holds no checkpoint", false);
    assert_int_equal(unlink(head), 0);
    assert_refused("is missing", false);
    assert_int_equal(store_open(&(struct store_settings){.path = path, .new_log = true}, STORE_WRITE, &store), 0);
    assert_int_equal(store_reader(store, &reader), 0);
    assert_int_equal(signed_head().size, 5);
    assert_int_equal(hand_in(run_of("ada", 6), &ada), PROBLEM_NONE);
    read_last(&r);
    assert_int_equal(r.log.size, 6);
    assert_whole();
}

// A statement whose checkpoint could not be written is stored; sent again, it gets its receipt.
TEST_WITH(test_stored_but_not_signed, set_up, tear_down)
{
    char head[192], kept[192];
    snprintf(head, sizeof head, "%s.checkpoint", path);
    snprintf(kept, sizeof kept, "%s/kept", folder);
    copy(head, kept);
    assert_int_equal(truncate(head, 0), 0);
    struct envelope e = {.key = ada.key};
    char signature[SSHSIG_MAX];
    assert_int_equal(statement_make(to_board(run_of("ada", 1)), &e.statement), 0);
    const char *space = statement_namespace(STATEMENT_RUN);
    e.signature = copy_text(sshsig_sign(space, e.statement.payload, e.statement.count, &ada, signature));
    assert_int_equal(store_accept(store, &e, FIXTURE_NOW_MS, &last), ERR_DATABASE);
    envelope_free(&e);
    assert_int_equal(last.problem, PROBLEM_STORAGE);
    assert_non_null(strstr(last.detail, "statement 1 is stored, but not signed yet; send it again: "));
    copy(kept, head);
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_true(last.again);
    assert_int_equal(signed_head().size, 1);
    assert_whole();
}

// A new record in the place of a lost one keeps the signed checkpoint, once.
TEST_WITH(test_lost_record_keeps_its_checkpoint, set_up, tear_down)
{
    char head[192], old[192], kept[192], *a, *b;
    size_t count, counts;
    snprintf(head, sizeof head, "%s.checkpoint", path);
    snprintf(old, sizeof old, "%s.checkpoint.old", path);
    snprintf(kept, sizeof kept, "%s/kept", folder);
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_null(store_set_aside(store));
    close_all();
    copy(head, kept);
    const struct store_settings settings = {.path = path, .origin = "test", .new_log = true};
    for (int i = 0; i < 2; i++) {  // the second start finds a log without entries
        if (i == 0) assert_int_equal(unlink(path), 0);
        assert_int_equal(store_open(&settings, STORE_WRITE, &store), 0);
        assert_int_equal(store_reader(store, &reader), 0);
        if (i == 0) assert_string_equal(store_set_aside(store), old);
        else assert_null(store_set_aside(store));
        assert_int_equal(signed_head().size, 0);
        if (i == 0) close_all();
    }
    assert_int_equal(file_read(kept, 1 << 20, &a, &count), 0);
    assert_int_equal(file_read(old, 1 << 20, &b, &counts), 0);
    assert_int_equal(count, counts);
    assert_memory_equal(a, b, count);
    free(a);
    free(b);
    assert_int_equal(hand_in(run_of("ada", 2), &ada), PROBLEM_NONE);
    close_all();
    assert_int_equal(unlink(path), 0);
    if (store_open(&settings, STORE_WRITE, &store) == 0) fail_msg("the second loss took the place of the first");
    assert_non_null(strstr(error_text(), "is there already"));
    store = NULL;
}

// Numbers that no log can have are refused with a sentence.
TEST_WITH(test_impossible_numbers, set_up, tear_down)
{
    struct checkpoint head;
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    static const char *const numbers[] = {"-7", "1125899906842624", "9223372036854775807"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char sql[128];
        close_all();
        snprintf(sql, sizeof sql, "UPDATE hashes SET number = %s WHERE level = 0", numbers[i]);
        do_sql(sql);
        assert_refused("its log cannot have", false);
        assert_int_equal(store_open(&(struct store_settings){.path = path}, STORE_READ, &store), 0);
        assert_int_equal(store_reader(store, &reader), 0);
        assert_int_equal(store_tree_head(reader, &head), ERR_DATABASE);
    }
}

// ---- witnesses
#define WITNESS "witness.example/w1"

static void make_witness(struct note_witness *w)
{
    unsigned char typed[33] = {4}, digest[crypto_hash_sha256_BYTES];
    char base64[64], key[NOTE_KEY];
    struct text named = {0};
    memcpy(typed + 1, eve.key.at, 32);
    text_add(&named, WITNESS "\n");
    text_bytes(&named, typed, sizeof typed);
    crypto_hash_sha256(digest, (const unsigned char *)named.at, named.length);
    sodium_bin2base64(base64, sizeof base64, typed, sizeof typed, sodium_base64_VARIANT_ORIGINAL);
    snprintf(key, sizeof key, WITNESS "+%02x%02x%02x%02x+%s", digest[0], digest[1], digest[2], digest[3], base64);
    assert_int_equal(note_read_witness(key, w), 0);
    text_free(&named);
}

// What a witness answers to a request: its cosignature of the checkpoint in it.
static void cosign(const struct note_witness *w, const struct text *request, int64_t seconds, struct text *answer)
{
    const char *note = strstr(request->at, "\n\n") + 2;
    struct text message = {0};
    unsigned char bytes[76];
    char base64[120];
    memcpy(bytes, w->number, 4);
    for (int i = 0; i < 8; i++) bytes[4 + i] = (unsigned char)((uint64_t)seconds >> (56 - 8 * i));
    text_add(&message, "cosignature/v1\ntime %lld\n", (long long)seconds);
    text_bytes(&message, note, (size_t)(strstr(note, "\n\n") + 1 - note));
    crypto_sign_detached(bytes + 12, NULL, (const unsigned char *)message.at, message.length, eve.secret);
    sodium_bin2base64(base64, sizeof base64, bytes, sizeof bytes, sodium_base64_VARIANT_ORIGINAL);
    text_add(answer, "\xe2\x80\x94 " WITNESS " %s\n", base64);
    text_free(&message);
}

static bool shown_cosigned(const struct note_witness *w)
{
    struct text text = {0};
    struct note note;
    int64_t seconds;
    if (store_checkpoint(store, &text) < 0) fail_msg("%s", error_text());
    assert_int_equal(note_read(text.at, text.length, &note), 0);
    bool cosigned = note_cosigned(text.at, &note, w, &seconds) == 0;
    text_free(&text);
    return cosigned;
}

// The proof in a request leads from the size that the witness knows to the checkpoint.
static void check_request(const struct text *request, int64_t old, const struct tree_hash *root)
{
    struct tree_hash proof[TREE_PROOF];
    struct note note;
    long long said;
    int count = 0;
    const char *line = strchr(request->at, '\n') + 1;
    assert_int_equal(sscanf(request->at, "old %lld\n", &said), 1);
    assert_int_equal(said, old);
    for (; *line != '\n'; line = strchr(line, '\n') + 1, count++)
        assert_int_equal(sodium_base642bin(proof[count].at, TREE_HASH, line, strcspn(line, "\n"), NULL, NULL, NULL,
                                           sodium_base64_VARIANT_ORIGINAL), 0);
    assert_int_equal(note_read(line + 1, strlen(line + 1), &note), 0);
    if (old > 0) assert_true(tree_has_grown(old, root, note.checkpoint.size, &note.checkpoint.root, proof, count));
    else assert_int_equal(count, 0);
}

TEST_WITH(test_witnesses, set_up, tear_down)
{
    struct note_witness w;
    struct checkpoint head, first;
    struct text request = {0}, answer = {0}, late = {0}, conflict = {0};
    int64_t when;
    make_witness(&w);
    for (int i = 1; i <= 3; i++) assert_int_equal(hand_in(run_of("ada", i), &ada), PROBLEM_NONE);
    assert_int_equal(store_witness_ask(store, &w, -1, &request), 0);
    check_request(&request, 0, NULL);
    text_add(&answer, "\n");
    assert_int_equal(store_witness_take(store, &w, &request, &answer, &head, &when), ERR_INPUT);
    cosign(&w, &request, 1800000000, &answer);
    answer.at[answer.length - 20] ^= 1;  // it does not hold
    assert_int_equal(store_witness_take(store, &w, &request, &answer, &head, &when), ERR_INPUT);
    assert_false(shown_cosigned(&w));
    answer.at[answer.length - 20] ^= 1;
    assert_int_equal(store_witness_take(store, &w, &request, &answer, &first, &when), 0);
    assert_int_equal(first.size, 3);
    assert_int_equal(when, 1800000000);
    assert_true(shown_cosigned(&w));
    for (int i = 4; i <= 9; i++) assert_int_equal(hand_in(run_of("ada", i), &ada), PROBLEM_NONE);
    assert_false(shown_cosigned(&w));  // another checkpoint
    close_all();
    open_all();
    assert_int_equal(store_witness_ask(store, &w, -1, &late), 0);
    check_request(&late, 3, &first.root);
    assert_int_equal(store_witness_take(store, &w, &late, &answer, &head, &when), ERR_INPUT);  // an answer about another
    text_add(&conflict, "3\n");
    assert_fails(store_witness_take(store, &w, &late, &conflict, &head, &when), ERR_INPUT, "--old 3");
    text_free(&answer);
    cosign(&w, &late, 1800000001, &answer);
    assert_int_equal(store_witness_take(store, &w, &late, &answer, &head, &when), 0);
    assert_int_equal(head.size, 9);
    assert_true(shown_cosigned(&w));
    text_free(&answer);
    cosign(&w, &request, 1800000002, &answer);
    assert_int_equal(store_witness_take(store, &w, &request, &answer, &head, &when), ERR_INPUT);  // older than the shown one
    assert_true(shown_cosigned(&w));
    text_free(&late);
    assert_int_equal(store_witness_ask(store, &w, 10, &late), ERR_INPUT);
    text_free(&request), text_free(&answer), text_free(&late), text_free(&conflict);
}

// Another process that takes an answer waits for the one that has read the list and not written it yet.
TEST_WITH(test_two_witnesses, set_up, tear_down)
{
    struct note_witness w;
    struct checkpoint head;
    struct text request = {0}, answer = {0}, list = {0}, lock = {0};
    int64_t when;
    int status;
    size_t count;
    char *kept;
    make_witness(&w);
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(store_witness_ask(store, &w, -1, &request), 0);
    cosign(&w, &request, 1800000000, &answer);
    text_add(&list, "%s.cosigned", path);
    text_add(&lock, "%s.cosigned.lock", path);
    int file = open(lock.at, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(file >= 0);
    assert_int_equal(flock(file, LOCK_EX), 0);
    assert_int_equal(fchmod(file, 0444), 0);  // as that of another user
    pid_t other = fork();
    assert_true(other >= 0);
    if (other == 0) _exit(store_witness_take(store, &w, &request, &answer, &head, &when) == 0 ? 0 : 1);
    usleep(100000);
    assert_int_equal(waitpid(other, &status, WNOHANG), 0);
    assert_int_equal(file_write(list.at, "[{\"witness\":\"another\"}]", 23), 0);
    flock(file, LOCK_UN);  // closing it is not enough: the other process has a copy of the descriptor
    close(file);
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(file_read(list.at, 1 << 18, &kept, &count), 0);
    assert_non_null(strstr(kept, "\"another\""));
    assert_non_null(strstr(kept, WITNESS));
    free(kept);
    text_free(&request), text_free(&answer), text_free(&list), text_free(&lock);
}
