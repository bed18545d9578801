#include "cli/synth/corpus_flags.h"

#include <algorithm>
#include <string_view>

#include "base/numbers.h"

namespace tutti {
namespace {

constexpr std::uint64_t kMostClips = 100'000'000;
constexpr std::int32_t kMostThreads = 1024;

}  // namespace

Result<void> check_corpus_flags(const std::filesystem::path& out, std::uint64_t count, std::int32_t threads,
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
