/* SPDX-License-Identifier: Apache-2.0
 * A folder below /tmp to make trees in. */
#ifndef PFI_TESTS_TREE_H
#define PFI_TESTS_TREE_H

/* Ends the program where it cannot be made. */
void tree_open(char root[64]);
void tree_close(const char *root);

/* "root/path" (in a buffer of its own); the folders in it are made. */
const char *tree_path(const char *root, const char *path);

/* Writes a file. */
void tree_file(const char *root, const char *path, const char *text);

/* Sets the time of change of the root and all folders below to an hour ago. */
void tree_settle(const char *root);

#endif
