#include "feed/packed/packed_set.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "base/try.h"
#include "feed/feature_cache.h"
#include "feed/packed/in_parallel.h"
#include "feed/packed/pack_format.h"
#include "feed/stages/sample_stages.h"

namespace tutti {
namespace {

tl::unexpected<Error> damaged(const std::filesystem::path& path, const std::string& what) {
  return fail(Fault::corrupt, path.string() + ": " + what);
}

}  // namespace

Result<std::shared_ptr<PackedSet>> PackedSet::open(const std::filesystem::path& path, const CacheKey& key,
                                                   int threads) {
  auto opened = TRY(open_set_file<PackHead>(path, "a packed set", ""));
  if (opened.head.key != key) return damaged(path, "expected the packed set of these samples, found another one");
  std::shared_ptr<PackedSet> set(new PackedSet(std::move(opened)));
  TRY(in_parallel(set->entries(), threads, [&](std::int64_t number) -> Result<void> {
    if (set->is_intact(number)) return {};
    return damaged(path, "sample " + std::to_string(number) + " is damaged");
  }));
  return set;
}

void PackedSet::find_index() {
  const std::byte* at = bytes_.data() + head_.index_at;
  firsts_ = {reinterpret_cast<const std::int64_t*>(at), static_cast<std::size_t>(head_.lines + 1)};
  entries_ = {reinterpret_cast<const PackEntry*>(at + firsts_.size_bytes()), static_cast<std::size_t>(head_.entries)};
}

bool PackedSet::is_intact(std::int64_t number) const {
  constexpr auto kHead = static_cast<std::int64_t>(sizeof(RecordHead));
  const PackEntry& it = entry(number);
  const std::int64_t size = record_bytes(it, n_mels());
  if (it.at < kHead || it.frames < it.real || it.facts < 0 || it.at + size > head_.index_at) return false;
  RecordHead head;
  std::memcpy(&head, bytes_.data() + it.at - kHead, sizeof head);
  if (head.number != number || head.check != check_of_head(head)) return false;
  const auto record = bytes_.subspan(static_cast<std::size_t>(it.at), static_cast<std::size_t>(size));
  return checksum(record) == it.check;
}

Result<void> PackedSet::move_to_memory(int threads) {
  constexpr std::int64_t kPart = 16 << 20;
  const std::int64_t size = std::ssize(bytes_);
  std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes_.size()]);
  if (!copy)
    return fail(Fault::exhausted,
                "data-set memory: the packed set takes " + bytes_text(this->size()) +
                    ", this process gets no more memory as large",
                "Take data-set mapped, of which memory holds as much as fits, raise the process's limit "
                "(ulimit -v), or take fewer samples (max-samples)");
  TRY(in_parallel((size + kPart - 1) / kPart, threads, [&](std::int64_t part) -> Result<void> {
    const std::int64_t at = part * kPart;
    std::memcpy(copy.get() + at, bytes_.data() + at, static_cast<std::size_t>(std::min(kPart, size - at)));
    return {};
  }));
  copy_ = std::move(copy);
  bytes_ = {copy_.get(), bytes_.size()};
  find_index();
  const MappedFile close = std::move(file_);
  return {};
}

std::span<const std::uint16_t> PackedSet::mel(const PackEntry& entry) const {
  return {reinterpret_cast<const std::uint16_t*>(bytes_.data() + entry.at),
          static_cast<std::size_t>(n_mels() * entry.frames)};
}

std::string_view PackedSet::facts_of(const PackEntry& entry) const {
  const auto* record = reinterpret_cast<const char*>(bytes_.data() + entry.at);
  return {record + feature_bytes(n_mels(), entry.frames), static_cast<std::size_t>(entry.facts)};
}

BatchSample PackedSet::facts(const PackEntry& entry) const {
  auto read = read_facts(facts_of(entry));
  if (!read) throw std::logic_error("a packed sample's facts cannot be read");
  return std::move(*read);
}

BadFacts PackedSet::bad_facts(const PackEntry& entry) const {
  auto read = read_bad_facts(facts_of(entry));
  if (!read) throw std::logic_error("a bad packed sample's facts cannot be read");
  return std::move(*read);
}

Bytes PackedSet::features() const {
  Bytes all;
  for (const PackEntry& entry : entries_) all.value += feature_bytes(n_mels(), entry.frames);
  return all;
}

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
  TRY(in_parallel(std::ssize(stamps) - 1, options.threads.packing(), [&](std::int64_t i) {
    const auto line = set.at(i);
    if (line) stamps[static_cast<std::size_t>(i)] = mixed({stamp_of(line->audio), stamp_of(line->times)});
    return Result<void>();
  }));
  stamps[lines] = mixed({set.fingerprint(), digest(options.split), digest_of(options.fields), kPackMagic,
                         static_cast<std::uint64_t>(options.times), static_cast<std::uint64_t>(options.n_mels),
                         static_cast<std::uint64_t>(options.chunking)});
  const double parameters[] = {feature_kind(options), options.window.count()};
  return cache_key(std::as_bytes(std::span(stamps)), parameters);
}

void gather_row(const PackedSet& set, const PackEntry& entry, const SpectrumMasks& masks, float* out,
                std::int64_t frames) {
  unpack(set.mel(entry).data(), entry.frames, entry.silence, set.n_mels(), out, frames);
  mask_spectrum(out, set.n_mels(), frames, entry.real, masks);
}

}  // namespace tutti
