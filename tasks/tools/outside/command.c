// SPDX-License-Identifier: Apache-2.0
// Text only; nothing is run here. Cost: negligible, and before the clock starts.
#include "tasks/tools/outside/command.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

static char *put_seed_into_word(const char *word, int64_t seed)
{
    struct text t = {0};
    for (const char *at; (at = strstr(word, "{seed}")) != NULL; word = at + strlen("{seed}")) {
        text_bytes(&t, word, (size_t)(at - word));
        text_add(&t, "%lld", (long long)seed);
    }
    text_add(&t, "%s", word);
    return t.at;
}

static size_t count_words(char *const *words)
{
    size_t count = 0;
    while (words[count] != NULL) count++;
    return count;
}

char **command_with_seed(char *const *words, int64_t seed)
{
    size_t count = count_words(words);
    char **all = zalloc((count + 1) * sizeof *all);
    for (size_t i = 0; i < count; i++) all[i] = put_seed_into_word(words[i], seed);
    return all;
}

static bool is_variable(const char *variable, const char *name)
{
    size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

char **command_environment(int64_t seed)
{
    size_t kept = 0;
    char **all = zalloc((count_words(environ) + 3) * sizeof *all);
    for (char **variable = environ; *variable != NULL; variable++)
        if (!is_variable(*variable, "DAWN_SEED") && !is_variable(*variable, "PYTHONUNBUFFERED"))
            all[kept++] = copy_text(*variable);
    struct text t = {0};
    text_add(&t, "DAWN_SEED=%lld", (long long)seed);
    all[kept++] = t.at;
    all[kept] = copy_text("PYTHONUNBUFFERED=1");
    return all;
}

void command_free(char **words)
{
    for (char **w = words; *w != NULL; w++) free(*w);
    free(words);
}

int command_write(char *const *words, size_t most, char **json, char **typed)
{
    json_t *list = json_array(), *whole = json_pack("{s:o}", "command", list);
    struct text t = {0};
    int rc = 0;
    for (char *const *word = words; *word != NULL; word++) {
        if (json_array_append_new(list, json_string(*word)) != 0) rc = fail(ERR_USAGE, "the command is not valid UTF-8");
        if (t.length > 0) text_add(&t, " ");
        text_quote(&t, *word);
    }
    *typed = t.at;
    *json = json_dumps(whole, JSON_COMPACT | JSON_ENSURE_ASCII);  // statements accept ASCII
    json_decref(whole);
    if (rc == 0 && strlen(*json) > most) rc = fail(ERR_USAGE, "the command is longer than %zu bytes", most);
    return rc;
}

static bool runs(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

// As execvpe: an empty part of $PATH is this folder.
static bool is_in_path(const char *name)
{
    const char *at = getenv("PATH");
    if (at == NULL) at = "/bin:/usr/bin";
    for (;;) {
        struct text path = {0};
        size_t length = strcspn(at, ":");
        text_add(&path, "%.*s%s%s", (int)length, at, length > 0 ? "/" : "", name);
        bool found = runs(path.at);
        text_free(&path);
        if (found || at[length] == 0) return found;
        at += length + 1;
    }
}

int command_find(const char *name)
{
    bool has_folder = strchr(name, '/') != NULL;
    if (strstr(name, "{seed}") != NULL || (has_folder ? runs(name) : *name != 0 && is_in_path(name))) return 0;
    if (has_folder && access(name, F_OK) == 0) return fail_errno(ERR_MISSING, EACCES, "cannot start \"%.200s\"", name);
    return fail(ERR_MISSING, "there is no command \"%.200s\"", name);
}
