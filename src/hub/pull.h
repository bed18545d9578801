#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hub/hub_client.h"

namespace tutti {

struct PullProgress {
  std::string file{};      // being downloaded now
  std::int64_t done = 0;   // bytes of all files that are here
  std::int64_t total = 0;  // bytes of all files
};

struct PullOptions {
  HubAccess hub{};
  std::filesystem::path into{};                         // the folder of all models; ModelFolders::own
  std::function<void(const PullProgress&)> progress{};  // called for every piece that arrives; unset: no progress is
                                                        // reported
  std::function<bool()> go_on = [] { return true; };    // false: stop within a second or so, keeping what is here
  std::function<void(Seconds)> wait{};                  // between attempts; unset: sleeps
};

/// Fetches the model that `word` refers to (see resolve_name) and returns its folder: configuration, safetensors,
/// tokenizer. Fault::unsupported for a repository of anything but a Whisper model: before its weights are fetched,
/// where its listing or its config.json shows it. Downloads into a folder beside it that gets the model's name only
/// when everything is there and checked, so a model under its own name is always whole. An interrupted pull goes on
/// where it stopped; one that finds the hub's current commit already here returns at once. One pull of a model at a
/// time.
Result<std::filesystem::path> pull(std::string_view word, const PullOptions& options);

}  // namespace tutti
