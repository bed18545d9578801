#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/files.h"
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
  void now(const std::string& script) const { EXPECT_TRUE(write_file_atomically(file_, script)); }
  const std::filesystem::path& file() const { return file_; }

 private:
  TempFolder folder_;
  std::filesystem::path file_;
  ScopedVariable library_, script_, smi_, visible_;
};

}  // namespace tutti
