#pragma once

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>

namespace tutti {

/// While it exists, this thread and the threads that it starts meanwhile cannot write to a folder, although root may
/// write anywhere else.
class ClosedFolder {
 public:
  explicit ClosedFolder(const std::filesystem::path& folder) : folder_(folder) {
    std::filesystem::permissions(folder_, kWrite, std::filesystem::perm_options::remove);
    may_override(false);
  }
  ClosedFolder(const ClosedFolder&) = delete;
  ClosedFolder& operator=(const ClosedFolder&) = delete;
  ~ClosedFolder() {
    std::error_code ignored;
    std::filesystem::permissions(folder_, kWrite, std::filesystem::perm_options::add, ignored);
    may_override(true);
  }

 private:
  static constexpr auto kWrite = std::filesystem::perms::owner_write;

  /// Root's right to write where the permissions say no.
  static void may_override(bool may) {
    constexpr std::uint32_t kOverride = 1U << CAP_DAC_OVERRIDE;
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[2]{};
    if (::syscall(SYS_capget, &header, sets) != 0) return;
    sets[0].effective = may ? sets[0].effective | (sets[0].permitted & kOverride) : sets[0].effective & ~kOverride;
    ::syscall(SYS_capset, &header, sets);
  }

  const std::filesystem::path folder_;
};

}  // namespace tutti
