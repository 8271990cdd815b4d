/* SPDX-License-Identifier: Apache-2.0
 * Strings that are only ever added. */
#include "datasets/strings.h"

#include <string.h>

#include "src/base/memory.h"

bool pfi_grow(void **ptr, size_t *room, size_t wanted, size_t item)
{
    size_t more = *room ? *room : 64, bytes;
    void *grown;

    if (wanted <= *room)
        return true;
    while (more < wanted)
        if (!pfi_mul(more, 2, &more))
            return false;
    if (!pfi_mul(more, item, &bytes))
        return false;
    grown = pfi_realloc(*ptr, bytes);
    if (!grown)
        return false;
    *ptr = grown;
    *room = more;
    return true;
}

/* Makes room for `count` strings with `more` bytes in all. */
static bool make_room(struct pfi_strings *s, size_t more, int64_t count)
{
    size_t at_room = (size_t)s->at_room;
    void *bytes = s->bytes, *at = s->at;
    bool good;

    good = pfi_grow(&bytes, &s->room, s->used + more, 1);
    s->bytes = bytes;
    if (!good)
        return false;
    good = pfi_grow(&at, &at_room, (size_t)(s->count + count), sizeof(*s->at));
    s->at = at;
    s->at_room = (int64_t)at_room;
    return good;
}

bool pfi_strings_add(struct pfi_strings *s, const char *folder,
                     const char *name)
{
    const size_t a = strlen(folder), b = strlen(name);

    if (!make_room(s, a + b + 2, 1))
        return false;
    s->at[s->count++] = s->used;
    memcpy(s->bytes + s->used, folder, a);
    s->used += a;
    if (a)
        s->bytes[s->used++] = '/';
    memcpy(s->bytes + s->used, name, b + 1);
    s->used += b + 1;
    return true;
}

bool pfi_strings_append(struct pfi_strings *s, const struct pfi_strings *more)
{
    if (!more->count)
        return true;
    if (!make_room(s, more->used, more->count))
        return false;
    memcpy(s->bytes + s->used, more->bytes, more->used);
    for (int64_t i = 0; i < more->count; i++)
        s->at[s->count++] = s->used + more->at[i];
    s->used += more->used;
    return true;
}

void pfi_strings_end(struct pfi_strings *s)
{
    if (!s->borrowed) {
        pfi_free(s->bytes);
        pfi_free(s->at);
    }
    *s = (struct pfi_strings){0};
}

void pfi_strings_trim(struct pfi_strings *s)
{
    void *bytes, *at;

    if (s->borrowed || !s->count)
        return;
    bytes = pfi_realloc(s->bytes, s->used);
    if (bytes) {
        s->bytes = bytes;
        s->room = s->used;
    }
    at = pfi_realloc(s->at, (size_t)s->count * sizeof(*s->at));
    if (at) {
        s->at = at;
        s->at_room = s->count;
    }
}
