#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/json.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "diarize/error_rate.h"
#include "diarize/rttm.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

struct DerCommand {
  std::filesystem::path ref{};
  std::filesystem::path hyp{};
  double collar = 0;
  bool skip_overlap = false;
  bool json = false;
};

void add_der(OptionTable& table, DerCommand& c) {
  table.add("ref", c.ref, "FILE", "who really speaks when, as RTTM: one recording, or several by their names");
  table.add("hyp", c.hyp, "FILE", "the RTTM to score, as 'tutti diarize' writes it");
  table.add(
      "collar", c.collar, "SECONDS",
      "left out on either side of each boundary of the reference; pyannote.metrics' collar is both sides together");
  table.add_switch("skip-overlap", c.skip_overlap, "leave out where turns of the reference overlap");
  table.add_switch(
      "json", c.json,
      "print {\"der\":...,\"missed\":...,\"false_alarm\":...,\"confusion\":...,\"total\":...} and the same "
      "of each recording; the last four in seconds");
  table.examples({"tutti der --ref true.rttm --hyp out/talk.rttm",
                  "tutti der --ref true.rttm --hyp out/talk.rttm --collar 0.25 --skip-overlap --json"});
}

Json json_of(const DiarizationErrors& errors) {
  return {{"der", errors.rate()},
          {"missed", errors.missed},
          {"false_alarm", errors.false_alarm},
          {"confusion", errors.confusion},
          {"total", errors.total},
          {"reference_speakers", errors.reference_speakers},
          {"hypothesis_speakers", errors.hypothesis_speakers}};
}

std::string text_of(const DiarizationErrors& errors) {
  const auto percent = [&](double seconds) {
    return fixed_text(errors.total > 0 ? 100 * seconds / errors.total : 0, 2) + " %";
  };
  return "DER " + fixed_text(100 * errors.rate(), 2) + " %: missed " + percent(errors.missed) + ", false alarm " +
         percent(errors.false_alarm) + ", confusion " + percent(errors.confusion) + " of " +
         fixed_text(errors.total, 1) + " s of speech; speakers: " + std::to_string(errors.hypothesis_speakers) +
         " found, " + std::to_string(errors.reference_speakers) + " true";
}

Result<std::map<std::string, DiarizationErrors>> compare(const DerCommand& command) {
  const auto reference = TRY(read_rttm(command.ref));
  const auto hypothesis = TRY(read_rttm(command.hyp));
  if (reference.empty())
    return fail(Fault::usage, command.ref.string() + ": expected turns of speakers, found none",
                "Name the reference with --ref and the file to score with --hyp");
  auto errors =
      diarization_errors(reference, hypothesis, {.collar = command.collar, .skip_overlap = command.skip_overlap});
  if (!errors) return fail_in(command.hyp.string(), errors.error());
  return errors;
}

}  // namespace

int run_der(const std::vector<std::string>& arguments) {
  DerCommand command;
  OptionTable table("der",
                    "Diarization error rate: how much of the speech has no speaker or the wrong one, as "
                    "pyannote.metrics counts it.");
  add_der(table, command);
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.ref.empty() || command.hyp.empty())
    return complain({Fault::usage, "expected --ref FILE and --hyp FILE", "See 'tutti der --help'"}, kUsage);
  if (!(command.collar >= 0 && std::isfinite(command.collar)))
    return complain({Fault::usage, "--collar: expected 0 seconds or more, found " + number_text(command.collar)},
                    kUsage);
  const auto errors = compare(command);
  if (!errors) return complain(errors.error());
  DiarizationErrors all;
  for (const auto& [name, each] : *errors) all += each;
  if (command.json) {
    Json line = json_of(all);
    for (const auto& [name, each] : *errors) line["recordings"][name] = json_of(each);
    std::printf("%s\n", json_line(line).c_str());
    return kDone;
  }
  if (errors->size() > 1)
    for (const auto& [name, each] : *errors)
      std::printf("%s: %s\n", without_controls(name).c_str(), text_of(each).c_str());
  std::printf("%s\n", text_of(all).c_str());
  return kDone;
}

}  // namespace tutti
