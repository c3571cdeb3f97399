// SPDX-License-Identifier: Apache-2.0
// Questions about the people of invented villages, for tests and trials. They have the form of SQuAD, need no download, and
// use few enough words to be learned in seconds.
//
// An article is a village, a paragraph one of its people: five of eight facts in any order, in sentences of two forms, with
// other sentences in between. Half of the paragraphs also mention a fact or two of a neighbour, so a reader has to find the
// person, not only a word of the right kind. A question asks for one fact, and the context contains its answer. Some names
// and towns have accents and two words, so that bytes and characters differ. Everything depends on split and paragraph alone
// (rng.h). Cost: a few milliseconds for all of it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/kind.h"
#include "data/read/draws.h"
#include "data/read/squad/squad_parse.h"
#include "runtime/common/base/text.h"

// Part of every digest. Raise the version with every change of a text.
enum { VERSION = 1, SEED = 20160616 };
enum { FACTS = 8, TOLD = 5, VALUES = 12, PEOPLE = 24, PARAGRAPHS = 3 /* of an article */ };
static const int64_t articles_of[SPLIT_COUNT] = {200, 40};
enum { LONGEST_CONTEXT = 640, LONGEST_QUESTION = 96 };  // bytes, at most

static const char *const people[PEOPLE] = {
    "Anna", "Zoë",  "José", "Mary Ann", "Peter", "Olga", "Björn", "Ruth", "Hugo", "Inés", "Karl", "Lucy",
    "Émile", "Tom", "Vera", "Walter", "Nora", "Otto", "Clara", "Felix", "Renée", "Simon", "Ida", "Max"};

// %1$s: the name, %2$s: the value.
static const struct fact {
    const char *sentence[2], *question[2];
    const char *value[VALUES];
} facts[FACTS] = {
    {{"%1$s was born in %2$s.", "%1$s comes from %2$s."},
     {"Where was %1$s born?", "Which town does %1$s come from?"},
     {"Lisbon", "Oslo", "Málaga", "São Paulo", "Kraków", "Cork", "Turin", "Graz", "Bergen", "New Haven", "Porto", "Basel"}},
    {{"%1$s works as a %2$s.", "For many years %1$s was the %2$s of the village."},
     {"What is %1$s's work?", "What does %1$s do for a living?"},
     {"baker", "pilot", "teacher", "carpenter", "night nurse", "gardener", "judge", "tailor", "miller", "bus driver", "painter",
      "smith"}},
    {{"In %2$s %1$s moved to the coast.", "%1$s left for the coast in %2$s."},
     {"When did %1$s move to the coast?", "In which year did %1$s leave for the coast?"},
     {"1903", "1911", "1926", "1934", "1948", "1952", "1967", "1970", "1985", "1989", "1994", "2008"}},
    {{"At home %1$s keeps a %2$s.", "A %2$s follows %1$s everywhere."},
     {"Which animal does %1$s keep?", "What follows %1$s everywhere?"},
     {"grey parrot", "dog", "tortoise", "goat", "hedgehog", "black cat", "pony", "raven", "goose", "lizard", "rabbit", "donkey"}},
    {{"Every evening %1$s plays the %2$s.", "%1$s bought a %2$s last winter."},
     {"Which instrument does %1$s play?", "What does %1$s play every evening?"},
     {"violin", "trumpet", "flute", "cello", "drum", "bagpipe", "harp", "double bass", "guitar", "horn", "piano", "banjo"}},
    {{"%1$s likes %2$s best of all.", "For dinner %1$s asks for %2$s."},
     {"What does %1$s like best?", "Which food does %1$s ask for?"},
     {"fried fish", "soup", "apple pie", "cheese", "noodles", "plums", "rye bread", "honey", "beans", "crème brûlée", "rice",
      "pears"}},
    {{"%1$s has %2$s cousins.", "There are %2$s cousins in the family of %1$s."},
     {"How many cousins does %1$s have?", "How many cousins are in the family of %1$s?"},
     {"three", "four", "five", "six", "seven", "nine", "eleven", "12", "15", "18", "21", "30"}},
    {{"The door of %1$s's house is %2$s.", "%1$s painted the door %2$s."},
     {"What colour is the door of %1$s's house?", "Which colour has %1$s's door?"},
     {"red", "dark green", "blue", "yellow", "white", "orange", "pink", "light grey", "brown", "purple", "silver", "golden"}},
};
enum { FILLERS = 6 };
static const char *const fillers[FILLERS] = {"It rained all day.",        "The bus comes at 7:30.",
                                             "Nobody knows why.",         "The bridge is old, but it holds.",
                                             "Winters are long up here.", "People don't talk about it."};

// ---- draws

static void shuffle(struct draws *s, int *order, int n)
{
    for (int i = 0; i < n; i++) {
        int j = draws_below(s, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

// ---- a paragraph

struct mention {
    int fact, value;
    int64_t start;  // position of the value in the context
};

struct story {
    struct draws stream;
    struct text context;
    int person, neighbour;
    struct mention mention[TOLD];
};

// Appends the sentence and returns the position of its value. No other part of a sentence holds a value.
static int64_t tell_fact(struct story *story, int person, int fact, int value)
{
    const char *sentence = facts[fact].sentence[draws_below(&story->stream, 2)], *what = facts[fact].value[value];
    char line[256], before[256];
    snprintf(line, sizeof line, sentence, people[person], what);
    snprintf(before, sizeof before, sentence, people[person], "\1");
    int64_t start = (int64_t)story->context.length + (int64_t)strcspn(before, "\1");
    text_add(&story->context, "%s ", line);
    return start;
}

static void tell_filler(struct story *story)
{
    if (draws_below(&story->stream, 3) == 0) text_add(&story->context, "%s ", fillers[draws_below(&story->stream, FILLERS)]);
}

static void tell_paragraph(struct story *story)
{
    struct draws *s = &story->stream;
    int order[FACTS], other[FACTS];
    story->person = draws_below(s, PEOPLE);
    story->neighbour = (story->person + 1 + draws_below(s, PEOPLE - 1)) % PEOPLE;
    shuffle(s, order, FACTS);
    shuffle(s, other, FACTS);
    int aside = draws_below(s, 2) * (1 + draws_below(s, 2));  // number of facts about the neighbour
    for (int i = 0; i < TOLD; i++) {
        int value = draws_below(s, VALUES);
        story->mention[i] = (struct mention){order[i], value, tell_fact(story, story->person, order[i], value)};
        tell_filler(story);
        if (aside <= 0 || draws_below(s, 2) == 0) continue;
        aside--;
        tell_fact(story, story->neighbour, other[aside], draws_below(s, VALUES));
    }
    story->context.at[--story->context.length] = '\0';  // removes the blank at the end
}

// ---- the data set

struct maker {
    struct arena *arena;
    struct squad *squad;
    enum split split;
    struct squad_article *article;
    const char **context;
    struct squad_question *question;
    struct squad_answer *answer;
};

static void add_question(struct maker *m, struct story *story, const struct mention *mention)
{
    struct squad *squad = m->squad;
    const struct fact *fact = &facts[mention->fact];
    struct squad_question *q = &m->question[squad->questions++];
    struct squad_answer *answer = &m->answer[squad->answers++];
    *answer = (struct squad_answer){fact->value[mention->value], mention->start};
    q->id = arena_text(m->arena, "story-%s-%05lld", split_name(m->split), (long long)squad->questions);
    q->text = arena_text(m->arena, fact->question[draws_below(&story->stream, 2)], people[story->person]);
    q->paragraph = squad->paragraphs - 1;
    q->answer = answer;
    q->answers = 1;
}

static void add_paragraph(struct maker *m)
{
    struct story story = {.stream = DRAWS(SEED, m->split, m->squad->paragraphs)};
    tell_paragraph(&story);
    m->context[m->squad->paragraphs++] = arena_text(m->arena, "%s", story.context.at);
    for (int i = 0; i < TOLD; i++) add_question(m, &story, &story.mention[i]);
    text_free(&story.context);
}

static void draw_split(struct arena *arena, enum split split, struct squad *squad)
{
    int64_t articles = articles_of[split], paragraphs = articles * PARAGRAPHS, questions = paragraphs * TOLD;
    struct maker m = {.arena = arena, .squad = squad, .split = split};
    squad->article = m.article = arena_alloc(arena, (size_t)articles * sizeof *m.article);
    squad->context = m.context = arena_alloc(arena, (size_t)paragraphs * sizeof *m.context);
    squad->question = m.question = arena_alloc(arena, (size_t)questions * sizeof *m.question);
    m.answer = arena_alloc(arena, (size_t)questions * sizeof *m.answer);
    for (; squad->articles < articles; squad->articles++) {
        const char *title = arena_text(arena, "Village_%lld", (long long)squad->articles + 1);
        m.article[squad->articles] = (struct squad_article){title, squad->paragraphs, PARAGRAPHS};
        for (int k = 0; k < PARAGRAPHS; k++) add_paragraph(&m);
    }
}

static void stories_published(struct dataset_facts *of)
{
    of->title = "generated stories";
    of->synthetic = true;
    for (int s = 0; s < SPLIT_COUNT; s++) of->count[s] = articles_of[s] * PARAGRAPHS * TOLD;
    squad_fields(of, LONGEST_CONTEXT, LONGEST_QUESTION);
}

static int stories_open(struct dataset *ds, const char *folder)
{
    (void)folder;
    struct squad_set *set = ds->own = zalloc(sizeof *set);
    stories_published(&ds->facts);
    kind_drawn(ds, VERSION, SEED);
    for (int s = 0; s < SPLIT_COUNT; s++) draw_split(&set->arena, s, &set->split[s]);
    squad_fill_facts(ds);
    return 0;
}

const struct kind stories_kind = {
    .name = "stories", .drawn = true, .published = stories_published, .open = stories_open, SQUAD_KIND};
