// SPDX-License-Identifier: Apache-2.0
// Files that pages link to, embedded in the program. http_reply.c makes their ETags.
#include "runtime/common/base/embed.h"
#include "scoreboard/pages/pages.h"

static int asset(struct answer *answer, const char *path, const char *type)
{
    const struct embedded *file = embedded_find(path);
    if (file == NULL) return fail(ERR_MISSING, "this build lacks the file %s", path);
    answer->type = type;
    text_bytes(&answer->body, file->at, file->size);
    return 0;
}

int asset_style(const struct request *request, struct answer *answer)
{
    (void)request;
    TRY(asset(answer, "runtime/common/draw/style.css", "text/css; charset=utf-8"));
    return asset(answer, "scoreboard/pages/assets/style.css", "text/css; charset=utf-8");
}

int asset_script(const struct request *request, struct answer *answer)
{
    (void)request;
    return asset(answer, "scoreboard/pages/assets/script.js", "text/javascript; charset=utf-8");
}

int asset_icon(const struct request *request, struct answer *answer)
{
    (void)request;
    return asset(answer, "scoreboard/pages/assets/favicon.svg", "image/svg+xml");
}

int asset_robots(const struct request *request, struct answer *answer)
{
    (void)request;
    return asset(answer, "scoreboard/pages/assets/robots.txt", "text/plain; charset=utf-8");
}
