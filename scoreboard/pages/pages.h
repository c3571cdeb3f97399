// SPDX-License-Identifier: Apache-2.0
// The door of the pages: every address that is for people, and the page about a problem.
#pragma once

#include "scoreboard/http/server.h"

// ROUTE(method, pattern, handler, what it shows)
#define PAGE_ROUTES                                                                                                    \
    ROUTE("GET", "/", page_home, "tasks and their current records")                                                    \
    ROUTE("GET", "/boards/{task}", page_task, "a task: the best of every board")                                       \
    ROUTE("GET", "/boards/{task}/{board}", page_board, "a board")                                                      \
    ROUTE("GET", "/boards/{task}/{board}/history", page_history, "the history of a record")                            \
    ROUTE("GET", "/boards/{task}/pareto", page_pareto, "training time against cost")                                   \
    ROUTE("GET", "/runs/{id}", page_run, "a run: curve, clocks, checks, how to verify it")                             \
    ROUTE("GET", "/groups/{nonce}", page_group, "a group and its runs")                                                \
    ROUTE("GET", "/archive/{task}/{kind}/{stem}", page_archive, "an imported entry")                                   \
    ROUTE("GET", "/compare", page_compare, "two to four runs or groups side by side: ?run=12&group=4f2a")              \
    ROUTE("GET", "/people", page_people, "everybody who submitted a run")                                              \
    ROUTE("GET", "/people/{handle}", page_person, "a person: keys and runs")                                           \
    ROUTE("GET", "/machines", page_machines, "machines by the model of their GPU or processor")                        \
    ROUTE("GET", "/machines/{machine}", page_machine, "a machine: its uploads on boards, and its measured throughput") \
    ROUTE("GET", "/competitions", page_competitions, "competitions, newest first")                                     \
    ROUTE("GET", "/competitions/{name}", page_competition, "a competition: dates, who committed, the ranking")          \
    ROUTE("GET", "/search", page_find, "entries and people by a part of their names: ?q=TEXT")                         \
    ROUTE("GET", "/prices", page_prices, "the prices of machines that are known by name")                              \
    ROUTE("GET", "/api.html", page_api, "the API, for people")                                                         \
    ROUTE("GET", "/log", page_log, "every accepted statement in order")                                                \
    ROUTE("GET", "/rules", page_rules, "the rules")                                                                    \
    ROUTE("GET", "/submit", page_submit, "how to take part")                                                           \
    ROUTE("GET", "/record", page_record, "how a program of another framework takes part")                              \
    ROUTE("GET", "/statements", page_statements, "the form of signed statements")                                      \
    ROUTE("GET", "/threats", page_threats, "attacks: stopped, made visible, remaining")                                \
    ROUTE("GET", "/trust", page_trust, "what the levels of trust mean, and what they do not")                          \
    ROUTE("GET", "/feed.atom", page_atom, "news of all boards, as Atom")                                              \
    ROUTE("GET", "/boards/{task}/feed.atom", page_atom_task, "news of a task, as Atom")                                \
    ROUTE("GET", "/boards/{task}/{board}.csv", page_csv, "a board as CSV")                                             \
    ROUTE("GET", "/style.css", asset_style, "the stylesheet")                                                          \
    ROUTE("GET", "/script.js", asset_script, "comfort: copy buttons, sorting without reloading")                       \
    ROUTE("GET", "/favicon.svg", asset_icon, "the sign")                                                               \
    ROUTE("GET", "/robots.txt", asset_robots, "what crawlers may read")

#define ROUTE(method, pattern, handler, what) int handler(const struct request *, struct answer *);
PAGE_ROUTES
#undef ROUTE

// The whole answer for a problem: status and page. `detail` may be NULL.
void page_problem(enum problem, const char *detail, struct answer *);
