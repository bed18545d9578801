#include "feed/plan/planner.h"

#include <algorithm>
#include <numeric>

#include "base/bytes.h"

namespace tutti {
namespace {

/// So many samples of `longest` frames make a batch.
std::int64_t capacity_for(std::int32_t longest, const BatchRules& rules) {
  if (rules.most_frames == 0) return rules.most_samples;
  return std::clamp<std::int64_t>(rules.most_frames / std::max(longest, 1), 1, rules.most_samples);
}

std::vector<std::size_t> choose_in_order(std::span<const std::int32_t> frames, const BatchRules& rules) {
  std::vector<std::size_t> chosen;
  std::int32_t longest = 0;
  for (std::size_t at = 0; at < frames.size(); ++at) {
    longest = std::max(longest, frames[at]);
    if (static_cast<std::int64_t>(at) + 1 > capacity_for(longest, rules) && at > 0) break;
    chosen.push_back(at);
  }
  return chosen;
}

/// A run [first, last] of the samples by length.
struct Run {
  std::size_t first = 0;
  std::size_t last = 0;
  double padding = 2;  // share of its frames
};

}  // namespace

std::vector<std::size_t> choose_batch(std::span<const std::int32_t> frames, const BatchRules& rules) {
  if (!rules.by_length) return choose_in_order(frames, rules);
  std::vector<std::size_t> sorted(frames.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::sort(sorted.begin(), sorted.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(frames[a], a) < std::pair(frames[b], b); });
  std::vector<std::int64_t> sum(frames.size() + 1);
  for (std::size_t i = 0; i < sorted.size(); ++i) sum[i + 1] = sum[i] + frames[sorted[i]];

  const auto oldest = static_cast<std::size_t>(std::find(sorted.begin(), sorted.end(), 0) - sorted.begin());
  const auto longest_of = [&](std::size_t last) { return frames[sorted[last]]; };
  const auto first_with = [&](std::size_t last) {
    const auto space = static_cast<std::size_t>(capacity_for(longest_of(last), rules));
    return last + 1 >= space ? last + 1 - space : 0;
  };
  Run best;
  for (std::size_t last = oldest; last < sorted.size(); ++last) {
    const std::size_t first = first_with(last);
    if (first > oldest) break;  // longer batches are smaller still
    const bool is_full = first > 0 || last + 1 == sorted.size() || first_with(last + 1) > 0;
    if (!is_full) continue;
    const double whole = static_cast<double>(last + 1 - first) * std::max(longest_of(last), 1);
    const Run run{first, last, 1 - static_cast<double>(sum[last + 1] - sum[first]) / whole};
    if (run.padding < best.padding) best = run;
  }
  std::vector<std::size_t> chosen(sorted.begin() + static_cast<std::ptrdiff_t>(best.first),
                                  sorted.begin() + static_cast<std::ptrdiff_t>(best.last) + 1);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::size_t choose_replacement(std::span<const std::int32_t> frames, std::int32_t longest) {
  std::size_t best = 0;
  const auto fit = [&](std::int32_t length) {  // larger is better
    return length <= longest ? std::int64_t{length} : -std::int64_t{length};
  };
  for (std::size_t at = 1; at < frames.size(); ++at)
    if (fit(frames[at]) > fit(frames[best])) best = at;
  return best;
}

namespace {

constexpr std::uint32_t kFormat = 1;

template <class Samples>
void put(ByteWriter& out, const Samples& samples) {
  out.put(static_cast<std::uint32_t>(samples.size()));
  for (const PlannedSample& sample : samples) {
    out.put(sample.index);
    out.put(sample.piece);
    out.put(sample.frames);
  }
}

template <class Samples>
void get(ByteReader& in, Samples& samples) {
  std::uint32_t count = 0;
  in.get(count);
  samples.clear();
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
    PlannedSample sample;
    in.get(sample.index);
    in.get(sample.piece);
    in.get(sample.frames);
    samples.push_back(sample);
  }
}

}  // namespace

void Planner::add(std::int64_t cursor, const std::vector<PlannedSample>& samples) {
  cursor_ = cursor + 1;
  window_.insert(window_.end(), samples.begin(), samples.end());
}

void Planner::begin_epoch() {
  ++epoch_;
  cursor_ = 0;
  is_order_over_ = false;
}

std::vector<std::int32_t> Planner::waiting_frames() const {
  std::vector<std::int32_t> frames;
  frames.reserve(window_.size());
  for (const PlannedSample& sample : window_) frames.push_back(sample.frames);
  return frames;
}

const PlannedBatch& Planner::choose() {
  const auto chosen = choose_batch(waiting_frames(), rules_);
  PlannedBatch batch{next_number_++, epoch_, {}};
  for (const std::size_t at : chosen) batch.samples.push_back(window_[at]);
  for (auto at = chosen.rbegin(); at != chosen.rend(); ++at)
    window_.erase(window_.begin() + static_cast<std::ptrdiff_t>(*at));
  return in_flight_.emplace_back(std::move(batch));
}

const PlannedBatch& Planner::replace(const std::vector<std::size_t>& bad_rows) {
  PlannedBatch& batch = in_flight_.front();
  std::int32_t longest = 0;
  for (const PlannedSample& sample : batch.samples) longest = std::max(longest, sample.frames);
  for (const std::size_t row : bad_rows) {
    if (batch.epoch != epoch_ || window_.empty()) {
      batch.samples[row] = {.index = -1};
      continue;
    }
    const auto at = static_cast<std::ptrdiff_t>(choose_replacement(waiting_frames(), longest));
    batch.samples[row] = window_[static_cast<std::size_t>(at)];
    window_.erase(window_.begin() + at);
  }
  return batch;
}

void Planner::resolve(std::int64_t number) {
  std::erase_if(in_flight_, [number](const PlannedBatch& batch) { return batch.number == number; });
}

std::string Planner::save() const {
  ByteWriter out;
  out.put(kFormat);
  out.put(epoch_);
  out.put(cursor_);
  out.put(next_number_);
  put(out, window_);
  out.put(static_cast<std::uint32_t>(in_flight_.size()));
  for (const PlannedBatch& batch : in_flight_) {
    out.put(batch.number);
    out.put(batch.epoch);
    put(out, batch.samples);
  }
  return out.take();
}

Result<void> Planner::restore(std::string_view saved) {
  ByteReader in(saved);
  std::uint32_t format = 0, batches = 0;
  in.get(format);
  in.get(epoch_);
  in.get(cursor_);
  in.get(next_number_);
  get(in, window_);
  in.get(batches);
  in_flight_.clear();
  for (std::uint32_t i = 0; i < batches && !in.failed(); ++i) {
    PlannedBatch& batch = in_flight_.emplace_back();
    in.get(batch.number);
    in.get(batch.epoch);
    get(in, batch.samples);
  }
  if (in.finished() && format == kFormat) return {};
  return fail(Fault::corrupt, "the feed's position is damaged, or another version's",
              "Start without it, or take an older checkpoint");
}

}  // namespace tutti
