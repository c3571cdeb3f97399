// SPDX-License-Identifier: Apache-2.0
// dawn keys: makes, lists and shows the keys that sign submissions. It never prints a secret. cmd_keys_change.c informs a
// scoreboard of changed keys.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/cli/options.h"
#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "submit/submit_commands.h"
#include "submit/format/statement.h"
#include "submit/keys/handle.h"
#include "submit/keys/keyring.h"

#define FIRST_NAME "dawn"  // of the key that "dawn keys new" makes

struct choice {
    bool only_public, only_signers, json;
};

// The holder of the secret, in words.
static const char *where(const struct keyring_key *key, const struct openssh_keys *agent)
{
    const bool held = openssh_lists(agent, &key->key);
    if (key->file) return held ? "file, agent" : "file";
    return held ? "agent" : "not in the ssh-agent now";
}

// The keys listed so far, so that no key is listed twice.
struct listing {
    struct openssh_keys agent;
    struct sshkey seen[KEYRING_MOST + OPENSSH_KEYS + 2];
    int count;
    const struct sshkey *chosen;
    bool json;  // else text
    json_t *rows;
};

enum { COLUMN = 20 };  // of the fingerprints in the list

// A name or a word that would not fit gets a line of its own.
static void print_key(const char *name, const struct keyring_key *key, struct listing *l)
{
    char id[SSHKEY_ID];
    const bool is_chosen = l->chosen != NULL && sshkey_same(l->chosen, &key->key);
    const char *words = where(key, &l->agent);
    if (l->json) {
        json_text_row(&l->rows, json_pack("{ss ss ss sb}", "name", name, "id", sshkey_id(&key->key, id), "secret", words,
                                          "default", is_chosen));
        return;
    }
    int width = COLUMN + (int)strlen(sshkey_id(&key->key, id)) + 2 + (int)strlen(words);
    printf("%s %-*s", is_chosen ? "*" : " ", COLUMN - 3, name);
    if ((int)strlen(name) <= COLUMN - 3) printf(" ");
    else printf("\n%*s", COLUMN, "");
    if (width <= TEXT_WIDTH) printf("%s  %s\n", id, words);
    else printf("%s\n%*s%s\n", id, COLUMN, "", words);
}

static void print_unusable(struct listing *l, const char *name)
{
    if (l->json) {
        json_text_row(&l->rows, json_pack("{ss ss}", "name", name, "unusable", error_text()));
        return;
    }
    struct text t = {0};
    text_add(&t, "! %-*s ", COLUMN - 3, name);
    text_wrap(&t, error_text(), COLUMN, COLUMN);
    printf("%s\n", t.at);
    text_free(&t);
}

static void list_key(struct listing *l, const char *name, const struct keyring_key *key)
{
    print_key(name, key, l);
    l->seen[l->count++] = key->key;
}

static void add_new(struct listing *l, const char *name, const struct keyring_key *key)
{
    for (int i = 0; i < l->count; i++)
        if (sshkey_same(&l->seen[i], &key->key)) return;
    list_key(l, name, key);
}

static int list(bool json)
{
    static struct listing l;  // 80 KiB
    struct keyring_names names;
    struct keyring_key found, chosen;
    char reason[ERROR_TEXT_MAX] = "";
    TRY(keyring_names(&names));
    memset(&l, 0, sizeof l);
    l.json = json;
    l.rows = json ? json_array() : NULL;
    openssh_list(&l.agent);
    if (keyring_find(NULL, &chosen) == 0) l.chosen = &chosen.key;
    else snprintf(reason, sizeof reason, "%s", error_text());
    for (int i = 0; i < names.count; i++) {
        if (keyring_find(names.name[i], &found) == 0) list_key(&l, names.name[i], &found);
        else print_unusable(&l, names.name[i]);
    }
    int rc = keyring_find_ssh(&found);
    if (rc == 0) add_new(&l, "~/.ssh/id_ed25519", &found);
    else if (rc != ERR_MISSING) print_unusable(&l, "~/.ssh/id_ed25519");
    if (l.chosen != NULL) add_new(&l, *chosen.path ? chosen.path : "-", &chosen);  // DAWN_KEY may name one from elsewhere
    for (int i = 0; i < l.agent.count; i++) add_new(&l, "-", &(struct keyring_key){.key = l.agent.key[i]});
    if (json) return json_text_print(l.rows);
    if (*reason) {
        struct text t = {0}, words = {0};
        text_add(&words, "No default: %s.", reason);
        text_wrap(&t, words.at, 0, 0);
        printf("%s%s\n", l.count > 0 ? "\n" : "", t.at);
        text_free(&words);
        text_free(&t);
    }
    return 0;
}

static void print_entry(const char *label, const char *words)
{
    printf("  %-11s%s\n", label, words);
}

// The line of an allowed-signers file: with it ssh-keygen -Y verify checks every signature of this key for DAWN. It names the
// handle, as statements do, or the key if no handle is known.
static void print_signers(const struct keyring_key *key)
{
    char line[SSHKEY_TEXT], handle[HANDLE_MAX];
    const char *who = *key->name ? key->name : "submitter";
    bool own = *key->name || key->file || !*key->path;  // a public key alone may belong to anybody
    if (own && handle_choose(NULL, handle) == 0) who = handle;
    struct sshkey plain = key->key;
    plain.comment[0] = 0;
    printf("%s namespaces=\"", who);
    const char *comma = "";
#define STATEMENT(name, type, space, what)                                                                             \
    printf("%s%s", comma, space);                                                                                      \
    comma = ",";
    STATEMENT_LIST
#undef STATEMENT
    printf("\" %s\n", sshkey_line(&plain, line));
}

static int show_key(const char *wanted, const struct choice *choice)
{
    struct keyring_key key;
    struct openssh_keys agent;
    char id[SSHKEY_ID], line[SSHKEY_TEXT];
    TRY(keyring_find(wanted, &key));
    if (choice->only_public) {
        printf("%s\n", sshkey_line(&key.key, line));
    } else if (choice->only_signers) {
        print_signers(&key);
    } else {
        openssh_list(&agent);
        printf("%s\n", *key.name ? key.name : *key.path ? key.path : "a key of the ssh-agent");
        print_entry("id", sshkey_id(&key.key, id));
        print_entry("secret", where(&key, &agent));
        if (key.file) print_entry("file", key.path);
        printf("\nThe public key:\n%s\n\nFor the file of signers of ssh-keygen -Y verify:\n", sshkey_line(&key.key, line));
        print_signers(&key);
    }
    return 0;
}

// With a second key, "the only key" is no default any more.
static int say_several(const char *name)
{
    struct keyring_names names;
    TRY(keyring_names(&names));
    const char *chosen = getenv("DAWN_KEY");
    if (names.count < 2 || (chosen != NULL && *chosen != 0)) return 0;
    printf("\nThere are %d keys now, and none of them is the default: say which one signs with\n"
           "--key %s, or with DAWN_KEY=%s in the environment.\n", names.count, name, name);
    return 0;
}

static int new_key(const char *name)
{
    struct keyring_key key;
    char id[SSHKEY_ID];
    TRY(keyring_new(name));
    TRY(keyring_find(name, &key));
    printf("Made the key \"%s\".\n", name);
    print_entry("id", sshkey_id(&key.key, id));
    print_entry("secret", key.path);
    TRY(say_several(name));
    printf("\nKeep another copy of the secret in a safe place. \"ssh-keygen -p -f FILE\"\n"
           "encrypts it, and \"ssh-add FILE\" lets the ssh-agent sign with it.\n");
    return 0;
}

static int check_words(int argc, char **argv, const struct choice *choice)
{
    static const char *const actions[] = {"list", "new", "show", "rotate", "revoke", NULL};
    static const int most[] = {2, 3, 3, 0, 0};
    const char *action = argc > 1 ? argv[1] : "list";
    int which = 0;
    while (actions[which] != NULL && strcmp(actions[which], action) != 0) which++;
    if (actions[which] == NULL) return fail_unknown(ERR_USAGE, "keys command", action, actions, NULL);
    if (most[which] == 0) return fail(ERR_USAGE, "\"%s\" comes right after keys: \"dawn keys %s --help\"", action, action);
    if (argc > most[which]) return fail(ERR_USAGE, "keys %s does not take \"%s\"", action, argv[argc - 1]);
    if ((choice->only_public || choice->only_signers) && strcmp(action, "show") != 0)
        return fail(ERR_USAGE, "--public and --signers are for keys show");
    if (choice->json && strcmp(action, "list") != 0) return fail(ERR_USAGE, "--json is for keys list");
    if (choice->only_public && choice->only_signers) return fail(ERR_USAGE, "--public and --signers exclude each other");
    return 0;
}

const struct program_command cmd_keys_subs[] = {
    {"rotate", cmd_keys_rotate, "move your handle on a scoreboard to another key"},
    {"revoke", cmd_keys_revoke, "tell a scoreboard that a key no longer counts"},
    {NULL, NULL, NULL},
};

int cmd_keys(int argc, char **argv)
{
    for (const struct program_command *c = cmd_keys_subs; argc > 1 && c->name != NULL; c++)
        if (strcmp(argv[1], c->name) == 0) return c->run(argc - 1, argv + 1);
    struct choice c = {0};
    const struct option options[] = {
        {OPTION_FLAG, 0, "public", NULL, "show: only the public key, on one line", &c.only_public, 0, 0},
        {OPTION_FLAG, 0, "signers", NULL, "show: only the line for the file of signers of ssh-keygen -Y verify",
         &c.only_signers, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "list: one JSON array instead of text", &c.json, 0, 0},
        {0},
    };
    const struct usage usage = {
        .command = "keys",
        .operands = "[list | new [NAME] | show [KEY]] [OPTIONS]",
        .about = "Makes, lists and shows the Ed25519 keys that sign submissions. They are OpenSSH keys, stored in "
                 "$XDG_CONFIG_HOME/dawn/keys (else ~/.config/dawn/keys). ssh-keygen makes them and signs with them.\n\n"
                 "KEY is a name in that folder, the path of a private key or of its .pub file, or a fingerprint (SHA256:...). "
                 "Without it: $DAWN_KEY, else the one key in the folder, else ~/.ssh/id_ed25519. The list marks it with "
                 "\"*\". ssh-keygen asks for the passphrase of an encrypted key, unless the ssh-agent holds it.\n\n"
                 "\"dawn keys rotate\" moves your handle on a scoreboard to another key; \"dawn keys revoke\" declares that "
                 "a key no longer counts. Each has its own -h.",
        .options = options,
        .more = "Examples:\n"
                "  dawn keys new                      make a key called \"" FIRST_NAME "\"\n"
                "  dawn keys show --public            the line that a server may ask for\n"
                "  dawn submit --key ~/.ssh/other     sign with a key from elsewhere",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    TRY(check_words(argc, argv, &c));
    const char *action = argc > 1 ? argv[1] : "list", *word = argc > 2 ? argv[2] : NULL;
    if (strcmp(action, "new") == 0) return new_key(word != NULL ? word : FIRST_NAME);
    if (strcmp(action, "show") == 0) return show_key(word, &c);
    return list(c.json);
}
