#include "feed/packed/pack_key.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "base/random/counter_random.h"
#include "feed/packed/in_parallel.h"
#include "feed/packed/pack_format.h"
#include "feed/stages/sample_stages.h"

namespace tutti {
namespace {

/// A number for what a file holds, without reading it.
std::uint64_t stamp_of(const std::filesystem::path& path) {
  const auto whole = [](auto value) { return static_cast<std::uint64_t>(value); };
  struct stat facts {};
  if (path.empty() || ::stat(path.c_str(), &facts) != 0) return digest(path.native());
  return mixed({digest(path.native()), whole(facts.st_size), whole(facts.st_ino), whole(facts.st_ctim.tv_sec),
                whole(facts.st_ctim.tv_nsec)});
}

std::uint64_t digest_of(const std::vector<std::string>& texts) {
  std::uint64_t all = texts.size();
  for (const std::string& text : texts) all = mixed({all, digest(text)});
  return all;
}

}  // namespace

std::int64_t lines_of(const FeedOptions& options, const Dataset& set) {
  return options.max_samples > 0 ? std::min(options.max_samples, set.size()) : set.size();
}

Result<CacheKey> pack_key(const FeedOptions& options, const Dataset& set) {
  const auto lines = static_cast<std::size_t>(lines_of(options, set));
  std::vector<std::uint64_t> stamps(lines + 1);
  const auto stamped = in_parallel(std::ssize(stamps) - 1, options.threads.packing(), [&](std::int64_t i) {
    const auto line = set.at(i);
    if (line) stamps[static_cast<std::size_t>(i)] = mixed({stamp_of(line->audio), stamp_of(line->times)});
    return Result<void>();
  });
  if (!stamped) return tl::unexpected(stamped.error());
  stamps[lines] = mixed({set.fingerprint(), digest(options.split), digest_of(options.fields), kPackMagic,
                         static_cast<std::uint64_t>(options.times), static_cast<std::uint64_t>(options.n_mels),
                         static_cast<std::uint64_t>(options.chunking)});
  const double parameters[] = {kFeatureVersion, options.window.count()};
  return cache_key(std::as_bytes(std::span(stamps)), parameters);
}

}  // namespace tutti
