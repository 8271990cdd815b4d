/* SPDX-License-Identifier: Apache-2.0
 * Reads lists as Caffe's and MLPerf's val_map.txt. */
#include "datasets/list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/names.h"
#include "src/base/memory.h"

struct lines {
    const char *file;
    char *text, *next; /* NULL behind the last */
    int64_t number;    /* of the line that came last, from 1 */
};

static pinfold_status fail_errno(pinfold_error *err, int code, const char *file)
{
    char reason[128];

    if (code == ENOMEM)
        return pfi_fail_path(err, PINFOLD_E_MEMORY, 0, file,
                             "no memory for the list");
    if (strerror_r(code, reason, sizeof(reason)))
        (void)snprintf(reason, sizeof(reason), "errno %d", code);
    return pfi_fail_path(err, PINFOLD_E_IO, code, file, "cannot read the list: %s",
                         reason);
}

static pinfold_status fail_line(pinfold_error *err, const struct lines *lines,
                                const char *what)
{
    return pfi_fail_path(err, PINFOLD_E_ARGUMENT, 0, lines->file,
                         "line %lld: %s", (long long)lines->number, what);
}

/* Bytes of a list that are looked at before more are read. */
#define PIECE ((size_t)1 << 20)

/* The text of an open file with a NUL behind it, or NULL with errno set.  Ends
 * at the first piece with a NUL. */
static char *read_text(int fd, size_t *size)
{
    struct stat info;
    size_t used = 0;
    char *text;

    if (fstat(fd, &info))
        return NULL;
    errno = EINVAL;
    if (!S_ISREG(info.st_mode) || (uintmax_t)info.st_size >= SIZE_MAX)
        return NULL;
    errno = ENOMEM;
    text = pfi_malloc((size_t)info.st_size + 1);
    while (text && used < (size_t)info.st_size) {
        const size_t left = (size_t)info.st_size - used;
        const ssize_t n = read(fd, text + used, left < PIECE ? left : PIECE);

        if (n > 0) {
            used += (size_t)n;
            if (memchr(text + used - n, '\0', (size_t)n))
                break;
        } else if (n == 0 || errno != EINTR) {
            const int code = n ? errno : ESTALE; /* cut short meanwhile */

            pfi_free(text);
            errno = code;
            return NULL;
        }
    }
    if (text)
        text[used] = '\0';
    *size = used;
    return text;
}

static pinfold_status open_lines(struct lines *lines, const char *file,
                                 pinfold_error *err)
{
    int fd, code;
    size_t size = 0;

    *lines = (struct lines){.file = file};
    do
        fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return fail_errno(err, errno, file);
    lines->text = read_text(fd, &size);
    code = errno;
    close(fd);
    if (!lines->text)
        return fail_errno(err, code, file);
    lines->next = lines->text;
    if (strlen(lines->text) != size)
        return pfi_fail_path(err, PINFOLD_E_ARGUMENT, 0, file,
                             "not a text: a NUL in it");
    return PINFOLD_OK;
}

/* The next line that is not empty, without its end; NULL behind the last. */
static char *next_line(struct lines *lines)
{
    while (lines->next) {
        char *const line = lines->next;
        char *end = strchr(line, '\n');

        lines->next = end ? end + 1 : NULL;
        lines->number++;
        if (!end)
            end = line + strlen(line);
        while (end > line &&
               (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
            end--;
        *end = '\0';
        if (*line)
            return line;
    }
    return NULL;
}

/* ---------------------------------------------------------------- classes --- */

static int compare_names(const void *a, const void *b)
{
    return pfi_name_compare(*(const char *const *)a, *(const char *const *)b);
}

static pinfold_status refuse_twice(const struct pfi_strings *names,
                                   const char *file, pinfold_error *err)
{
    const size_t n = (size_t)names->count;
    const char **const sorted = pfi_calloc(n + 1, sizeof(*sorted));
    pinfold_status status = PINFOLD_OK;

    if (!sorted)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for the classes");
    for (size_t i = 0; i < n; i++)
        sorted[i] = pfi_strings_get(names, (int64_t)i);
    qsort(sorted, n, sizeof(*sorted), compare_names);
    for (size_t i = 1; !status && i < n; i++)
        if (!strcmp(sorted[i - 1], sorted[i])) {
            (void)pfi_fail_path(err, PINFOLD_E_ARGUMENT, 0, sorted[i],
                                "the class comes twice");
            pfi_error_add_path(err, file);
            status = PINFOLD_E_ARGUMENT;
        }
    pfi_free(sorted);
    return status;
}

pinfold_status pfi_list_classes(const char *file, struct pfi_strings *out,
                                pinfold_error *err)
{
    struct lines lines;
    pinfold_status status = open_lines(&lines, file, err);
    const char *line;

    while (!status && (line = next_line(&lines)) != NULL)
        if (!pfi_strings_add(out, "", line))
            status = pfi_fail(err, PINFOLD_E_MEMORY, 0,
                              "no memory for the classes");
    pfi_free(lines.text);
    if (!status && !out->count)
        return pfi_fail_path(err, PINFOLD_E_ARGUMENT, 0, file,
                             "no class in the list");
    return status ? status : refuse_twice(out, file, err);
}

/* ---------------------------------------------------------------- samples --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Cuts the label off the line's end; what is wrong, or NULL. */
static const char *cut_label(char *line, int64_t classes, int32_t *label)
{
    char *at = line + strlen(line), *end;
    long long value;

    while (at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (!*at || at == line || (!is_blank(at[-1]) && at[-1] != ','))
        return "no label behind a tab, a comma or a space";
    errno = 0;
    value = strtoll(at, &end, 10);
    if (errno || value >= classes)
        return "the label has no class";
    *label = (int32_t)value;
    end = at;
    while (end > line && is_blank(end[-1]))
        end--;
    /* Behind a tab the comma would be the name's own. */
    if (end > line && end[-1] == ',' && at[-1] != '\t')
        end--;
    while (end > line && is_blank(end[-1]))
        end--;
    *end = '\0';
    return end > line ? NULL : "no path";
}

static pinfold_status add_sample(struct lines *lines, char *line,
                                 int64_t classes, struct pfi_strings *out,
                                 int32_t **labels, size_t *room,
                                 pinfold_error *err)
{
    int32_t label = 0;
    const char *const wrong = cut_label(line, classes, &label);
    void *grown = *labels;
    bool good;

    if (wrong)
        return fail_line(err, lines, wrong);
    good = pfi_grow(&grown, room, (size_t)out->count + 1, sizeof(**labels));
    *labels = grown;
    if (!good || !pfi_strings_add(out, "", line))
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for the list");
    (*labels)[out->count - 1] = label;
    return PINFOLD_OK;
}

/* Names the first of the files that are missing, and how many there are. */
static pinfold_status find_files(const char *file, int root_fd,
                                 const struct pfi_strings *paths,
                                 pinfold_error *err)
{
    const char *first = NULL;
    int64_t missing = 0;
    char reason[128];
    struct stat info;
    int code = 0;

    for (int64_t i = 0; i < paths->count; i++) {
        const char *const path = pfi_strings_get(paths, i);

        if (!fstatat(root_fd, path, &info, 0))
            continue;
        if (!missing++) {
            code = errno;
            first = path;
        }
    }
    if (!missing)
        return PINFOLD_OK;
    if (strerror_r(code, reason, sizeof(reason)))
        (void)snprintf(reason, sizeof(reason), "errno %d", code);
    (void)pfi_fail_path(err, PINFOLD_E_IO, code, first,
                        "%s, as are %lld of %lld files in all",
                        code == ENOENT ? "missing" : reason,
                        (long long)missing, (long long)paths->count);
    pfi_error_add_path(err, file);
    return PINFOLD_E_IO;
}

pinfold_status pfi_list_samples(const char *file, int root_fd, int64_t classes,
                                struct pfi_strings *out, int32_t **labels,
                                pinfold_error *err)
{
    struct lines lines;
    pinfold_status status = open_lines(&lines, file, err);
    size_t room = 0;
    char *line;

    while (!status && (line = next_line(&lines)) != NULL)
        status = add_sample(&lines, line, classes, out, labels, &room, err);
    pfi_free(lines.text);
    if (!status && !out->count)
        return pfi_fail_path(err, PINFOLD_E_ARGUMENT, 0, file,
                             "no sample in the list");
    return status ? status : find_files(file, root_fd, out, err);
}
