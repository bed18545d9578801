#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/log.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/command_trace.h"
#include "cli/commands.h"
#include "cli/engine_process/engine_run.h"
#include "cli/flags.h"
#include "cli/training/training_run.h"
#include "transcribe/inputs/inputs.h"
#include "transcribe/inputs/standard_input.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct ClassifyCommand {
  std::vector<std::string> inputs{};
  fs::path model{};
  std::string device = "cpu";
  std::int32_t threads = 0;
  std::string copy_to{};
  double min_score = 0.9;
  bool json = false;
  bool csv = false;
  bool over_time = false;
  fs::path trace{};
};

/// The recordings below a folder, by name. What is left out is reported.
Result<std::vector<std::string>> recordings_in(const fs::path& folder) {
  std::vector<std::string> found;
  std::optional<Error> unreadable;
  FolderTally tally;
  const auto take = [&found](const fs::path& file) {
    found.push_back(file.string());
    return true;
  };
  search_folder(folder, /*all_files=*/false, {take, [&](Error&& error) { unreadable = std::move(error); }}, tally);
  if (unreadable) return tl::unexpected(*std::move(unreadable));
  if (const std::string text = folder_text(tally); !text.empty()) log(Level::info, folder.string() + ": " + text);
  std::ranges::sort(found);
  return found;
}

/// Every file that is to be classified, as it was given; folders as the recordings in them, "-" as the names on
/// standard input, or itself where a recording is there.
Result<std::vector<std::string>> files_of(const std::vector<std::string>& inputs, StandardInput& standard_input) {
  std::vector<std::string> files;
  for (const auto& input : inputs) {
    std::error_code ignored;
    if (input == "-") {
      TRY(standard_input.begin());
      if (!standard_input.audio().empty()) {
        files.emplace_back("-");
        continue;
      }
      if (inputs.size() == 1) return files;  // the engine reads the names as they come
      const auto names = standard_input.names();
      if (!names) return names;
      files.insert(files.end(), names->begin(), names->end());
    } else if (fs::is_directory(input, ignored)) {
      auto found = recordings_in(input);
      if (!found) return found;
      if (found->empty()) log(Level::warning, input + ": holds no recording");
      files.insert(files.end(), found->begin(), found->end());
    } else {
      files.push_back(input);
    }
  }
  return files;
}

Result<void> check(const ClassifyCommand& c) {
  if (c.model.empty()) return fail(Fault::usage, "classify needs a model", "Name its folder with --model OUT/model");
  if (!is_there(c.model / "config.json"))
    return fail(Fault::missing, c.model.string() + ": no model is there",
                "Expected the folder OUT/model of 'tutti train classifier --out OUT'");
  if (c.copy_to.empty() && c.min_score != ClassifyCommand{}.min_score)
    return fail(Fault::usage, "--min-score: it is for --copy-to", "Name a folder with --copy-to, or leave it out");
  if (c.json && c.csv) return fail(Fault::usage, "--json and --csv: take one of them");
  if (!(c.min_score >= 0 && c.min_score <= 1))
    return fail(Fault::usage, "--min-score: expected 0 to 1, found " + show_value(c.min_score));
  return check_thread_count("--threads", c.threads);
}

/// Checks that copies do not land among the recordings: the next run would classify them, too.
Result<void> expect_own_copies(const ClassifyCommand& c) {
  const auto copies = resolved_path(c.copy_to).string() + '/';
  for (const auto& input : c.copy_to.empty() ? std::vector<std::string>() : c.inputs)
    if (input != "-" && copies.starts_with(resolved_path(input).string() + '/'))
      return fail(Fault::usage, "--copy-to " + c.copy_to + " lies in " + input + ", which is classified",
                  "Name a folder elsewhere: the next run would classify the copies, too");
  return {};
}

void add_classify(OptionTable& table, ClassifyCommand& c) {
  table.positional(
      c.inputs, "FILE|FOLDER|-...",
      "recordings of any format; -: their names, one a line or ended by NULs, on standard input, answered as they "
      "come; or one recording there");
  table.add("model", c.model, "DIR", "OUT/model of 'tutti train classifier'");
  table.add("device", c.device, "cpu|auto|cuda:N", "where the network is; it is small, and a processor does");
  table.add("threads", c.threads, "N", "threads of network and features; 0: one per core");
  table.add_switch(
      "json", c.json,
      "a line of JSON for each file: {\"file\", \"label\", \"score\", \"scores\": {LABEL: probability}}, or "
      "{\"file\", \"error\"}");
  table.add_switch("csv", c.csv, "a table: file, start, end, label, score, error, and the probability of each label");
  table.add_switch("over-time", c.over_time,
                   "also the answer to every clip of a recording, with its start and end in seconds");
  table.add(
      "copy-to", c.copy_to, "DIR",
      "copies every file with a sure answer to DIR/LABEL, to be looked through and learned; never replaces a file");
  table.add("min-score", c.min_score, "P", "the score that makes an answer sure for --copy-to");
  add_trace(table, c.trace);
  table.examples({"tutti classify --model trained/model clip.wav", "tutti classify --model trained/model --json folder",
                  "tutti classify --model trained/model --csv --over-time night.flac > night.csv",
                  "tutti classify --model trained/model --copy-to sorted --min-score 0.95 new"});
}

}  // namespace

int run_classify(const std::vector<std::string>& arguments) {
  ClassifyCommand c;
  OptionTable table("classify",
                    "Name the sound in every file, by a model of 'tutti train classifier'. A recording that is longer "
                    "than the model's clips gets the mean of their answers.");
  add_classify(table, c);
  if (const auto code = start_command(table, arguments)) return *code;
  if (auto checked = check(c); !checked) return complain(checked.error());
  StandardInput standard_input;
  const auto files = files_of(c.inputs, standard_input);
  if (!files) return complain(files.error());
  const bool follows = files->empty() && !trimmed(standard_input.head()).empty();
  if (files->empty() && !follows)
    return complain({Fault::usage, joined(c.inputs, ", ") + ": there is no recording to classify"}, kUsage);
  if (auto own = expect_own_copies(c); !own) return complain(own.error(), kUsage);
  if (!standard_input.audio().empty() && !c.copy_to.empty())
    return complain({Fault::usage, "--copy-to: a recording on standard input has no name", "Name files"}, kUsage);
  std::string names = follows ? standard_input.head() : std::string();
  for (const auto& file : *files) names += file + '\0';
  const auto list = settings_file(names);
  if (!list) return complain(list.error(), kNothingRan);
  std::vector<std::string> line{"classify", "--model",      c.model.string(),
                                "--files",  path_of(*list), "--device",
                                c.device,   "--threads",    std::to_string(c.threads)};
  if (!standard_input.audio().empty()) line.insert(line.end(), {"--standard-input", standard_input.audio().string()});
  if (follows) line.emplace_back("--follow");
  if (follows && standard_input.name_end() == '\0') line.emplace_back("--nul-ends");
  if (c.json) line.emplace_back("--json");
  if (c.csv) line.emplace_back("--csv");
  if (c.over_time) line.emplace_back("--over-time");
  if (!c.copy_to.empty()) line.insert(line.end(), {"--copy-to", c.copy_to, "--min-score", show_value(c.min_score)});
  CommandTrace trace;
  std::vector<fs::path> read(files->begin(), files->end());
  read.push_back(c.model);
  if (const auto begun = trace.begin_beside(read, c.trace, command_line("tutti classify", arguments)); !begun)
    return complain(begun.error());
  return run_engine(line, "it classified files");
}

}  // namespace tutti
