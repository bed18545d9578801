#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "support/environment.h"
#include "support/temp_folder.h"

namespace tutti {

/// A machine with the GPUs of a script (tests/support/fake_nvml); the CPU is the real one. There is no nvidia-smi.
class ScriptedMachine {
 public:
  explicit ScriptedMachine(const std::string& script, const char* visible = nullptr,
                           const char* library = TUTTI_FAKE_NVML_LIBRARY)
      : file_(folder_ / "nvml.txt"),
        library_("TUTTI_NVML", library),
        script_("TUTTI_FAKE_NVML", file_.c_str()),
        smi_("TUTTI_NVIDIA_SMI", "/nonexistent/nvidia-smi"),
        visible_("CUDA_VISIBLE_DEVICES", visible) {
    now(script);
  }

  /// From here on the machine is this one.
  void now(const std::string& script) const {
    const auto next = file_.string() + ".next";  // not half of it, but without the fsync of write_file_atomically
    std::ofstream(next) << script;
    std::filesystem::rename(next, file_);
  }
  const std::filesystem::path& file() const { return file_; }

 private:
  TempFolder folder_;
  std::filesystem::path file_;
  ScopedVariable library_, script_, smi_, visible_;
};

}  // namespace tutti
