// SPDX-License-Identifier: Apache-2.0
// The form sends empty values for unused fields; filter_read ignores them. The choices are the board's own values with their
// counts, so that a choice leads to an empty board only if two exclude each other.
#include <string.h>
#include <strings.h>

#include "scoreboard/pages/page_form.h"

static void open_field(struct page *page, const char *name, const char *label)
{
    html_add(page->out, "<div class=\"field\"><label for=\"f-%s\">%s</label>", name, label);
}

static void add_option(struct page *page, const char *value, const char *label, bool chosen)
{
    html_add(page->out, "<option value=\"%s\"%s>%s</option>", value, chosen ? " selected" : "", label);
}

static void open_select(struct page *page, const char *name, const char *label)
{
    open_field(page, name, label);
    html_add(page->out, "<select id=\"f-%s\" name=\"%s\">", name, name);
}

static void close_select(struct page *page)
{
    html_add(page->out, "</select></div>\n");
}

static void choose_facet(struct page *page, const char *name, const char *label, const struct facet *facets, int count,
                         const char *now)
{
    bool seen = *now == 0;
    open_select(page, name, label);
    add_option(page, "", "any", *now == 0);
    for (int i = 0; i < count; i++) {
        if (*facets[i].value == 0) continue;
        bool chosen = strcasecmp(facets[i].value, now) == 0;
        add_option(page, facets[i].value,
               arena_text(&page->arena, "%s (%lld)", facets[i].value, (long long)facets[i].count), chosen);
        seen |= chosen;
    }
    if (!seen) add_option(page, now, *now == '~' ? arena_text(&page->arena, "contains %s", now + 1) : now, true);
    close_select(page);
}

static void choose_word(struct page *page, const char *name, const char *label, const char *const (*choices)[2],
                        const char *now)
{
    open_select(page, name, label);
    for (; (*choices)[0] != NULL; choices++)
        add_option(page, (*choices)[0], (*choices)[1], strcmp((*choices)[0], now) == 0);
    close_select(page);
}

static void add_input(struct page *page, const char *name, const char *label, const char *type, const char *value,
                  const char *hint)
{
    open_field(page, name, label);
    html_add(page->out, "<input id=\"f-%s\" name=\"%s\" type=\"%s\" value=\"%s\"", name, name, type, value);
    if (strcmp(type, "number") == 0)
        html_add(page->out, " min=\"1\" inputmode=\"numeric\"");
    else
        html_add(page->out, " maxlength=\"150\" autocomplete=\"off\"");
    html_add(page->out, " placeholder=\"%s\"></div>\n", hint);
}

static const char *number_text(struct page *page, int64_t value)
{
    return value > 0 ? arena_text(&page->arena, "%lld", (long long)value) : "";
}

static void choose_trust(struct page *page, const struct filter *filter)
{
    open_select(page, "trust", "Trust, at least");
    for (int i = 0; i < TRUSTS; i++)
        add_option(page, (enum trust)i == filter_default_trust(filter) ? "" : trust_word((enum trust)i),
                   i == 0 ? "any: imported" : trust_title((enum trust)i), filter->trust == (enum trust)i);
    close_select(page);
}

static void choose_target(struct page *page, const struct filter *filter)
{
    if (filter->contest->target_micro[1] == 0) return;
    open_select(page, "target", "Target");
    for (int i = 0; i < CONTEST_TARGETS && filter->contest->target_micro[i] > 0; i++) {
        const char *share = arena_text(&page->arena, "%g", (double)filter->contest->target_micro[i] / 1e6);
        add_option(page, i == 0 ? "" : share, share, i > 0 && filter->target_micro == filter->contest->target_micro[i]);
    }
    close_select(page);
}

static void choose_sort(struct page *page, const struct filter *filter)
{
    static const char *const words[SORTS] = {
#define SORT(name, word) word,
        SORT_LIST
#undef SORT
    };
    static const char *const orders[][2] = {{"", "ascending"}, {"desc", "descending"}, {NULL, NULL}};
    open_select(page, "sort", "Sort by");
    for (int i = 0; i < SORTS; i++)
        if (i != SORT_ENERGY || board_has_energy(filter->board))
            add_option(page, i == 0 ? "" : words[i], page_sort_name(filter, (enum sort)i), filter->sort == (enum sort)i);
    close_select(page);
    choose_word(page, "order", "Order", orders, filter->descending ? "desc" : "");
}

void page_form(struct page *page, const struct filter *filter, const struct facets *facets)
{
    static const char *const divisions[][2] = {{"", "any"}, {"closed", "closed"}, {"open", "open"}, {NULL, NULL}};
    static const char *const sources[][2] = {
        {"", "any"}, {"dawn", "signed runs"}, {"dawnbench", "imported entries"}, {NULL, NULL}};
    static const char *const limits[][2] = {{"", "50"}, {"100", "100"}, {"200", "200"}, {NULL, NULL}};
    if (page_is_copy(page)) {
        page_no_server(page, "Filters need");
        return;
    }
    int active = filter_narrowing(filter);
    const struct filter plain = filter_plain(filter->contest, filter->board, filter->rank);
    html_add(page->out,
             "<details class=\"filter\"><summary>Filter and sort%s</summary><form method=\"get\" "
             "action=\"/boards/%s/%s\">\n",
             active > 0 ? arena_text(&page->arena, " (%d)", active) : "",
             filter->contest->name, board_word(filter->board));
    html_add(page->out, "<input type=\"hidden\" name=\"rank\" value=\"%s\">", rank_word(filter->rank));
    html_add(page->out, "<div class=\"fields\">");
    choose_facet(page, "hardware", "Hardware", facets->hardware, facets->hardwares, filter->hardware);
    choose_facet(page, "framework", "Framework", facets->framework, facets->frameworks, filter->framework);
    choose_facet(page, "precision", "Precision", facets->precision, facets->precisions, filter->precision);
    choose_facet(page, "author", "Author", facets->author, facets->authors, filter->author);
    if (filter->model[0] == '~' || filter->model[0] == 0)
        add_input(page, "model_part", "Model", "text", filter->model + (filter->model[0] == '~'), "part of its name");
    else
        add_input(page, "model", "Model, exactly", "text", filter->model, "its whole name");
    choose_word(page, "division", "Division", divisions, filter->division);
    choose_trust(page, filter);
    choose_word(page, "source", "Source", sources, filter->source);
    choose_target(page, filter);
    add_input(page, "devices", "Devices, exactly", "number", number_text(page, filter->devices), "any");
    add_input(page, "devices_max", "Devices, at most", "number", number_text(page, filter->devices_max), "any");
    add_input(page, "views_max", "Views per item, at most", "number", number_text(page, filter->views_max), "any");
    if (board_has_energy(filter->board))
        add_input(page, "energy_max", "Energy in joules, at most", "number", number_text(page, filter->energy_max), "any");
    add_input(page, "since", "Made since", "date", filter->since, "2026-01-31");
    add_input(page, "until", "Made until", "date", filter->until, "2026-12-31");
    choose_sort(page, filter);
    choose_word(page, "limit", "Entries per page", limits,
                filter->limit == 100   ? "100"
                : filter->limit == 200 ? "200"
                                       : "");
    html_add(page->out,
             "</div><p><button type=\"submit\">Show</button> <a href=\"%s\">Clear all</a></p></form></details>\n",
             page_view_address(&page->arena, VIEW_BOARD, &plain));
}

// ---- active filters ---------------------------------------------------------------------------------------------------
enum chip {
    HARDWARE,
    FRAMEWORK,
    AUTHOR,
    MODEL,
    PRECISION,
    DIVISION,
    SOURCE,
    SINCE,
    UNTIL,
    TRUST_LEVEL,
    DEVICES,
    DEVICES_MAX,
    VIEWS_MAX,
    ENERGY_MAX,
    TARGET,
    CHIPS
};

static const char *words_of(const struct filter *f, int chip)
{
    switch (chip) {
    case HARDWARE: return f->hardware;
    case FRAMEWORK: return f->framework;
    case AUTHOR: return f->author;
    case MODEL: return f->model;
    case PRECISION: return f->precision;
    case DIVISION: return f->division;
    case SOURCE: return f->source;
    case SINCE: return f->since;
    case UNTIL: return f->until;
    default: return "";
    }
}

static int64_t number_of(const struct filter *f, int chip)
{
    switch (chip) {
    case TRUST_LEVEL: return f->trust > filter_default_trust(f) ? f->trust : 0;
    case DEVICES: return f->devices;
    case DEVICES_MAX: return f->devices_max;
    case VIEWS_MAX: return f->views_max;
    case ENERGY_MAX: return f->energy_max;
    case TARGET: return f->target_micro == f->contest->target_micro[0] ? 0 : f->target_micro;
    default: return 0;
    }
}

static void drop_chip(struct filter *f, int chip)
{
    switch (chip) {
    case TRUST_LEVEL: f->trust = filter_default_trust(f); break;
    case DEVICES: f->devices = 0; break;
    case DEVICES_MAX: f->devices_max = 0; break;
    case VIEWS_MAX: f->views_max = 0; break;
    case ENERGY_MAX: f->energy_max = 0; break;
    case TARGET: f->target_micro = 0; break;
    case HARDWARE: f->hardware[0] = 0; break;
    case FRAMEWORK: f->framework[0] = 0; break;
    case AUTHOR: f->author[0] = 0; break;
    case MODEL: f->model[0] = 0; break;
    case PRECISION: f->precision[0] = 0; break;
    case DIVISION: f->division[0] = 0; break;
    case SOURCE: f->source[0] = 0; break;
    case SINCE: f->since[0] = 0; break;
    default: f->until[0] = 0;
    }
}

static bool is_active(const struct filter *f, int chip)
{
    return *words_of(f, chip) != 0 || number_of(f, chip) != 0;
}

int page_form_chips(struct page *page, enum view view, const struct filter *filter)
{
    static const char *const labels[CHIPS] = {"Hardware", "Framework",       "Author",        "Model", "Precision",
                                              "Division", "Source",          "Since",         "Until", "Trust at least",
                                              "Devices",  "Devices at most", "Views at most", "Joules at most", "Target"};
    int active = filter_narrowing(filter);
    if (active == 0) return 0;
    html_add(page->out, "<ul class=\"chips\" aria-label=\"Filters in use\">");
    for (int i = 0; i < CHIPS; i++) {
        if (!is_active(filter, i)) continue;
        struct filter without = *filter;
        drop_chip(&without, i);
        without.cursor[0] = 0;
        const char *words = words_of(filter, i);
        if (*words == '~')
            words = arena_text(&page->arena, "contains %s", words + 1);
        else if (i == TRUST_LEVEL)
            words = trust_title(filter->trust);
        else if (i == TARGET)
            words = arena_text(&page->arena, "%g", (double)filter->target_micro / 1e6);
        else if (*words == 0)
            words = number_text(page, number_of(filter, i));
        html_add(page->out,
                 "<li><a href=\"%s\">%s: <bdi>%s</bdi><span aria-hidden=\"true\"> \xc3\x97</span><span "
                 "class=\"hidden\">, remove this filter</span></a></li>",
                 page_view_address(&page->arena, view, &without), labels[i], words);
    }
    html_add(page->out, "</ul>\n");
    return active;
}

void page_form_nothing(struct page *page, enum view view, const struct filter *filter)
{
    struct filter all = filter_plain(filter->contest, filter->board, filter->rank);
    all.trust = filter->trust;
    html_add(page->out, "<p class=\"empty\">No entry passes these filters. <a href=\"%s\">Show all</a>, or search all "
                        "boards:</p>\n",
             page_view_address(&page->arena, view, &all));
    page_search(page, filter->model[0] == '~' ? filter->model + 1 : filter->model);
}
