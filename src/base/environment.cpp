#include "base/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "base/strings.h"

namespace tutti {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

Result<int> number_variable(const char* name, int least) {
  const auto text = variable(name).value_or("");
  const auto value = number_in<int>(text);
  if (value && *value >= least) return *value;
  return fail(Fault::usage,
              std::string(name) + ": expected a whole number from " + std::to_string(least) + ", found '" + text + "'");
}

Result<LogDetail> log_level_variable(const char* name) {
  constexpr std::pair<std::string_view, LogDetail> kLevels[] = {{"debug", LogDetail::debug},
                                                                {"info", LogDetail::info},
                                                                {"warning", LogDetail::warning},
                                                                {"error", LogDetail::error}};
  const auto text = variable(name);
  if (!text) return LogDetail::info;
  for (const auto& [word, level] : kLevels)
    if (ascii_lower(*text) == word) return level;
  return fail(Fault::usage, std::string(name) + ": expected DEBUG, INFO, WARNING or ERROR, found '" + *text + "'");
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::filesystem::path home_folder() {
  if (const auto home = variable("HOME")) return *home;
  passwd entry{};
  passwd* found = nullptr;
  char text[4096];
  const bool known = ::getpwuid_r(::getuid(), &entry, text, sizeof text, &found) == 0 && found;
  return known && entry.pw_dir && *entry.pw_dir ? entry.pw_dir : "/tmp";
}

std::filesystem::path xdg_home(const char* xdg, const std::filesystem::path& below_home) {
  const auto named = variable(xdg);
  return named ? std::filesystem::path(*named) : home_folder() / below_home;
}

std::filesystem::path xdg_folder(const char* own, const char* xdg, const std::filesystem::path& below_home) {
  if (const auto named = variable(own)) return *named;
  return xdg_home(xdg, below_home) / "tutti";
}

}  // namespace tutti
