#include "feed/labelled/set_ownership.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "feed/hdf5/hdf5_file.h"
#include "feed/labelled/feature_spool.h"
#include "feed/labelled/labelled_set.h"
#include "feed/labelled/set_waveforms.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// Whether every line is an object with a file and why it was left out.
bool is_list_of_bad_samples(const fs::path& path) {
  const auto text = read_regular_file(path);
  if (!text) return false;
  return std::ranges::all_of(split(*text, '\n'), [](const auto& line) {
    if (trimmed(line).empty()) return true;
    const auto json = nlohmann::json::parse(line, nullptr, false);
    return json.is_object() && json.contains("id") && json.contains("reason");
  });
}

/// Whether a build wrote it: field note 003's builder and others know no checksums of rows.
bool is_built_set(const fs::path& path) {
  const auto file = Hdf5File::open(path);
  return file && file->has("row_checksums");
}

Result<void> expect_own(const fs::path& path, bool (*is_own)(const fs::path&)) {
  std::error_code error;
  if (!is_there(path) || (fs::is_regular_file(path, error) && fs::file_size(path, error) == 0)) return {};
  if (is_own(path)) return {};
  return fail(Fault::usage, path.string() + " is there already, and 'tutti prepare classifier' did not write it",
              "Name another folder with --out, or move the file away");
}

}  // namespace

Result<void> expect_own_set_files(const fs::path& out) {
  for (const auto part : {SetPart::training, SetPart::validation, SetPart::testing})
    for (const auto& file : {set_file(out, part), waveform_file(out, part)})
      if (auto own = expect_own(file, is_built_set); !own) return own;
  if (auto own = expect_own(out / "bad_samples.jsonl", is_list_of_bad_samples); !own) return own;
  return expect_own(out / kSpoolName, FeatureSpool::is_spool);
}

}  // namespace tutti
