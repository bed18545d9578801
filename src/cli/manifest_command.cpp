#include <cstdio>
#include <filesystem>

#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "transcribe/inputs/gathered_manifest.h"
#include "view/text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

Result<void> check(const ManifestRequest& command) {
  const int sources = !command.inputs.empty() + !command.sqlite.empty() + !command.postgres.empty();
  if (sources != 1)
    return fail(Fault::usage, "expected folders or files, or one of --sqlite and --postgres",
                "See 'tutti manifest --help'");
  if (command.inputs.empty() == command.query.empty())
    return fail(Fault::usage, command.inputs.empty() ? "expected --query SQL beside the database"
                                                     : "--query is for a database; here are files");
  return expect_output_file("--output", command.output);
}

void add_options(OptionTable& table, ManifestRequest& command) {
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
  ManifestRequest command;
  OptionTable table("manifest",
                    "Write a manifest for 'tutti batch': a JSON file with an asset per recording, newest first, from "
                    "folders (lengths are read from the headers) or from a query on a database.");
  add_options(table, command);
  table.examples({"tutti manifest archive/ -o archive.json"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (const auto checked = check(command); !checked) return complain(checked.error());

  OutputOwnership files("Name another file with --output");
  const auto gathered = gather_manifest(
      command, files, [](const std::string& problem) { std::fprintf(stderr, "tutti: %s\n", problem.c_str()); });
  if (!gathered) return complain(gathered.error());
  if (!gathered->folders.empty()) std::fprintf(stderr, "tutti: files in folders: %s\n", gathered->folders.c_str());
  const std::string text = manifest_of(*gathered);
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
