#include "cli/batch/batch_places.h"

#include "base/files.h"
#include "transcribe/output_plan.h"

namespace tutti {

namespace fs = std::filesystem;

/// What is there already, a pipe too, is opened when it is written.
Result<void> expect_report(const fs::path& report) {
  std::error_code why;
  if (report.empty() || (fs::exists(report, why) && !fs::is_directory(report, why))) return {};
  if (fs::is_directory(report, why))
    return fail(Fault::usage, "--report " + report.string() + ": expected a file, found a folder");
  why = why_not_writable(report.has_parent_path() ? report.parent_path() : fs::path("."));
  if (why) return tl::unexpected(system_error("--report " + report.string(), "cannot be written", why.value()));
  return {};
}

namespace {

Result<void> expect_temporary_folder() {
  const fs::path folder = temporary_folder();
  std::error_code why;
  if (fs::is_directory(folder, why))
    why = why_not_writable(folder);
  else if (!why)
    why = std::make_error_code(std::errc::not_a_directory);
  if (!why) return {};
  Error error = system_error(folder.string(), "recordings cannot be decoded there", why.value());
  error.hint = "Make it, or point TMPDIR at a folder that is yours to write to";
  return tl::unexpected(std::move(error));
}

}  // namespace

Result<void> expect_places(const fs::path& outputs) {
  const auto place = expect_place_for_outputs(outputs);
  return place ? expect_temporary_folder() : place;
}

}  // namespace tutti
