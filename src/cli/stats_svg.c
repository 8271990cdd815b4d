/* SPDX-License-Identifier: Apache-2.0
 * Statistics as SVG: a panel for each group, and one of the channels' values. */
#include "src/cli/stats.h"

#include <math.h>
#include <string.h>

#include "src/cli/text.h"

/* The picture, and its panels in two columns. */
enum {
    WIDTH = 800,
    MARGIN = 24,
    GAP = 32,
    COLUMN = (WIDTH - 2 * MARGIN - GAP) / 2,
    TOP = 76,
    PANEL = 216,
    HEIGHT = TOP + 5 * PANEL,
    AXIS = 44,   /* left of a plot, for the numbers */
    TITLE = 30,  /* above it */
    PLOT = 132,  /* its height */
    BAR = 80,    /* most of a name's bar */
    NAMED = 14   /* most classes that are named below their bars */
};

/* Of Okabe and Ito, told apart by most eyes, and by their dashes. */
static const char *const colours[] = {"#d55e00", "#009e73", "#0072b2"};
static const char *const dashes[] = {"", " stroke-dasharray=\"8 3\"",
                                     " stroke-dasharray=\"2 2\""};

struct panel {
    FILE *out;
    int left, top, width; /* of the plot */
    double most, step;    /* of its numbers */
};

static void put_text(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': (void)fputs("&amp;", out); break;
        case '<': (void)fputs("&lt;", out); break;
        case '>': (void)fputs("&gt;", out); break;
        default: (void)fputc(*text, out);
        }
}

static double y_of(const struct panel *p, double number)
{
    return p->top + PLOT * (1 - (number < p->most ? number : p->most) / p->most);
}

/* The panel's title, lines across it and their numbers. */
static struct panel begin(FILE *out, int column, int row, int width, double most,
                          const char *title)
{
    struct panel p = {.out = out,
                      .left = MARGIN + column * (COLUMN + GAP) + AXIS,
                      .top = TOP + row * PANEL + TITLE,
                      .width = width - AXIS};
    const double raw = most > 4 ? most / 4 : 1;
    const double power = pow(10, floor(log10(raw)));

    p.step = power * (raw / power <= 1   ? 1
                      : raw / power <= 2 ? 2
                      : raw / power <= 5 ? 5
                                         : 10);
    p.most = p.step * ceil((most > 0 ? most : 1) / p.step);
    (void)fprintf(out, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n",
                  p.left - AXIS, p.top - 14, title);
    for (int i = 0; i * p.step <= p.most * 1.0001; i++) {
        char number[24];

        pfi_cli_short_number(number, i * p.step);
        (void)fprintf(out,
                      "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" "
                      "stroke=\"#e2e2e2\"/>\n<text x=\"%d\" y=\"%.1f\" "
                      "font-size=\"11\" text-anchor=\"end\">%s</text>\n",
                      p.left, y_of(&p, i * p.step), p.left + p.width,
                      y_of(&p, i * p.step), p.left - 6,
                      y_of(&p, i * p.step) + 4, number);
    }
    return p;
}

static void end(const struct panel *p)
{
    (void)fprintf(p->out, "<path d=\"M%d %d h%d\" stroke=\"#222\"/>\n", p->left,
                  p->top + PLOT, p->width);
}

static void put_label(const struct panel *p, double x, const char *text)
{
    (void)fprintf(p->out,
                  "<text x=\"%.1f\" y=\"%d\" font-size=\"11\" "
                  "text-anchor=\"middle\">",
                  x, p->top + PLOT + 16);
    put_text(p->out, text);
    (void)fputs("</text>\n", p->out);
}

/* Below a bar its name; between two of numbers, every second time, the number
 * that parts them. */
static void put_labels(const struct panel *p,
                       const struct pfi_cli_counts *counts)
{
    const double each = (double)p->width / (double)counts->n;
    char label[PFI_CLI_LABEL];

    for (int64_t i = 0; i < counts->n; i++) {
        const double x = p->left + ((double)i + 0.5) * each;

        if (counts->bars[i].name) {
            pfi_cli_count_label(label, counts, i);
            pfi_cli_shorten_name(label, (size_t)(each / 7) + 2);
            put_label(p, x, label);
        } else if (i % 2 == 1) {
            pfi_cli_short_number(label, counts->bars[i].from);
            put_label(p, x - each / 2, label);
        }
    }
}

static void draw_group(const struct pfi_cli_dataset_stats *s, FILE *out,
                       enum pfi_cli_group group, int column, int row)
{
    const struct pfi_cli_counts *const counts = &s->groups[group];
    const int width = group == PFI_CLI_CLASSES ? WIDTH - 2 * MARGIN : COLUMN;
    const bool names = counts->n && counts->bars[0].name;
    double most = 0;

    for (int64_t i = 0; i < counts->n; i++)
        most = (double)counts->bars[i].count > most
                   ? (double)counts->bars[i].count
                   : most;
    const struct panel p =
        begin(out, column, row, width, most, pfi_cli_group_title(group));
    const double each = (double)p.width / (double)(counts->n ? counts->n : 1);
    const double gap = each < 4        ? 0
                       : !names        ? 1
                       : each > 2 * BAR ? each - BAR
                                       : each * 0.2;

    for (int64_t i = 0; i < counts->n; i++) {
        const double y = y_of(&p, (double)counts->bars[i].count);

        (void)fprintf(out,
                      "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
                      "height=\"%.1f\" fill=\"#0072b2\"/>\n",
                      p.left + (double)i * each + gap / 2, y, each - gap,
                      p.top + PLOT - y);
    }
    end(&p);
    if (group != PFI_CLI_CLASSES || counts->n <= NAMED)
        put_labels(&p, counts);
    else
        put_label(&p, p.left + p.width / 2.0, "classes, by label");
    if (group != PFI_CLI_FORMATS && group != PFI_CLI_MODES)
        (void)fprintf(out,
                      "<text x=\"%d\" y=\"%d\" font-size=\"11\" fill=\"#555\" "
                      "text-anchor=\"end\">min %.10g, median %.10g, mean "
                      "%.6g, max %.10g</text>\n",
                      p.left + p.width, p.top + PLOT + 34, counts->min,
                      counts->median, counts->mean, counts->max);
}

/* What is all black or all white may be much: it is cut. */
static double highest_value(const struct pfi_cli_dataset_stats *s)
{
    uint64_t most = 1;

    for (int c = 0; c < 3; c++)
        for (int v = 1; v < 255; v++)
            most = s->values.count[c][v] > most ? s->values.count[c][v] : most;
    return 100.0 * (double)most / (double)s->pixels;
}

static void draw_values(const struct pfi_cli_dataset_stats *s, FILE *out,
                        int row)
{
    static const char *const names[] = {"red", "green", "blue"};
    struct panel p;

    if (!s->pixels)
        return;
    p = begin(out, 0, row, WIDTH - 2 * MARGIN, highest_value(s),
              "values of the pixels that the recipe leaves, in per cent");
    for (int c = 0; c < 3; c++) {
        (void)fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"%s d=\"",
                      colours[c], dashes[c]);
        for (int v = 0; v < 256; v++)
            (void)fprintf(out, "%s%.1f %.1f", v ? " L" : "M",
                          p.left + v / 255.0 * p.width,
                          y_of(&p, 100.0 * (double)s->values.count[c][v] /
                                       (double)s->pixels));
        (void)fprintf(out,
                      "\"/>\n<path d=\"M%d %d h28\" stroke=\"%s\" "
                      "stroke-width=\"1.5\"%s/>\n<text x=\"%d\" y=\"%d\" "
                      "font-size=\"11\">%s: mean %.4f, std %.4f</text>\n",
                      p.left + 240 * c, p.top + PLOT + 30, colours[c],
                      dashes[c], p.left + 240 * c + 34, p.top + PLOT + 34,
                      names[c], s->mean[c], s->std[c]);
    }
    end(&p);
    for (int v = 0; v < 256; v += 51) {
        char number[24];

        pfi_cli_short_number(number, v);
        put_label(&p, p.left + v / 255.0 * p.width, number);
    }
}

void pfi_cli_stats_print_svg(const struct pfi_cli_dataset_stats *s, FILE *out)
{
    char root[PFI_CLI_LABEL];
    const int height = s->pixels ? HEIGHT : HEIGHT - PANEL;
    const long long samples = pinfold_dataset_size(s->dataset);
    const long long classes = s->groups[PFI_CLI_CLASSES].n;

    pfi_cli_label(root, pinfold_dataset_root(s->dataset));
    pfi_cli_shorten_name(root, 60);
    (void)fprintf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\" "
        "font-size=\"13\" fill=\"#222\">\n"
        "<title>pinfold stats</title>\n"
        "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n"
        "<text x=\"%d\" y=\"32\" font-size=\"17\" font-weight=\"bold\">",
        WIDTH, height, WIDTH, height, WIDTH, height, MARGIN);
    put_text(out, root);
    (void)fprintf(out,
                  "</text>\n<text x=\"%d\" y=\"52\" fill=\"#555\">%lld sample%s "
                  "in %lld class%s, %lld bad</text>\n",
                  MARGIN, samples, pfi_cli_plural(samples, "s"), classes,
                  pfi_cli_plural(classes, "es"), (long long)s->bad);
    draw_group(s, out, PFI_CLI_CLASSES, 0, 0);
    for (int g = PFI_CLI_FORMATS; g < PFI_CLI_GROUPS; g++)
        draw_group(s, out, (enum pfi_cli_group)g, (g - 1) % 2, 1 + (g - 1) / 2);
    draw_values(s, out, 4);
    (void)fputs("</svg>\n", out);
}
