#include "feed/packed/pack_set.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "audio/augment/augmentation.h"
#include "audio/mel/log_mel.h"
#include "base/clock.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/try.h"
#include "feed/feature_cache.h"
#include "feed/packed/in_parallel.h"
#include "feed/packed/pack_writer.h"
#include "feed/packed/packed_set.h"
#include "feed/prepared_set.h"
#include "feed/stages/sample_stages.h"

namespace tutti {
namespace {

constexpr Seconds kBetweenNews{10};
constexpr std::int64_t kUsualFacts = 256;  // bytes: id, text, path

/// A line as the feed's probe sees it; what it comes to does not depend on the epoch.
Probed probe_line(const SampleStages& stages, std::int64_t line) {
  Probed probed;
  probed.index = line;
  return stages.probe(std::move(probed));
}

Bytes size_of(const std::vector<PlannedSample>& samples, std::int64_t n_mels) {
  Bytes all{static_cast<std::int64_t>(sizeof(PackHead))};
  for (const PlannedSample& sample : samples)
    all.value += feature_bytes(n_mels, sample.frames + kStraddlingFrames) + kUsualFacts +
                 static_cast<std::int64_t>(sizeof(RecordHead) + sizeof(PackEntry));
  return all;
}

/// Reports how far the packing is. Thread-safe.
class Progress {
 public:
  Progress(std::int64_t done, std::int64_t all, const Clock& clock)
      : all_(all), clock_(clock), done_(done), last_report_(clock.now()) {}

  void note_one() {
    const std::int64_t done = ++done_;
    const auto now = clock_.now();
    const bool is_due = last_report_.with([&](Clock::Instant& reported) {
      if (now - reported < kBetweenNews) return false;
      reported = now;
      return true;
    });
    if (is_due)
      log(Level::info, "packing the set: " + std::to_string(done) + " of " + std::to_string(all_) + " samples");
  }

 private:
  std::int64_t all_;
  const Clock& clock_;
  std::atomic<std::int64_t> done_;
  Guarded<Clock::Instant> last_report_;
};

/// Packs samples, each on its own. Called by several threads at once.
class Packer {
 public:
  Packer(const FeedOptions& options, const Dataset& set, FeatureCache* cache, const PackPlan& plan, PackWriter& out)
      : options_(options), stages_(options, set, cache), plan_(plan), out_(out) {}

  Result<void> pack(std::int64_t number, PackEntry& entry) {
    const PlannedSample& planned = plan_.samples[static_cast<std::size_t>(number)];
    entry.piece = planned.piece;
    entry.planned = planned.frames;
    if (planned.piece == kBadLine) return out_.append(number, entry, {}, write_facts(plan_.bad.at(planned.index)));
    PendingSample row = row_of(planned);
    const auto kept = TRY(features_of(row));
    if (!kept) return out_.append(number, entry, {}, write_facts(BadFacts{row.line.id, row.bad()->text()}));
    entry.real = kept->real;
    entry.frames = kept->frames;
    entry.silence = kept->silence;
    entry.mean = spectrum_mean(options_.n_mels, kept->real, [&](std::int64_t bin, std::int64_t frame) {
      return from_half(kept->mel[static_cast<std::size_t>(bin * kept->frames + frame)]);
    });
    return out_.append(number, entry, kept->mel, write_facts(row.work->batch.samples.front()));
  }

 private:
  /// A batch of its own.
  static PendingSample row_of(const PlannedSample& planned) {
    PendingSample row;
    row.work = std::make_shared<PendingBatch>();
    row.work->batch.samples.resize(1);
    row.planned = planned;
    return row;
  }

  /// None for a bad sample: why is in the row.
  Result<std::optional<CachedFeatures>> features_of(PendingSample& row) {
    stages_.read(row);
    if (row.needs_audio()) stages_.decode(row);
    if (row.needs_audio()) stages_.resample(row);
    auto kept = row.is_wanted() ? stages_.features_to_keep(row) : std::nullopt;
    if (kept) return kept;
    if (const Error* lacks = row.shortage()) return fail_in(row.line.id, *lacks);
    if (may_pass(row.bad()->fault)) return fail_in(row.line.id, *row.bad());
    return kept;
  }

  const FeedOptions& options_;
  SampleStages stages_;
  const PackPlan& plan_;
  PackWriter& out_;
};

/// Those of the samples that an interrupted packing has done; the others have no entry yet. The file's name identifies
/// the set, so numbers are this plan's.
Result<std::vector<PackEntry>> entries_done(PackWriter& writer, const PackPlan& plan, std::int64_t n_mels) {
  std::vector<PackEntry> entries(plan.samples.size());
  const auto done = TRY(writer.resume(n_mels, entries));
  if (done > 0)
    log(Level::info, "packing the set: " + std::to_string(done) + " of " + std::to_string(entries.size()) +
                         " samples are there, from a packing that was interrupted");
  return entries;
}

}  // namespace

Result<PackPlan> plan_pack(const FeedOptions& options, const Dataset& set) {
  const SampleStages stages(options, set, nullptr);
  std::vector<std::vector<PlannedSample>> of_lines(static_cast<std::size_t>(lines_of(options, set)));
  Guarded<std::map<std::int64_t, BadFacts>> bad;
  TRY(in_parallel(std::ssize(of_lines), options.threads.probe, [&](std::int64_t line) -> Result<void> {
    Probed probed = probe_line(stages, line);
    if (probed.bad && may_pass(probed.bad->fault)) return fail_in(probed.id, *probed.bad);
    if (probed.bad) {
      bad.with([&](auto& all) { all[line] = {probed.id, probed.bad->text()}; });
      probed.samples = {{.index = line, .piece = kBadLine}};
    }
    of_lines[static_cast<std::size_t>(line)] = std::move(probed.samples);
    return {};
  }));
  PackPlan plan;
  for (auto& samples : of_lines) {
    plan.firsts.push_back(std::ssize(plan.samples));
    plan.samples.insert(plan.samples.end(), samples.begin(), samples.end());
    samples = std::vector<PlannedSample>();  // its memory, which clear() would keep
  }
  plan.firsts.push_back(std::ssize(plan.samples));
  plan.bad = bad.with([](auto& all) { return std::move(all); });
  plan.size = size_of(plan.samples, options.n_mels);
  return plan;
}

Result<void> write_pack(const FeedOptions& options, const Dataset& set, const PackPlan& plan, const CacheKey& key,
                        const std::filesystem::path& path) {
  auto writer = TRY(PackWriter::create(path));
  auto cache = TRY(FeatureCache::open(options.cache));
  auto entries = TRY(entries_done(*writer, plan, options.n_mels));
  const auto is_done = [](const PackEntry& entry) { return entry.at > 0; };
  Packer packer(options, set, cache.get(), plan, *writer);
  Progress progress(std::ranges::count_if(entries, is_done), std::ssize(entries), *options.clock);
  TRY(in_parallel(std::ssize(entries), options.threads.packing(), [&](std::int64_t i) -> Result<void> {
    PackEntry& entry = entries[static_cast<std::size_t>(i)];
    if (is_done(entry)) return {};
    auto done = packer.pack(i, entry);
    progress.note_one();
    return done;
  }));
  return writer->publish({.key = key, .n_mels = options.n_mels}, plan.firsts, entries);
}

}  // namespace tutti
