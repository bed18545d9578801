#include "transcribe/inputs/gathered_manifest.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include "audio/containers/audio_length.h"
#include "base/field_names.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "base/try.h"
#include "text/manifest/read.h"
#include "transcribe/inputs/inputs.h"
#include "transcribe/inputs/query/query.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTime = "%Y-%m-%dT%H:%M:%S";  // ISO 8601 without a zone

/// `in_one_tree`: all are below one folder, which --audio-root names later; else every asset has its path.
ManifestAsset asset_of(const Input& input, bool in_one_tree, const struct stat& facts,
                       const std::optional<Seconds>& length) {
  const std::string made_up = uuid_of((in_one_tree ? input.below : input.file).string());
  ManifestAsset asset{{"id", input.entry.id.empty() ? made_up : input.entry.id},
                      {"name", input.entry.name.empty() ? input.file.stem().string() : input.entry.name},
                      {"file_name", input.below.filename().string()},
                      {"asset_type", "Audio"},
                      {"folder_path", input.below.parent_path().string()},
                      {"media_duration_seconds", std::monostate{}},
                      {"file_bytes", static_cast<std::int64_t>(facts.st_size)},
                      {"created_at", utc_text(facts.st_mtime, kTime)}};
  if (length) asset[5].value = length->count();
  if (!in_one_tree) asset.push_back({"path", input.file.string()});
  return asset;
}

/// A folder, a pattern or a recording. Files that a list names may be anywhere.
bool is_one_tree(const std::vector<std::string>& inputs) {
  std::error_code ignored;
  return inputs.size() == 1 && inputs[0] != "-" &&
         (fs::is_directory(inputs[0], ignored) || !manifest_format(inputs[0]));
}

/// All that is read, none of which the manifest may be written onto. Nothing is looked into yet.
Result<std::vector<Input>> find_inputs(const ManifestRequest& command, OutputOwnership& files,
                                       GatheredManifest& gathered, const OnProblem& on_problem) {
  std::vector<Input> inputs;
  const auto take = [&](Input&& input) {
    files.add_input(input.file);
    inputs.push_back(std::move(input));
    return true;
  };
  const auto complain_of = [&](const Error& error) {
    ++gathered.problems;
    on_problem(error.text());
  };
  for (const auto& name : command.inputs) {
    std::error_code ignored;
    if (!fs::is_directory(name, ignored)) files.add_input(name);  // a list
  }
  const auto read = TRY(read_inputs(command.inputs, {.all_files = command.all_files}, {take, complain_of}));
  gathered.folders = folder_text(read.folders);
  return inputs;
}

/// That the manifest, if it is to be a file, would be none that is read.
Result<void> claim_output(const ManifestRequest& command, OutputOwnership& files) {
  if (command.output.empty()) return {};
  return files.claim_marked(command.output, field("output"), kManifestMark);
}

Result<GatheredManifest> gather_files(const ManifestRequest& command, OutputOwnership& files,
                                      const OnProblem& on_problem) {
  GatheredManifest gathered;
  auto inputs = TRY(find_inputs(command, files, gathered, on_problem));
  TRY(claim_output(command, files));
  std::vector<std::pair<std::int64_t, ManifestAsset>> dated;
  const bool in_one_tree = is_one_tree(command.inputs);
  for (const Input& input : inputs) {
    struct stat facts {};
    if (::stat(input.file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
      ++gathered.problems;
      on_problem(input.file.string() + ": expected a file, found none");
      continue;
    }
    std::optional<Seconds> length = input.entry.duration;
    if (!length && !command.no_durations) length = audio_length(input.file).value_or(std::nullopt);
    gathered.seconds += length.value_or(Seconds(0)).count();
    gathered.unknown += !length;
    dated.emplace_back(facts.st_mtime, asset_of(input, in_one_tree, facts, length));
  }
  if (dated.empty())  // a disk that is not mounted is no reason to write an empty list over a full one
    return fail(Fault::missing, "no recording was found among " + joined(command.inputs, ", ") +
                                    (gathered.folders.empty() ? "" : " (" + gathered.folders + ")") +
                                    "; nothing is written");
  std::ranges::stable_sort(dated, std::greater(), [](const auto& each) { return each.first; });
  for (auto& [time, asset] : dated) gathered.assets.push_back(std::move(asset));
  return gathered;
}

Result<GatheredManifest> gather_rows(const ManifestRequest& command, OutputOwnership& files) {
  GatheredManifest gathered;
  files.add_input(command.sqlite);
  TRY(claim_output(command, files));
  const auto take = [&](ManifestAsset&& asset) {
    gathered.assets.push_back(std::move(asset));
    return true;
  };
  TRY(command.sqlite.empty() ? query_postgres(command.postgres, command.query, take)
                             : query_sqlite(command.sqlite, command.query, take));
  return gathered;
}

}  // namespace

Result<GatheredManifest> gather_manifest(const ManifestRequest& request, OutputOwnership& files,
                                         const OnProblem& on_problem) {
  return request.inputs.empty() ? gather_rows(request, files) : gather_files(request, files, on_problem);
}

std::string manifest_of(const GatheredManifest& gathered) {
  return manifest_text(gathered.assets, utc_text(std::time(nullptr), kTime));
}

}  // namespace tutti
