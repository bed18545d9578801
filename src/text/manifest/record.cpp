#include "text/manifest/record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <vector>

#include "base/strings.h"
#include "text/manifest/date_time.h"
#include "text/manifest/field_names.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

/// A scalar as text; null and missing are empty.
std::string text_of(const Json& record, const char* name) {
  const auto found = record.find(name);
  if (found == record.end() || found->is_null() || found->is_structured()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

template <std::size_t n>
std::string first_text(const Json& record, const std::array<const char*, n>& names, std::set<std::string>& used) {
  std::string found;
  for (const char* name : names) {
    if (!found.empty()) break;
    found = text_of(record, name);
    if (!found.empty()) used.insert(name);
  }
  return found;
}

/// A name that climbs out of its folder is a damaged record, or none that can be intended; a whole path may be.
bool steps_out(const std::string& value) {
  std::size_t from = 0;
  while (from <= value.size()) {
    const std::size_t slash = std::min(value.find('/', from), value.size());
    if (value.substr(from, slash - from) == "..") return true;
    from = slash + 1;
  }
  return false;
}

Result<std::string> filled(const std::string& pattern, const Json& record, std::set<std::string>& used) {
  std::string path;
  std::size_t at = 0;
  while (at < pattern.size()) {
    const std::size_t open = pattern.find('{', at);
    path += pattern.substr(at, open - at);
    if (open == std::string::npos) break;
    const std::size_t close = pattern.find('}', open);
    if (close == std::string::npos)
      return fail(Fault::usage, "'" + pattern + "': expected } after the { at " + std::to_string(open + 1));
    const std::string field = pattern.substr(open + 1, close - open - 1);
    std::string value = text_of(record, field.c_str());
    if (value.empty()) value = text_of(record, known_field_name(field).c_str());
    if (value.empty()) return fail(Fault::usage, "field '" + field + "': expected a value for '" + pattern + "'");
    if (steps_out(value)) return fail(Fault::usage, "field '" + field + "': '" + value + "' leads out of the folder");
    used.insert({field, known_field_name(field)});
    path += value;
    at = close + 1;
  }
  return path;
}

/// The names of a record's fields, for people.
std::string names_in(const Json& record) {
  std::vector<std::string> names;
  for (const auto& [name, value] : record.items()) names.push_back(name);
  return quoted_names(names);
}

Result<std::string> path_of(const Json& record, const ManifestRules& rules, std::set<std::string>& used) {
  if (!rules.path_template.empty()) return filled(rules.path_template, record, used);
  if (auto path = first_text(record, kPathNames, used); !path.empty()) return path;
  const char* file = text_of(record, kFileName).empty() ? "name" : kFileName;
  const std::string folder = text_of(record, "folder_path");
  if (text_of(record, file).empty())
    return fail(Fault::usage, "expected a field 'path', or 'folder_path' and 'file_name', found " + names_in(record),
                "Say where the audio is with a template such as '{folder_path}/{file_name}'");
  return filled((folder.empty() ? "" : "{folder_path}/") + ("{" + std::string(file) + "}"), record, used);
}

/// A length in seconds, as a number, or as a text that gives one; null, empty and 0 mean unknown.
Result<std::optional<Seconds>> duration_of(const Json& record, std::set<std::string>& used) {
  for (const char* name : kDurationNames) {
    const std::string text = text_of(record, name);
    if (text.empty()) continue;
    if (trimmed(text).empty()) continue;
    const auto value = seconds_in_field(text);
    if (!value) return fail(Fault::usage, std::string("field '") + name + "': expected seconds, found '" + text + "'");
    used.insert(name);
    if (*value > 0) return Seconds(*value);
  }
  return std::nullopt;
}

/// Who has a deadline is waited for: interactive, unless the record has a class.
Result<void> read_deadline(const Json& record, ManifestEntry& entry, std::set<std::string>& used) {
  const std::string text = text_of(record, "deadline");
  if (text.empty()) return {};
  entry.deadline = parse_date_time(text);
  if (!entry.deadline)
    return fail(Fault::usage,
                "field 'deadline': expected a date and time such as 2026-11-23T18:30:00Z, found '" + text + "'");
  if (!entry.job_class) entry.job_class = JobClass::interactive;
  used.insert("deadline");
  return {};
}

Result<void> read_urgency(const Json& record, ManifestEntry& entry, std::set<std::string>& used) {
  entry.job_class = job_class_named(text_of(record, "class"));
  if (entry.job_class) used.insert("class");  // else it is a user's own field of that name
  if (auto read = read_deadline(record, entry, used); !read) return read;
  const std::string text = text_of(record, "priority");
  if (text.empty()) return {};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), entry.priority);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || entry.priority < -1000 ||
      entry.priority > 1000)
    return fail(Fault::usage, "field 'priority': expected a whole number from -1000 to 1000, found '" + text + "'");
  used.insert("priority");
  return {};
}

}  // namespace

std::string normalised_uuid(const std::string& id) {
  std::string digits;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const char c = id[i];
    if (c == '-' && id.size() == 36 && (i == 8 || i == 13 || i == 18 || i == 23)) continue;
    if (c >= 'A' && c <= 'F')
      digits += static_cast<char>(c - 'A' + 'a');
    else if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))
      digits += c;
    else
      return id;
  }
  if (digits.size() != 32) return id;
  for (const std::size_t at : {20U, 16U, 12U, 8U}) digits.insert(at, "-");
  return digits;
}

Json with_known_names(Json record) {
  const auto differs = [&](const std::string& name) {
    const std::string known = known_field_name(name);
    return known != name && !record.contains(known);
  };
  bool any = false;
  for (const auto& [name, value] : record.items()) any = any || differs(name);
  if (!any) return record;  // nearly always
  Json renamed = Json::object();
  for (const auto& [name, value] : record.items()) renamed[differs(name) ? known_field_name(name) : name] = value;
  return renamed;
}

bool is_left_out(const Json& record, const ManifestRules& rules, ManifestTally& tally) {
  if (!rules.asset_type.empty() && record.contains("asset_type") && text_of(record, "asset_type") != rules.asset_type)
    return ++tally.other_type, true;
  if (!rules.excluded_folder.empty() && text_of(record, "folder_path") == rules.excluded_folder)
    return ++tally.excluded, true;
  if (!rules.deleted && !text_of(record, "deleted_at").empty()) return ++tally.deleted, true;
  return false;
}

Result<ManifestEntry> entry_from(const Json& record, const std::string& origin, const ManifestRules& rules) {
  if (!record.is_object())
    return fail(Fault::usage, origin + ": expected an object, found " + std::string(record.type_name()));
  ManifestEntry entry;
  std::set<std::string> used;
  const auto path = path_of(record, rules, used);
  if (!path) return fail_in(origin, path.error());
  entry.path = *path;
  entry.origin = origin;
  entry.id = normalised_uuid(first_text(record, kIdNames, used));
  entry.name = first_text(record, kNameNames, used);
  const auto duration = duration_of(record, used);
  if (!duration) return fail_in(origin, duration.error());
  entry.duration = *duration;
  if (auto read = read_urgency(record, entry, used); !read) return fail_in(origin, read.error());
  Json extra = Json::object();
  for (const auto& [name, value] : record.items())
    if (!used.contains(name)) extra[name] = value;
  entry.extra = json_line(extra);
  return entry;
}

}  // namespace tutti
