#include "feed/ring/ring_depth.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "advise/replay.h"

namespace tutti {

PipelineModel ring_model(std::span<const Seconds> reads, std::span<const Seconds> steps, int depth) {
  // The step's own slot is no queue: it is the item that the second stage has in hand.
  StageModel read{
      .name = "read", .resource = StageResource::io, .queue = static_cast<std::size_t>(std::max(depth, 1)) - 1};
  StageModel step{.name = "step", .resource = StageResource::io};
  auto fetched = std::make_shared<std::vector<ItemTime>>(), stepped = std::make_shared<std::vector<ItemTime>>();
  for (std::size_t i = 0; i < reads.size(); ++i) {
    fetched->push_back({.work = reads[i]});
    stepped->push_back({.work = steps[std::min(i, steps.size() - 1)]});
  }
  read.times = std::move(fetched);
  step.times = std::move(stepped);
  return {.stages = {std::move(read), std::move(step)}};
}

double ring_utilisation(std::span<const Seconds> reads, std::span<const Seconds> steps, int depth) {
  const auto played = replay(ring_model(reads, steps, depth), {.items = reads.size(), .source_items = reads.size()});
  return played.stages.back().busy;
}

void RingTuner::note(Seconds read, Seconds step) {
  reads_.push_back(read);
  steps_.push_back(step);
  if (reads_.size() <= kRemembered) return;
  reads_.pop_front();
  steps_.pop_front();
}

int RingTuner::advised(int least) const {
  constexpr std::size_t kEnough = 64;
  constexpr double kAsGood = 0.01;
  if (reads_.size() < kEnough) return std::min(least, most_depth_);
  const std::vector<Seconds> reads(reads_.begin(), reads_.end()), steps(steps_.begin(), steps_.end());
  const double enough = ring_utilisation(reads, steps, most_depth_) - kAsGood;
  int depth = std::min(least, most_depth_), most = most_depth_;  // the answer is among these: more depth never costs
  while (depth < most) {
    const int middle = depth + (most - depth) / 2;
    if (ring_utilisation(reads, steps, middle) < enough)
      depth = middle + 1;
    else
      most = middle;
  }
  return depth;
}

}  // namespace tutti
