/* SPDX-License-Identifier: Apache-2.0
 * The plot of tune: throughput against the number of workers, as SVG. */
#include "src/cli/tune.h"

#include <math.h>

/* The picture, the part of it between the axes, and what is left free there
 * beside the first and the last number. */
enum {
    WIDTH = 800,
    HEIGHT = 500,
    LEFT = 84,
    RIGHT = 24,
    TOP = 92,
    BOTTOM = 64,
    INSET = 16
};

/* Blue and vermilion of Okabe and Ito, told apart by most eyes; the second line
 * is dashed and has squares, for print without colours. */
static const char *const colours[] = {"#0072b2", "#d55e00"};

struct plot {
    const struct pfi_tune *t;
    const struct pfi_search *s;
    FILE *out;
    double x_most, x_step, y_most, y_step;
};

static double x_of(const struct plot *p, double number)
{
    return LEFT + INSET +
           number / p->x_most * (WIDTH - LEFT - RIGHT - 2 * INSET);
}

static double y_of(const struct plot *p, double rate)
{
    return HEIGHT - BOTTOM - rate / p->y_most * (HEIGHT - TOP - BOTTOM);
}

/* 1, 2, 2.5 or 5 times a power of ten, so that about `n` make `most`. */
static double nice_step(double most, double n)
{
    const double raw = most / n, power = pow(10, floor(log10(raw)));
    const double lead = raw / power;

    return power * (lead <= 1     ? 1
                    : lead <= 2   ? 2
                    : lead <= 2.5 ? 2.5
                    : lead <= 5   ? 5
                                  : 10);
}

/* Counts of workers are read in powers of two. */
static double workers_step(double most)
{
    double step = 1;

    while (most / step > 16)
        step *= 2;
    return step;
}

static void scale(struct plot *p)
{
    double most = 0;

    for (int i = 0; i < p->s->n_points; i++) {
        double spread;
        const double top = pfi_search_median(p->s, i, &spread) + spread;

        most = top > most ? top : most;
    }
    p->x_most = p->t->highest > 0 ? p->t->highest : 1;
    p->x_step = workers_step(p->x_most);
    /* The label of the choice stands in the free part at the top. */
    most *= 1.12;
    p->y_step = nice_step(most > 0 ? most : 1, 6);
    p->y_most = p->y_step * ceil(most / p->y_step);
    p->y_most = p->y_most > 0 ? p->y_most : 1;
}

/* --------------------------------------------------------------- the frame --- */

static void draw_head(const struct plot *p)
{
    (void)fprintf(
        p->out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\" "
        "font-size=\"13\" fill=\"#222\">\n"
        "<title>pinfold tune: throughput against workers</title>\n"
        "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n"
        "<text x=\"%d\" y=\"28\" font-size=\"17\" font-weight=\"bold\">"
        "Throughput against number of workers</text>\n"
        "<text x=\"%d\" y=\"48\" fill=\"#555\">Medians; whiskers: 1.4826 "
        "&#215; median distance from the median. %d CPUs, %ld measurements."
        "</text>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, LEFT, p->t->cpus,
        p->s->measurements);
}

static void draw_axes(const struct plot *p)
{
    const int bottom = HEIGHT - BOTTOM;

    for (int i = 0; i * p->y_step <= p->y_most * 1.0001; i++) {
        const double y = y_of(p, i * p->y_step);

        (void)fprintf(p->out,
                      "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" "
                      "stroke=\"#e2e2e2\"/>\n<text x=\"%d\" y=\"%.1f\" "
                      "text-anchor=\"end\">%.6g</text>\n",
                      LEFT, y, WIDTH - RIGHT, y, LEFT - 9, y + 4.5,
                      i * p->y_step);
    }
    for (int i = 0; i * p->x_step <= p->x_most; i++) {
        const double x = x_of(p, i * p->x_step);

        (void)fprintf(p->out,
                      "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" "
                      "stroke=\"#222\"/>\n<text x=\"%.1f\" y=\"%d\" "
                      "text-anchor=\"middle\">%.0f</text>\n",
                      x, bottom, x, bottom + 6, x, bottom + 22, i * p->x_step);
    }
    (void)fprintf(p->out,
                  "<path d=\"M%d %d V%d H%d\" fill=\"none\" "
                  "stroke=\"#222\"/>\n"
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">workers "
                  "(threads%s)</text>\n"
                  "<text x=\"22\" y=\"%d\" text-anchor=\"middle\" "
                  "transform=\"rotate(-90 22 %d)\">throughput (%s)</text>\n",
                  LEFT, TOP, bottom, WIDTH - RIGHT, (LEFT + WIDTH - RIGHT) / 2,
                  HEIGHT - 18, p->t->dataset ? "; 0 = the calling one" : "",
                  (TOP + bottom) / 2, (TOP + bottom) / 2, p->t->unit);
}

/* ---------------------------------------------------------------- the data --- */

static void draw_mark(const struct plot *p, int setting, double x, double y)
{
    if (setting)
        (void)fprintf(p->out,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\" "
                      "fill=\"%s\"/>\n",
                      x - 4, y - 4, colours[1]);
    else
        (void)fprintf(p->out,
                      "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" "
                      "fill=\"%s\"/>\n",
                      x, y, colours[0]);
}

/* Two lines' whiskers at one number stand side by side. */
static double shifted(const struct plot *p, const struct pfi_search_point *q)
{
    const double shift = p->t->n_settings > 1 ? 2.5 : 0;

    return x_of(p, q->number) + (q->setting ? shift : -shift);
}

static void draw_line(const struct plot *p, int setting)
{
    bool begun = false;

    (void)fprintf(p->out,
                  "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s "
                  "d=\"",
                  colours[setting], setting ? " stroke-dasharray=\"7 4\"" : "");
    for (int i = 0; i < p->s->n_points; i++) {
        const struct pfi_search_point *const q = &p->s->points[i];

        if (!q->n_samples || q->setting != setting)
            continue;
        (void)fprintf(p->out, "%s%.1f %.1f", begun ? " L" : "M", shifted(p, q),
                      y_of(p, pfi_search_median(p->s, i, NULL)));
        begun = true;
    }
    (void)fputs(begun ? "\"/>\n" : "M0 0\"/>\n", p->out);
}

static void draw_points(const struct plot *p, int setting)
{
    for (int i = 0; i < p->s->n_points; i++) {
        const struct pfi_search_point *const q = &p->s->points[i];
        double spread;
        const double middle = pfi_search_median(p->s, i, &spread);
        const double x = shifted(p, q), high = y_of(p, middle + spread);
        const double low = y_of(p, spread > middle ? 0 : middle - spread);

        if (!q->n_samples || q->setting != setting)
            continue;
        (void)fprintf(p->out,
                      "<path d=\"M%.1f %.1f h8 M%.1f %.1f V%.1f M%.1f %.1f "
                      "h8\" stroke=\"%s\" fill=\"none\"/>\n",
                      x - 4, high, x, high, low, x - 4, low, colours[setting]);
        draw_mark(p, setting, x, y_of(p, middle));
    }
}

/* A ring around the point, and a line up to its label.  The label is drawn
 * twice: first its white border, since not every viewer knows paint-order. */
static void draw_choice(const struct plot *p)
{
    const struct pfi_search_point *const q = pfi_tune_marked(p->s);

    if (!q)
        return;
    const double x = shifted(p, q);
    const double y =
        y_of(p, pfi_search_median(p->s, (int)(q - p->s->points), NULL));
    const char *const anchor = x > WIDTH - RIGHT - 140 ? "end"
                               : x < LEFT + 140        ? "start"
                                                       : "middle";

    (void)fprintf(p->out,
                  "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\" fill=\"none\" "
                  "stroke=\"#222\" stroke-width=\"2\"/>\n"
                  "<path d=\"M%.1f %.1f V%d\" stroke=\"#222\" "
                  "stroke-dasharray=\"2 3\"/>\n",
                  x, y, x, y - 9, TOP + 22);
    for (int border = 1; border >= 0; border--)
        (void)fprintf(p->out,
                      "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\" "
                      "font-weight=\"bold\"%s>%s: %d workers, %s</text>\n",
                      x, TOP + 17, anchor,
                      border ? " stroke=\"#fff\" stroke-width=\"5\"" : "",
                      p->s->clear ? "chosen" : "fastest so far, not clear",
                      q->number, p->t->settings[q->setting].name);
}

/* Above the plot, where it can hide nothing. */
static void draw_legend(const struct plot *p)
{
    static const char *const which[] = {" (off)", " (on)"};
    const int y = TOP - 20;

    for (int s = 0; s < p->t->n_settings; s++) {
        const int x = LEFT + 220 * s;

        (void)fprintf(p->out,
                      "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" "
                      "stroke=\"%s\" stroke-width=\"2\"%s/>\n"
                      "<text x=\"%d\" y=\"%d\">%s%s%s</text>\n",
                      x, y, x + 36, y, colours[s],
                      s ? " stroke-dasharray=\"7 4\"" : "", x + 46, y + 4,
                      p->t->dataset ? "memory " : "", p->t->settings[s].name,
                      p->t->n_settings < 2 ? "" : which[s]);
        draw_mark(p, s, x + 18, y);
    }
}

void pfi_tune_print_svg(const struct pfi_tune *t, FILE *out)
{
    struct plot p = {.t = t, .s = &t->by_workers, .out = out};

    scale(&p);
    draw_head(&p);
    draw_axes(&p);
    for (int s = t->n_settings - 1; s >= 0; s--) {
        draw_line(&p, s);
        draw_points(&p, s);
    }
    draw_legend(&p);
    draw_choice(&p);
    (void)fputs("</svg>\n", out);
}
