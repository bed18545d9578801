#include "prepare/prepare_inputs.h"

#include <map>
#include <span>

#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/source/dataset.h"
#include "text/manifest/field_names.h"
#include "text/manifest/read.h"
#include "transcribe/inputs/inputs.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

/// The value of the first of `names` that a record has; null: none.
Json value_of(const Json& record, std::span<const char* const> names) {
  for (const char* name : names)
    for (const auto& [field, value] : record.items())
      if (plain_field_name(field) == name) return value;
  return {};
}

std::optional<double> seconds_in(const Json& value) {
  if (value.is_number()) return value.get<double>();
  return value.is_string() ? seconds_in_field(value.get<std::string>()) : std::nullopt;
}

/// The text of a recording that its record holds; none: the record has no such field.
std::optional<TextRow> row_of(const ManifestEntry& entry) {
  const Json record = Json::parse(entry.extra, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  const Json text = value_of(record, kTextNames);
  if (!text.is_string() && !text.is_number()) return std::nullopt;
  constexpr const char* kEnd[] = {"end"};
  TextRow row{.text = text.is_string() ? text.get<std::string>() : text.dump(),
              .start = seconds_in(value_of(record, kStartNames)),
              .end = seconds_in(value_of(record, kEnd))};
  if (row.start && !row.end && entry.duration) row.end = *row.start + entry.duration->count();
  return row;
}

/// Recordings in the order in which they are named first, each with all its rows.
class Gathering {
 public:
  bool take(Input&& input) {
    const bool is_typed = input.entry.origin.empty();
    const auto row = row_of(input.entry);
    const auto [at, is_new] = indices_.emplace(input.file.string(), inputs_.size());
    if (is_new) inputs_.push_back({.path = is_typed ? input.entry.path : input.file.string()});
    if (row) inputs_[at->second].rows.push_back(*row);
    return true;
  }
  std::vector<PrepareInput> inputs() { return std::move(inputs_); }

 private:
  std::vector<PrepareInput> inputs_{};
  std::map<std::string, std::size_t> indices_{};
};

/// A folder with a table of its recordings and their texts (Common Voice's, Hugging Face's audiofolder) is replaced by
/// that table.
std::vector<std::string> with_tables(std::vector<std::string> arguments) {
  std::error_code ignored;
  for (std::string& argument : arguments) {
    if (!std::filesystem::is_directory(argument, ignored)) continue;
    const auto table = table_in(argument);
    if (table.empty()) continue;
    log(Level::info, argument + ": its recordings and their texts are those of " + table.string());
    argument = table.string();
  }
  return arguments;
}

}  // namespace

Result<std::vector<PrepareInput>> prepare_inputs(const std::vector<std::string>& arguments) {
  Gathering gathering;
  const InputSink sink{[&](Input&& input) { return gathering.take(std::move(input)); },
                       [](Error&& error) { log(Level::warning, error.text()); }};
  const auto read = TRY(read_inputs(with_tables(arguments), {.every_row = true}, sink));
  if (const std::string text = folder_text(read.folders); !text.empty()) log(Level::info, "Files in folders: " + text);
  if (const std::string out = left_out_text(read, {}); !out.empty())
    log(Level::info, "Left out of what the lists name: " + out);
  auto inputs = gathering.inputs();
  if (inputs.empty())
    return fail(Fault::missing, "no recording was found among the inputs: " + joined(arguments, ", "),
                "A folder is searched for files with the endings of audio and video");
  return inputs;
}

std::string stamp_of_sources(const PrepareInput& input, const std::filesystem::path& texts) {
  if (input.rows.empty()) return stamp_of_sources(input.path, texts);
  const std::string recording = stamp_of_recording(input.path);
  if (recording.empty()) return {};
  std::string rows;
  for (const TextRow& row : input.rows)
    rows += number_text(row.start.value_or(-1)) + " " + number_text(row.end.value_or(-1)) + " " + row.text + "\n";
  return recording + "\nrows " + sha256_of(rows);
}

}  // namespace tutti
