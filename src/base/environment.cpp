#include "base/environment.h"

#include <cstdlib>

namespace tutti {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

std::filesystem::path xdg_folder(const char* own, const char* xdg, const std::filesystem::path& below_home) {
  if (const auto named = variable(own)) return *named;
  if (const auto named = variable(xdg)) return std::filesystem::path(*named) / "tutti";
  return std::filesystem::path(variable("HOME").value_or("/tmp")) / below_home / "tutti";
}

}  // namespace tutti
