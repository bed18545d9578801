#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/engine_process/engine_run.h"
#include "cli/flags.h"
#include "cli/training/training_run.h"
#include "text/manifest/recording_names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct ClassifyCommand {
  std::vector<std::string> inputs{};
  fs::path model{};
  std::string device = "cpu";
  std::int32_t threads = 0;
  bool json = false;
};

/// The recordings below a folder, by name.
Result<std::vector<std::string>> recordings_in(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> found;
  for (auto at = fs::recursive_directory_iterator(folder, error); !error && at != fs::recursive_directory_iterator();
       at.increment(error))
    if (is_recording(at->path()) && !at->is_directory(error)) found.push_back(at->path().string());
  if (error) return tl::unexpected<Error>(system_error(folder.string(), "cannot be listed", error.value()));
  std::ranges::sort(found);
  return found;
}

/// Every file that is to be classified, as it was given; folders as the recordings in them, "-" as the names on
/// standard input.
Result<std::vector<std::string>> files_of(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  for (const auto& input : inputs) {
    std::error_code ignored;
    if (input == "-") {
      for (std::string line; std::getline(std::cin, line);)
        if (!line.empty()) files.push_back(line);
    } else if (fs::is_directory(input, ignored)) {
      auto found = recordings_in(input);
      if (!found) return found;
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
  return check_thread_count("--threads", c.threads);
}

}  // namespace

int run_classify(const std::vector<std::string>& arguments) {
  ClassifyCommand c;
  OptionTable table("classify",
                    "Name the sound in every file, by a model of 'tutti train classifier'. A recording that is longer "
                    "than the model's clips gets the mean of their answers.");
  table.positional(c.inputs, "FILE|FOLDER|-...",
                   "recordings of any format; -: their names, one a line, on standard input");
  table.add("model", c.model, "DIR", "OUT/model of 'tutti train classifier'");
  table.add("device", c.device, "cpu|auto|cuda:N", "where the network is; it is small, and a processor does");
  table.add("threads", c.threads, "N", "of network and features; 0: one per core");
  table.add_switch(
      "json", c.json,
      "a line of JSON for each file: {\"file\", \"label\", \"score\", \"scores\": {LABEL: probability}}, or "
      "{\"file\", \"error\"}");
  table.examples(
      {"tutti classify --model trained/model clip.wav", "tutti classify --model trained/model --json folder"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (auto checked = check(c); !checked) return complain(checked.error());
  const auto files = files_of(c.inputs);
  if (!files) return complain(files.error());
  if (files->empty()) return complain({Fault::usage, "there is no recording to classify"}, kUsage);
  std::string names;
  for (const auto& file : *files) names += file + '\0';
  const auto list = settings_file(names);
  if (!list) return complain(list.error(), kNothingRan);
  std::vector<std::string> line{"classify", "--model",      c.model.string(),
                                "--files",  path_of(*list), "--device",
                                c.device,   "--threads",    std::to_string(c.threads)};
  if (c.json) line.emplace_back("--json");
  return run_engine(line, "it classified files");
}

}  // namespace tutti
