#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tutti {

/// A process of our own tree, or one that holds a GPU.
struct ProcessSnapshot {
  int pid = 0;
  int parent = 0;
  std::string name{};
  bool own = false;               ///< ours or a descendant of ours
  std::optional<double> cores{};  ///< processor time per time since the last snapshot: 1.5 is one core and a half
  std::optional<Bytes> resident{};
};

/// Free space on the file system of a folder that is watched, and the traffic of the disk below it.
struct DiskSnapshot {
  std::string path;
  std::optional<Bytes> total{}, free{};
  std::optional<double> read{}, written{};  ///< bytes per second of the whole disk; absent for network folders
};

/// The machine around the GPUs. Rates are over the time since the snapshot before and absent in the first one.
struct HostSnapshot {
  std::optional<double> busy{};                             ///< all cores together, 0 to 1
  std::vector<std::optional<double>> core_busy{};           ///< each, in the system's numbering; absent: switched off
  std::optional<Bytes> memory_total{}, memory_available{};  ///< the control group's, where it is tighter
  std::optional<Bytes> swap_total{}, swap_used{};
  std::vector<DiskSnapshot> disks{};
  std::vector<ProcessSnapshot> processes{};
};

}  // namespace tutti
