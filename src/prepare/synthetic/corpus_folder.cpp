#include "cli/synth/corpus_folder.h"

#include <algorithm>
#include <string_view>

#include "base/file_lock.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/output_ownership.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = "synth.lock";
constexpr std::uint64_t kMostClips = 100'000'000;
constexpr std::int32_t kMostThreads = 1024;

Result<void> check_empty(const CorpusFolder& folder) {
  const auto& out = folder.out;
  if (is_there(out / folder.list))
    return fail(Fault::usage, out.string() + ": holds a corpus already", "Name another folder, or remove it");
  if (is_there(out / kLock)) return {};  // lock of a corpus that another process writes, or a killed one began
  for (const char* name : folder.parts)
    if (auto own = expect_no_files(out / name); !own) return own;
  return {};
}

Result<void> make_parts(const CorpusFolder& folder) {
  for (const char* name : folder.parts) {
    if (auto made = make_folders(folder.out / name); !made) return made;
  }
  return {};
}

}  // namespace

Result<void> write_corpus(const CorpusFolder& folder, const std::function<Result<void>()>& write) {
  const auto& out = folder.out;
  const fs::path lock = out / kLock;
  auto ready = check_empty(folder);
  if (ready) ready = make_parts(folder);
  if (!ready) return ready;
  const auto hold = take_hold({.file = lock,
                               .other = out.string() + ": another process is writing a corpus into this folder",
                               .unnoticed = "a second process that writes into " + out.string(),
                               .way_out = "Wait for it to end, or name another folder with --out"});
  if (!hold) return tl::unexpected(hold.error());
  ready = check_empty(folder);  // another process may have ended between the look and the hold
  const auto written = ready ? write() : ready;
  // No part of a corpus. A process that waits with the file that goes here finds the corpus; where there is none, it
  // stays.
  std::error_code ignored;
  if (written || !ready) fs::remove(lock, ignored);
  return written;
}

Result<void> check_corpus_flags(const fs::path& out, std::uint64_t count, std::int32_t threads,
                                const std::string& command) {
  if (out.empty()) return fail(Fault::usage, "expected --out DIR, found nothing", "See 'tutti " + command + " --help'");
  if (count < 1 || count > kMostClips)
    return fail(Fault::usage,
                "--count: expected 1 to " + std::to_string(kMostClips) + ", found " + std::to_string(count));
  if (threads < 1 || threads > kMostThreads)
    return fail(Fault::usage,
                "--threads: expected 1 to " + std::to_string(kMostThreads) + ", found " + std::to_string(threads));
  return {};
}

Result<std::optional<Between>> range_of_flag(const std::string& flag, const std::string& text) {
  if (text.empty()) return std::optional<Between>();
  const auto colon = std::min(text.find(':'), text.size());
  const std::string_view all = text;
  const auto least = number_in<double>(all.substr(0, colon));
  const auto most = colon < text.size() ? number_in<double>(all.substr(colon + 1)) : std::nullopt;
  if (!least || !most)
    return fail(Fault::usage, flag + ": expected two numbers of decibels, LEAST:MOST, found '" + text + "'");
  return std::optional(Between{*least, *most});
}

}  // namespace tutti
