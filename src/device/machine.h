#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// The processor as this process may use it.
struct CpuFacts {
  std::optional<std::string> model;
  int cores = 1;          ///< hardware threads worth starting: the affinity mask, cut by the control group's quota
  int machine_cores = 1;  ///< hardware threads that are on
  std::vector<std::string> features;  ///< those of kCpuFeatures that are present

  bool has(std::string_view feature) const;
};

/// The instruction sets that decide which kernels run fast here.
inline constexpr std::string_view kCpuFeatures[] = {"avx2",     "fma",         "f16c",        "avx_vnni",
                                                    "avx512f",  "avx512_vnni", "avx512_bf16", "avx512_fp16",
                                                    "amx_tile", "amx_int8",    "amx_bf16"};

/// Memory as this process may use it: the machine's, cut by the control group's limit.
struct MemoryFacts {
  Bytes total;
  Bytes available;
};

/// Both read /proc and /sys below `root`, which is "/" but in tests. What the system does not say is absent.
CpuFacts read_cpu(const std::filesystem::path& root = "/");
std::optional<MemoryFacts> read_memory(const std::filesystem::path& root = "/");

/// Free space on the file system that holds a path, or will.
struct DiskSpace {
  std::filesystem::path existing;  ///< the path, or the nearest folder above it that is there
  std::filesystem::path mount;     ///< where that file system begins: its name for people
  Bytes free{};                    ///< that a normal user can still write
  Bytes total{};                   ///< that there could be
};
/// Fails where the file system does not report it.
Result<DiskSpace> disk_space(const std::filesystem::path& path);

/// Where the file systems of these paths begin, each once; those that do not report it are left out.
std::vector<std::filesystem::path> disks_of(const std::vector<std::filesystem::path>& paths);

}  // namespace tutti
