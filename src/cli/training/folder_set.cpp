#include "cli/training/folder_set.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/files.h"
#include "base/log.h"
#include "cli/interrupt.h"
#include "cli/prepare/build_progress.h"
#include "device/machine.h"
#include "feed/labelled/labelled_files.h"
#include "feed/labelled/labelled_set.h"
#include "feed/labelled/set_builder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

bool is_set(const fs::path& folder) {
  return is_there(set_file(folder, SetPart::training)) || is_there(set_file(folder, SetPart::validation));
}

/// Whether recordings may be there; what else is wrong is reported by those who read it.
bool may_be_recordings(const fs::path& data) {
  std::error_code ignored;
  return is_labelled_manifest(data) || fs::is_directory(data, ignored);
}

void report(const SetBuildReport& built, const fs::path& set) {
  log(Level::info, std::to_string(built.used) + " of " + std::to_string(built.found) + " recordings of " +
                       std::to_string(built.split.labels.size()) + " labels are prepared, in " + set.string() +
                       "; 'tutti prepare classifier' has more settings for that");
  if (built.bad > 0)
    log(Level::warning,
        std::to_string(built.bad) + " files were left out as unusable, see " + (set / "bad_samples.jsonl").string());
  if (!built.has_groups)
    log(Level::warning,
        "each file is a group of its own. Where several come from one recording, one sensor or one speaker, the result "
        "looks better than it is: make the set with 'tutti prepare classifier --group'");
}

}  // namespace

Result<fs::path> classifier_set(const fs::path& data, const fs::path& out, bool resumes) {
  const auto set = out / "set";
  if (data.filename() == set_file("", SetPart::training)) return folder_of(data);  // as shells complete the name
  if (data.empty() || is_set(data) || !may_be_recordings(data)) return data;
  if (resumes && is_set(set)) return set;
  Interrupt interrupt;
  BuildProgress progress(interrupt, "files");
  const auto built = build_labelled_set({.data = data, .out = set, .threads = std::max(1, read_cpu().cores)},
                                        [&](std::int64_t done, std::int64_t all) { return progress(done, all); });
  if (!built) return tl::unexpected<Error>(built.error());
  report(*built, set);
  return set;
}

}  // namespace tutti
