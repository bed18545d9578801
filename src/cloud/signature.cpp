#include "cloud/signature.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "base/sha256.h"
#include "base/strings.h"
#include "base/time_text.h"

namespace tutti {
namespace {

constexpr std::size_t kBlock = 64;  // bytes that SHA-256 takes at a time

std::string bytes_of_hex(std::string_view hex) {
  const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) << 4U | digit(hex[i + 1]));
  return bytes;
}

/// HMAC-SHA256 (RFC 2104), as 64 hexadecimal digits.
std::string hmac_hex(std::string_view key, std::string_view text) {
  std::string block(key.size() > kBlock ? bytes_of_hex(sha256_of(key)) : std::string(key));
  block.resize(kBlock);
  const auto padded = [&block](unsigned char pad) {
    std::string out = block;
    for (char& c : out) c = static_cast<char>(static_cast<unsigned char>(c) ^ pad);
    return out;
  };
  const std::string inner = bytes_of_hex(sha256_of(padded(0x36) + std::string(text)));
  return sha256_of(padded(0x5c) + inner);
}

std::string hmac(std::string_view key, std::string_view text) {
  return bytes_of_hex(hmac_hex(key, text));
}

/// A header's value as it is signed: blanks around it left out, and every run of them one space.
std::string canonical_value(std::string_view value) {
  std::string canonical;
  for (const char c : trimmed(value)) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank || canonical.back() != ' ') canonical += blank ? ' ' : c;
  }
  return canonical;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> signed_headers(const AwsRequest& request,
                                                                const Credentials& credentials,
                                                                const SigningScope& scope,
                                                                std::chrono::system_clock::time_point now) {
  const std::string stamp = utc_text(now, "%Y%m%dT%H%M%SZ"), day = stamp.substr(0, 8),
                    content = sha256_of(request.body);
  auto headers = request.headers;
  headers.emplace_back("host", host_of_origin(request.origin));
  headers.emplace_back("x-amz-date", stamp);
  if (scope.service == "s3") headers.emplace_back("x-amz-content-sha256", content);
  if (!credentials.session_token.empty()) headers.emplace_back("x-amz-security-token", credentials.session_token);

  std::map<std::string, std::string> signed_ones;
  for (const auto& [name, value] : headers) signed_ones[ascii_lower(name)] = canonical_value(value);
  const std::string names = joined(signed_ones, ";", [](const auto& header) { return header.first; });
  const std::string lines =
      joined(signed_ones, "\n", [](const auto& header) { return header.first + ":" + header.second; });

  std::string target = target_of(request);
  const auto mark = target.find('?');
  const std::string query = mark == std::string::npos ? "" : target.substr(mark + 1);
  if (mark != std::string::npos) target.resize(mark);
  const std::string canonical = joined(std::array{request.method, target, query, lines + "\n", names, content}, "\n");

  const std::string within = day + "/" + scope.region + "/" + scope.service + "/aws4_request";
  const std::string to_sign = "AWS4-HMAC-SHA256\n" + stamp + "\n" + within + "\n" + sha256_of(canonical);
  std::string key = "AWS4" + credentials.secret_key;
  for (const std::string& part : {day, scope.region, scope.service, std::string("aws4_request")}) key = hmac(key, part);
  headers.emplace_back("authorization", "AWS4-HMAC-SHA256 Credential=" + credentials.access_key + "/" + within +
                                            ", SignedHeaders=" + names + ", Signature=" + hmac_hex(key, to_sign));
  return headers;
}

}  // namespace tutti
