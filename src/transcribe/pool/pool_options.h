#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "device/list/device_list.h"
#include "transcribe/run.h"

namespace tutti {

/// Which devices a pool has, what their workers load, and how their windows are handed out.
struct PoolOptions {
  RunOptions run{};  // the model, and how recordings are usually transcribed: the workers' memory is planned for that
  std::vector<ChosenDevice> devices{};
  std::map<std::string, int> job_caps{};  // by device id; "": every device without one of its own
  std::string policy = "tutti";
  int jobs_at_once = 0;  // -t; 0: as many as keep the devices busy
  /// Each GPU computes a window before it gets work. One that cannot, in three starts, is left out for good.
  bool tests_devices = false;
  Seconds patience{600};  // without any device in service, then the pool ends

  /// The cap of that device; none: as its memory allows.
  std::optional<int> job_cap(const std::string& device) const {
    auto found = job_caps.find(device);
    if (found == job_caps.end()) found = job_caps.find("");
    return found == job_caps.end() ? std::nullopt : std::optional(found->second);
  }
};

}  // namespace tutti
