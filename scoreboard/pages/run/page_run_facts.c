// SPDX-License-Identifier: Apache-2.0
// The lower half of a run's page: latencies, machine, program, data, checks, and how to verify all of it elsewhere.
#include <string.h>

#include "scoreboard/pages/run/page_run.h"

static void row_words(struct page *page, const char *label, const char *words)
{
    if (words == NULL || *words == 0) return;
    html_add(page->out, "<div><dt>%s</dt><dd><bdi>%s</bdi></dd></div>", label, words);
}

static void row_digest(struct page *page, const char *label, const char *hex)
{
    if (hex == NULL || *hex == 0) return;
    html_add(page->out, "<div><dt>%s</dt><dd><span class=\"digest\">%s</span></dd></div>", label, hex);
}

static void row_number(struct page *page, const char *label, int64_t value)
{
    char figure[TEXT_FIGURE];
    if (value > 0) row_words(page, label, text_count(figure, value));
}

static void row_size(struct page *page, const char *label, int64_t bytes)
{
    char figure[TEXT_FIGURE];
    if (bytes > 0) row_words(page, label, text_size(figure, (double)bytes));
}

// ---- latencies --------------------------------------------------------------------------------------------------------
static const char *const marks[][2] = {
    {"mean", "whole_mean_ns"}, {"median", "whole_p50_ns"}, {"90%", "whole_p90_ns"}, {"99%", "whole_p99_ns"}};
static const char *const model_marks[] = {"model_mean_ns", "model_p50_ns", "model_p90_ns", "model_p99_ns"};

static const char *milliseconds(struct page *page, int64_t ns)
{
    char words[BOARD_VALUE];
    return arena_text(&page->arena, "%s", board_value(BOARD_INFERENCE_LATENCY, (double)ns / 1e6, words));
}

static void one_latency(struct page *page, const struct shown *shown, const json_t *latency, size_t number)
{
    struct chart_part parts[4];
    for (int i = 0; i < 4; i++) {
        int64_t ns = canonical_int(latency, marks[i][1]);
        parts[i] = (struct chart_part){marks[i][0], milliseconds(page, ns), (double)ns, i == 0 ? 0 : 1};
    }
    char figure[TEXT_FIGURE];
    long long threads = (long long)canonical_int(latency, "threads");  // 0: not known
    html_add(page->out, "<h3><bdi>%s</bdi>, <bdi>%s</bdi>%s: %s items one at a time</h3>", canonical_text(latency, "device"),
             canonical_text(latency, "precision"),
             threads > 0 ? arena_text(&page->arena, ", %lld thread%s", threads, threads == 1 ? "" : "s") : "",
             text_count(figure, canonical_int(latency, "items")));
    html_add(page->out, "<p>%s <span class=\"quiet\">Correct answers in the same pass: ",
             canonical_int(latency, "eligible") == 1
                 ? "Eligible: the answers meet the target on the whole published test set."
                 : "Not eligible for a board: the answers do not meet the target on the whole published test set.");
    int64_t items = contest_items(shown->contest, canonical_int(latency, "items"));
    page_score(page->out, shown->contest, (double)canonical_int(latency, "k") / (double)items);
    html_add(page->out, ", with %lld forward pass%s per item.</span></p>", (long long)canonical_int(latency, "views"),
             canonical_int(latency, "views") == 1 ? "" : "es");
    chart_bars(page->out, arena_text(&page->arena, "c-latency-%zu", number),
               "Time of an answer, preprocessing included",
               "Four bars: the mean and the 50th, 90th and 99th percentiles.", parts, 4);
    page_table(page, "small", "Latency of an item", ":Figure|:With preprocessing|:Forward pass alone");
    for (int i = 0; i < 4; i++)
        html_add(page->out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td></tr>", marks[i][0], parts[i].figure,
                 milliseconds(page, canonical_int(latency, model_marks[i])));
    html_add(page->out, "</tbody></table></div>\n");
    if (canonical_at(latency, "price") != NULL) {
        html_add(page->out, "<p>Cost of 10,000 items: <strong>");
        page_money(page->out, (double)canonical_int(latency, "price.total_micro_usd") / 1e6);
        html_add(page->out, "</strong> (<bdi>%s</bdi>, %s)</p>", canonical_text(latency, "price.source"),
                 canonical_text(latency, "price.date"));
    }
}

void run_latencies(struct page *page, const struct shown *shown)
{
    const json_t *latencies = canonical_at(shown->statement.json, "latencies");
    if (json_array_size(latencies) == 0) return;
    html_add(page->out, "<section aria-labelledby=\"latency\"><h2 id=\"latency\">Latency</h2>");
    for (size_t i = 0; i < json_array_size(latencies); i++)
        one_latency(page, shown, json_array_get(latencies, i), i + 1);
    html_add(page->out, "</section>\n");
}

// ---- machine, program, data -------------------------------------------------------------------------------------------
static void price(struct page *page, const struct shown *shown)
{
    if (canonical_at(shown->statement.json, "price") == NULL) {
        row_words(page, "Price", "not given; this run is on no cost board");
        return;
    }
    html_add(page->out, "<div><dt>Price</dt><dd>");
    page_money(page->out, (double)shown_int(shown, "price.micro_usd_per_hour") / 1e6);
    html_add(page->out, " per hour, <bdi>%s</bdi> on %s</dd></div>",
             strcmp(shown_text(shown, "price.source"), "user") == 0 ? "given by the author"
                                                                    : shown_text(shown, "price.source"),
             shown_text(shown, "price.date"));
    row_words(page, "Instance", shown_text(shown, "price.instance"));
}

// DAWN's build. In a self-evaluated run it did not train; it ran the trainer and kept the clock.
static void build(struct page *page, const struct shown *shown, bool recorder)
{
    if (recorder) html_add(page->out, "</dl><h3>Recorder (DAWN)</h3><dl class=\"facts\">");
    const char *commit = shown_text(shown, "software.commit");
    bool changed = shown_int(shown, "software.dirty") == 1;
    row_words(page, "Commit", *commit ? commit : "not known");
    row_words(page, "Sources", changed ? "changed since that commit" : *commit ? "as in that commit" : "not known");
    row_words(page, "Compiler", shown_text(shown, "software.compiler"));
    row_words(page, "Flags", shown_text(shown, "software.flags"));
    row_words(page, "Libraries", shown_text(shown, "software.libraries"));
    row_digest(page, recorder ? "Recorder's SHA-256" : "Program's SHA-256", shown_text(shown, "software.binary_digest"));
}

void run_machine(struct page *page, const struct shown *shown)
{
    html_add(page->out, "<section aria-labelledby=\"machine\"><h2 id=\"machine\">Machine and program</h2><div "
                        "class=\"pair\"><div><h3>Hardware</h3><dl class=\"facts\">");
    row_words(page, "Processor", shown_text(shown, "hardware.cpu"));
    row_words(page, "Instruction sets", shown_text(shown, "hardware.cpu_flags"));
    row_words(page, "GPUs", shown_text(shown, "hardware.gpu"));
    row_number(page, "Devices in use", shown_int(shown, "hardware.devices"));
    row_number(page, "Threads in use", shown_int(shown, "threads"));
    row_number(page, "Usable cores", shown_int(shown, "hardware.cores_usable"));
    row_size(page, "Memory", shown_int(shown, "hardware.memory_bytes"));
    row_size(page, "Peak memory", shown_int(shown, "peak_memory_bytes"));
    row_words(page, "Machine", shown_text(shown, "hardware.product"));
    row_words(page, "Virtualised", shown_text(shown, "hardware.virtualised"));
    row_words(page, "Driver", shown_text(shown, "hardware.driver"));
    row_words(page, "System", shown_text(shown, "hardware.os"));
    row_words(page, "Kernel", shown_text(shown, "hardware.kernel"));
    if (shown->stored.type == STATEMENT_RUN) price(page, shown);
    char joules[TEXT_FIGURE];
    if (shown_int(shown, "energy_uj") > 0)
        row_words(page, "Energy of the run",
                  arena_text(&page->arena, "%s, as far as it could be read",
                             text_si(joules, (double)shown_int(shown, "energy_uj") / 1e6, "J")));
    html_add(page->out, "</dl></div><div><h3>Program</h3><dl class=\"facts\">");
    row_words(page, "Framework", shown_text(shown, "software.framework"));
    row_words(page, "Device", shown_text(shown, "device"));
    row_words(page, "Precision", shown_text(shown, "precision"));
    build(page, shown, strcmp(shown_text(shown, "evaluated_by"), "self") == 0);
    html_add(page->out, "</dl></div></div></section>\n");
}

void run_data(struct page *page, const struct shown *shown)
{
    const json_t *data = canonical_at(shown->statement.json, "data");
    html_add(page->out, "<section aria-labelledby=\"data\"><h2 id=\"data\">Data and recipe</h2>");
    if (json_array_size(data) == 0)
        html_add(page->out, "<p>DAWN's harness did not control the data of this run.</p>");
    else
        page_table(page, "small cards", "Data sets", "stem:Name|type:Part|number:Items|type:Kind|rest:SHA-256");
    for (size_t i = 0; i < json_array_size(data); i++) {
        const json_t *set = json_array_get(data, i);
        char figure[TEXT_FIGURE];
        html_add(page->out,
                 "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\" class=\"stem\"><bdi>%s</bdi></th><td "
                 "role=\"cell\">%s</td><td role=\"cell\" class=\"number\">%s</td><td role=\"cell\">%s%s</td><td role=\"cell\" "
                 "class=\"rest\"><span class=\"digest\">%s</span></td></tr>",
                 canonical_text(set, "name"), canonical_text(set, "split"),
                 text_count(figure, canonical_int(set, "items")),
                 canonical_int(set, "synthetic") == 1  ? "synthetic"
                 : canonical_int(set, "official") == 1 ? "as published"
                                                       : "other data",
                 canonical_int(set, "remembered") == 1 ? ", digest remembered" : "",
                 canonical_text(set, "digest"));
    }
    if (json_array_size(data) > 0) html_add(page->out, "</tbody></table></div>\n");
    html_add(page->out, "<dl class=\"facts\">");
    const json_t *files = canonical_at(shown->statement.json, "files");
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *file = json_array_get(files, i);
        const char *kind = canonical_text(file, "kind"), *name = canonical_text(file, "name");
        bool weights = strcmp(kind, "weights") == 0;
        const char *label = weights ? "Initial weights" : strcmp(kind, "vocab") == 0 ? "Vocabulary" : "Vectors";
        row_words(page, label, arena_text(&page->arena, "%s, SHA-256 %s%s", name, canonical_text(file, "digest"),
                                          canonical_int(file, "remembered") == 1 ? ", remembered" : ""));
    }
    row_words(page, "Model", shown_text(shown, "model.name"));
    row_number(page, "Parameters", shown_int(shown, "model.parameters"));
    char figure[TEXT_FIGURE];
    if (shown_int(shown, "model.flops_per_sample") > 0)
        row_words(page, "Forward pass", text_si(figure, (double)shown_int(shown, "model.flops_per_sample"), "FLOP"));
    row_digest(page, "Weights' SHA-256", shown_text(shown, "model.weights_digest"));
    row_words(page, "Seed", arena_text(&page->arena, "%lld", (long long)shown_int(shown, "seed")));
    row_number(page, "Batch", shown_int(shown, "batch"));
    if (shown_int(shown, "step_most") > 0)
        row_words(page, "Samples per step", arena_text(&page->arena, "%lld to %lld", (long long)shown_int(shown, "step_least"),
                                                       (long long)shown_int(shown, "step_most")));
    row_number(page, "Views per item", shown_int(shown, "views"));
    row_number(page, "Input size", shown_int(shown, "input_size"));
    row_words(page, "Recipe", shown_text(shown, "recipe.name"));
    row_digest(page, "Recipe's SHA-256", shown_text(shown, "recipe.digest"));
    html_add(page->out,
             "</dl><details><summary>The whole recipe</summary><pre class=\"wrap\" tabindex=\"0\" role=\"region\" "
             "aria-label=\"Recipe\"><code>%s</code></pre></details></section>\n",
             shown_text(shown, "recipe.text"));
}

// ---- checks and trust -------------------------------------------------------------------------------------------------
static const char *flag_of(const struct findings *findings, enum check check)
{
    for (int i = 0; findings != NULL && i < findings->count && i < FINDINGS_MAX; i++)
        if (findings->at[i].check == check) return findings->at[i].text;
    return NULL;
}

// The log holds the person's decision. Without that statement the level was altered, and the page claims nothing.
static void audit_note(struct page *page, const struct shown *shown)
{
    struct stored audit;
    struct statement said = {0};
    if (shown->stored.trust != TRUST_AUDITED) return;
    if (store_audit_of(page->reader, shown->stored.digest, &page->arena, &audit) < 0) return;
    if (statement_read(audit.payload, audit.payload_count, &said) < 0) return;
    html_add(page->out, "<p>Audited by <bdi>%s</bdi>, ", canonical_text(said.json, "by"));
    page_moment(page->out, audit.accepted_ms);
    html_add(page->out, " (<a href=\"/runs/%lld\">statement %lld</a>): <q><bdi>%s</bdi></q></p>", (long long)audit.sequence,
             (long long)audit.sequence, canonical_text(said.json, "reason"));
    statement_free(&said);
}

void run_checks(struct page *page, const struct shown *shown, const struct drawn *drawn)
{
    const struct findings *findings = shown->stored.findings;
    int flags = findings != NULL ? findings->flags : 0;
    html_add(page->out, "<section aria-labelledby=\"checks\"><h2 id=\"checks\">Checks and trust</h2><p>");
    page_badge(page->out, shown->stored.trust);
    html_add(
        page->out,
        ": %s. <a href=\"/trust\">What the levels mean</a>. A signature proves who said it, not that it is true.</p>",
        trust_what(shown->stored.trust));
    audit_note(page, shown);
    if (drawn != NULL) drawn_note(page, drawn);
    if (shown->stored.reproduced_by > 0)
        html_add(page->out, "<p>Reproduced by <a href=\"/runs/%lld\">run %lld</a> of a person whose key the operator lists.</p>",
                 (long long)shown->stored.reproduced_by, (long long)shown->stored.reproduced_by);
    if (flags > 0) {
        html_add(page->out, "<ul class=\"flags\">");
        for (int i = 0; i < CHECKS; i++) {
            const char *text = flag_of(findings, (enum check)i);
            if (text != NULL)
                html_add(page->out, "<li><strong>Flag: %s.</strong> <bdi>%s</bdi></li>", check_code((enum check)i),
                         text);
        }
        html_add(page->out, "</ul>\n");
    } else {
        html_add(page->out, "<p>No check raised a flag.</p>");
    }
    html_add(page->out, "<details><summary>All %d checks</summary>", CHECKS);
    page_table(page, "small", "The checks at acceptance, and objections; a statement that fails a rejecting check is refused",
               ":Check|:It requires that|:Kind|:Outcome");
    for (int i = 0; i < CHECKS; i++)
        html_add(page->out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                 check_code((enum check)i), check_what((enum check)i),
                 check_level((enum check)i) == CHECK_REJECT ? "rejects" : "flags",
                 flag_of(findings, (enum check)i) != NULL ? "flagged" : "passed");
    html_add(page->out, "</tbody></table></div></details></section>\n");
}

void run_verify(struct page *page, const struct shown *shown)
{
    const struct stored *stored = &shown->stored;
    long long n = (long long)stored->sequence;
    const char *signer = *stored->handle ? stored->handle : store_origin(page->request->store);
    html_add(page->out, "<section aria-labelledby=\"verify\"><h2 id=\"verify\">Verify it yourself</h2><p>Signed by ");
    page_person_link(page, stored->handle);
    html_add(page->out,
             " with the key <span class=\"digest\">%s</span>. The signature is OpenSSH's; you need none of our code to "
             "check it.</p>\n",
             stored->key);
    page_command(page, "verify-ssh",
                 arena_text(&page->arena,
                            "SERVER=http://THIS-SITE\n"
                            "curl -fsS $SERVER/api/v1/statements/%lld/payload -o run-%lld.json\n"
                            "curl -fsS $SERVER/api/v1/statements/%lld/signature -o run-%lld.json.sig\n"
                            "echo '%s %s' > signers\n"
                            "ssh-keygen -Y verify -f signers -I %s -n %s -s run-%lld.json.sig < run-%lld.json",
                            n, n, n, n, signer, stored->key_line, signer,
                            statement_namespace(stored->type), n, n));
    html_add(page->out, "<p>DAWN itself checks the signature%s and the receipt:</p>\n",
             stored->type == STATEMENT_RUN ? ", the hash chain, every figure" : "");
    page_command(page, "verify-dawn", arena_text(&page->arena, "dawn verify http://THIS-SITE/runs/%lld", n));
    html_add(page->out,
             "<details><summary>Receipt and raw statement</summary><dl "
             "class=\"facts\"><div><dt>Statement</dt><dd><span class=\"digest\">%s</span></dd></div>"
             "<div><dt>Place in the log</dt><dd>%lld</dd></div><div><dt>Accepted</dt><dd>",
             stored->digest, n);
    page_moment(page->out, stored->accepted_ms);
    html_add(page->out,
             "</dd></div></dl><p>The server's receipt, as it signed it:</p><pre class=\"wrap\" tabindex=\"0\" "
             "role=\"region\" aria-label=\"Receipt\"><code>%s\n%s</code></pre>"
             "<p class=\"links\"><a href=\"/api/v1/statements/%lld\">Everything as JSON</a> <a "
             "href=\"/api/v1/statements/%lld/payload\">Signed bytes</a> "
             "<a href=\"/api/v1/statements/%lld/signature\">Signature</a> <a "
             "href=\"/api/v1/statements/%lld/receipt\">Receipt</a></p></details></section>\n",
             stored->receipt, stored->receipt_signature, n, n, n, n);
}
