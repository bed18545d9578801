#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/numbers.h"
#include "feed/feature_cache.h"

namespace tutti {

// A set of a voice as it is on disk: the head, a record a clip, the index, the format as JSON, the text front end. A
// record holds a clip's symbols (int32), spectrogram, pitch and energy (float32), name and text, one behind the other.
// As this machine writes numbers: a file that another kind of machine wrote has another magic number.

inline constexpr std::uint64_t kVoiceMagic = 0x3130656369767574;  // "tuvice01"; other contents, another number
inline constexpr std::string_view kVoiceMark = "tuvice";          ///< what such files begin with, in every version

/// The name of a set's file in its folder, and of one that is not whole yet.
inline constexpr const char* kVoiceSetFile = "voice.set";
inline constexpr const char* kHalfVoiceSetFile = "voice.set.half";

/// Records, the index and what follows begin at multiples of it.
inline constexpr std::int64_t kVoiceAlignment = 64;

enum class VoicePart : std::int32_t { training = 0, validation = 1 };

struct VoiceHead {
  std::uint64_t magic = kVoiceMagic;
  std::int64_t clips = 0;
  std::int64_t index_at = 0;   ///< in bytes, as all that follows
  std::int64_t format_at = 0;  ///< JSON
  std::int64_t format_size = 0;
  std::int64_t front_end_at = 0;
  std::int64_t front_end_size = 0;
  std::uint64_t index_check = 0;  ///< checksum of the index, the format and the front end
  std::uint64_t head_check = 0;   ///< checksum of the head without it
};

struct VoiceEntry {
  std::int64_t at = 0;      ///< offset of its record
  std::uint64_t check = 0;  ///< checksum of its record
  std::int32_t symbols = 0;
  std::int32_t frames = 0;
  std::int32_t speaker = 0;
  VoicePart part = VoicePart::training;
  std::int32_t name_size = 0;  ///< in bytes
  std::int32_t text_size = 0;
};

static_assert(std::is_trivially_copyable_v<VoiceHead> && sizeof(VoiceHead) == 72);
static_assert(std::is_trivially_copyable_v<VoiceEntry> && sizeof(VoiceEntry) == 40);

/// Erases the elements at some indices, which are in ascending order.
template <class T>
void erase_at(std::vector<T>& elements, std::span<const std::size_t> indices) {
  for (std::size_t i = indices.size(); i-- > 0;)
    elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(indices[i]));
}

/// Bytes of a clip's record.
inline std::int64_t record_size(const VoiceEntry& entry, std::int64_t n_mels) {
  constexpr std::int64_t kNumber = 4;
  return kNumber * (entry.symbols + entry.frames * (n_mels + 2)) + entry.name_size + entry.text_size;
}

}  // namespace tutti
