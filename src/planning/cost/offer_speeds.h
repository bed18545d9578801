#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "planning/cost/offers.h"
#include "transcribe/bench.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// A device whose speed with the model is known.
struct KnownDevice {
  PlanTarget target{};
  std::string from{};                   ///< as Offer::speed_from
  std::optional<double> word_errors{};  ///< as Offer
};

/// Speeds that were typed: "T4=14.3,cpu=1.1", times real time, by the name of a price or of its instance.
using TypedSpeeds = std::vector<std::pair<std::string, double>>;

/// Fault::usage names the part that is not valid.
Result<TypedSpeeds> parse_speeds(std::string_view text);

/// The devices that earlier batches have measured with that model.
std::vector<KnownDevice> devices_of_batches(const DevicePast& past, const SpeedQuestion& question);

/// What is measured on this machine now: all devices transcribe the same recordings, each in its usual way.
struct MeasureRequest {
  std::filesystem::path model{};
  std::string compute_type{};
  std::vector<std::string> devices{};          ///< as --device names them
  std::vector<std::filesystem::path> files{};  ///< the first kMeasured of each
};
inline constexpr Seconds kMeasured{300};

/// Takes as long as the recordings take each device; blocks. Words are compared with those of the first device that
/// ran. A device that cannot run is named in a warning; Fault::device where none can.
Result<std::vector<KnownDevice>> measure_devices(const MeasureRequest& request, StopSignal& stop);

/// Every price with its device's speed: a typed one, else that of the known device that its name fits best, later ones
/// first. `purchase`: only of this kind; empty: of all. A price for all devices is one for each known device without
/// its own. Fault::usage names a typed speed that is of no price, and where there is no offer.
Result<std::vector<Offer>> offers_of(const PriceList& prices, const std::string& purchase,
                                     std::span<const KnownDevice> known, const TypedSpeeds& typed);

}  // namespace tutti
