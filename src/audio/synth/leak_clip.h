#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audio/augment/augmentation.h"
#include "audio/synth/radio_path.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// Field note 003's labels, as its folders are called.
enum class LeakLabel { background, crack, leak, normal, unclassified };
inline constexpr std::array<const char*, 5> kLeakLabels{"BACKGROUND", "CRACK", "LEAK", "NORMAL", "UNCLASSIFIED"};

/// What the note's hydrophones record.
inline constexpr Hertz kLeakRate{4096};

/// A corpus of hydrophone clips on water pipes; clip `i` of it is always the same. Labels come in turn. Length, level,
/// gain, sensor and names are drawn without regard to the label.
struct LeakCorpus {
  std::uint64_t seed = 0;
  std::optional<Condition> condition{};  ///< none: all five, evenly
  std::optional<Between> snr_db{};       ///< level of the labelled sound over all others, whatever the condition
  std::int32_t sensors = 12;             ///< each on a pipe with resonances, reach and noise of its own
  double out_of_water_share = 0.02;      ///< share of clips recorded in the air, with a gain of 1 dB
};

/// One clip with everything that is known of it.
struct LeakClip {
  LeakLabel label = LeakLabel::background;
  std::string sensor{};     ///< "S004"
  std::string recording{};  ///< "R5f0c91aa"
  std::string timestamp{};  ///< "20250314T101502"
  int gain_db = 0;          ///< gain of the amplifier, 20 to 120; 1: the hydrophone was not in water
  Condition condition = Condition::clean;
  double snr_db = 0;
  double distance_m = 0;            ///< from its source to the hydrophone along the pipe
  std::string source{};             ///< leak, crack, flow, pump, tap, traffic, speech, knocks, hum; air: out of water
  std::string disturbance{};        ///< another of these; empty: noise alone
  std::vector<std::int16_t> pcm{};  ///< at kLeakRate, mono

  /// sensor~recording~timestamp~gain, the note's form of a name.
  std::string name() const;
};

/// An error that names the invalid part.
Result<void> check(const LeakCorpus& corpus);

/// Depends on the corpus and `index` alone, so any thread can make any clip. `corpus` has passed check().
LeakClip leak_clip(const LeakCorpus& corpus, std::int64_t index);

}  // namespace tutti
