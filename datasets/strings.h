/* SPDX-License-Identifier: Apache-2.0
 * Many strings in one piece of memory. */
#ifndef PFI_DATASETS_STRINGS_H
#define PFI_DATASETS_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strings one behind the other; string i begins at bytes + at[i]. */
struct pfi_strings {
    char *bytes;
    size_t used, room;
    size_t *at;
    int64_t count, at_room;
    bool borrowed; /* bytes and at are another's; nothing may be added */
};

/* "folder/name" (or "name" where folder is ""); false when out of memory. */
bool pfi_strings_add(struct pfi_strings *strings, const char *folder,
                     const char *name);
static inline const char *pfi_strings_get(const struct pfi_strings *strings,
                                          int64_t i)
{
    return strings->bytes + strings->at[i];
}
/* Adds all strings of another; false when out of memory. */
bool pfi_strings_append(struct pfi_strings *strings,
                        const struct pfi_strings *more);
/* Gives back memory that no string uses. */
void pfi_strings_trim(struct pfi_strings *strings);
void pfi_strings_end(struct pfi_strings *strings);

/* Grows *ptr to `wanted` items, at least twice what it had; *room counts
 * items.  False when out of memory, with *ptr as it was. */
bool pfi_grow(void **ptr, size_t *room, size_t wanted, size_t item);

#endif
