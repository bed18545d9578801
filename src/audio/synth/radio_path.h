#pragma once

#include <optional>
#include <string_view>

#include "audio/augment/augmentation.h"
#include "base/random/counter_random.h"

namespace tutti {

/// How bad the band is. The ratios and disturbances are field note 004's.
enum class Condition { clean, good, moderate, poor, dx };

inline constexpr int kConditions = 5;
std::string_view name_of(Condition condition);
/// None for a name that is no condition.
std::optional<Condition> condition_named(std::string_view name);

/// A receiver that is not set up for the signal: its band ends anywhere, and it may be driven too far.
struct Receiver {
  double low_hz = 300;  ///< 0: nothing is cut off below
  double high_hz = 3000;
  int slopes = 1;    ///< filters of 12 dB an octave each, at either end
  double drive = 1;  ///< factor after all filters; what then passes full scale is cut off there
};

/// Its band holds the tone, begins at 0 or 50 to 500 Hz and ends at 1000 to 3800 Hz, 12 to 36 dB an octave; two of
/// three are driven, by a factor of up to 6.
Receiver drawn_receiver(double tone_hz, CounterRandom& random);

/// What happens to a signal on its way, drawn for one clip. Everything disturbs the band; only the signal fades.
struct RadioPath {
  double noise_db = 30;   ///< power of the keyed tone over that of the noise from 300 to 3000 Hz
  double jitter = 0.02;   ///< timing jitter of the sender's hand, see Hand
  double drift_hz = 0;    ///< drift of the tone over the whole clip
  double fade_depth = 0;  ///< 0 to 1: the part of the amplitude that slow fading takes at most
  double fade_hz = 0;
  double notch_depth = 0;  ///< selective fading: a second path as strong as this, its phase turning
  double notch_hz = 0;
  double echo_seconds = 0;  ///< multipath: a late copy of each mark; 0: none
  double echo_gain = 0;
  int others = 0;                              ///< QRM: other stations keying in the band
  double others_db = -6;                       ///< level of each over the signal, at most
  double crashes_hz = 0;                       ///< static crashes a second
  double filter_hz = 0;                        ///< width of the receiver's filter about the tone; 0: 300 to 3000 Hz
  bool has_agc = false;                        ///< automatic gain
  double agc_attack = 0.010, agc_decay = 0.5;  ///< seconds
  std::optional<Receiver> receiver{};          ///< in place of the filter
  int filters = 1;                             ///< of that width in a row: steeper, and they ring
  double chirp_hz = 0;   ///< the tone is off by so much where a mark begins, and right 50 ms later
  double clicks_hz = 0;  ///< impulses a second, as of a fence or of another's hard keying
  Between beside_hz{};   ///< how far other stations are beside the tone; none: anywhere from 120 on
  double loudness = 0;   ///< to which the loudest sample is brought; 0: as it comes
};

/// What recordings off the air were found to have: noise that is as strong as the tone or stronger, fading of 0.1 to 5
/// Hz and up to 20 dB, softer stations as near as 40 Hz, one to four filters of 250 to 2400 Hz, gain that pumps,
/// crashes and clicks, drift and chirp. Each of these has some clips only.
RadioPath off_air_path(CounterRandom& random);

/// A path of this condition, itself a little different each time.
RadioPath radio_path_of(Condition condition, CounterRandom& random);

}  // namespace tutti
