#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "feed/labelled/labelled_files.h"
#include "text/byte_order_mark.h"
#include "text/json_bytes.h"
#include "text/manifest/csv.h"
#include "text/manifest/field_names.h"
#include "text/manifest/read.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::array kMorePathNames{kFileName, "slice_file_name"};
constexpr std::array kLabelNames{"label", "class", "category", "class_name", "target"};
constexpr std::array kGroupNames{"group", "speaker", "speaker_id", "sensor", "recording", "src_file", "fold"};
constexpr std::array kPartNames{"split", "part", "subset"};

/// A record's fields by their names in lower case.
using Fields = std::map<std::string, std::string>;

template <std::size_t n>
std::string first_of(const Fields& fields, const std::array<const char*, n>& names) {
  for (const char* name : names)
    if (const auto found = fields.find(name); found != fields.end() && !found->second.empty()) return found->second;
  return "";
}

/// Adds one record; `origin` is "FILE:LINE".
Result<void> add_record(const Fields& fields, const std::string& origin, const fs::path& root, LabelledFiles& found) {
  LabelledFile file{.name = first_of(fields, kPathNames), .label = first_of(fields, kLabelNames)};
  if (file.name.empty()) file.name = first_of(fields, kMorePathNames);
  if (file.name.empty() || file.label.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, value] : fields) names.push_back(name);
    return fail(
        Fault::usage,
        origin + ": expected a " + (file.name.empty() ? "file" : "label") + ", found the fields " + quoted_names(names),
        "A list of labelled files has the columns 'path' and 'label', and may have 'group' and 'split'");
  }
  if (const auto part = first_of(fields, kPartNames); !part.empty()) {
    file.part = part_of(part);
    if (file.part == SetPart::none)
      return fail(Fault::usage, origin + ": expected train, validation or test, found '" + part + "'");
  }
  file.group = first_of(fields, kGroupNames);
  file.path = root / file.name;
  found.files.push_back(std::move(file));
  return {};
}

Result<void> read_table(const std::string& text, const fs::path& path, const fs::path& root, LabelledFiles& found) {
  CsvReader reader(text, csv_separator(text));
  std::vector<std::string> names;
  for (;;) {
    const auto record = reader.next();
    if (!record) return fail_in(path.string(), record.error());
    if (!*record) return {};
    const auto& fields = (*record)->fields;
    if (names.empty()) {
      for (const auto& name : fields) names.push_back(plain_field_name(name));
      continue;
    }
    Fields by_name;
    for (std::size_t i = 0; i < std::min(names.size(), fields.size()); ++i) by_name[names[i]] = trimmed(fields[i]);
    auto added = add_record(by_name, path.string() + ":" + std::to_string((*record)->line), root, found);
    if (!added) return added;
  }
}

Result<void> read_objects(const std::string& text, const fs::path& path, const fs::path& root, LabelledFiles& found) {
  std::int64_t number = 0;
  for (const auto line : split(text, '\n')) {
    ++number;
    if (trimmed(line).empty()) continue;
    const auto origin = path.string() + ":" + std::to_string(number);
    const auto json = parse_json_keeping_bytes<nlohmann::json>(line);
    if (!json.is_object()) return fail(Fault::usage, origin + ": expected a JSON object");
    Fields fields;
    for (const auto& [name, value] : json.items())
      if (!value.is_null() && !value.is_structured())
        fields[plain_field_name(name)] = value.is_string() ? value.get<std::string>() : value.dump();
    if (auto added = add_record(fields, origin, root, found); !added) return added;
  }
  return {};
}

}  // namespace

bool is_labelled_manifest(const fs::path& path) {
  const auto format = manifest_format(path);
  std::error_code ignored;
  return (format == ManifestFormat::csv || format == ManifestFormat::jsonl) && !fs::is_directory(path, ignored);
}

Result<LabelledFiles> read_labelled_manifest(const fs::path& path, const fs::path& root) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected<Error>(text.error());
  const auto converted = utf8_of_utf16(*text);
  const std::string plain(without_mark(converted ? *converted : *text));
  LabelledFiles found;
  auto read = manifest_format(path) == ManifestFormat::csv ? read_table(plain, path, root, found)
                                                           : read_objects(plain, path, root, found);
  if (!read) return tl::unexpected<Error>(read.error());
  if (found.files.empty()) return fail(Fault::usage, path.string() + ": names no labelled file");
  std::ranges::sort(found.files, {}, &LabelledFile::name);
  const auto twice = std::ranges::adjacent_find(found.files, {}, &LabelledFile::name);
  if (twice != found.files.end()) return fail(Fault::usage, path.string() + ": names " + twice->name + " twice");
  return found;
}

}  // namespace tutti
