#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/prepare/build_progress.h"
#include "prepare/synthetic/voice_folder.h"
#include "view/text.h"

namespace tutti {
namespace {

struct SynthVoice {
  VoiceFolder folder{};
  double minutes = 60;
  std::string texts{};
};

OptionTable table_of(SynthVoice& c) {
  OptionTable table(
      "synth voice",
      "Make a teacher's corpus: CMU flite's voice slt reads texts, in LJSpeech's layout for 'tutti prepare "
      "tts'. phones.jsonl has when each of its phones ends. What learns from it learns a synthesiser, not "
      "a person: label.txt names it, and the set and the voice keep that label.");
  table.add("out", c.folder.out, "DIR", "the folder: wavs/, metadata.csv, phones.jsonl, label.txt");
  table.add("minutes", c.minutes, "N", "minutes of speech");
  table.add_list("texts", c.texts, "FILE,...",
                 "read first: a sentence a line, or lists as LJSpeech's; the rest is made up");
  table.add("exclude", c.folder.exclude, "FILE", "texts, one a line, that are not read: what the voice is tested with");
  table.add("seed", c.folder.seed, "N", "seed of the sentences that are made up");
  table.examples({"tutti synth voice --minutes 60 --out teacher",
                  "tutti synth voice --texts LJSpeech-1.1/metadata.csv --exclude test.txt --out teacher"});
  return table;
}

Result<void> settle(SynthVoice& c) {
  if (c.folder.out.empty())
    return fail(Fault::usage, "expected --out DIR, found nothing", "See 'tutti synth voice --help'");
  constexpr double kMost = 6000;
  if (!(c.minutes > 0 && c.minutes <= kMost))
    return fail(Fault::usage, "--minutes: expected more than 0, at most 6000, found " + number_text(c.minutes));
  constexpr double kMinute = 60;
  c.folder.length = Seconds(kMinute * c.minutes);
  for (const auto file : split(c.texts, ',')) c.folder.texts.emplace_back(trimmed(file));
  return {};
}

}  // namespace

int run_synth_voice(const std::vector<std::string>& words) {
  SynthVoice command;
  auto table = table_of(command);
  if (const auto code = start_command(table, words)) return *code;
  if (auto settled = settle(command); !settled) return complain(settled.error(), kUsage);
  Interrupt interrupt;
  BuildProgress progress(interrupt, "seconds");
  const auto whole = [](Seconds length) { return static_cast<std::int64_t>(length.count()); };
  const auto written = write_voice_folder(command.folder, [&](Seconds done, Seconds all) {
    return progress(std::min(whole(done), whole(all)), whole(all));
  });
  if (!written) return complain(written.error(), interrupt);
  std::printf(
      "%lld clips, %s of speech, in %s s; %lld of given texts, the others made up; %lld left out by --exclude. "
      "They are in %s\n",
      static_cast<long long>(written->clips), length_text(written->audio).c_str(),
      short_number(written->spent.count()).c_str(), static_cast<long long>(written->from_texts),
      static_cast<long long>(written->excluded), command.folder.out.c_str());
  return kDone;
}

}  // namespace tutti
