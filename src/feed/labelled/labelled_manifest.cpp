#include <algorithm>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/labelled/labelled_files.h"
#include "feed/source/dataset.h"

namespace tutti {

namespace fs = std::filesystem;

bool is_labelled_manifest(const fs::path& path) {
  constexpr std::string_view kEndings[] = {".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json"};
  std::error_code ignored;
  return std::ranges::find(kEndings, ascii_lower(path.extension().string())) != std::end(kEndings) &&
         !fs::is_directory(path, ignored);
}

Result<LabelledFiles> read_labelled_manifest(const fs::path& path, const fs::path& root) {
  const auto list = TRY(open_labelled_list(path, root));
  LabelledFiles found;
  for (std::int64_t i = 0; i < list->size(); ++i) {
    auto line = list->at(i);
    Result<void> valid = line ? Result<void>() : tl::unexpected<Error>(line.error());
    if (line && line->label.empty()) valid = fail(Fault::usage, "expected a label, found none");
    if (valid && !line->part.empty() && part_of(line->part) == SetPart::none)
      valid = fail(Fault::usage, "expected train, validation or test, found '" + line->part + "'");
    if (!valid) {
      valid.error().fault = Fault::usage;
      return fail_in(list->origin(i), valid.error());
    }
    found.files.push_back({.path = std::move(line->audio),
                           .name = std::move(line->named),
                           .label = std::move(line->label),
                           .part = part_of(line->part),
                           .group = std::move(line->group)});
  }
  if (found.files.empty()) return fail(Fault::usage, path.string() + ": names no labelled file");
  if (const auto conclusion = list->conclusion(); !conclusion.empty()) log(Level::warning, conclusion);
  std::ranges::sort(found.files, {}, &LabelledFile::name);
  const auto twice = std::ranges::adjacent_find(found.files, {}, &LabelledFile::name);
  if (twice != found.files.end()) return fail(Fault::usage, path.string() + ": names " + twice->name + " twice");
  return found;
}

}  // namespace tutti
