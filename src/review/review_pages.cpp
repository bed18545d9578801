#include "cli/review/review_pages.h"

#include <algorithm>

#include "base/log.h"
#include "jobs/open_store.h"

namespace tutti {

Result<void> ReviewPages::write(const std::filesystem::path& page, std::string_view content) {
  if (!records_) {
    auto store = open_store({.url = store_});
    if (!store) return tl::unexpected(store.error());
    records_ = std::move(*store);
  }
  const auto placed = write_page(*records_, std::filesystem::absolute(page).lexically_normal(), content, existing_);
  if (!placed) return tl::unexpected(placed.error());
  if (!placed->kept.empty()) log(Level::warning, kept_text({placed->kept, placed->path}));
  last_ = placed->kept.empty() ? page : page.parent_path() / std::filesystem::path(placed->path).filename();
  return {};
}

Result<ReviewList> review_batch(std::span<const BatchJob> tasks, const std::filesystem::path& folder,
                                ReviewPages& pages, const AudioChoice& audio, std::function<bool()> stopped) {
  std::vector<ReviewInput> inputs;
  for (const BatchJob& task : tasks) {
    const auto outputs = task.outputs();
    const auto json = std::ranges::find_if(
        outputs, [](const std::filesystem::path& output) { return output.extension() == ".json"; });
    std::error_code ignored;
    if (json != outputs.end() && std::filesystem::exists(*json, ignored))
      inputs.push_back({.transcript = *json, .recording = task.spec.input, .name = task.spec.name});
  }
  if (inputs.empty()) return ReviewList{};
  return write_review(inputs, {.out = folder,
                               .audio = audio,
                               .stopped = std::move(stopped),
                               .write = [&pages](const std::filesystem::path& page, std::string_view content) {
                                 return pages.write(page, content);
                               }});
}

}  // namespace tutti
