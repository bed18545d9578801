#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "view/fleet/fleet_status.h"

namespace tutti {

// What `tutti top` shows at one moment: a running batch, or the machine alone. Plain data; what is not known is absent.

/// A file system that Tutti reads or writes.
struct DiskStatus {
  std::string path{};  // where it begins
  std::optional<Bytes> total{};
  std::optional<Bytes> free{};
  std::optional<double> read{};  // bytes per second of the whole disk
  std::optional<double> written{};
};

struct HostStatus {
  std::optional<double> busy{};  // all cores together, 0..1
  std::optional<Bytes> memory_total{};
  std::optional<Bytes> memory_available{};
  std::optional<Bytes> swap_total{};
  std::optional<Bytes> swap_used{};
  std::vector<DiskStatus> disks{};
};

/// A process of Tutti's, or one that holds a GPU.
struct ProcessStatus {
  int pid = 0;
  std::string name{};
  bool own = false;
  std::optional<double> cores{};
  std::optional<Bytes> resident{};
  std::string device{};  // where it has memory; empty: nowhere
  std::optional<Bytes> device_memory{};
};

struct TopData {
  std::string title;                    // "batch talks", "this machine"
  std::optional<FleetStatus> run{};     // none: no batch runs, the machine is shown
  std::vector<DeviceStatus> devices{};  // the run's, or the machine's
  HostStatus host{};
  std::vector<ProcessStatus> processes{};
  std::map<std::string, std::vector<std::string>> details{};  // more about a device, by its id, a line each
  std::vector<std::string> notes{};                           // what is missing and why
};

/// One line of JSON for machines: versioned, units in names, absent where unknown. The run in fleet_status_json's form.
std::string top_json(const TopData& data);

}  // namespace tutti
