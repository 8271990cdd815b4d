/* SPDX-License-Identifier: Apache-2.0
 * The chunks of a PNG that hold text or a colour profile. */
#ifndef PFI_CODEC_PNG_TEXT_H
#define PFI_CODEC_PNG_TEXT_H

#include "src/codec/png_chunks.h"

/* Each takes a chunk's contents and refuses what Pillow's chunk_NAME()
 * refuses. */
pinfold_status pfi_png_text(struct pfi_png_info *info, const unsigned char *s,
                            size_t n, pinfold_error *err);
pinfold_status pfi_png_ztxt(struct pfi_png_info *info, const unsigned char *s,
                            size_t n, pinfold_error *err);
pinfold_status pfi_png_itxt(struct pfi_png_info *info, const unsigned char *s,
                            size_t n, pinfold_error *err);
pinfold_status pfi_png_iccp(struct pfi_png_info *info, const unsigned char *s,
                            size_t n, pinfold_error *err);

#endif
