#include "hub/hub_client.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <thread>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/try.h"
#include "hub/part_file.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

constexpr int kAttempts = 5;
constexpr int kRedirects = 8;
constexpr std::size_t kListing = 64U << 20;  // a longer answer is no listing
constexpr Seconds kLongestWait{120};

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

RemoteFile remote_file(const Json& sibling) {
  RemoteFile file{.name = text_in(sibling, "rfilename")};
  if (const auto size = sibling.find("size"); size != sibling.end() && size->is_number_integer())
    file.size = size->get<std::int64_t>();
  if (const auto lfs = sibling.find("lfs"); lfs != sibling.end() && lfs->is_object())
    file.sha256 = text_in(*lfs, "sha256");
  return file;
}

Result<RemoteModel> parse_listing(const std::string& repo, const std::string& url, const std::string& body) {
  const Json answer = Json::parse(body, nullptr, false);
  RemoteModel model{.repo = repo, .commit = answer.is_object() ? text_in(answer, "sha") : std::string()};
  const Json siblings = answer.is_object() ? answer.value("siblings", Json()) : Json();
  const bool plain = std::ranges::all_of(model.commit, [](unsigned char c) { return std::isalnum(c) != 0; });
  if (model.commit.empty() || !plain || !siblings.is_array())  // the commit becomes part of a folder's name
    return fail(Fault::corrupt, url + ": expected JSON with \"sha\" and \"siblings\", found something else",
                "Check HF_ENDPOINT: it must be a hub with Hugging Face's interface");
  for (const auto& sibling : siblings)
    if (sibling.is_object()) model.files.push_back(remote_file(sibling));
  return model;
}

/// Fills in what the listing left out from the headers of the download itself. For large files the hub names the digest
/// and the size before it redirects to the storage; for the others an answer with all of the file gives the size.
void learn(const HttpReply& reply, RemoteFile& file) {
  const auto etag = reply.header("x-linked-etag");
  if (file.sha256.empty() && etag.size() == 66 && etag.front() == '"') file.sha256 = etag.substr(1, 64);
  if (const auto size = number(reply.header("x-linked-size")); size && file.size < 0) file.size = *size;
  if (const auto size = number(reply.header("content-length")); size && file.size < 0 && reply.status == 200)
    file.size = *size;
}

/// The first byte of a 206 answer: "bytes 100-199/200" -> 100.
std::int64_t first_byte(const HttpReply& reply) {
  const auto range = reply.header("content-range");
  const auto dash = range.find('-');
  if (!range.starts_with("bytes ") || dash == range.npos) return -1;
  return number(range.substr(6, dash - 6)).value_or(-1);
}

bool is_redirect(const HttpReply& reply) {
  return reply.status >= 301 && reply.status <= 308 && !reply.redirect.empty();
}

bool passes(const HttpReply& reply) {
  return reply.status == 0 || reply.status == 408 || reply.status == 429 || reply.status >= 500 ||
         !reply.failure.empty();
}

bool is_good(const HttpReply& reply) {
  return (reply.status == 200 || reply.status == 206) && reply.failure.empty();
}

std::string url_path(std::string_view name) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::string_view("-._~/").find(c) != std::string_view::npos)
      escaped += c;
    else
      escaped += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return escaped;
}

Error stopped(const std::string& thing) {
  return {Fault::cancelled, thing + ": the download was stopped", "Run the same command again: it goes on from there"};
}

/// One attempt at a file: what its answer's pieces do to the part file.
struct Attempt {
  PartFile& part;
  std::int64_t from;
  bool restarted = false;  // the part's size cannot tell: the new body may be as long as the old part for a moment
  Result<void> written{};

  bool take(const HttpReply& head, std::string_view piece) {
    if (head.status == 200 && from > 0 && !std::exchange(restarted, true)) written = part.restart();  // no ranges here
    const bool wanted = head.status == 200 || (head.status == 206 && first_byte(head) == from);
    if (written && wanted) written = part.append(piece);
    return written && (wanted || head.status >= 400);  // an error page may come whole; nothing else unasked for may
  }
};

/// Checks a whole download.
Result<void> settle(const RemoteFile& file, const std::string& thing, PartFile& part) {
  const bool size_differs = file.size >= 0 && part.size() != file.size;
  if (!size_differs && (file.sha256.empty() || part.sha256() == file.sha256)) return part.finish();
  part.discard();
  const std::string found = size_differs ? std::to_string(part.size()) + " bytes, expected " + std::to_string(file.size)
                                         : "SHA-256 " + part.sha256() + ", expected " + file.sha256;
  return fail(Fault::corrupt, thing + ": the download has " + found + "; it was deleted",
              "Try again; if it stays so, the hub or a proxy on the way serves a damaged file");
}

}  // namespace

Result<HubClient> HubClient::connect(HubAccess access, HubHooks hooks) {
  if (access.offline)
    return fail(Fault::refused, "HF_HUB_OFFLINE is set, and this needs the network",
                "Unset it, or take a model that is already here (tutti models)");
  auto http = TRY(Http::load());
  while (access.endpoint.ends_with('/')) access.endpoint.pop_back();
  if (!hooks.wait) {
    hooks.wait = [go_on = hooks.go_on](Seconds length) {
      const auto end = std::chrono::steady_clock::now() + length;
      while (go_on() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(Seconds(0.1));
    };
  }
  return HubClient(std::move(access), std::move(hooks), std::move(http));
}

HttpReply HubClient::follow(std::string url, std::int64_t from, const HttpSink& sink) {
  std::map<std::string, std::string> linked;
  for (int hop = 0;; ++hop) {
    HttpRequest request{.url = url};
    if (!access_.token.empty() && origin_of(url) == origin_of(access_.endpoint))
      request.headers.push_back("Authorization: Bearer " + access_.token);
    if (from > 0) request.headers.push_back("Range: bytes=" + std::to_string(from) + "-");
    auto reply = http_.get(
        request,
        [&](const HttpReply& head, std::string_view piece) { return head.status / 100 == 3 || sink(head, piece); },
        hooks_.go_on);
    for (const auto& [name, value] : reply.headers)
      if (name.starts_with("x-linked-")) linked.emplace(name, value);
    if (!is_redirect(reply) || hop == kRedirects) {
      reply.headers.insert(linked.begin(), linked.end());
      return reply;
    }
    if (url.starts_with("https:") && !reply.redirect.starts_with("https:")) {
      reply.failure = "the hub redirects from https to " + origin_of(reply.redirect);
      return reply;
    }
    url = std::move(reply.redirect);
  }
}

bool HubClient::try_again(const HttpReply& reply, const std::string& thing, int failures) {
  if (!passes(reply) || failures >= kAttempts) return false;
  const auto requested = number(reply.header("retry-after"));
  const Seconds pause =
      std::min(Seconds(requested ? static_cast<double>(*requested) : 1 << (failures - 1)), kLongestWait);
  log(Level::warning, explain(reply, thing, access_).what + "; trying again in " +
                          std::to_string(static_cast<int>(pause.count())) + " s");
  hooks_.wait(pause);
  return true;
}

Result<RemoteModel> HubClient::look_up(const std::string& repo) {
  const std::string url = access_.endpoint + "/api/models/" + url_path(repo) + "/revision/main?blobs=true";
  for (int failures = 1;; ++failures) {
    std::string body;
    const auto reply = follow(url, 0, [&](const HttpReply&, std::string_view piece) {
      body += piece;
      return body.size() < kListing;
    });
    if (!hooks_.go_on()) return tl::unexpected(stopped(repo));
    if (is_good(reply)) return parse_listing(repo, url, body);
    // No answer at all to the first question is the network or the address, and does not pass in seconds.
    if (reply.status == 0 || !try_again(reply, repo, failures)) return tl::unexpected(explain(reply, repo, access_));
  }
}

Result<void> HubClient::download(const RemoteModel& model, RemoteFile file, const std::filesystem::path& target) {
  const std::string thing = model.repo + "/" + file.name;
  const std::string url =
      access_.endpoint + "/" + url_path(model.repo) + "/resolve/" + model.commit + "/" + url_path(file.name);
  auto part = TRY(PartFile::open(target));
  int failures = 0;
  while (file.size < 0 || part.size() < file.size) {
    Attempt attempt{part, part.size()};
    const auto reply = follow(url, attempt.from, [&](const HttpReply& head, std::string_view piece) {
      const bool taken = attempt.take(head, piece);
      hooks_.received(part.size());
      return taken;
    });
    learn(reply, file);
    if (!attempt.written) return fail_in(thing, attempt.written.error());
    if (!hooks_.go_on()) return tl::unexpected(stopped(thing));
    if (is_good(reply) && (file.size < 0 || part.size() >= file.size)) break;
    failures = part.size() > attempt.from ? 1 : failures + 1;
    // 416: the part is as long as the file, or longer; without a size from the hub it is not known which.
    if (reply.status == 416 && attempt.from > 0) {
      if (auto emptied = part.restart(); !emptied) return emptied;
    } else if (!try_again(reply, thing, failures)) {
      return tl::unexpected(explain(reply, thing, access_));
    }
  }
  return settle(file, thing, part);
}

}  // namespace tutti
