#include "feed/labelled/labelled_files.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/field_names.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "text/manifest/recording_names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// Called like a recording, or like what only programs that measure sound write.
bool is_audio(const fs::path& path) {
  constexpr std::string_view kMore[] = {".au", ".snd", ".w64", ".rf64", ".caf", ".aifc", ".oga"};
  return is_recording(path) || std::ranges::find(kMore, ascii_lower(path.extension().string())) != std::end(kMore);
}

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator(); at.increment(error))
    if (!is_hidden(at->path())) entries.push_back(at->path());
  if (error) return tl::unexpected<Error>(system_error(folder.string(), "cannot be listed", error.value()));
  std::ranges::sort(entries);
  return entries;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// A folder of which a folder being read is a part.
bool leads_up(const fs::path& folder, const std::vector<fs::path>& above) {
  return std::ranges::any_of(
      above, [&](const fs::path& one) { return std::ranges::mismatch(folder, one).in1 == folder.end(); });
}

void leave_out(const fs::path& file, LabelledFiles& found) {
  ++found.others;
  if (!is_audio(file)) ++found.other_endings[ascii_lower(file.extension().string())];
}

/// Adds every file at any depth below a label's folder. Links to folders are followed, but not round in circles.
/// `above`: where the data and all links on the way here really are.
Result<void> add_files(const fs::path& folder, const fs::path& data, const LabelledFile& like,
                       const std::vector<fs::path>& above, LabelledFiles& found) {
  const auto entries = TRY(entries_of(folder));
  for (const auto& entry : entries) {
    std::error_code ignored;
    if (is_folder(entry)) {
      auto inside = above;
      if (fs::is_symlink(entry, ignored)) inside.push_back(fs::canonical(entry, ignored));
      const bool is_circle = inside.size() > above.size() && leads_up(inside.back(), above);
      found.others += is_circle;
      if (auto added = is_circle ? Result<void>() : add_files(entry, data, like, inside, found); !added) return added;
      continue;
    }
    if (!is_audio(entry)) {
      leave_out(entry, found);
      continue;
    }
    auto file = like;
    file.path = entry;
    file.name = entry.lexically_relative(data).generic_string();
    found.files.push_back(std::move(file));
  }
  return {};
}

/// Adds the labels' folders below `folder`.
Result<void> add_labels(const std::vector<fs::path>& entries, const fs::path& data, SetPart part,
                        LabelledFiles& found) {
  for (const auto& entry : entries) {
    if (!is_folder(entry)) {
      leave_out(entry, found);
      continue;
    }
    std::error_code ignored;
    const std::vector above{fs::canonical(data, ignored), fs::canonical(entry, ignored)};
    TRY(add_files(entry, data, {.label = entry.filename().string(), .part = part}, above, found));
  }
  return {};
}

/// Adds what is beside the parts of a set, which is not read: a folder by its name, if it has recordings.
Result<void> count_unread(const fs::path& entry, const fs::path& data, LabelledFiles& found) {
  if (!is_folder(entry)) return leave_out(entry, found), Result<void>();
  std::error_code ignored;
  LabelledFiles within;
  TRY(add_files(entry, data, {}, {fs::canonical(data, ignored), fs::canonical(entry, ignored)}, within));
  const auto files = std::ssize(within.files);
  if (files > 0)
    found.unread.push_back("'" + entry.filename().string() + "' with " + std::to_string(files) +
                           (files == 1 ? " recording" : " recordings"));
  found.others += files + within.others;
  return {};
}

/// Whether folders are in a folder, and no audio beside them. One with audio of its own is a label: a train may well be
/// what is recognised.
bool holds_folders(const fs::path& folder) {
  if (!is_folder(folder)) return false;
  const auto entries = entries_of(folder);
  if (!entries) return true;  // reading it gives the reason
  const auto is_file_of_audio = [](const fs::path& entry) { return is_audio(entry) && !is_folder(entry); };
  return std::ranges::any_of(*entries, is_folder) && std::ranges::none_of(*entries, is_file_of_audio);
}

/// Whether a folder is a part of the set, by its name and what is in it.
bool is_part(const fs::path& folder) {
  return part_of(folder.filename().string()) != SetPart::none && holds_folders(folder);
}

/// Fault::usage where folders that are called like parts of a set would become labels: none of them is for training,
/// and all folders are such, or they have folders that are called like the labels beside them.
Result<void> expect_labels(const fs::path& data, const std::vector<fs::path>& entries) {
  constexpr std::string_view kMore[] = {"development", "holdout"};
  std::vector<fs::path> parts;
  std::set<fs::path> labels, below;
  for (const auto& entry : entries) {
    if (!is_folder(entry)) continue;
    const auto name = ascii_lower(entry.filename().string());
    if (!is_part(entry) && !(std::ranges::find(kMore, name) != std::end(kMore) && holds_folders(entry))) {
      labels.insert(entry.filename());
      continue;
    }
    parts.push_back(entry);
    for (const auto& inner : entries_of(entry).value_or(std::vector<fs::path>())) below.insert(inner.filename());
  }
  const bool share_names = std::ranges::any_of(below, [&](const fs::path& name) { return labels.contains(name); });
  if (parts.empty() || (!labels.empty() && !share_names)) return {};
  const auto quoted = [](const fs::path& part) { return "'" + part.filename().string() + "'"; };
  return fail(Fault::usage,
              data.string() + ": expected a folder 'train' beside " + joined(parts, " and ", quoted) +
                  ", whose folders are labels; found none, so there is nothing to learn from",
              "Call the folder to learn from 'train'; or name it alone with " + field("data") + ", and it is split");
}

}  // namespace

const char* name_of(SetPart part) {
  switch (part) {
    case SetPart::training: return "training";
    case SetPart::validation: return "validation";
    case SetPart::testing: return "testing";
    case SetPart::none: break;
  }
  return "";
}

SetPart part_of(std::string name) {
  name = ascii_lower(name);
  if (name.starts_with("dataset_")) name = name.substr(8);  // note 003's DATASET_TRAINING
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (is_one_of({"train", "training"})) return SetPart::training;
  if (is_one_of({"validation", "valid", "val", "dev"})) return SetPart::validation;
  return is_one_of({"test", "testing", "eval", "evaluation"}) ? SetPart::testing : SetPart::none;
}

Result<LabelledFiles> find_labelled_files(const fs::path& data, const fs::path& root) {
  if (is_labelled_manifest(data)) return read_labelled_manifest(data, root.empty() ? data.parent_path() : root);
  if (!root.empty())
    return fail(Fault::usage, field("root") + ": " + data.string() + " is no list of files",
                "Leave " + field("root") + " out, or name a list (.csv, .tsv, .jsonl) with " + field("data"));
  if (!is_folder(data))
    return fail(Fault::missing,
                data.string() + ": expected a folder with a folder a label, or a list (.csv, .tsv, .jsonl), found " +
                    (is_there(data) ? "a file of another kind" : "nothing"),
                "Check the path");
  const auto entries = TRY(entries_of(data));
  std::vector<fs::path> parts, labels;
  for (const auto& entry : entries) (is_part(entry) ? parts : labels).push_back(entry);
  const bool has_parts = std::ranges::any_of(
      parts, [](const fs::path& part) { return part_of(part.filename().string()) == SetPart::training; });
  if (!has_parts) TRY(expect_labels(data, entries));
  LabelledFiles found;
  if (!has_parts) TRY(add_labels(entries, data, SetPart::none, found));
  for (const auto& part : has_parts ? parts : std::vector<fs::path>()) {
    const auto below = TRY(entries_of(part));
    TRY(add_labels(below, data, part_of(part.filename().string()), found));
  }
  for (const auto& other : has_parts ? labels : std::vector<fs::path>()) TRY(count_unread(other, data, found));
  std::ranges::sort(found.files, {}, &LabelledFile::name);
  if (found.files.empty())
    return fail(Fault::usage,
                data.string() + ": expected folders of sound files, one a label; found none (" +
                    std::to_string(found.others) + " other files)",
                "Put every recording into a folder named after its label");
  return found;
}

std::optional<SensorName> sensor_name_of(const fs::path& path, const std::string& delimiter) {
  const auto stem = path.stem().string();
  std::vector<std::string> parts;
  for (std::size_t first = 0; first <= stem.size() && !delimiter.empty();) {
    const auto end = std::min(stem.find(delimiter, first), stem.size());
    parts.push_back(stem.substr(first, end - first));
    first = end + delimiter.size();
  }
  constexpr std::size_t kParts = 4;
  if (parts.size() != kParts || parts[0].empty() || parts[1].empty()) return std::nullopt;
  const auto gain_db = number_in<int>(parts[3]);
  if (!gain_db) return std::nullopt;
  return SensorName{.sensor = parts[0], .recording = parts[1], .gain_db = *gain_db};
}

}  // namespace tutti
