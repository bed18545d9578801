#include "serve/http/http.h"

#include <algorithm>

#include "net/url_fetch.h"

namespace tutti {

std::string_view HttpHead::header(std::string_view name) const {
  // Names are in lower case already.
  const auto found =
      std::ranges::find(headers, name, [](const auto& header) { return std::string_view(header.first); });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::map<std::string, std::string> query_parameters(std::string_view query) {
  std::map<std::string, std::string> parameters;
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    std::string pair(query.substr(0, end));
    query.remove_prefix(std::min(end + 1, query.size()));
    // A form writes a blank as '+', and a '+' as %2B: before anything is decoded.
    std::ranges::replace(pair, '+', ' ');
    const auto equals = std::min(pair.find('='), pair.size());
    const std::string value = equals < pair.size() ? pair.substr(equals + 1) : "";
    if (equals > 0) parameters[percent_decoded(pair.substr(0, equals))] = percent_decoded(value);
  }
  return parameters;
}

}  // namespace tutti
