#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "net/http.h"

namespace tutti {

/// How to reach a Hugging-Face-compatible hub.
struct HubAccess {
  std::string endpoint = "https://huggingface.co";
  std::string token{};   // sent to the endpoint's own origin and nowhere else; empty: none
  bool offline = false;  // every request is refused here

  /// $HF_ENDPOINT, $HF_TOKEN (else the file at $HF_TOKEN_PATH or $HF_HOME/token), $HF_HUB_OFFLINE.
  static HubAccess from_environment();
};

struct RemoteFile {
  std::string name{};
  std::int64_t size = -1;  // bytes; -1: the hub did not say
  std::string sha256{};    // empty: the hub did not say
};

/// A repository as it was at one commit.
struct RemoteModel {
  std::string repo{};
  std::string commit{};
  std::vector<RemoteFile> files{};
};

/// What a client needs of its surroundings.
struct HubHooks {
  std::function<bool()> go_on = [] { return true; };                       // false: stop soon, with Fault::cancelled
  std::function<void(std::int64_t bytes)> received = [](std::int64_t) {};  // how much of the current file is here
  std::function<void(Seconds)> wait{};  // between attempts; unset: sleeps, and wakes when go_on returns false
};

/// Talks to one hub. What passes (connection lost, 429, 5xx) is tried again, up to five times without progress.
class HubClient {
 public:
  static Result<HubClient> connect(HubAccess access, HubHooks hooks);

  /// The files of `repo` at its main branch.
  Result<RemoteModel> look_up(const std::string& repo);

  /// Downloads one file to `target`, through `target`.part, which an interrupted download leaves behind and the next
  /// one goes on from. Size and SHA-256 are checked before the file gets its name; a wrong one is deleted.
  Result<void> download(const RemoteModel& model, RemoteFile file, const std::filesystem::path& target);

 private:
  HubClient(HubAccess access, HubHooks hooks, Http http)
      : access_(std::move(access)), hooks_(std::move(hooks)), http_(std::move(http)) {}

  /// GET of bytes from `from` on, over redirects. `sink` sees the last answer's body only.
  HttpReply follow(std::string url, std::int64_t from, const HttpSink& sink);
  /// Logs it, waits as the answer requests and returns true, if it is one that passes and `failures` are not too many.
  bool try_again(const HttpReply& reply, const std::string& thing, int failures);

  HubAccess access_;
  HubHooks hooks_;
  Http http_;
};

/// What an answer other than the wanted one means, and what to do about it. `thing` is the requested repository or
/// file.
Error explain(const HttpReply& reply, const std::string& thing, const HubAccess& access);

}  // namespace tutti
