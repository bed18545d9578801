#include "cli/batch/batch_review.h"

#include <algorithm>

namespace tutti {

Result<ReviewList> review_batch(std::span<const BatchTask> tasks, const std::filesystem::path& folder,
                                const AudioChoice& audio, std::function<bool()> stopped) {
  std::vector<ReviewInput> inputs;
  for (const BatchTask& task : tasks) {
    const auto outputs = task.outputs();
    const auto json = std::ranges::find_if(
        outputs, [](const std::filesystem::path& output) { return output.extension() == ".json"; });
    std::error_code ignored;
    if (json != outputs.end() && std::filesystem::exists(*json, ignored))
      inputs.push_back({.transcript = *json, .recording = task.spec.input, .name = task.spec.name});
  }
  if (inputs.empty()) return ReviewList{};
  return write_review(inputs, {.out = folder, .audio = audio, .stopped = std::move(stopped)});
}

}  // namespace tutti
