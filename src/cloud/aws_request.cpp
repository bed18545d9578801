#include "cloud/aws_request.h"

#include <algorithm>
#include <optional>

#include "base/environment.h"
#include "base/strings.h"
#include "net/http.h"
#include "net/url_fetch.h"

namespace tutti {
namespace {

/// AWS_ENDPOINT_URL_PORTAL_SSO is none of AWS's names, AWS_ENDPOINT_URL_SSO is.
std::string variable_of_service(const std::string& service) {
  const auto dot = service.rfind('.');
  return "AWS_ENDPOINT_URL_" + ascii_upper(dot == std::string::npos ? service : service.substr(dot + 1));
}

std::optional<std::string> given_endpoint(const std::string& service, const std::string& endpoint_url) {
  if (!endpoint_url.empty()) return endpoint_url;
  if (auto own = variable(variable_of_service(service).c_str())) return own;
  return variable("AWS_ENDPOINT_URL");
}

}  // namespace

std::string percent_encoded(std::string_view text, std::string_view keep) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = is_ascii_alphabetic(c) || is_ascii_digit(byte) ||
                       std::string_view("-._~").find(c) != std::string_view::npos ||
                       keep.find(c) != std::string_view::npos;
    if (plain)
      encoded += c;
    else
      encoded += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return encoded;
}

std::string target_of(const AwsRequest& request) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, value] : request.query) pairs.emplace_back(percent_encoded(name), percent_encoded(value));
  std::ranges::sort(pairs);
  const std::string query = joined(pairs, "&", [](const auto& pair) { return pair.first + "=" + pair.second; });
  return percent_encoded(request.path, "/") + (query.empty() ? "" : "?" + query);
}

std::string host_of_origin(std::string_view origin) {
  const auto scheme = origin.find("://");
  return std::string(scheme == std::string_view::npos ? origin : origin.substr(scheme + 3));
}

std::string service_origin(const std::string& service, const std::string& region, const std::string& endpoint_url) {
  if (auto given = given_endpoint(service, endpoint_url)) {
    while (given->ends_with('/')) given->pop_back();
    return *given;
  }
  return "https://" + service + "." + region + ".amazonaws.com" + (region.starts_with("cn-") ? ".cn" : "");
}

bool has_own_endpoint(const std::string& service, const std::string& endpoint_url) {
  return given_endpoint(service, endpoint_url).has_value();
}

Result<void> check_endpoint(const std::string& endpoint_url) {
  if (endpoint_url.empty()) return {};
  std::string bare = endpoint_url;
  while (bare.ends_with('/')) bare.pop_back();
  const auto scheme = bare.find("://");
  if (!check_url(bare) || bare.find_first_of("/?#@", scheme + 3) != bare.npos)
    return fail(Fault::usage, "the endpoint: expected an address such as http://127.0.0.1:5000, found '" +
                                  without_controls(origin_of(endpoint_url)) + "'");
  return {};
}

}  // namespace tutti
