#define CURL_DISABLE_TYPECHECK  // its macros would rename the functions we look up
#include "net/http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/library_call.h"
#include "base/owned.h"
#include "base/strings.h"

namespace tutti {
namespace {

/// The part of libcurl that is used, looked up once.
struct Curl {
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_reset) easy_reset = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
};

/// Loaded for the rest of the process: libcurl registers handlers that must not be unmapped.
const Curl* loaded_curl() {
  static const Curl* const curl = []() -> const Curl* {
    static Curl found;
    void* library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    const bool whole = library && look_up(library, "curl_easy_init", found.easy_init) &&
                       look_up(library, "curl_easy_cleanup", found.easy_cleanup) &&
                       look_up(library, "curl_easy_reset", found.easy_reset) &&
                       look_up(library, "curl_easy_setopt", found.easy_setopt) &&
                       look_up(library, "curl_easy_perform", found.easy_perform) &&
                       look_up(library, "curl_easy_getinfo", found.easy_getinfo) &&
                       look_up(library, "curl_easy_strerror", found.easy_strerror) &&
                       look_up(library, "curl_slist_append", found.slist_append) &&
                       look_up(library, "curl_slist_free_all", found.slist_free_all);
    return whole ? &found : nullptr;
  }();
  return curl;
}

/// One transfer as the callbacks see it.
struct Transfer {
  HttpReply& reply;
  const HttpSink& sink;
  const std::function<bool()>& go_on;
};

std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) {
  auto& reply = static_cast<Transfer*>(user)->reply;
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // a new answer, e.g. after "100 Continue"
    reply.headers.clear();
    const auto space = line.find(' ');
    if (space != line.npos) std::from_chars(line.data() + space + 1, line.data() + line.size(), reply.status);
    return size;
  }
  const auto colon = line.find(':');
  if (colon == line.npos) return size;
  std::string name = ascii_lower(line.substr(0, colon));
  const auto value = line.find_first_not_of(' ', colon + 1);
  reply.headers[std::move(name)] = value == line.npos ? "" : std::string(line.substr(value));
  return size;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  return transfer.go_on() && transfer.sink(transfer.reply, {data, size}) ? size : 0;
}

int on_second(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Transfer*>(user)->go_on() ? 0 : 1;
}

/// Opens a connection's socket, where its address may be connected to.
curl_socket_t open_socket(void* user, curlsocktype, curl_sockaddr* address) {
  const auto& request = *static_cast<const HttpRequest*>(user);
  if (!request.may_connect(address->addr)) return CURL_SOCKET_BAD;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

long milliseconds(Seconds time) {
  return std::max(1L, std::lround(time.count() * 1000));
}

const char* certificates() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (const char* path = std::getenv(name); path && *path) return path;
  return nullptr;
}

}  // namespace

std::string_view HttpReply::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : found->second;
}

struct Http::Session {
  const Curl& curl;
  CURL* handle;

  Session(const Curl& functions) : curl(functions), handle(functions.easy_init()) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { curl.easy_cleanup(handle); }
};

Result<Http> Http::load() {
  const Curl* curl = loaded_curl();
  if (!curl)
    return fail(Fault::unsupported, "libcurl.so.4 cannot be loaded, and the network needs it",
                "Install it (Debian: apt-get install libcurl4), or copy what is to be fetched here by hand");
  auto session = std::make_unique<Session>(*curl);
  if (!session->handle) return fail(Fault::exhausted, "libcurl could not start a session");
  return Http(std::move(session));
}

Http::Http(std::unique_ptr<Session> session) : session_(std::move(session)) {}
Http::Http(Http&&) noexcept = default;
Http& Http::operator=(Http&&) noexcept = default;
Http::~Http() = default;

HttpReply Http::get(const HttpRequest& request, const HttpSink& sink, const std::function<bool()>& go_on) {
  const Curl& curl = session_->curl;
  CURL* handle = session_->handle;
  HttpReply reply;
  Transfer transfer{reply, sink, go_on};
  std::array<char, CURL_ERROR_SIZE> words{};
  curl_slist* headers = nullptr;
  for (const auto& header : request.headers) headers = curl.slist_append(headers, header.c_str());

  curl.easy_reset(handle);  // keeps open connections
  const auto set = [&](CURLoption option, auto value) { curl.easy_setopt(handle, option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_HTTPHEADER, headers);
  set(CURLOPT_USERAGENT, "tutti");
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.connect_within));
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);  // bytes a second, over
  set(CURLOPT_LOW_SPEED_TIME, std::max(1L, milliseconds(request.silent_at_most) / 1000));
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, on_second);
  set(CURLOPT_XFERINFODATA, &transfer);
  set(CURLOPT_HEADERFUNCTION, on_header);
  set(CURLOPT_HEADERDATA, &transfer);
  set(CURLOPT_WRITEFUNCTION, on_body);
  set(CURLOPT_WRITEDATA, &transfer);
  set(CURLOPT_ERRORBUFFER, words.data());
  if (request.body) {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    set(CURLOPT_POSTFIELDS, request.body->c_str());
  }
  if (request.method == "HEAD") set(CURLOPT_NOBODY, 1L);  // it waits for no body
  if (!request.method.empty()) set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (request.may_connect) {
    set(CURLOPT_PROXY, "");
    set(CURLOPT_FRESH_CONNECT, 1L);
    set(CURLOPT_OPENSOCKETFUNCTION, open_socket);
    set(CURLOPT_OPENSOCKETDATA, const_cast<HttpRequest*>(&request));
  }
  if (const char* bundle = certificates()) set(CURLOPT_CAINFO, bundle);

  const CURLcode code = curl.easy_perform(handle);
  char* redirect = nullptr;
  curl.easy_getinfo(handle, CURLINFO_REDIRECT_URL, &redirect);
  if (redirect) reply.redirect = redirect;
  if (code != CURLE_OK) reply.failure = words[0] ? words.data() : curl.easy_strerror(code);
  curl.slist_free_all(headers);
  return reply;
}

FetchedAnswer Http::answer(const HttpRequest& request, std::size_t most, const std::function<bool()>& go_on) {
  FetchedAnswer answer;
  const auto take = [&](const HttpReply&, std::string_view piece) {
    answer.body += piece;
    return answer.body.size() <= most;
  };
  answer.reply = get(request, take, go_on);
  if (answer.body.size() > most) answer.reply.failure = "the answer has more than " + std::to_string(most) + " bytes";
  return answer;
}

std::string origin_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == url.npos) return {};
  const auto end = url.find_first_of("/?#", scheme + 3);
  std::string origin(url.substr(0, end));
  if (const auto at = origin.rfind('@'); at != origin.npos) origin.erase(scheme + 3, at - scheme - 2);
  origin = ascii_lower(origin);
  for (const std::string_view usual : {"https:443", "http:80"}) {
    const auto colon = usual.find(':');
    if (origin.starts_with(std::string(usual.substr(0, colon)) + "://") && origin.ends_with(usual.substr(colon)))
      origin.resize(origin.size() - usual.substr(colon).size());
  }
  return origin;
}

}  // namespace tutti
