#include "cli/control/runtime_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/files.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

fs::path named_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime && *runtime) return fs::path(runtime) / "tutti";
  return "/tmp/tutti-" + std::to_string(::getuid());
}

}  // namespace

Result<fs::path> runtime_folder() {
  const fs::path folder = named_folder();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return tl::unexpected<Error>(system_error(folder.string(), "cannot be made", errno));
  struct stat facts {};
  if (::lstat(folder.c_str(), &facts) != 0)
    return tl::unexpected<Error>(system_error(folder.string(), "cannot be examined", errno));
  // In /tmp anybody could have made it before us.
  if (!S_ISDIR(facts.st_mode) || facts.st_uid != ::getuid() || (facts.st_mode & 077) != 0)
    return fail(Fault::usage, folder.string() + ": expected a folder that only its owner may enter, found another",
                "Remove it, or set XDG_RUNTIME_DIR");
  return folder;
}

std::vector<fs::path> control_sockets() {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator at(named_folder(), error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".sock" && at->is_socket(error)) {
      struct stat facts {};
      if (::lstat(at->path().c_str(), &facts) == 0 && facts.st_uid == ::getuid())
        found.emplace_back(at->last_write_time(error), at->path());
    }
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> sockets;
  for (auto& [time, path] : found) sockets.push_back(std::move(path));
  return sockets;
}

}  // namespace tutti
