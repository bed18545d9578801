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
  std::string shown = url;
  constexpr std::string_view kParameter = "password=";  // sslpassword=, too
  for (auto at = shown.find('?', start); (at = shown.find(kParameter, at)) != std::string::npos;) {
    at += kParameter.size();
    shown.replace(at, std::min(shown.find('&', at), shown.size()) - at, "***");
  }
  const auto user = start + kMark.size();
  const auto at = shown.substr(0, shown.find_first_of("?#", user)).rfind('@');
  const auto colon = shown.find(':', user);
  if (at == std::string::npos || at < user || colon >= at) return shown;
  return shown.substr(0, colon + 1) + "***" + shown.substr(at);
}

std::string StoreUrl::text() const {
  return is_server() ? without_password(server_) : folder_.string();
}

Result<StoreUrl> StoreUrl::parse(const std::string& text) {
  const auto scheme = scheme_of(text);
  if (scheme.empty()) return StoreUrl(text);
  if (scheme == "file") {
    const std::string path = text.substr(scheme.size() + kMark.size());
    if (path.starts_with('/')) return StoreUrl(path);
    return fail(Fault::usage, text + ": expected file:///FOLDER, found a host", "Name a folder of this machine");
  }
  if (scheme == "postgres" || scheme == "postgresql") {
    StoreUrl url{std::filesystem::path()};
    url.server_ = text;
    return url;
  }
  return fail(Fault::usage,
              without_password(text) + ": expected a folder or postgres://USER@HOST/DATABASE, found the address of a " +
                  std::string(scheme) + " server, and no store is there",
              "Name a folder on a disk of this machine, or a PostgreSQL server");
}

}  // namespace tutti
