#include "cli/batch/batch_folders.h"

#include "base/files.h"
#include "base/system_error.h"
#include "transcribe/output_plan.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

Result<void> expect_temporary_folder() {
  const fs::path folder = temporary_folder();
  std::error_code why;
  if (fs::is_directory(folder, why))
    why = why_not_writable(folder);
  else if (!why)
    why = std::make_error_code(std::errc::not_a_directory);
  if (!why) return {};
  const Error error = system_error(folder.string(), "recordings cannot be decoded there", why.value());
  return fail(error.fault, error.what, "Make it, or point TMPDIR at a folder that is yours to write to");
}

}  // namespace

Result<void> expect_output_folders(const fs::path& outputs) {
  const auto folder = expect_output_folder(outputs);
  return folder ? expect_temporary_folder() : folder;
}

}  // namespace tutti
