#include "cli/batch/batch_ownership.h"

#include <algorithm>
#include <vector>

#include "base/files.h"
#include "cli/review/review.h"
#include "cli/settings/setting_sources.h"
#include "device/list/device_list.h"
#include "hub/files_of_model.h"
#include "jobs/open_store.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// Lists, tables and manifests; recordings in a folder are each named by their job.
void add_named_files(OutputOwnership& files, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  for (const auto& input : inputs)
    if (!fs::is_directory(input, ignored)) files.add_input(input);
}

/// What the batch writes beside its transcripts.
std::vector<std::pair<fs::path, std::string>> pages_of(const BatchCommand& command) {
  std::vector<std::pair<fs::path, std::string>> pages;
  if (!command.report.empty()) pages.emplace_back(command.report, "--report");
  if (!command.review) return pages;
  for (const char* name : kReviewPages) pages.emplace_back(command.output_dir / name, "--review");
  return pages;
}

/// Transcripts are hardly ever called like a page, so that few paths are resolved.
Result<void> expect_no_page(const fs::path& output, const std::vector<std::pair<fs::path, std::string>>& pages) {
  for (const auto& [page, owner] : pages)
    if (page.filename() == output.filename() && resolved_path(page) == resolved_path(output))
      return fail(Fault::usage, page.string() + " would be written twice: by " + owner + " and as a transcript",
                  "Name another file or --output-dir");
  return {};
}

/// Where its folder is not there, neither is an output that could be something else.
class Folders {
 public:
  bool is_there(const fs::path& folder) {
    if (folder != last_) is_ = tutti::is_there(last_ = folder);
    return is_;
  }

 private:
  fs::path last_{};
  bool is_ = false;
};

}  // namespace

Result<OutputOwnership> claim_batch_files(const BatchCommand& command, const fs::path& model, const fs::path& state,
                                          std::span<const BatchJob> jobs) {
  OutputOwnership files("Name another file with --report, or another folder with --output-dir");
  for (const BatchJob& job : jobs) files.add_input(job.spec.input);
  add_named_files(files, command.inputs);
  for (const auto& file : files_of_model(model)) files.add_input(file);
  for (const auto& file : files_of_store(state)) files.add_input(file);
  files.add_input(settings_file_path());
  for (const auto& list : {command.devices, command.device.value_or("")})
    for (const auto& file : device_files(list)) files.add_input(file);
  const auto pages = pages_of(command);
  for (const auto& [page, owner] : pages)
    if (auto claimed =
            page == command.report ? files.claim_marked(page, owner, kBatchReportMark) : files.claim(page, owner);
        !claimed)
      return tl::unexpected(claimed.error());
  Folders folders;
  for (const BatchJob& job : jobs)
    for (const auto& output : job.outputs()) {
      auto free = expect_no_page(output, pages);
      if (free && (files.has_missing_inputs() || folders.is_there(output.parent_path())))
        free = files.expect_no_input(output);
      if (!free) return tl::unexpected(free.error());
    }
  return files;
}

}  // namespace tutti
