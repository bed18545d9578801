#include "public/tutti/feed.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/field_names.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/try.h"
#include "feed/bad_samples.h"
#include "feed/batch_path.h"
#include "feed/options.h"
#include "feed/packed/gathered_batches.h"
#include "feed/packed/pack_set.h"
#include "feed/packed/pack_writer.h"
#include "feed/packed/packed_set.h"
#include "feed/sample_order.h"
#include "feed/source/dataset.h"
#include "feed/stages/streamed_batches.h"
#include "flow/pipeline.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

const char* name_of(Residence where) {
  return where == Residence::device ? "device" : where == Residence::memory ? "memory" : "mapped";
}

Result<void> check_space(const FeedOptions& options, Bytes needed) {
  const ResidentOptions& resident = options.resident;
  if (resident.where == Residence::mapped || resident.space.value == 0 || needed <= resident.space) return {};
  const std::string where = name_of(resident.where);
  return fail(Fault::exhausted,
              "data-set " + where + ": the packed set takes " + bytes_text(needed) + ", there is space for " +
                  bytes_text(resident.space),
              "Take data-set mapped, of which memory holds as much as fits, or fewer samples (max-samples)");
}

/// Before anything is decoded: what memory, and the cache as large as it may be, cannot hold.
Result<void> check_plan(const FeedOptions& options, const PackPlan& plan) {
  if (plan.size > options.cache.most)
    return fail(Fault::usage,
                std::string("data-set ") + name_of(options.resident.where) + ": the packed set takes " +
                    bytes_text(plan.size) + ", the cache may take " + bytes_text(options.cache.most),
                "Raise cache-gigabytes, or take data-set stream");
  return check_space(options, plan.size);
}

/// One process packs at a time: the others wait for it, and find what it made.
Result<OwnedFd> lock_folder(const fs::path& folder) {
  const fs::path path = folder / "packing.lock";
  OwnedFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock) return fail_errno(path.string(), "cannot be opened");
  const std::string elsewhere = "Name a folder on a disk of this machine with " + field("cache");
  const auto locked = TRY(try_lock_file(lock.get(), path.string(), elsewhere));
  if (locked) return lock;
  log(Level::info, "another process packs a set in " + folder.string() + "; waiting for it");
  TRY(lock_file(lock.get(), path.string(), elsewhere));
  return lock;
}

/// Packs of other sets go, those first that were used least lately, until all of them keep to the cache's bound. Who
/// has one of them mapped keeps it.
void evict(const fs::path& kept, Bytes most) {
  struct Old {
    fs::file_time_type used{};
    fs::path path{};
    std::int64_t size = 0;
  };
  std::error_code ignored;
  std::vector<Old> others;
  auto all = static_cast<std::int64_t>(fs::file_size(kept, ignored));
  for (const auto& entry : fs::directory_iterator(kept.parent_path(), ignored)) {
    if (entry.path().extension() != kPackEnding || entry.path() == kept) continue;
    others.push_back(
        {entry.last_write_time(ignored), entry.path(), static_cast<std::int64_t>(entry.file_size(ignored))});
    all += others.back().size;
  }
  std::sort(others.begin(), others.end(), [](const Old& a, const Old& b) { return a.used < b.used; });
  for (const Old& old : others) {
    if (all <= most.value) return;
    fs::remove(old.path, ignored);
    all -= old.size;
  }
}

/// The set as it is there; null where it is not, or is damaged. Errors: it cannot be looked at (memory, permissions).
Result<std::shared_ptr<PackedSet>> find(const FeedOptions& options, const CacheKey& key, const fs::path& path,
                                        bool reports_damage) {
  auto found = PackedSet::open(path, key, options.threads.features);
  if (found) {
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);  // it was used
    return found;
  }
  const Fault fault = found.error().fault;
  if (fault != Fault::missing && fault != Fault::corrupt) return found;
  if (reports_damage && fault == Fault::corrupt)
    log(Level::warning, "the packed set cannot be used and is packed again: " + found.error().text());
  return nullptr;
}

std::shared_ptr<PackedSet> not_packed(const Error& error) {
  log(Level::warning, "the set is not packed, each sample is read when its turn comes: " + error.text());
  return nullptr;
}

/// With the folder locked.
Result<std::shared_ptr<PackedSet>> pack(const FeedOptions& options, const Dataset& set, const CacheKey& key,
                                        const fs::path& path) {
  remove_other_half_packs(path);
  auto found = find(options, key, path, /*reports_damage=*/true);
  if (!found) return not_packed(found.error());
  if (*found) return found;  // another process has mended it meanwhile
  const auto plan = plan_pack(options, set);
  if (!plan) return not_packed(plan.error());
  TRY(check_plan(options, *plan));
  const Bytes missing{plan->size.value - half_packed(path).value};
  if (auto fits = expect_space(path.parent_path(), missing, "what is still to be packed",
                               "Free some space, or name another folder with " + field("cache"));
      !fits)
    return not_packed(fits.error());
  const auto begin = options.clock->now();
  if (auto written = write_pack(options, set, *plan, key, path); !written) return not_packed(written.error());
  evict(path, options.cache.most);
  auto made = PackedSet::open(path, key, options.threads.features);
  if (!made) return not_packed(made.error());
  const Seconds took = options.clock->now() - begin;
  log(Level::info, "packed " + std::to_string((*made)->entries()) + " samples into " + path.string() + ": " +
                       bytes_text((*made)->size()) + ", " + fixed_text(took.count(), 1) + " s");
  return made;
}

/// Packs the set, or waits for the process that does. `was_there`: what lay there when we looked cannot be used.
Result<std::shared_ptr<PackedSet>> pack_once(const FeedOptions& options, const Dataset& set, const CacheKey& key,
                                             const fs::path& path, bool was_there) {
  const fs::path folder = path.parent_path();
  auto lock = lock_folder(folder);
  std::error_code ignored;
  if (lock && !was_there && fs::exists(path, ignored)) {
    // Packed meanwhile. All that waited for it read it at once, not one behind the other.
    *lock = OwnedFd();
    auto found = find(options, key, path, /*reports_damage=*/false);
    if (!found) return not_packed(found.error());
    if (*found) return found;
    lock = lock_folder(folder);
  }
  if (!lock) return not_packed(lock.error());
  return pack(options, set, key, path);
}

/// The set packed as `options.resident` requests: found in the cache's folder, else packed now, by one process at a
/// time. A damaged pack is reported and made again. Null where the folder cannot hold it, or the machine cannot read
/// all samples now: that is logged once, and samples are read one by one. Fault::exhausted where memory cannot hold it,
/// Fault::usage where the cache may not be as large; both before any work.
Result<std::shared_ptr<const PackedSet>> open_packed(const FeedOptions& options, const Dataset& set) {
  const auto key = TRY(pack_key(options, set));
  std::error_code ignored;  // what cannot be made cannot be locked either, which is reported
  fs::create_directories(options.cache.folder, ignored);
  const fs::path path = options.cache.folder / (hex_of(key) + kPackEnding);
  auto opened = Result<std::shared_ptr<PackedSet>>(nullptr);
  const bool is_there = fs::exists(path, ignored);
  if (is_there) opened = find(options, key, path, /*reports_damage=*/false);
  if (!opened)
    opened = not_packed(opened.error());
  else if (!*opened)
    opened = pack_once(options, set, key, path, is_there);
  if (!opened) return tl::unexpected(opened.error());
  if (!*opened) return nullptr;
  const auto where = options.resident.where;
  const Bytes needed = where == Residence::device ? (*opened)->features() : (*opened)->size();
  TRY(check_space(options, needed));
  if (where == Residence::memory) TRY((*opened)->move_to_memory(options.threads.features));
  return std::shared_ptr<const PackedSet>(std::move(*opened));
}

std::string prefix_of(std::uint64_t fingerprint) {
  ByteWriter out;
  out.put(fingerprint);
  return out.take();
}

/// Null where none is requested, or where it is of no use: audio that changes in every epoch has no features worth
/// keeping.
Result<std::unique_ptr<FeatureCache>> cache_of(const FeedOptions& options) {
  if (options.cache.folder.empty()) return nullptr;
  if (!options.augmentation.touches_audio()) return FeatureCache::open(options.cache);
  if (options.rank == 0)
    log(Level::warning,
        "the cache of features is not used: speed, room, noise or gain change the audio in every epoch. "
        "Leave them out to use it; masks may stay");
  return nullptr;
}

}  // namespace

FeedReport FeedReport::since(const FeedReport& before) const {
  FeedReport later = *this;
  later.stages.elapsed -= before.stages.elapsed;
  for (std::size_t i = 0; i < std::min(stages.stages.size(), before.stages.stages.size()); ++i) {
    StageReport& stage = later.stages.stages[i];
    const StageReport& old = before.stages.stages[i];
    stage.times = stage.times.since(old.times);
    stage.items_in -= old.items_in;
    stage.items_out -= old.items_out;
    stage.failed -= old.failed;
    stage.service = stage.service.since(old.service);
  }
  later.batches -= before.batches;
  later.samples -= before.samples;
  later.real_frames -= before.real_frames;
  later.padded_frames -= before.padded_frames;
  later.held_up -= before.held_up;
  later.waits = waits.since(before.waits);
  return later;
}

struct Feed::Parts {
  Parts(FeedOptions requested, std::unique_ptr<Dataset> data, std::unique_ptr<BadSamples> bad_samples);
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { close(); }

  /// Ends every wait in the pipeline.
  void close() {
    if (path) path->close();
    batches = {};
  }

  /// Out of a packed set, or sample by sample.
  Result<void> choose_path();
  /// Whether the position is one of this set and these options.
  Result<void> check_position() const;

  FeedOptions options;
  std::unique_ptr<Dataset> set;
  std::unique_ptr<BadSamples> bad;
  std::string prefix;
  std::shared_ptr<const PackedSet> packed{};
  std::unique_ptr<BatchPath> path{};
  Histogram waits;
  std::atomic<std::int64_t> batch_count = 0, sample_count = 0, real_frames = 0, padded_frames = 0;
  std::atomic<std::chrono::nanoseconds> held_up{};
  Reader<Batch> batches;
  Pipeline pipeline;  // last: its threads use all of the above
};

Feed::Parts::Parts(FeedOptions requested, std::unique_ptr<Dataset> data, std::unique_ptr<BadSamples> bad_samples)
    : options(std::move(requested)),
      set(std::move(data)),
      bad(std::move(bad_samples)),
      prefix(prefix_of(fingerprint_of(options, set->fingerprint()))),
      pipeline({.clock = options.clock}) {}

Result<void> Feed::Parts::choose_path() {
  if (options.resident.where != Residence::stream) packed = TRY(open_packed(options, *set));
  if (packed) {
    path = std::make_unique<GatheredBatches>(options, packed, *bad, prefix);
    return {};
  }
  auto cache = TRY(cache_of(options));
  path = std::make_unique<StreamedBatches>(options, *set, std::move(cache), *bad, prefix);
  return {};
}

Result<void> Feed::Parts::check_position() const {
  if (options.resume.empty() || options.resume.starts_with(prefix)) return {};
  return fail(Fault::usage, "the position to resume from belongs to another set, or to other options of the feed",
              "Resume with the data and the settings it was made with");
}

Feed::Feed(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Feed::Feed(Feed&&) noexcept = default;
Feed& Feed::operator=(Feed&&) noexcept = default;
Feed::~Feed() = default;

Result<Feed> Feed::open(FeedOptions options) {
  TRY(check(options));
  auto set = TRY(open_dataset(options.data, options.split, options.fields));
  if (set->size() <= options.rank)
    return fail(Fault::corrupt, options.data.string() + ": holds no sample" +
                                    (options.ranks > 1 ? " for rank " + std::to_string(options.rank) : ""));
  const std::int64_t samples = SampleOrder(options, set->size(), 0, 0).different();
  auto bad = TRY(BadSamples::open(options.bad_samples, options.bad_limits, samples));
  auto parts = std::make_unique<Parts>(std::move(options), std::move(set), std::move(bad));
  TRY(parts->check_position());
  TRY(parts->choose_path());
  if (const std::string_view at = parts->options.resume; !at.empty())
    TRY(parts->path->restore(at.substr(parts->prefix.size())));
  parts->batches = parts->path->add_stages(parts->pipeline);
  parts->pipeline.start();
  return Feed(std::move(parts));
}

Result<std::optional<Batch>> Feed::next() {
  const auto since = parts_->options.clock->now();
  auto batch = parts_->batches.pop();
  const auto until = parts_->options.clock->now();
  parts_->waits.record(Seconds(until - since).count());
  if (!batch) {
    parts_->close();
    TRY(parts_->pipeline.join());
    return std::nullopt;
  }
  if (const auto held = batch->held_up_since; held && *held < until) {
    batch->held_up.add(std::max(since, *held), until);
    parts_->held_up = parts_->held_up.load() + (until - std::max(since, *held));
  }
  parts_->batch_count += 1;
  parts_->sample_count += batch->size();
  parts_->padded_frames += batch->size() * batch->frames;
  for (const BatchSample& sample : batch->samples) parts_->real_frames += sample.frames;
  return batch;
}

void Feed::deepen(int more) {
  const std::string last = parts_->pipeline.report().stages.back().name;
  const auto set =
      parts_->pipeline.set_queue(last, static_cast<std::size_t>(std::max(1, parts_->options.ready + more)));
  if (!set) log(Level::warning, set.error().text());
}

std::int64_t Feed::samples_per_epoch() const {
  return SampleOrder(parts_->options, parts_->set->size(), 0, 0).count();
}

std::string Feed::conclusion() const {
  return parts_->set->conclusion();
}

std::shared_ptr<const PackedSet> Feed::packed() const {
  return parts_->packed;
}

FeedReport Feed::report() const {
  FeedReport report;
  report.stages = parts_->pipeline.report();
  parts_->path->correct(report.stages);
  report.batches = parts_->batch_count;
  report.samples = parts_->sample_count;
  report.real_frames = parts_->real_frames;
  report.padded_frames = parts_->padded_frames;
  report.held_up = parts_->held_up.load();
  report.bad_samples = parts_->bad->count();
  report.last_bad = parts_->bad->last();
  report.waits = parts_->waits.snapshot();
  return report;
}

}  // namespace tutti
