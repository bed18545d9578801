#include "device/emulated_load.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "base/environment.h"
#include "base/error.h"

namespace tutti {

std::unique_ptr<EmulatedLoad> EmulatedLoad::on(std::string uuid) {
  const auto script = variable(own_variables::kFakeNvml);
  if (!script) return nullptr;
  static std::atomic<int> count = 0;
  const std::string name = std::to_string(::getpid()) + "-" + std::to_string(count++);
  const std::filesystem::path folder = *script + ".loads";
  return std::unique_ptr<EmulatedLoad>(new EmulatedLoad(folder / name, std::move(uuid)));
}

EmulatedLoad::~EmulatedLoad() {
  std::error_code ignored;  // a file left behind counts only while we live
  std::filesystem::remove(file_, ignored);
}

Result<void> EmulatedLoad::set(Bytes memory, double utilisation) {
  std::error_code failed;
  std::filesystem::create_directories(file_.parent_path(), failed);
  const auto next = file_.parent_path() / ("." + file_.filename().string());
  {
    std::ofstream out(next);
    out << "load gpu=" << uuid_ << " pid=" << ::getpid() << " memory=" << memory.value
        << " util=" << std::lround(utilisation * 100) << "\n";
    if (!out.flush()) return fail_errno(next.string(), "cannot be written");
  }
  std::filesystem::rename(next, file_, failed);
  if (failed) return tl::unexpected<Error>(system_error(file_.string(), "cannot be replaced", failed.value()));
  return {};
}

}  // namespace tutti
