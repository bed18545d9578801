#include "review/review_pages.h"

#include <algorithm>

#include "base/log.h"
#include "base/try.h"
#include "jobs/open_store.h"
#include "transcribe/inputs/address.h"

namespace tutti {
namespace {

bool is_output_there(ObjectOutputs* objects, const std::filesystem::path& output) {
  std::error_code ignored;
  if (!is_object(output)) return std::filesystem::exists(output, ignored);
  const auto facts = objects ? objects->look_at_list(output) : std::nullopt;
  return facts && facts->has_value();
}

}  // namespace

Result<void> ReviewPages::write(const std::filesystem::path& page, std::string_view content) {
  if (!records_) {
    records_ = TRY(open_store({.url = store_, .objects = objects_}));
  }
  const auto whole = is_object(page) ? page : std::filesystem::absolute(page).lexically_normal();
  const auto placed = TRY(write_page(*records_, whole, content, existing_));
  if (!placed.kept.empty()) log(Level::warning, kept_text({placed.kept, placed.path}));
  last_ = placed.kept.empty() ? page : page.parent_path() / std::filesystem::path(placed.path).filename();
  return {};
}

Result<ReviewList> review_batch(std::span<const BatchJob> tasks, const std::filesystem::path& folder,
                                ReviewPages& pages, const AudioChoice& audio, std::function<bool()> stopped) {
  std::vector<ReviewInput> inputs;
  for (const BatchJob& task : tasks) {
    const auto outputs = task.outputs();
    const auto json = std::ranges::find_if(
        outputs, [](const std::filesystem::path& output) { return output.extension() == ".json"; });
    if (json == outputs.end() || !is_output_there(pages.objects(), *json)) continue;
    // What is at an address would have to be fetched again.
    const std::filesystem::path recording = is_address(task.spec.input) ? "" : task.spec.input;
    inputs.push_back({.transcript = *json, .recording = recording, .name = task.spec.name});
  }
  if (inputs.empty()) return ReviewList{};
  return write_review(
      inputs,
      {.out = folder,
       .audio = audio,
       .stopped = std::move(stopped),
       .read = [&pages](const std::filesystem::path& transcript) { return read_output(pages.objects(), transcript); },
       .write = [&pages](const std::filesystem::path& page,
                         std::string_view content) { return pages.write(page, content); }});
}

}  // namespace tutti
