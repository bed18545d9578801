#include "feed/plan/planner.h"

#include <algorithm>

#include "base/bytes.h"

namespace tutti {
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
