// SPDX-License-Identifier: Apache-2.0
// The log as a pure thing: hashes, roots and proofs against published figures (RFC 6962's eight leaves as Certificate
// Transparency's own tests have them) and against each other for every size to 70, paths of tiles, checkpoints, receipts.

#include <sodium.h>

#include "submit/log/log_draw.h"
#include "submit/log/proof.h"
#include "submit/log/tile.h"
#include "test/unit/test.h"

enum { LEAVES = 70, LARGE = 70000 };

static struct tree_hash hash_of(const char *hex)
{
    struct tree_hash hash;
    size_t count;
    assert_int_equal(sodium_hex2bin(hash.at, TREE_HASH, hex, strlen(hex), NULL, &count, NULL), 0);
    assert_int_equal(count, TREE_HASH);
    return hash;
}

static void assert_hash(const struct tree_hash *hash, const char *hex)
{
    char got[65];
    assert_string_equal(sodium_bin2hex(got, sizeof got, hash->at, TREE_HASH), hex);
}

// ---- published figures
static const char *const known_leaves[] = {
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
};
static const char *const known_roots[] = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
};

static void known_leaf(int i, struct tree_hash *hash)
{
    unsigned char bytes[32];
    size_t count;
    assert_int_equal(sodium_hex2bin(bytes, sizeof bytes, known_leaves[i], strlen(known_leaves[i]), NULL, &count, NULL), 0);
    tree_hash_leaf(bytes, count, hash);
}

TEST(published_roots)
{
    struct tree tree = {0};
    struct tree_hash leaf, root, tops[TREE_TOPS];
    for (int i = 0; i <= 8; i++) {
        tree_root(&tree, &root);
        assert_hash(&root, known_roots[i]);
        if (i == 8) break;
        known_leaf(i, &leaf);
        assert_int_equal(tree_add(&tree, &leaf, tops), 1);
    }
}

TEST(published_proofs)
{
    struct tree_hash leaf, proof[3] = {hash_of("96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"),
                                       hash_of("5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"),
                                       hash_of("6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4")};
    const struct tree_hash root = hash_of(known_roots[8]), first = hash_of(known_roots[1]), six = hash_of(known_roots[6]);
    known_leaf(0, &leaf);
    assert_true(tree_has_leaf(&leaf, 0, 8, proof, 3, &root));
    assert_false(tree_has_leaf(&leaf, 1, 8, proof, 3, &root));
    assert_false(tree_has_leaf(&leaf, 0, 4, proof, 3, &root));
    assert_false(tree_has_leaf(&leaf, 0, 8, proof, 2, &root));
    assert_false(tree_has_leaf(&leaf, 0, 8, proof, 3, &first));
    assert_true(tree_has_grown(1, &first, 8, &root, proof, 3));
    const struct tree_hash of_six[] = {hash_of("0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"),
                                       hash_of("ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"),
                                       hash_of(known_roots[4])};
    assert_true(tree_has_grown(6, &six, 8, &root, of_six, 3));
    assert_false(tree_has_grown(5, &six, 8, &root, of_six, 3));
    assert_false(tree_has_grown(6, &first, 8, &root, of_six, 3));
    assert_false(tree_has_grown(6, &six, 8, &six, of_six, 3));
    assert_false(tree_has_grown(8, &root, 6, &six, of_six, 3));
}

// ---- every size
static struct tree_hash leaves[LARGE];

static void leaf_of(int64_t i, struct tree_hash *hash)
{
    char entry[32];
    tree_hash_leaf(entry, (size_t)snprintf(entry, sizeof entry, "entry %lld", (long long)i), hash);
}

// The definition of RFC 6962, word by word.
static void root_of(int64_t from, int64_t to, struct tree_hash *into)
{
    struct tree_hash left, right;
    int64_t k = 1;
    if (to - from == 0) crypto_hash_sha256(into->at, (const unsigned char *)"", 0);
    if (to - from == 1) *into = leaves[from];
    if (to - from < 2) return;
    while (k * 2 < to - from) k *= 2;
    root_of(from, from + k, &left);
    root_of(from + k, to, &right);
    tree_hash_node(&left, &right, into);
}

// Tiles out of the leaves; counts how many were asked for.
static int fetched;

static int fetch(void *broken, const struct tile *t, unsigned char bytes[TILE_BYTES])
{
    int64_t each = 1;
    fetched++;
    for (int level = 0; level < t->level; level++) each *= TILE_WIDTH;
    for (int i = 0; i < t->width; i++) {
        struct tree_hash hash;
        const int64_t from = (t->number * TILE_WIDTH + i) * each;
        root_of(from, from + each, &hash);
        memcpy(bytes + i * TREE_HASH, hash.at, TREE_HASH);
    }
    if (broken != NULL) bytes[0] ^= 1;
    return 0;
}

static void check_size(int64_t size)
{
    struct tile_reader tiles = {.size = size, .fetch = fetch};
    const struct tree_source source = tile_source(&tiles);
    struct tree_hash root, found, proof[TREE_PROOF], old;
    struct tree loaded;
    int count;
    root_of(0, size, &root);
    assert_int_equal(tree_root_at(&source, size, &found), 0);
    assert_memory_equal(found.at, root.at, TREE_HASH);
    assert_int_equal(tree_load(&source, size, &loaded), 0);
    tree_root(&loaded, &found);
    assert_memory_equal(found.at, root.at, TREE_HASH);
    for (int64_t i = 0; i < size; i++) {
        assert_int_equal(tree_prove_leaf(&source, i, size, proof, &count), 0);
        assert_true(tree_has_leaf(&leaves[i], i, size, proof, count, &root));
        assert_false(tree_has_leaf(&leaves[(i + 1) % LEAVES], i, size, proof, count, &root));
        if (i > 0) assert_false(tree_has_leaf(&leaves[i], i - 1, size, proof, count, &root));
        if (count > 0) assert_false(tree_has_leaf(&leaves[i], i, size, proof, count - 1, &root));
        if (count > 0) assert_false(tree_has_leaf(&leaves[i], i, size, proof + 1, count - 1, &root));
    }
    for (int64_t before = 1; before <= size; before++) {
        root_of(0, before, &old);
        assert_int_equal(tree_prove_growth(&source, before, size, proof, &count), 0);
        assert_true(tree_has_grown(before, &old, size, &root, proof, count));
        assert_true(before == size || !tree_has_grown(before, &root, size, &root, proof, count));
        if (count > 0) assert_false(tree_has_grown(before, &old, size, &root, proof, count - 1));
        if (before > 1) assert_false(tree_has_grown(before - 1, &old, size, &root, proof, count));
        if (count > 0) {
            proof[count - 1].at[5] ^= 4;
            assert_false(tree_has_grown(before, &old, size, &root, proof, count));
        }
    }
    tile_reader_free(&tiles);
}

TEST(every_proof_holds_alone)
{
    struct tree tree = {0};
    for (int64_t i = 0; i < LEAVES; i++) leaf_of(i, &leaves[i]);
    for (int64_t size = 0; size <= LEAVES; size++) {
        struct tree_hash proof[TREE_PROOF], root, tops[TREE_TOPS];
        check_size(size);
        if (size == LEAVES) break;
        const int count = tree_next_proof(&tree, proof);
        tree_add(&tree, &leaves[size], tops);
        tree_root(&tree, &root);
        assert_true(tree_has_leaf(&leaves[size], size, size + 1, proof, count, &root));
    }
    struct tree_hash nothing, any = leaves[0];
    root_of(0, 0, &nothing);
    assert_true(tree_has_grown(0, &nothing, 5, &any, NULL, 0));
    assert_false(tree_has_grown(0, &any, 5, &any, NULL, 0));
    assert_false(tree_has_grown(-1, &nothing, 5, &any, NULL, 0));
    assert_false(tree_has_leaf(&any, 0, 0, NULL, 0, &nothing));
    assert_false(tree_has_leaf(&any, -1, 1, NULL, 0, &any));
    assert_true(tree_has_leaf(&any, 0, 1, NULL, 0, &any));
    assert_false(tree_has_leaf(&any, INT64_MAX, INT64_MAX, NULL, 0, &any));
}

// 70,000 leaves have three levels of tiles; a proof needs one of each.
TEST(large_trees_need_few_tiles)
{
    struct tree tree = {0};
    struct tree_hash root, old, proof[TREE_PROOF], tops[TREE_TOPS], before = {{0}};
    int count, completed = 0;
    for (int64_t i = 0; i < LARGE; i++) {
        leaf_of(i, &leaves[i]);
        count = tree_add(&tree, &leaves[i], tops);
        completed += count - 1;
        if (i + 1 == 65536) {
            assert_int_equal(count, 3);
            tree_root(&tree, &before);
            assert_memory_equal(tops[2].at, before.at, TREE_HASH);
        }
    }
    assert_int_equal(completed, 70000 / 256 + 1);
    tree_root(&tree, &root);
    root_of(0, LARGE, &old);
    assert_memory_equal(root.at, old.at, TREE_HASH);
    struct tile_reader tiles = {.size = LARGE, .fetch = fetch};
    const struct tree_source source = tile_source(&tiles);
    fetched = 0;
    assert_int_equal(tree_prove_leaf(&source, 12345, LARGE, proof, &count), 0);
    assert_true(tree_has_leaf(&leaves[12345], 12345, LARGE, proof, count, &root));
    assert_true(fetched <= 6);
    root_of(0, 66000, &old);
    assert_int_equal(tree_prove_growth(&source, 66000, LARGE, proof, &count), 0);
    assert_true(tree_has_grown(66000, &old, LARGE, &root, proof, count));
    assert_true(tree_has_grown(65536, &before, LARGE, &root, proof, count) == false);
    tile_reader_free(&tiles);
    struct tile_reader altered = {.size = LARGE, .fetch = fetch, .context = &count};
    const struct tree_source bad = tile_source(&altered);
    assert_int_equal(tree_prove_leaf(&bad, 12345, LARGE, proof, &count), 0);
    assert_false(tree_has_leaf(&leaves[12345], 12345, LARGE, proof, count, &root));
    tile_reader_free(&altered);
}

// ---- tiles
TEST(paths_of_tiles)
{
    static const struct {
        struct tile tile;
        const char *path;
    } good[] = {
        {{0, 0, 256}, "tile/0/000"}, {{0, 1234067, 256}, "tile/0/x001/x234/067"}, {{1, 1000, 7}, "tile/1/x001/000.p/7"},
        {{63, 999, 255}, "tile/63/999.p/255"}, {{TILE_ENTRIES, 273, 112}, "tile/entries/273.p/112"},
        {{TILE_ENTRIES, 5000000, 256}, "tile/entries/x005/x000/000"},
    };
    static const char *const bad[] = {
        "", "tile", "tile/", "tile/0", "tile/0/", "tile/0/0", "tile/0/00", "tile/0/0000", "tile/00/000", "tile/01/000",
        "tile/64/000", "tile/-1/000", "tile/0/x000/001", "tile/0/x001", "tile/0/x001/", "tile/0/x001/x002/", "tile/0/001/002",
        "tile/0/000.p", "tile/0/000.p/", "tile/0/000.p/0", "tile/0/000.p/01", "tile/0/000.p/256", "tile/0/000.p/1000",
        "tile/0/000.p/1/", "tile/0/000/",
        "tile/0/00a", "tile/entries", "tile/entries/", "tile/entries/1", "tile/entry/000", "tile/0/x001/x002/x003/x004/x005/006",
        "tile/0/000 ", "/tile/0/000", "tile/0/+00", "tile/100/000",
    };
    struct tile t;
    char path[TILE_PATH];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_string_equal(tile_write_path(&good[i].tile, path), good[i].path);
        assert_int_equal(tile_read_path(good[i].path, &t), 0);
        assert_int_equal(t.level, good[i].tile.level);
        assert_int_equal(t.number, good[i].tile.number);
        assert_int_equal(t.width, good[i].tile.width);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (tile_read_path(bad[i], &t) != ERR_MISSING) fail_msg("\"%s\" was taken", bad[i]);
}

static int count_tile(void *counts, const struct tile *t)
{
    int *of = (int *)counts + (t->level + 1) * 2;
    of[t->width < TILE_WIDTH]++;
    assert_true(tile_exists(t, LARGE));
    if (t->width == TILE_WIDTH) return 0;
    struct tile wider = *t;
    wider.width++;
    assert_false(tile_exists(&wider, LARGE));
    return 0;
}

// The example of the specification.
TEST(tiles_of_a_tree)
{
    int counts[5][2] = {{0}};
    assert_int_equal(tile_each(LARGE, count_tile, counts), 0);
    assert_int_equal(counts[0][0], 273), assert_int_equal(counts[0][1], 1);  // entries
    assert_int_equal(counts[1][0], 273), assert_int_equal(counts[1][1], 1);
    assert_int_equal(counts[2][0], 1), assert_int_equal(counts[2][1], 1);
    assert_int_equal(counts[3][0], 0), assert_int_equal(counts[3][1], 1);
    assert_int_equal(counts[4][0] + counts[4][1], 0);
    assert_false(tile_exists(&(struct tile){63, 0, 1}, LARGE));
    assert_false(tile_exists(&(struct tile){0, INT64_MAX / 2, 1}, LARGE));
    assert_int_equal(tile_each(0, count_tile, counts), 0);
}

// ---- the draw

// Goldens of another program: python3 -c 'import hashlib; h = lambda b: hashlib.sha256(b).hexdigest(); H = h(b"a signature");
// [print(int(h(b"dawn-draw-v1\n%b\n%064x\n" % (H.encode(), d))[:16], 16) * 10**6 // 2**64) for d in range(4)]'
TEST(draws_by_a_hash)
{
    static const int64_t least[] = {63675, 518691, 839866, 338056};  // the highest shares that do not draw 0 to 3
    char hash[DIGEST_HEX], digest[DIGEST_HEX], other_hash[DIGEST_HEX];
    int drawn = 0, both = 0;
    log_draw_hash("a signature", hash);
    log_draw_hash("another one", other_hash);
    assert_string_equal(hash, "804d0a048703df86f58c83c1a62fb2db84d001d9e819bb06bad4435f7f239fd1");
    for (int i = 0; i < 10000; i++) {
        snprintf(digest, sizeof digest, "%064x", (unsigned)i);
        assert_false(log_draw_has(hash, digest, 0));
        assert_true(log_draw_has(hash, digest, DRAW_WHOLE));
        if (i < 4) assert_false(log_draw_has(hash, digest, least[i]));
        if (i < 4) assert_true(log_draw_has(hash, digest, least[i] + 1));
        const bool here = log_draw_has(hash, digest, DRAW_WHOLE / 10);
        drawn += here;
        both += here && log_draw_has(other_hash, digest, DRAW_WHOLE / 10);
    }
    assert_true(drawn > 880 && drawn < 1120);  // 1000, four sigma of 30 on both sides
    assert_true(both > 60 && both < 140);      // 100 of sigma 10: the hash decides
}

// ---- checkpoints
static struct sshkey_secret own, other;

SETUP(make_keys)
{
    assert_true(sodium_init() >= 0);
    sshkey_new(&own, "");
    sshkey_new(&other, "");
    return 0;
}

static int read_text(const char *text, struct note *note)
{
    return note_read(text, strlen(text), note);
}

// The numbers of two keys that are known to everybody: Go's example of a note, and Go's checksum database.
TEST(published_keys)
{
    static const char *const keys[] = {"PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
                                       "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"};
    char text[NOTE_KEY], name[NOTE_NAME];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        unsigned char typed[33];
        struct sshkey key = {.comment = ""};
        size_t count;
        const char *base64 = keys[i] + strlen(keys[i]) - 44;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(keys[i], "+"), keys[i]);
        assert_int_equal(sodium_base642bin(typed, sizeof typed, base64, 44, NULL, &count, NULL,
                                           sodium_base64_VARIANT_ORIGINAL), 0);
        assert_int_equal(typed[0], 1);
        memcpy(key.at, typed + 1, sizeof key.at);
        assert_string_equal(note_key(name, &key, text), keys[i]);
    }
}

// The example of the specification reads; its key is not published.
TEST(published_checkpoint)
{
    static const char text[] =
        "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
        "\xe2\x80\x94 example.com/behind-the-sofa "
        "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
        "\xe2\x80\x94 witness.example.com/w1 "
        "jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";
    struct note note;
    int64_t seconds;
    assert_int_equal(read_text(text, &note), 0);
    assert_string_equal(note.checkpoint.origin, "example.com/behind-the-sofa");
    assert_int_equal(note.checkpoint.size, 20852163);
    assert_int_equal(note.count, 2);
    assert_int_equal(note.signatures[0].byte_count, 68);
    assert_false(note_is_cosignature(&note, 0, &seconds));
    assert_true(note_is_cosignature(&note, 1, &seconds));
    assert_int_equal(seconds, 1679315147);
    assert_int_equal(note_check(text, &note, &own.key), ERR_INPUT);
}

static void write_signed(struct text *text, int64_t size)
{
    struct checkpoint c = {.origin = "board.example/log", .size = size};
    char signature[NOTE_SIGNATURE];
    leaf_of(size, &c.root);
    note_write(&c, note_sign(&c, &own, signature), text);
}

TEST(a_checkpoint_is_signed)
{
    struct text text = {0}, again = {0};
    struct note note;
    char origin[NOTE_NAME];
    write_signed(&text, 12);
    write_signed(&again, 12);
    assert_string_equal(text.at, again.at);
    assert_int_equal(read_text(text.at, &note), 0);
    assert_int_equal(note_check(text.at, &note, &own.key), 0);
    assert_int_equal(note_check(text.at, &note, &other.key), ERR_INPUT);
    for (size_t i = 0; i < text.length; i++) {  // no byte of it can be another
        text.at[i] ^= 1;
        if (note_read(text.at, text.length, &note) == 0 && note_check(text.at, &note, &own.key) == 0) fail_msg("byte %zu", i);
        text.at[i] ^= 1;
    }
    for (size_t count = 0; count < text.length; count++)
        if (note_read(text.at, count, &note) == 0 && note_check(text.at, &note, &own.key) == 0) fail_msg("%zu bytes", count);
    assert_string_equal(note_origin("a+b", origin), "a_b/log");
    text_free(&text);
    text_free(&again);
}

TEST(broken_checkpoints)
{
#define ROOT "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
#define SIGNED "\xe2\x80\x94 a Az3grlgt\n"
    static const char *const bad[] = {
        "", "\n", "\n\n", "a\n1\n" ROOT, "a\n1\n" ROOT "\n", "a\n1\n\n" SIGNED, "\n1\n" ROOT "\n" SIGNED,
        "a\n01\n" ROOT "\n" SIGNED,
        "a\n-1\n" ROOT "\n" SIGNED, "a\n+1\n" ROOT "\n" SIGNED, "a\n 1\n" ROOT "\n" SIGNED, "a\n\n" ROOT "\n" SIGNED,
        "a\n99999999999999999999\n" ROOT "\n" SIGNED, "a\n1125899906842625\n" ROOT "\n" SIGNED, "a\n1\nCsUY\n\n" SIGNED,
        "a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2J=\n\n" SIGNED, "a\n1\n" ROOT "\n\xe2\x80\x94 a Az3grlgt",
        "a\n1\n" ROOT "\n- a Az3grlgt\n", "a\n1\n" ROOT "\n\xe2\x80\x94 a\n", "a\n1\n" ROOT "\n\xe2\x80\x94  Az3grlgt\n",
        "a\n1\n" ROOT "\n\xe2\x80\x94 a+b Az3grlgt\n", "a\n1\n" ROOT "\n\xe2\x80\x94 a Az3gr\n",
        "a\n1\n" ROOT "\n\xe2\x80\x94 a Az3g\n\n", "a\r\n1\n" ROOT "\n" SIGNED, "a\x1b[2J\n1\n" ROOT "\n" SIGNED,
        "a\xff\n1\n" ROOT "\n" SIGNED, "a\n1\n" ROOT "\n" SIGNED "x\n",
        "a\n1\n" ROOT "\n\n" SIGNED,
    };
    struct note note;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (read_text(bad[i], &note) != ERR_INPUT) fail_msg("%zu was taken: %s", i, bad[i]);
    assert_int_equal(read_text("a\n1\n" ROOT "\n" SIGNED, &note), 0);
    assert_int_equal(read_text("a\n0\n" ROOT "more\n\n" SIGNED SIGNED, &note), 0);
    struct text many = {0}, name = {0};
    text_add(&many, "a\n1\n" ROOT "\n");
    for (int i = 0; i < NOTE_SIGNATURES; i++) text_add(&many, SIGNED);
    assert_int_equal(read_text(many.at, &note), 0);
    text_add(&many, SIGNED);
    assert_int_equal(read_text(many.at, &note), ERR_INPUT);
    text_add(&name, "a\n1\n" ROOT "\n\xe2\x80\x94 ");
    for (int i = 0; i < NOTE_NAME; i++) text_add(&name, "n");
    text_add(&name, " Az3grlgt\n");
    assert_int_equal(read_text(name.at, &note), 0);
    assert_string_equal(note.signatures[0].name, "");
    text_free(&many);
    text_free(&name);
}

// ---- witnesses
static void add_cosignature(struct text *note, size_t text_count, const char *name, const char *key, int64_t seconds)
{
    struct text message = {0};
    unsigned char bytes[76];
    char base64[120];
    unsigned number;
    assert_int_equal(sscanf(strchr(key, '+') + 1, "%8x", &number), 1);
    for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)(number >> (24 - 8 * i));
    for (int i = 0; i < 8; i++) bytes[4 + i] = (unsigned char)((uint64_t)seconds >> (56 - 8 * i));
    text_add(&message, "cosignature/v1\ntime %lld\n", (long long)seconds);
    text_bytes(&message, note->at, text_count);
    crypto_sign_detached(bytes + 12, NULL, (const unsigned char *)message.at, message.length, other.secret);
    sodium_bin2base64(base64, sizeof base64, bytes, sizeof bytes, sodium_base64_VARIANT_ORIGINAL);
    text_add(note, "\xe2\x80\x94 %s %s\n", name, base64);
    text_free(&message);
}

static void witness_key(const char *name, char into[NOTE_KEY])
{
    unsigned char typed[33] = {4}, digest[32];
    char base64[64];
    struct text text = {0};
    memcpy(typed + 1, other.key.at, 32);
    text_add(&text, "%s\n", name);
    text_bytes(&text, typed, sizeof typed);
    crypto_hash_sha256(digest, (const unsigned char *)text.at, text.length);
    sodium_bin2base64(base64, sizeof base64, typed, sizeof typed, sodium_base64_VARIANT_ORIGINAL);
    snprintf(into, NOTE_KEY, "%s+%02x%02x%02x%02x+%s", name, digest[0], digest[1], digest[2], digest[3], base64);
    text_free(&text);
}

TEST(witnesses_cosign)
{
    struct text text = {0};
    struct note note;
    struct note_witness witness;
    char key[NOTE_KEY], wrong[NOTE_KEY];
    int64_t seconds;
    witness_key("witness.example/w1", key);
    assert_int_equal(note_read_witness(key, &witness), 0);
    assert_string_equal(witness.name, "witness.example/w1");
    write_signed(&text, 12);
    assert_int_equal(read_text(text.at, &note), 0);
    assert_int_equal(note_cosigned(text.at, &note, &witness, &seconds), ERR_MISSING);
    add_cosignature(&text, note.text_count, "witness.example/w1", key, 1679315147);
    assert_int_equal(read_text(text.at, &note), 0);
    assert_int_equal(note_check(text.at, &note, &own.key), 0);
    assert_int_equal(note_cosigned(text.at, &note, &witness, &seconds), 0);
    assert_int_equal(seconds, 1679315147);
    note.signatures[1].bytes[11] ^= 1;  // another time
    assert_int_equal(note_cosigned(text.at, &note, &witness, &seconds), ERR_INPUT);
    strcpy(wrong, key);
    wrong[strlen("witness.example/w1+")] ^= 1;
    assert_int_equal(note_read_witness(wrong, &witness), ERR_USAGE);
    assert_int_equal(note_read_witness(note_key("own", &own.key, wrong), &witness), ERR_USAGE);
    assert_string_equal(error_text(), "own is the key of a log, not of a witness: its type is 1, not 4");
    assert_int_equal(note_read_witness("", &witness), ERR_USAGE);
    assert_int_equal(note_read_witness("a+b", &witness), ERR_USAGE);
    assert_int_equal(note_read_witness("+00000000+AA", &witness), ERR_USAGE);
    text_free(&text);
}

// ---- receipts
TEST(receipts_prove_their_place)
{
    struct tree tree = {0};
    struct tree_hash leaf, tops[TREE_TOPS];
    for (int i = 1; i <= 20; i++) {
        struct receipt r = {.sequence = i, .accepted_ms = 1800000000000 + i, .board = "board.example"}, read, bad;
        struct checkpoint head;
        struct sshkey server;
        char *bytes, signature[SSHSIG_MAX];
        size_t count;
        snprintf(r.payload, sizeof r.payload, "%064x", i);
        sshkey_id(&other.key, r.signer);
        proof_fill(&r, &tree, &own);
        assert_int_equal(receipt_write(&r, &bytes, &count), 0);
        sshsig_sign(RECEIPT_NAMESPACE, bytes, count, &own, signature);
        assert_int_equal(receipt_read(bytes, count, signature, &read, &server), 0);
        assert_int_equal(proof_check(&read, &server, &head), 0);
        assert_string_equal(head.origin, "board.example/log");
        assert_int_equal(head.size, i);
        assert_int_equal(proof_check(&read, &other.key, &head), ERR_INPUT);
        bad = read, bad.accepted_ms++;
        assert_int_equal(proof_check(&bad, &server, &head), ERR_INPUT);
        bad = read, bad.log.size++;
        assert_int_equal(proof_check(&bad, &server, &head), ERR_INPUT);
        bad = read, bad.log.root[0] ^= 1;
        assert_int_equal(proof_check(&bad, &server, &head), ERR_INPUT);
        bad = read, bad.board[0] = 'c';
        assert_int_equal(proof_check(&bad, &server, &head), ERR_INPUT);
        bad = read, bad.log.signature[20] ^= 1;
        assert_int_equal(proof_check(&bad, &server, &head), ERR_INPUT);
        proof_leaf(&r, &leaf);
        tree_add(&tree, &leaf, tops);
        free(bytes);
    }
}

TEST_GROUP(make_keys, NULL)
