// SPDX-License-Identifier: Apache-2.0
// Finds keys by the files of their public halves. Invariant: no secret is read. Workload: a few keys, read before a signature or
// for a list. Cost: a few small files, and a run of ssh-add for a key that is in no file.
#include "submit/keys/keyring.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/common/base/build.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"

enum { PUBLIC_MAX = 64 * 1024 };  // other kinds of keys are longer than ours and deserve a better message than "too large"

static int join(char into[KEYRING_PATH], const char *folder, const char *name, const char *end)
{
    int length = snprintf(into, KEYRING_PATH, "%s/%s%s", folder, name, end);
    if (length < 0 || length >= KEYRING_PATH) return fail(ERR_INPUT, "the path %.60s... is too long", folder);
    return 0;
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != 0 ? value : NULL;
}

int keyring_folder(char into[KEYRING_PATH])
{
    const char *config = environment("XDG_CONFIG_HOME"), *home = environment("HOME");
    if (config != NULL && *config == '/') return join(into, config, "dawn/keys", "");
    if (home != NULL) return join(into, home, ".config/dawn/keys", "");
    return fail(ERR_MISSING, "there is no folder for keys: neither XDG_CONFIG_HOME nor HOME is set");
}

static int check_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t length = strlen(name);
    if (length == 0 || length >= KEYRING_NAME || strspn(name, letters) != length || *name == '.' || *name == '-')
        return fail(ERR_USAGE, "a key's name must be 1 to %d letters, digits, \".\", \"_\" or \"-\"; got \"%.80s\"",
                    KEYRING_NAME - 1, name);
    if (length >= 4 && strcmp(name + length - 4, ".pub") == 0)
        return fail(ERR_USAGE, "a key's name must not end in .pub; got \"%s\"", name);
    return 0;
}

static bool is_name(const char *name)
{
    return check_name(name) == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

// Reads "NAME" or "NAME.pub" as NAME. False if it is no key's name.
static bool name_of(const char *file, char into[KEYRING_NAME])
{
    size_t length = strlen(file);
    if (length > 4 && strcmp(file + length - 4, ".pub") == 0) length -= 4;
    if (length >= KEYRING_NAME) return false;
    memcpy(into, file, length);
    into[length] = 0;
    return is_name(into);
}

int keyring_names(struct keyring_names *names)
{
    char folder[KEYRING_PATH];
    names->count = 0;
    TRY(keyring_folder(folder));
    DIR *dir = opendir(folder);
    if (dir == NULL && errno == ENOENT) return 0;
    if (dir == NULL) return fail_errno(ERR_IO, errno, "cannot read the folder %s", folder);
    int rc = 0;
    for (struct dirent *entry; rc == 0 && (entry = readdir(dir)) != NULL;) {
        char name[KEYRING_NAME];
        bool seen = false;
        if (!name_of(entry->d_name, name)) continue;
        for (int i = 0; i < names->count; i++) seen = seen || strcmp(names->name[i], name) == 0;
        if (seen) continue;
        if (names->count == KEYRING_MOST) rc = fail(ERR_INPUT, "there are more than %d keys in %s", KEYRING_MOST, folder);
        else memcpy(names->name[names->count++], name, sizeof name);
    }
    closedir(dir);
    qsort(names->name, (size_t)names->count, sizeof names->name[0], by_name);
    return rc;
}

static int read_public(const char *path, struct sshkey *key)
{
    char *bytes;
    size_t count;
    TRY(file_read(path, PUBLIC_MAX, &bytes, &count));
    int rc = sshkey_read_line(bytes, count, key);
    free(bytes);
    if (rc < 0) return fail_prefix(rc, "%s: ", path);
    return rc;
}

// Finds the files at `found->path` and next to it.
static int read_pair(struct keyring_key *found)
{
    char public_path[KEYRING_PATH + 4];
    struct stat st;
    snprintf(public_path, sizeof public_path, "%s.pub", found->path);
    found->file = stat(found->path, &st) == 0;
    if (found->file && !S_ISREG(st.st_mode)) return fail(ERR_INPUT, "%s is no file", found->path);
    if (found->file && (st.st_mode & 077) != 0)
        return fail(ERR_INPUT, "%s holds a secret that others may read (mode %04o); \"chmod 600\" it, or make another key",
                    found->path, (unsigned)st.st_mode & 07777);
    if (file_exists(public_path)) return read_public(public_path, &found->key);
    if (!found->file) return fail(ERR_MISSING, "there is no key %s", found->path);
    int rc = openssh_public(found->path, &found->key);
    return rc < 0 ? fail_prefix(rc, "%s: ", found->path) : 0;
}

static int find_name(const char *name, struct keyring_key *found)
{
    char folder[KEYRING_PATH];
    memset(found, 0, sizeof *found);
    TRY(keyring_folder(folder));
    snprintf(found->name, sizeof found->name, "%s", name);
    TRY(join(found->path, folder, name, ""));
    return read_pair(found);
}

static int find_file(const char *path, struct keyring_key *found)
{
    size_t length = strlen(path);
    memset(found, 0, sizeof *found);
    if (!file_exists(path)) return fail(ERR_MISSING, "there is no key %s", path);
    if (length > 4 && strcmp(path + length - 4, ".pub") == 0) length -= 4;
    if (length + 5 > KEYRING_PATH) return fail(ERR_INPUT, "the path %.60s... is too long", path);
    memcpy(found->path, path, length);
    return read_pair(found);
}

int keyring_find_ssh(struct keyring_key *found)
{
    const char *home = environment("HOME");
    memset(found, 0, sizeof *found);
    if (home == NULL) return fail(ERR_MISSING, "HOME is not set");
    TRY(join(found->path, home, ".ssh/id_ed25519", ""));
    return read_pair(found);
}

static bool has_id(const struct sshkey *key, const char *id)
{
    char own[SSHKEY_ID];
    return strcmp(sshkey_id(key, own), id) == 0;
}

// Skips damaged files of other keys.
static int find_id(const char *id, struct keyring_key *found)
{
    struct keyring_names names;
    struct openssh_keys keys;
    TRY(keyring_names(&names));
    for (int i = 0; i < names.count; i++)
        if (find_name(names.name[i], found) == 0 && has_id(&found->key, id)) return 0;
    if (keyring_find_ssh(found) == 0 && has_id(&found->key, id)) return 0;
    memset(found, 0, sizeof *found);
    openssh_list(&keys);
    for (int i = 0; i < keys.count; i++) {
        if (!has_id(&keys.key[i], id)) continue;
        found->key = keys.key[i];
        return 0;
    }
    return fail(ERR_MISSING, "there is no key %.60s in the keyring, in ~/.ssh or in the ssh-agent", id);
}

static int find_word(const char *word, struct keyring_key *found)
{
    struct keyring_names names;
    const char *known[KEYRING_MOST + 1] = {0};
    if (strncmp(word, "SHA256:", 7) == 0) return find_id(word, found);
    TRY(keyring_names(&names));
    for (int i = 0; i < names.count; i++) {
        if (strcmp(names.name[i], word) == 0) return find_name(word, found);
        known[i] = names.name[i];
    }
    if (strchr(word, '/') != NULL || file_exists(word)) return find_file(word, found);
    return fail_unknown(ERR_MISSING, "key", word, known, "\"dawn keys\" lists the keyring; a path works as well");
}

static int several(const struct keyring_names *names)
{
    struct text list = {0};
    for (int i = 0; i < names->count; i++) text_add(&list, "%s%s", i > 0 ? ", " : "", names->name[i]);
    int rc = fail(ERR_USAGE, "there are several keys; name one with DAWN_KEY or on the command line: %.600s", list.at);
    text_free(&list);
    return rc;
}

int keyring_find(const char *wanted, struct keyring_key *found)
{
    struct keyring_names names;
    memset(found, 0, sizeof *found);
    if (wanted != NULL) return find_word(wanted, found);
    wanted = environment("DAWN_KEY");
    if (wanted != NULL) {
        int rc = find_word(wanted, found);
        return rc < 0 ? fail_prefix(rc, "DAWN_KEY: ") : rc;
    }
    TRY(keyring_names(&names));
    if (names.count > 1) return several(&names);
    if (names.count == 1) return find_name(names.name[0], found);
    int rc = keyring_find_ssh(found);
    if (rc == ERR_MISSING) return fail(ERR_MISSING, "there is no key to sign with; \"dawn keys new\" makes one");
    return rc;
}

int keyring_new(const char *name)
{
    char folder[KEYRING_PATH], parent[KEYRING_PATH], path[KEYRING_PATH], public_path[KEYRING_PATH];
    struct stat st;
    TRY(check_name(name));
    TRY(keyring_folder(folder));
    TRY(join(path, folder, name, ""));
    TRY(join(public_path, folder, name, ".pub"));
    memcpy(parent, folder, sizeof parent);
    *strrchr(parent, '/') = '\0';
    TRY(file_make_folder(parent));
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) return fail_errno(ERR_IO, errno, "cannot make the folder %s", folder);
    if (lstat(path, &st) == 0 || lstat(public_path, &st) == 0)  // also a link that leads nowhere
        return fail(ERR_INPUT, "there is a key \"%s\" already; keys are never overwritten", name);
    return openssh_new(path, name);
}

int keyring_open(const struct keyring_key *found, struct signer *signer)
{
    char id[SSHKEY_ID];
    struct openssh_keys held;
    memset(signer, 0, sizeof *signer);
    if (build_emulates() != NULL)
        return fail(ERR_UNSUPPORTED, "this program emulates %s, so nothing that it measures may be signed", build_emulates());
    signer->key = found->key;
    if (found->file) memcpy(signer->path, found->path, sizeof signer->path);
    if (found->file) return 0;
    openssh_list(&held);
    if (openssh_lists(&held, &found->key)) return 0;
    return fail(ERR_MISSING, "the ssh-agent does not hold %s, and no file has its secret", sshkey_id(&found->key, id));
}

int keyring_choose(const char *wanted, struct signer *signer)
{
    struct keyring_key found;
    memset(signer, 0, sizeof *signer);
    TRY(keyring_find(wanted, &found));
    return keyring_open(&found, signer);
}

int signer_sign(struct signer *signer, const char *namespace_, const void *message, size_t count, char into[SSHSIG_MAX])
{
    struct sshkey key;
    const struct openssh_signing signing = {&signer->key, *signer->path ? signer->path : NULL, namespace_, message, count,
                                            signer->wait_ms};
    if (!*signer->last || sshsig_verify(signer->last, strlen(signer->last), namespace_, message, count, &key) < 0) {
        signer->last[0] = '\0';
        TRY(openssh_sign(&signing, into));
        memcpy(signer->last, into, SSHSIG_MAX);
    }
    memcpy(into, signer->last, SSHSIG_MAX);
    return 0;
}
