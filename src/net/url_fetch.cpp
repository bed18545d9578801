#include "net/url_fetch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>

#include "base/field_names.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/try.h"
#include "net/http.h"

namespace tutti {
namespace {

constexpr int kMostRedirects = 5;
constexpr std::chrono::seconds kGrace{30};  // before the rate counts
constexpr double kRate = 4096;              // bytes a second that it must come at, as an upload must

struct Network {
  std::uint32_t address;
  int bits;
};

/// IANA's special-purpose registry: what is not globally reachable.
bool is_public(std::uint32_t address) {
  constexpr std::array kSpecial{Network{0x00000000, 8},  Network{0x0a000000, 8},  Network{0x64400000, 10},
                                Network{0x7f000000, 8},  Network{0xa9fe0000, 16}, Network{0xac100000, 12},
                                Network{0xc0000000, 24}, Network{0xc0000200, 24}, Network{0xc0586300, 24},
                                Network{0xc0a80000, 16}, Network{0xc6120000, 15}, Network{0xc6336400, 24},
                                Network{0xcb007100, 24}, Network{0xe0000000, 4},  Network{0xf0000000, 4}};
  return std::ranges::none_of(
      kSpecial, [address](const Network& network) { return (address ^ network.address) >> (32 - network.bits) == 0; });
}

std::uint32_t four_bytes(const unsigned char* at) {
  return std::uint32_t{at[0]} << 24U | std::uint32_t{at[1]} << 16U | std::uint32_t{at[2]} << 8U | at[3];
}

bool is_public(const in6_addr& address) {
  const unsigned char* bytes = address.s6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return is_public(four_bytes(bytes + 12));
  if (four_bytes(bytes) == 0x0064ff9b) return is_public(four_bytes(bytes + 12));         // NAT64
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return is_public(four_bytes(bytes + 2));     // 6to4
  if (four_bytes(bytes) == 0x20010000 || four_bytes(bytes) == 0x20010db8) return false;  // Teredo, examples
  return (bytes[0] & 0xe0U) == 0x20;                                                     // 2000::/3
}

std::string host_of(const std::string& url) {
  std::string host = origin_of(url);
  host.erase(0, std::min(host.find("://") + 3, host.size()));
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

Error error_of(const HttpReply& reply, const std::string& url) {
  constexpr int kServerError = 500;
  if (reply.status == 0 || !reply.failure.empty())
    return {Fault::unavailable, shown_address(url) + ": could not be fetched: " + reply.failure};
  const std::string what = shown_address(url) + ": its server answered with status " + std::to_string(reply.status);
  const bool passes = reply.status >= kServerError || reply.status == 408 || reply.status == 429;
  return {passes ? Fault::unavailable : Fault::missing, what};
}

/// One request; whether its answer, which may be a redirect, came whole.
class Fetch {
 public:
  Fetch(int file, const UrlLimits& limits, const std::function<bool()>& go_on)
      : file_(file), limits_(limits), go_on_(go_on) {}

  HttpReply get(Http& http, const std::string& url) {
    HttpRequest request{.url = url};
    if (!limits_.any_host && std::ranges::find(limits_.private_hosts, host_of(url)) == limits_.private_hosts.end())
      request.may_connect = [this](const sockaddr& address) {
        const bool allowed = is_public_address(address);
        if (!allowed)
          stop(Fault::refused,
               "it is not on the public internet; " + field("url_hosts") + " names hosts of a private network");
        return allowed;
      };
    return http.get(
        request, [this](const HttpReply& head, std::string_view piece) { return take(head, piece); },
        [this] { return goes_on(); });
  }
  const std::optional<Error>& stopped() const { return stopped_; }

 private:
  bool stop(Fault fault, std::string why) {
    if (!stopped_) stopped_ = Error{fault, std::move(why)};
    return false;
  }

  bool take(const HttpReply& head, std::string_view piece) {
    if (head.status != 200) return true;  // the text of an error or of a redirect
    taken_ += piece.size();
    if (taken_ > limits_.most_bytes)
      return stop(Fault::refused,
                  "it is larger than the " + std::to_string(limits_.most_bytes) + " bytes that this server takes");
    auto written = write_all(file_, std::as_bytes(std::span(piece)), "the fetched recording");
    return written || stop(written.error().fault, written.error().what);
  }

  bool goes_on() {
    if (!go_on_()) return stop(Fault::cancelled, "the job was cancelled");
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun_;
    if (passed < kGrace || static_cast<double>(taken_) >= kRate * (passed - kGrace).count()) return true;
    return stop(Fault::unavailable, "it comes at less than 4 KiB a second");
  }

  const int file_;
  const UrlLimits& limits_;
  const std::function<bool()>& go_on_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::uint64_t taken_ = 0;
  std::optional<Error> stopped_{};
};

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string shown_address(const std::string& url) {
  const auto scheme = url.find("://");
  const auto path = scheme == std::string::npos ? std::string::npos : url.find_first_of("/?#", scheme + 3);
  const std::string rest = path == std::string::npos ? "" : url.substr(path, url.find_first_of("?#", path) - path);
  return without_controls((origin_of(url) + rest).substr(0, 300));
}

Result<void> check_url(const std::string& url) {
  const std::string scheme = ascii_lower(url.substr(0, 8));
  const bool is_web = scheme.starts_with("http://") || scheme.starts_with("https://");
  if (!is_web || host_of(url).empty() || url.size() > 4096 || without_controls(url) != url)
    return fail(Fault::usage, "url: expected an address that begins with http:// or https://, found '" +
                                  without_controls(url.substr(0, 100)) + "'");
  return {};
}

bool is_public_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &address, sizeof four);
    return is_public(ntohl(four.sin_addr.s_addr));
  }
  if (address.sa_family != AF_INET6) return false;
  sockaddr_in6 six{};
  std::memcpy(&six, &address, sizeof six);
  return is_public(six.sin6_addr);
}

Result<void> post_to_url(const std::string& url, const std::string& json, const UrlLimits& limits,
                         const std::function<bool()>& go_on) {
  constexpr std::chrono::seconds kPatience{10};
  auto http = TRY(Http::load());
  HttpRequest request{.url = url, .headers = {"Content-Type: application/json", "User-Agent: tutti"}, .body = json};
  bool is_private = false;
  if (std::ranges::find(limits.private_hosts, host_of(url)) == limits.private_hosts.end())
    request.may_connect = [&](const sockaddr& address) {
      const bool allowed = is_public_address(address);
      is_private = is_private || !allowed;
      return allowed;
    };
  const auto until = std::chrono::steady_clock::now() + kPatience;
  const HttpReply reply = http.get(
      request, [](const HttpReply&, std::string_view) { return true; },
      [&] { return go_on() && std::chrono::steady_clock::now() < until; });
  if (reply.status >= 200 && reply.status < 300) return {};
  if (is_private && reply.status == 0)
    return fail(Fault::refused, shown_address(url) + ": it is not on the public internet");
  return tl::unexpected<Error>(error_of(reply, url));
}

Result<void> fetch_url(const std::string& url, int file, const UrlLimits& limits, const std::function<bool()>& go_on) {
  auto http = TRY(Http::load());
  std::string at = url;
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    if (auto valid = check_url(at); !valid) return valid;
    Fetch fetch(file, limits, go_on);
    const HttpReply reply = fetch.get(http, at);
    if (fetch.stopped()) return fail(fetch.stopped()->fault, shown_address(at) + ": " + fetch.stopped()->what);
    if (!reply.redirect.empty()) {
      at = reply.redirect;
      continue;
    }
    if (reply.status != 200 || !reply.failure.empty()) return tl::unexpected<Error>(error_of(reply, at));
    return {};
  }
  return fail(Fault::missing, shown_address(url) + ": it leads from one redirect to the next");
}

}  // namespace tutti
