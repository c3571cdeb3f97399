// SPDX-License-Identifier: Apache-2.0
// What the log is beneath the list of its statements: a tree whose head the board signs, and how to check it. Cost: some hundred
// hashes.
#include "scoreboard/pages/page.h"

int page_tree_read(struct page *page, struct checkpoint *head)
{
    TRY(store_tree_head(page->reader, head));
    note_origin(store_origin(page->request->store), head->origin);
    return 0;
}

void page_tree(struct page *page, const struct checkpoint *head)
{
    char key[NOTE_KEY];
    html_add(page->out,
             "<section aria-labelledby=\"tree\"><h2 id=\"tree\">How to check it</h2><p>Each statement is an entry of a Merkle "
             "tree, and after each one the board signs the tree's size and root. An entry holds digests only: of the statement "
             "and of its signer's key, with its number and its time. A receipt proves that its statement is in the tree. "
             "<code>dawn verify</code> checks that proof and that the tree begins with the one it saw the last time, so no entry "
             "can be changed or dropped unnoticed. Other programs can check it too: it is served as C2SP's tlog-tiles.</p>\n");
    page_command(page, "tree-command", "dawn verify http://THIS-SITE/runs/1");
    html_add(page->out, "<dl class=\"facts\"><div><dt>Entries</dt><dd>%lld</dd></div><div><dt>Root</dt><dd class=\"digest\">",
             (long long)head->size);
    for (int i = 0; i < TREE_HASH; i++) html_add(page->out, "%02x", head->root.at[i]);
    html_add(page->out, "</dd></div><div><dt>Key of the log</dt><dd class=\"digest\">%s</dd></div></dl>\n",
             note_key(head->origin, store_key(page->request->store), key));
    html_add(page->out, "<p class=\"links\"><a href=\"/log/checkpoint\">The signed checkpoint</a> "
                        "<a href=\"/threats\">What it does not stop</a></p></section>\n");
}
