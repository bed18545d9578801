#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/device_use.h"
#include "advise/recording.h"

namespace tutti {

/// An epoch as the warning about a device with little to do sees it.
struct EpochUse {
  DeviceUse use{};
  std::string device{};  ///< "cuda:0"
  double batch = 0;      ///< samples in a batch
};

/// Field note 003's warning: its first line, then the one cause there is (feed, launch or batch), the value of now, and
/// what is predicted to be gained. None where the device was busy for kLowUse of the time or more. `found`: the
/// diagnosis of `recording`, the epoch's; none where its replay does not explain the epoch. Pure.
std::vector<std::string> low_use_warning(const EpochUse& epoch, const RunRecording& recording,
                                         const std::optional<Diagnosis>& found);

}  // namespace tutti
