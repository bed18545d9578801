#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_folder.h"

namespace tutti {

/// A root folder with a few files of /proc and /sys.
class FakeRoot {
 public:
  void put(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << content;
  }
  /// Links /sys/bus/pci/devices/NAME to /sys/devices/DEVICE.
  void put_pci_device(const std::string& name, const std::string& device) const {
    std::filesystem::create_directories(folder_ / ("sys/devices/" + device));
    std::filesystem::create_directories(folder_ / "sys/bus/pci/devices");
    std::filesystem::create_directory_symlink("../../../devices/" + device, folder_ / ("sys/bus/pci/devices/" + name));
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

}  // namespace tutti
