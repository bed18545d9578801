#include "serve/openai/api_methods.h"

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"

namespace tutti {

ApiMethods::ApiMethods(std::string_view document) {
  const auto json = nlohmann::json::parse(document);
  for (const auto& [path, operations] : json.at("paths").items()) {
    Address address;
    for (const auto part : split(path, '/')) address.parts.emplace_back(part);
    for (const auto* const method : {"get", "post", "put", "patch", "delete"}) {
      if (!operations.contains(method)) continue;
      address.allowed += ascii_upper(method) + ", ";
      if (std::string_view(method) == "get") address.allowed += "HEAD, ";
    }
    address.allowed += "OPTIONS";
    addresses_.push_back(std::move(address));
  }
}

std::string ApiMethods::allowed_at(std::string_view path) const {
  const auto parts = split(path, '/');
  const auto is_part = [](const std::string& known, std::string_view part) {
    return known == part || (known.starts_with('{') && !part.empty());
  };
  const auto found = std::ranges::find_if(
      addresses_, [&](const Address& address) { return std::ranges::equal(address.parts, parts, is_part); });
  return found == addresses_.end() ? "GET, HEAD, OPTIONS" : found->allowed;
}

}  // namespace tutti
