#include "feed/packed/gather_row.h"

#include "feed/cache/unpack.h"

namespace tutti {

void gather_row(const PackedSet& set, const PackEntry& entry, const SpectrumMasks& masks, float* out,
                std::int64_t frames) {
  unpack(set.mel(entry).data(), entry.frames, entry.silence, set.n_mels(), out, frames);
  mask_spectrum(out, set.n_mels(), frames, entry.real, masks);
}

}  // namespace tutti
