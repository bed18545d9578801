#include "jobs/sqlite/local_disk.h"

#include <sys/vfs.h>

#include <array>
#include <string_view>

namespace tutti {
namespace {

struct Kind {
  unsigned long magic;  // statfs(2), linux/magic.h
  std::string_view name;
};

constexpr std::array kNetworkKinds{
    Kind{0x6969, "NFS"},        Kind{0xff534d42, "CIFS"},  Kind{0xfe534d42, "SMB"},  Kind{0x517b, "SMB"},
    Kind{0x01021997, "9P"},     Kind{0x5346414f, "AFS"},   Kind{0x00c36400, "Ceph"}, Kind{0x0bd00bd0, "Lustre"},
    Kind{0x47504653, "GPFS"},   Kind{0x013111a8, "IBRIX"}, Kind{0x564c, "NCP"},      Kind{0x73757245, "Coda"},
    Kind{0x19830326, "BeeGFS"}, Kind{0x7461636f, "OCFS2"}, Kind{0x01161970, "GFS2"}, Kind{0xaad7aaea, "PanFS"},
};

}  // namespace

std::optional<std::string> network_file_system(long kind) {
  for (const auto& known : kNetworkKinds)
    if (known.magic == (static_cast<unsigned long>(kind) & 0xffffffff)) return std::string(known.name);
  return {};
}

std::optional<std::string> network_file_system(const std::filesystem::path& folder) {
  struct statfs facts {};
  if (::statfs(folder.c_str(), &facts) != 0) return {};
  return network_file_system(static_cast<long>(facts.f_type));
}

}  // namespace tutti
