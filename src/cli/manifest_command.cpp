#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "audio/containers/audio_length.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "text/manifest/read.h"
#include "transcribe/inputs/inputs.h"
#include "transcribe/inputs/query/query.h"
#include "view/text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct ManifestCommand {
  std::vector<std::string> inputs{};
  fs::path output{};
  fs::path sqlite{};
  std::string postgres{};
  std::string query{};
  bool no_durations = false;
  bool all_files = false;
};

/// What a manifest is made of, and what is worth reporting beside it.
struct Gathered {
  std::vector<ManifestAsset> assets{};
  double seconds = 0;
  std::int64_t unknown = 0;   // without a length
  std::int64_t problems = 0;  // reported on standard error
  std::string folders{};      // what was left out of them; empty: nothing
};

std::string iso_time(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts)};
}

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
                      {"created_at", iso_time(facts.st_mtime)}};
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
Result<std::vector<Input>> find_inputs(const ManifestCommand& command, OutputOwnership& files, Gathered& gathered) {
  std::vector<Input> inputs;
  const auto take = [&](Input&& input) {
    files.add_input(input.file);
    inputs.push_back(std::move(input));
    return true;
  };
  const auto complain_of = [&](const Error& error) {
    ++gathered.problems;
    std::fprintf(stderr, "tutti: %s\n", error.text().c_str());
  };
  for (const auto& name : command.inputs) {
    std::error_code ignored;
    if (!fs::is_directory(name, ignored)) files.add_input(name);  // a list
  }
  const auto read = read_inputs(command.inputs, {.all_files = command.all_files}, {take, complain_of});
  if (!read) return tl::unexpected(read.error());
  gathered.folders = folder_text(read->folders);
  return inputs;
}

/// That the manifest, if it is to be a file, would be none that is read.
Result<void> claim_output(const ManifestCommand& command, OutputOwnership& files) {
  if (command.output.empty()) return {};
  return files.claim_marked(command.output, "--output", kManifestMark);
}

Result<Gathered> gather_files(const ManifestCommand& command, OutputOwnership& files) {
  Gathered gathered;
  auto inputs = find_inputs(command, files, gathered);
  if (!inputs) return tl::unexpected(inputs.error());
  if (auto claimed = claim_output(command, files); !claimed) return tl::unexpected(claimed.error());
  std::vector<std::pair<std::int64_t, ManifestAsset>> dated;
  const bool in_one_tree = is_one_tree(command.inputs);
  for (const Input& input : *inputs) {
    struct stat facts {};
    if (::stat(input.file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
      ++gathered.problems;
      std::fprintf(stderr, "tutti: %s: expected a file, found none\n", input.file.c_str());
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

Result<Gathered> gather_rows(const ManifestCommand& command, OutputOwnership& files) {
  Gathered gathered;
  files.add_input(command.sqlite);
  if (auto claimed = claim_output(command, files); !claimed) return tl::unexpected(claimed.error());
  const auto take = [&](ManifestAsset&& asset) {
    gathered.assets.push_back(std::move(asset));
    return true;
  };
  const auto done = command.sqlite.empty() ? query_postgres(command.postgres, command.query, take)
                                           : query_sqlite(command.sqlite, command.query, take);
  if (!done) return tl::unexpected(done.error());
  return gathered;
}

Result<void> check(const ManifestCommand& command) {
  const int sources = !command.inputs.empty() + !command.sqlite.empty() + !command.postgres.empty();
  if (sources != 1)
    return fail(Fault::usage, "expected folders or files, or one of --sqlite and --postgres",
                "See 'tutti manifest --help'");
  if (command.inputs.empty() == command.query.empty())
    return fail(Fault::usage, command.inputs.empty() ? "expected --query SQL beside the database"
                                                     : "--query is for a database; here are files");
  return expect_output_file("--output", command.output);
}

void add_options(OptionTable& table, ManifestCommand& command) {
  table.positional(command.inputs, "INPUT...", "folders, files, globs, lists or tables", 0);
  table
      .add("output", command.output, "FILE",
           "where to write it, replacing an earlier manifest only; without it, standard output")
      .letter = 'o';
  table.add("sqlite", command.sqlite, "FILE", "take the assets from this SQLite database; opened for reading only");
  table.add("postgres", command.postgres, "CONNINFO",
            "take them from this PostgreSQL database: what psql takes, 'host=... dbname=...' or a URI");
  table.add("query", command.query, "SQL",
            "a column for each field; newest first, as in 'SELECT id, name, file_name, asset_type, folder_path, "
            "media_duration_seconds FROM assets ORDER BY created_at DESC'");
  table.add_switch("no-durations", command.no_durations, "do not look into the files for their length");
  table.add_switch("all-files", command.all_files,
                   "in folders, take files of any name, hidden ones too; without it, those with the endings of audio "
                   "and video");
}

}  // namespace

int run_manifest(const std::vector<std::string>& arguments) {
  ManifestCommand command;
  OptionTable table("manifest",
                    "Write a manifest for 'tutti batch': a JSON file with an asset per recording, newest first, from "
                    "folders (lengths are read from the headers) or from a query on a database.");
  add_options(table, command);
  table.examples({"tutti manifest archive/ -o archive.json"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (const auto checked = check(command); !checked) return complain(checked.error());

  OutputOwnership files("Name another file with --output");
  const auto gathered = command.inputs.empty() ? gather_rows(command, files) : gather_files(command, files);
  if (!gathered) return complain(gathered.error());
  if (!gathered->folders.empty()) std::fprintf(stderr, "tutti: files in folders: %s\n", gathered->folders.c_str());
  const std::string text = manifest_text(gathered->assets, iso_time(std::time(nullptr)));
  if (command.output.empty())
    std::fwrite(text.data(), 1, text.size(), stdout);
  else if (const auto written = files.write(command.output, text); !written)
    return complain(written.error(), kNothingRan);
  if (!command.output.empty())
    std::printf("%zu asset%s in %s%s\n", gathered->assets.size(), gathered->assets.size() == 1 ? "" : "s",
                command.output.c_str(),
                command.inputs.empty() ? ""
                                       : (", " + length_text(Seconds(gathered->seconds)) + " of audio, " +
                                          std::to_string(gathered->unknown) + " of unknown length")
                                             .c_str());
  return gathered->problems > 0 ? kSomeFailed : kDone;
}

}  // namespace tutti
