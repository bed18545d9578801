#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device/list/device_list.h"

namespace tutti {

/// One process of `tutti-engine` at our terminal.
struct EngineRun {
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};  // added to ours
  std::optional<int> core{};                                       // the one it may run on; none: all of ours
  std::string name = "tutti-engine";                               // for people, where it dies
};

/// The devices of `list` (as `tutti batch --devices` takes it) that a training can use, one process for each. `auto` is
/// every GPU. Fault::usage for emulated ones; Fault::missing for those that are not there.
Result<std::vector<ChosenDevice>> training_devices(const std::string& list);

/// The engine with `arguments` once for every device, with its rank and address: with several, by torchrun's variables
/// and `port` of this machine. Pure.
std::vector<EngineRun> training_processes(const std::vector<std::string>& arguments,
                                          const std::vector<ChosenDevice>& devices, int port);

}  // namespace tutti
