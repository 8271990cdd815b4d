/* SPDX-License-Identifier: Apache-2.0
 * Shows a decoder's picture mirrored or turned, as an EXIF orientation says. */
#ifndef PFI_CODEC_TURN_H
#define PFI_CODEC_TURN_H

#include "src/codec/codec.h"

/* After the codec's open: where decoder->orientation is 2 to 8, sets
 * decoder->turned, and width and height to those of the turned picture. */
pinfold_status pfi_turn_open(struct pfi_decoder *decoder, pinfold_error *err);

/* In place of the codec's own, where decoder->turned is set.  The start decodes
 * the whole window, unless rows stay rows. */
pinfold_status pfi_turn_start(struct pfi_decoder *decoder, pinfold_error *err);
pinfold_status pfi_turn_row(struct pfi_decoder *decoder, unsigned char *rgb,
                            pinfold_error *err);
pinfold_status pfi_turn_finish(struct pfi_decoder *decoder, pinfold_error *err);

/* pfi_decoder_foresee() of a turned picture. */
void pfi_turn_foresee(struct pfi_decoder *decoder,
                      const struct pfi_window *window,
                      struct pfi_foreseen *out);

#endif
