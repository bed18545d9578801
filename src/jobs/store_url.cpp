#include "jobs/store_url.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tutti {
namespace {

constexpr std::string_view kMark = "://";

/// "postgres" of "postgres://host/jobs"; empty: it is no URL.
std::string_view scheme_of(std::string_view text) {
  const auto end = text.find(kMark);
  if (end == std::string_view::npos || end == 0) return {};
  const auto scheme = text.substr(0, end);
  const auto belongs = [](unsigned char c) { return std::isalnum(c) || c == '+' || c == '-' || c == '.'; };
  return std::isalpha(static_cast<unsigned char>(scheme.front())) && std::ranges::all_of(scheme, belongs)
             ? scheme
             : std::string_view{};
}

}  // namespace

std::string without_password(const std::string& url) {
  const auto start = url.find(kMark);
  if (start == std::string::npos) return url;
  const auto user = start + kMark.size();
  const auto at = url.substr(0, url.find_first_of("/?#", user)).rfind('@');
  const auto colon = url.find(':', user);
  if (at == std::string::npos || at < user || colon >= at) return url;
  return url.substr(0, colon + 1) + "***" + url.substr(at);
}

Result<StoreUrl> StoreUrl::parse(const std::string& text) {
  const auto scheme = scheme_of(text);
  if (scheme.empty()) return StoreUrl(text);
  if (scheme == "file") {
    const std::string path = text.substr(scheme.size() + kMark.size());
    if (path.starts_with('/')) return StoreUrl(path);
    return fail(Fault::usage, text + ": expected file:///FOLDER, found a host", "Name a folder of this machine");
  }
  return fail(Fault::usage,
              without_password(text) + ": expected a folder, found the address of a " + std::string(scheme) +
                  " server, and this version has no store there",
              "Name a folder on a disk of this machine");
}

}  // namespace tutti
