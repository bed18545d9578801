#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/json.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/named_model.h"
#include "review/review.h"
#include "review/review_pages.h"
#include "text/json_bytes.h"
#include "transcribe/output_plan.h"
#include "view/progress.h"
#include "view/review.h"
#include "view/text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 10;  // recordings that the terminal names

struct ReviewCommand {
  std::vector<std::string> files{};
  fs::path out{};
  fs::path audio_root{};
  fs::path state{};
  std::string store{};
  double least_severity = 0.5;
  std::int32_t threads = 0;
  bool text_only = false;
  bool json = false;
  std::string names{};  // SPEAKER=NAME, separated by commas
};

void add_review(OptionTable& table, ReviewCommand& c) {
  table.positional(c.files, "TRANSCRIPT.json...",
                   "JSON transcripts of Tutti, openai-whisper, faster-whisper or whisperX; a folder takes in all below "
                   "it");
  table
      .add("out", c.out, "DIR",
           "where review.csv and review.html go; one that is there and that the store did not write, or that was "
           "edited, is kept, and the new one becomes NAME.new.EXT; with --names it may be left out")
      .letter = 'o';
  table.add("audio-root", c.audio_root, "DIR",
            "look for the recordings below it, by name; without it: beside each transcript");
  table.add("state", c.state, "DIR", "the folder of the store, which knows the pages that it wrote");
  add_store(table, c.store);
  table.add("least-severity", c.least_severity, "S",
            "leave out findings below, 0 to 1. From 0.5 on a finding is worth an ear");
  table.add("threads", c.threads, "N", "recordings looked at together; 0: one per core");
  table.add_switch("text-only", c.text_only,
                   "do not listen to the recordings: faster; gaps are not found, and invented speech hardly");
  table.add_list("names", c.names, "SPEAKER=NAME",
                 "first gives a speaker of the one transcript another name, in all outputs of its recording that Tutti "
                 "wrote; may be given again for another one");
  table.add_switch("json", c.json, "the list as one line of JSON on standard output");
}

/// The outputs in which speakers have new names, and those that are not ours.
int report_renamed(const RenamedOutputs& done, const ReviewCommand& command) {
  const auto texts = [](const std::vector<fs::path>& paths) {
    Json all = Json::array();
    for (const fs::path& path : paths) all.push_back(path.string());
    return all;
  };
  if (!command.json)
    for (const fs::path& path : done.renamed) std::printf("renamed in %s\n", without_controls(path.string()).c_str());
  else if (command.out.empty())  // else there is another line of JSON
    std::puts(json_keeping_bytes(Json{{"renamed", texts(done.renamed)}, {"left_alone", texts(done.left)}}).c_str());
  for (const fs::path& path : done.left)
    log(Level::warning, path.string() + ": not as Tutti wrote it; it is left alone, with the old names");
  if (done.left.empty()) return kDone;
  return done.renamed.empty() ? kNothingRan : kSomeFailed;
}

/// What --names does. The exit code: kUsage for names that cannot be given.
int apply_names(const ReviewCommand& command, const StoreUrl& store) {
  const auto names = parse_speaker_names(command.names);
  if (!names) return complain(names.error(), kUsage);
  std::error_code ignored;
  if (command.files.size() != 1 || fs::is_directory(command.files.front(), ignored))
    return complain({Fault::usage, "--names: every recording has speakers of its own: expected one transcript",
                     "Name the JSON transcript of the recording"},
                    kUsage);
  const auto done = rename_speakers(command.files.front(), *names, store);
  if (!done) return complain(done.error());
  return report_renamed(*done, command);
}

void print_text(const ReviewList& list, const fs::path& page) {
  for (std::size_t i = 0; i < std::min(kShown, list.recordings.size()); ++i) {
    const ReviewRecording& recording = list.recordings[i];
    const ReviewFinding& worst = recording.findings.front();
    std::printf(
        "%s  %s  %s: %s%s\n", fitted(without_controls(recording.name), 28, true).c_str(),
        position_text(worst.start, worst.end).c_str(), worst.kind.c_str(), without_controls(worst.reason).c_str(),
        recording.findings.size() > 1 ? (" (and " + std::to_string(recording.findings.size() - 1) + " more)").c_str()
                                      : "");
  }
  if (list.recordings.size() > kShown) std::printf("and %zu more recordings\n", list.recordings.size() - kShown);
  for (const std::string& line : list.not_read) std::printf("not checked: %s\n", without_controls(line).c_str());
  if (list.without_audio > 0)
    std::printf("%zu were checked by their text alone%s\n", list.without_audio,
                list.recordings.empty() ? "" : ", without where speech is");
  if (list.without_speech > 0) std::printf("without speech: %zu transcripts have no text\n", list.without_speech);
  std::printf("%s: %s\n", review_headline(list).c_str(), page.c_str());
}

/// Counts on a terminal, silent elsewhere.
std::function<void(std::size_t)> counting(LiveLines& lines, std::size_t all) {
  if (!::isatty(STDERR_FILENO)) return {};
  return [&lines, all](std::size_t done) {
    if (done == all)
      lines.clear();
    else
      lines.show({std::to_string(done) + " of " + std::to_string(all) + " looked at"});
  };
}

}  // namespace

int run_review(const std::vector<std::string>& arguments) {
  ReviewCommand command{.state = state_folder()};
  OptionTable table("review",
                    "Find the transcripts that should be checked by ear, and where: loops, invented speech, gaps, "
                    "other languages, impossible speed, low confidence. Write a table and a page with players.");
  add_review(table, command);
  table.examples({"tutti review out/ --audio-root talks/ --out review",
                  "tutti review out/talk.json --names SPEAKER_00=Anna,SPEAKER_01=Bert"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.out.empty() && command.names.empty())
    return complain({Fault::usage, "--out: no folder is named for review.csv and review.html", "Add --out DIR"},
                    kUsage);
  const auto named = store_named(command.state, command.store);
  if (!named) return complain(named.error(), kUsage);
  const int renamed = command.names.empty() ? kDone : apply_names(command, named->store);
  if (command.out.empty() || (renamed != kDone && renamed != kSomeFailed)) return renamed;
  if (const auto folder = expect_output_folder(command.out); !folder) return complain(folder.error(), kNothingRan);
  const auto transcripts = find_transcripts(command.files);
  if (!transcripts) return complain(transcripts.error(), kNothingRan);

  const auto inputs = review_inputs(*transcripts, command.audio_root);
  auto files = claim_review_pages(inputs, command.out);
  if (!files) return complain(files.error(), kUsage);
  ReviewPages pages(named->store, Existing::keep);
  LiveLines lines(STDERR_FILENO);
  const auto list = write_review(inputs, {.out = command.out,
                                          .least_severity = command.least_severity,
                                          .listen = !command.text_only,
                                          .threads = command.threads,
                                          .write = [&](const fs::path& page, std::string_view content) -> Result<void> {
                                            if (auto free = files->expect_no_input(page); !free) return free;
                                            return pages.write(page, content);
                                          },
                                          .on_progress = counting(lines, inputs.size())});
  if (!list) return complain(list.error(), kNothingRan);
  if (command.json)
    std::puts(review_json(*list).c_str());
  else
    print_text(*list, pages.last());
  return list->not_read.empty() ? renamed : kSomeFailed;
}

}  // namespace tutti
