// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/decode/attention_map.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/draw/html.h"

#include <stdlib.h>

enum { SQUARE = 22, LETTER = 9, GAP = 6, LETTERS_MOST = 24 };

static char **names_of(const struct attention_map *m, const int32_t *id, int64_t count)
{
    char **name = zalloc((size_t)(count + 1) * sizeof *name);
    for (int64_t i = 0; i < count; i++) {
        struct text text = {0};
        text_bytes(&text, "", 0);
        m->name(m->context, id[i], &text);
        name[i] = text.at;
    }
    return name;
}

static void free_names(char **name, int64_t count)
{
    for (int64_t i = 0; i < count; i++) free(name[i]);
    free(name);
}

// The width of the longest symbol, as wide as a letter may be.
static int name_width(char *const *name, int64_t count)
{
    int64_t most = 1;
    for (int64_t i = 0; i < count; i++) {
        int64_t letters = 0;
        for (const char *c = name[i]; *c; c++) letters += (*c & 0xc0) != 0x80;
        most = letters > most ? letters : most;
    }
    return (int)(most < LETTERS_MOST ? most : LETTERS_MOST) * LETTER;
}

void attention_map_draw(const struct attention_map *m, struct text *svg)
{
    char **row = names_of(m, m->row, m->rows), **column = names_of(m, m->column, m->columns);
    int left = name_width(row, m->rows) + 2 * GAP, top = name_width(column, m->columns) + 2 * GAP;
    int width = left + (int)m->columns * SQUARE + GAP, height = top + (int)m->rows * SQUARE + GAP;
    html_add(svg,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
             "aria-label=\"How much attention each symbol of the translation paid to each symbol of the source\">\n"
             "<style>svg{font:13px sans-serif;background:#fff;fill:#333}.s{fill:#06c}.e{fill:none;stroke:#ddd}</style>\n",
             width, height, width, height);
    for (int64_t c = 0; c < m->columns; c++) {
        int x = left + (int)c * SQUARE + SQUARE / 2 + 4, y = top - GAP;
        html_add(svg, "<text transform=\"translate(%d %d) rotate(-90)\">%s</text>\n", x, y, column[c]);
    }
    for (int64_t r = 0; r < m->rows; r++) {
        int y = top + (int)r * SQUARE;
        html_add(svg, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left - GAP, y + SQUARE / 2 + 4, row[r]);
        for (int64_t c = 0; c < m->columns; c++) {
            double share = (double)m->share[r * m->stride + c];
            html_add(svg, "<rect class=\"s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill-opacity=\"%.3f\">"
                     "<title>%s, %s: %.1f%%</title></rect>\n",
                     left + (int)c * SQUARE, y, SQUARE, SQUARE, share, row[r], column[c], 100 * share);
        }
    }
    html_add(svg, "<rect class=\"e\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n</svg>\n", left, top,
             (int)m->columns * SQUARE, (int)m->rows * SQUARE);
    free_names(row, m->rows);
    free_names(column, m->columns);
}
