#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audio/augment/augmentation.h"
#include "audio/synth/morse_code.h"
#include "audio/synth/radio_path.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// A corpus of Morse clips; clip `i` of it is always the same.
struct MorseCorpus {
  std::uint64_t seed = 0;
  std::optional<Condition> condition{};  ///< none: all five, evenly
  double noise_share = 0.05;             ///< clips without a transmission
  double carrier_share = 0;              ///< share of those that have a steady carrier, all along or a part of it
  double wait_share = 0;                 ///< share of the others with 0.5 to 8 s of the band before, behind or both
  double plain_share = 0.15;             ///< share of the others with words and groups instead of contests
  Between wpm{12, 45};
  Between tone_hz{300, 1100};
  std::optional<Between> noise_db{};  ///< tone over noise, whatever the condition; none: as the condition has it
  double receiver_share = 0;          ///< clips received through a receiver drawn at random, see Receiver
  double contact_share = 0;           ///< share of the others with a turn of a contact, see contact_text
  double hand_share = 0;              ///< clips keyed with a straight key or a bug, see drawn_hand
  double air_share = 0;               ///< clips disturbed as off_air_path has it, whatever the condition
  Seconds longest{28};                ///< what does not fit is left out by whole words, of audio and text alike
};

/// One clip with everything that is known of it.
struct MorseClip {
  std::string text{};  ///< exactly what is keyed; empty in noise
  std::string contest{};
  std::string kind{};  ///< "noise_only" in noise, "noise_carrier" where that has one
  int wpm = 0;         ///< 0 in noise
  double tone_hz = 0;
  Condition condition = Condition::clean;
  RadioPath path{};
  std::vector<KeyedWord> words{};   ///< in seconds from the clip's start
  std::vector<std::int16_t> pcm{};  ///< 16 kHz, mono

  Seconds length() const { return length_of(static_cast<std::int64_t>(pcm.size()), kModelRate); }
};

/// An error that names the invalid part.
Result<void> check(const MorseCorpus& corpus);

/// Depends on the corpus and `index` alone, so any thread can make any clip. `corpus` has passed check().
MorseClip morse_clip(const MorseCorpus& corpus, std::int64_t index);

}  // namespace tutti
