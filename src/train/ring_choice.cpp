#include "train/ring_choice.h"

#include <algorithm>
#include <string_view>

#include "base/process/process_rank.h"
#include "device/machine.h"
#include "recipe/training_fields.h"

namespace tutti {
namespace {

constexpr int kMostDepth = 64;                          // a stall that so many batches do not hide is the reader's rate
constexpr int kMostBehind = 32;                         // beside those of the ring
constexpr std::int64_t kShare = 8;                      // of the memory that is available
constexpr const char *kRing = "ring", *kFeed = "feed";  // of what is remembered

int value_of(const ThreadSettings& known, std::string_view name, int usual) {
  const auto found = std::ranges::find(known, name, [](const auto& it) { return std::string_view(it.first); });
  return found == known.end() ? usual : found->second;
}

/// Whether an eighth of the memory that is available here has space for as many bytes as a ring may take.
bool has_memory_behind(Bytes ring) {
  const auto memory = read_memory();
  return memory && memory->available.value / kShare / ranks_here() >= ring.value;
}

}  // namespace

std::string ring_training(std::string_view kind, const std::filesystem::path& data, std::int64_t batch_size,
                          const std::string& network, const std::string& device) {
  return "train " + std::string(kind) + ", " + data.string() + ", batches of " + std::to_string(batch_size) +
         (network.empty() ? "" : ", " + network) + ", " + device;
}

RingChoice::RingChoice(RingRequest request) {
  options_.depth = options_.most_depth = ring_depth_of(request.depth);
  if (request.depth > 0 || request.memory.value <= 0) return;
  const TuningPlan plan{.pipeline = std::move(request.training),
                        .stages = {{kRing, StageResource::io, true}, {kFeed, StageResource::io, true}}};
  const TuningKey key = key_of(plan);
  const auto known = recall_tuning(key).value_or(ThreadSettings());
  options_.memory = request.memory;
  options_.known_depth = std::clamp(value_of(known, kRing, options_.depth), options_.depth, kMostDepth);
  // What is remembered of a queue counts from 1, as threads do.
  behind_ = request.has_feed ? std::clamp(value_of(known, kFeed, 1) - 1, 0, kMostBehind) : 0;
  options_.most_depth = options_.known_depth;
  key_ = key;
  options_.most_depth = kMostDepth;
  if (request.has_feed && has_memory_behind(request.memory)) options_.most_behind = kMostBehind - behind_;
}

void RingChoice::remember(const RingReport& ring) const {
  if (!key_ || ring.batches == 0) return;
  remember_tuning(*key_, {.now = {{kRing, std::clamp(ring.depth, 1, kMostDepth)},
                                  {kFeed, 1 + std::clamp(behind_ + ring.behind, 0, kMostBehind)}}});
}

}  // namespace tutti
