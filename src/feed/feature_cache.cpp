#include "feed/feature_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/random/counter_random.h"
#include "base/try.h"

namespace tutti {

CacheKey cache_key(std::span<const std::byte> content, std::span<const double> parameters) {
  // Four chains side by side: one alone would wait for its multiplication.
  constexpr std::size_t kLanes = 4, kBlock = kLanes * sizeof(std::uint64_t);
  constexpr std::uint64_t kMultiplier = 0x9ddfea08eb382d69U;
  std::array<std::uint64_t, kLanes> lanes{1, 2, 3, 4};
  std::size_t at = 0;
  const auto take = [&](std::span<const std::byte, kBlock> block) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::uint64_t word = 0;
      std::memcpy(&word, block.data() + lane * sizeof word, sizeof word);
      lanes[lane] = std::rotl((lanes[lane] ^ word) * kMultiplier, 29);
    }
  };
  for (; at + kBlock <= content.size(); at += kBlock) take(content.subspan(at).first<kBlock>());
  std::array<std::byte, kBlock> rest{};
  std::copy(content.begin() + static_cast<std::ptrdiff_t>(at), content.end(), rest.begin());
  take(rest);
  std::uint64_t more = 0;
  for (const double parameter : parameters) more = mixed({more, std::bit_cast<std::uint64_t>(parameter)});
  return {mixed({lanes[0], lanes[1], lanes[2], lanes[3], content.size(), more}),
          mixed({lanes[3], lanes[2], lanes[1], lanes[0], ~more, content.size()})};
}

std::string hex_of(const CacheKey& key) {
  char hex[40];
  std::snprintf(hex, sizeof hex, "%016" PRIx64 "%016" PRIx64, key[0], key[1]);
  return hex;
}

namespace {

constexpr std::uint64_t kMagic = 0x31306c656d747574;  // "tutmel01"; another version of the entries, another number
constexpr int kPacks = 8;                             // that fill the cache: an eighth of it goes at a time

/// The head of each entry, as it is on disk.
struct EntryHead {
  std::uint64_t magic = kMagic;
  CacheKey key{};
  std::uint64_t check = 0;  // checksum of what follows
  std::int32_t real = 0, frames = 0;
  float silence = 0, lead = 0;
  std::int64_t values = 0;
};
static_assert(std::is_trivially_copyable_v<EntryHead> && sizeof(EntryHead) == 56);

std::int64_t size_of(const EntryHead& head) {
  return static_cast<std::int64_t>(sizeof head) + head.values * static_cast<std::int64_t>(sizeof(std::uint16_t));
}

}  // namespace

Result<std::unique_ptr<FeatureCache>> FeatureCache::open(const FeatureCacheOptions& options) {
  std::unique_ptr<FeatureCache> cache(new FeatureCache(options));
  TRY(make_folders(options.folder));
  std::error_code ignored;  // a folder that cannot be listed has no packs to use
  std::vector<std::filesystem::path> packs;
  for (const auto& entry : std::filesystem::directory_iterator(options.folder, ignored))
    if (entry.path().extension() == ".melpack") packs.push_back(entry.path());
  std::sort(packs.begin(), packs.end());  // by the time in their names
  for (const auto& path : packs) TRY(cache->adopt(path));
  return cache;
}

Result<void> FeatureCache::adopt(const std::filesystem::path& path) {
  auto pack = std::make_shared<Pack>();
  pack->path = path;
  pack->file = OwnedFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!pack->file || ::fstat(pack->file.get(), &facts) != 0) return {};  // another process has dropped it
  pack->size = facts.st_size;
  std::map<CacheKey, PackLocation> found;
  EntryHead head;
  for (std::int64_t at = 0; read_whole(pack->file.get(), std::as_writable_bytes(std::span(&head, 1)), at);) {
    if (head.magic != kMagic || head.values < 0 || at + size_of(head) > pack->size) break;  // its writer was cut short
    found[head.key] = {pack, at, size_of(head)};
    at += size_of(head);
  }
  state_.with([&](State& state) {
    state.packs.push_back(pack);
    state.size += pack->size;
    state.locations.merge(found);
  });
  return {};
}

Result<std::shared_ptr<FeatureCache::Pack>> FeatureCache::new_pack() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  char name[80];
  std::snprintf(name, sizeof name, "%020lld-%d.melpack",
                static_cast<long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()), ::getpid());
  auto pack = std::make_shared<Pack>();
  pack->path = options_.folder / name;
  pack->file = OwnedFd(::open(pack->path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!pack->file) return fail_errno(pack->path.string(), "could not be created");
  return pack;
}

std::optional<CachedFeatures> FeatureCache::find(const CacheKey& key) const {
  const auto location = state_.with([&](const State& state) {
    const auto at = state.locations.find(key);
    return at == state.locations.end() ? PackLocation{} : at->second;
  });
  if (!location.pack) return std::nullopt;
  EntryHead head;
  const int fd = location.pack->file.get();
  if (!read_whole(fd, std::as_writable_bytes(std::span(&head, 1)), location.at)) return std::nullopt;
  if (head.magic != kMagic || head.key != key || size_of(head) != location.size) return std::nullopt;
  CachedFeatures found{head.real, head.frames, head.silence, head.lead, {}};
  found.mel.resize(static_cast<std::size_t>(head.values));
  const bool is_read = read_whole(fd, std::as_writable_bytes(std::span(found.mel)),
                                  location.at + static_cast<std::int64_t>(sizeof head));
  if (!is_read || checksum(std::as_bytes(std::span(found.mel))) != head.check) return std::nullopt;
  return found;
}

std::vector<std::shared_ptr<FeatureCache::Pack>> FeatureCache::evict(State& state, std::int64_t more,
                                                                     std::int64_t most) {
  std::vector<std::shared_ptr<Pack>> dropped;
  while (state.size + more > most && !state.packs.empty() && state.packs.front() != state.open) {
    const auto oldest = state.packs.front();
    std::erase_if(state.locations, [&](const auto& entry) { return entry.second.pack == oldest; });
    state.size -= oldest->size;
    state.packs.pop_front();
    dropped.push_back(oldest);
  }
  return dropped;
}

Result<FeatureCache::PackLocation> FeatureCache::reserve(std::int64_t size) {
  const std::int64_t most_of_pack = options_.most.value / kPacks;
  const bool is_full =
      state_.with([&](const State& state) { return !state.open || state.open->size + size > most_of_pack; });
  std::shared_ptr<Pack> fresh;
  if (is_full) fresh = TRY(new_pack());
  PackLocation location;
  std::vector<std::shared_ptr<Pack>> dropped;
  state_.with([&](State& state) {
    if (fresh) state.packs.push_back(state.open = fresh);
    dropped = evict(state, size, options_.most.value);
    location = {state.open, state.open->size, size};
    state.open->size += size;
    state.size += size;
  });
  std::error_code ignored;
  for (const auto& pack : dropped) std::filesystem::remove(pack->path, ignored);
  return location;
}

Result<void> FeatureCache::store(const CacheKey& key, const CachedFeatures& features) {
  const EntryHead head{
      kMagic,           key,           checksum(std::as_bytes(std::span(features.mel))), features.real, features.frames,
      features.silence, features.lead, static_cast<std::int64_t>(features.mel.size())};
  if (size_of(head) > options_.most.value / kPacks) return {};  // a cache this small does not hold it
  const auto location = TRY(reserve(size_of(head)));
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes.append(reinterpret_cast<const char*>(features.mel.data()), features.mel.size() * sizeof(std::uint16_t));
  const Pack& pack = *location.pack;
  if (auto put = write_at(pack.file.get(), std::as_bytes(std::span(bytes)), location.at, pack.path.string()); !put)
    return put;
  state_.with([&](State& state) {
    const bool is_kept = std::find(state.packs.begin(), state.packs.end(), location.pack) != state.packs.end();
    if (is_kept) state.locations[key] = location;
  });
  return {};
}

std::size_t FeatureCache::entries() const {
  return state_.with([](const State& state) { return state.locations.size(); });
}

}  // namespace tutti
