#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"

struct sockaddr;

namespace tutti {

struct HttpRequest {
  std::string url{};
  std::vector<std::string> headers{};  // "Name: value"
  std::optional<std::string> body{};
  std::string method{};  // empty: POST with a body, else GET
  Seconds connect_within{30};
  Seconds silent_at_most{60};  // without a byte either way
  /// Whether a resolved address may be connected to; it is called for each one, and then no proxy is used. None: all.
  std::function<bool(const sockaddr& address)> may_connect{};
};

/// What came back from one request; redirects are not followed, but named.
struct HttpReply {
  int status = 0;                              // 0: no answer at all
  std::map<std::string, std::string> headers;  // names in lower case
  std::string redirect;                        // absolute URL of a 3xx answer
  std::string failure;                         // why the transfer ended early, in words; empty if it came whole

  /// Value of a header, by its lower-case name; empty if it did not come.
  std::string_view header(const std::string& name) const;
};

/// Pieces of the body as they come, with the status and headers that came before them. False ends the transfer.
using HttpSink = std::function<bool(const HttpReply& head, std::string_view piece)>;

/// An answer with its body.
struct FetchedAnswer {
  HttpReply reply{};
  std::string body{};
};

/// Requests over HTTP and HTTPS, through libcurl, which is loaded at the first call of `load`. One transfer at a
/// time. Proxies come from http_proxy, https_proxy and no_proxy; certificates from CURL_CA_BUNDLE or SSL_CERT_FILE if
/// set.
class Http {
 public:
  /// An error only if libcurl is not on this machine.
  static Result<Http> load();

  Http(Http&&) noexcept;
  Http& operator=(Http&&) noexcept;
  ~Http();

  /// `go_on` is called about once a second, and on every piece: false ends the transfer.
  HttpReply get(const HttpRequest& request, const HttpSink& sink, const std::function<bool()>& go_on);
  /// The same for an answer that is to be a text; the transfer fails where it has more bytes than `most`.
  FetchedAnswer answer(const HttpRequest& request, std::size_t most, const std::function<bool()>& go_on);

 private:
  struct Session;
  explicit Http(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session_;
};

/// "https://host:port" of a URL, lower case, with the scheme's usual port left out: whom a secret may be shown to.
std::string origin_of(std::string_view url);

}  // namespace tutti
