/* SPDX-License-Identifier: Apache-2.0
 * One region of a terminal, whoever draws it. */
#include "src/cli/live.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines; /* above the cursor; lock */
static bool drawn; /* lock */

bool pfi_cli_live_can(void)
{
    const char *const term = getenv("TERM");

    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

int pfi_cli_live_columns(void)
{
    struct winsize size = {0};

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
        return 80;
    return size.ws_col;
}

/* Copies the line at `text` without its end, no wider than `columns`: escapes
 * take no room, and a character of UTF-8 takes that of one. */
static const char *put_line(FILE *out, const char *text, int columns)
{
    bool escape = false;
    int width = 0;

    for (; *text && *text != '\n'; text++) {
        escape |= *text == '\033';
        width += !escape && (*text & 0xC0) != 0x80;
        if (escape || width < columns)
            (void)fputc(*text, out);
        escape &= *text != 'm';
    }
    return text;
}

static void erase(FILE *out)
{
    (void)fputc('\r', out);
    if (lines)
        (void)fprintf(out, "\033[%dA", lines);
    lines = 0;
}

void pfi_cli_live_draw(const char *text)
{
    const int columns = pfi_cli_live_columns();
    char *all = NULL;
    size_t size;
    FILE *const out = open_memstream(&all, &size);

    if (!out)
        return;
    (void)pthread_mutex_lock(&lock);
    erase(out);
    for (;;) {
        text = put_line(out, text, columns);
        (void)fputs("\033[K", out);
        if (!*text)
            break;
        (void)fputc('\n', out);
        text++;
        lines++;
    }
    (void)fputs("\033[J", out);
    drawn = true;
    if (!fclose(out))
        (void)fputs(all, stderr);
    (void)fflush(stderr);
    (void)pthread_mutex_unlock(&lock);
    free(all);
}

void pfi_cli_live_clear(void)
{
    (void)pthread_mutex_lock(&lock);
    if (drawn) {
        erase(stderr);
        (void)fputs("\033[J", stderr);
    }
    drawn = false;
    (void)pthread_mutex_unlock(&lock);
}

bool pfi_cli_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = NULL;

    for (int i = 0; i < 3 && (!value || !*value); i++)
        value = getenv(names[i]);
    value = value ? strchr(value, '.') : NULL;
    return value && (!strncasecmp(value, ".utf-8", 6) ||
                     !strncasecmp(value, ".utf8", 5));
}

int pfi_cli_gauge(FILE *out, double share, int cells)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int unit = pfi_cli_utf8() ? 1 : 8; /* eighths of a character */
    const double within = share > 1 ? 1 : share > 0 ? share : 0;
    int eighths = (int)(within * cells * 8 / unit + 0.5) * unit;

    if (eighths == 0 && within > 0)
        eighths = unit;
    for (int i = 0; i < eighths / 8; i++)
        (void)fputs(unit == 1 ? "█" : "#", out);
    (void)fputs(parts[eighths % 8], out);
    return cells - (eighths + 7) / 8;
}
