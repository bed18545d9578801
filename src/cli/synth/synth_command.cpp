#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/synth/corpus_flags.h"
#include "prepare/synthetic/morse_folder.h"
#include "view/text.h"

namespace tutti {
namespace {

struct SynthCommand {
  std::vector<std::string> kind{};
  std::uint64_t count = 1000;
  std::string condition = "mixed";
  std::string format = "wav";
  std::int32_t threads = static_cast<std::int32_t>(std::max(std::thread::hardware_concurrency(), 1U));
  double longest = 28;
  std::string noise_db{};
  std::int32_t rate = kModelRate.value;
  MorseFolder folder{};
};

OptionTable table_of(SynthCommand& command) {
  MorseCorpus& corpus = command.folder.corpus;
  OptionTable table(
      "synth",
      "Make recordings with exactly known text. 'morse' writes a corpus of Morse code as a receiver gets "
      "it: contest exchanges through noise, interference, fading and filters, with the time of each word "
      "in transcripts/. The same seed gives the same corpus on any machine, with any number of threads. 'tutti "
      "synth voice --help' is about sentences for a voice, 'tutti synth leaks --help' about sounds of water pipes.");
  table.positional(command.kind, "KIND", "what to make: morse");
  table.add("out", command.folder.out, "DIR", "the folder: audio/, metadata.csv, splits/, transcripts/");
  table.add("count", command.count, "N", "clips");
  table.add("seed", corpus.seed, "N", "which corpus; every number is another");
  table.add("condition", command.condition, "NAME", "condition of the band; mixed: all five, evenly").choices = {
      "clean", "good", "moderate", "poor", "dx", "mixed"};
  table.add("format", command.format, "NAME", "format of the audio files").choices = {"wav", "flac"};
  table.add("rate", command.rate, "HZ",
            "sample rate of the files, 4000 to 16000: 8000 as telephones and many receivers record");
  table.add("noise-share", corpus.noise_share, "SHARE", "share of clips without a transmission");
  table.add("carrier-share", corpus.carrier_share, "SHARE",
            "share of those with a steady carrier, whose text is empty as well");
  table.add("wait-share", corpus.wait_share, "SHARE",
            "share of the others with 0.5 to 8 s of the band alone before the transmission, behind it or both");
  table.add("plain-share", corpus.plain_share, "SHARE", "share of clips with words and groups instead of contests");
  table.add("wpm-least", corpus.wpm.least, "WPM", "slowest speed; field note 004 used 15");
  table.add("wpm-most", corpus.wpm.most, "WPM", "fastest speed; field note 004 used 40");
  table.add("tone-least", corpus.tone_hz.least, "HZ", "lowest tone; field note 004 used 700 only");
  table.add("tone-most", corpus.tone_hz.most, "HZ", "highest tone");
  table.add("noise-db", command.noise_db, "LEAST:MOST",
            "tone over noise from 300 to 3000 Hz, drawn for every clip, as in 0:10; without it: the condition's own");
  table.add("receiver-share", corpus.receiver_share, "SHARE",
            "share of clips sent through a receiver set up for something else: a band drawn at random, two of three "
            "overdriven");
  table.add("contact-share", corpus.contact_share, "SHARE",
            "share of the contests' clips that have a turn of a contact instead: calls, reports and names sent twice, "
            "cut figures, prosigns, good-byes");
  table.add("hand-share", corpus.hand_share, "SHARE",
            "share of clips keyed with a straight key or a bug, uneven in weight, spacing and speed");
  table.add("air-share", corpus.air_share, "SHARE",
            "share of clips disturbed as recordings off the air are, whatever the condition: noise to 13 dB over the "
            "tone, fading, near stations, narrow filters, pumping gain, clicks, chirp");
  table.add("longest", command.longest, "SECONDS",
            "length of a clip at most; words that do not fit are left out, but for the first");
  table.add_switch("letter-times", command.folder.letter_times, "transcripts/ times every letter, not every word");
  table.add("threads", command.threads, "N", "threads; they change nothing but the time it takes");
  return table;
}

Result<void> settle(SynthCommand& command) {
  if (command.kind.size() != 1 || command.kind[0] != "morse")
    return fail(Fault::usage,
                "expected the kind 'morse', 'voice' or 'leaks', found '" + joined(command.kind, " ") + "'",
                "See 'tutti synth --help'");
  if (auto checked = check_corpus_flags(command.folder.out, command.count, command.threads, "synth"); !checked)
    return checked;
  command.folder.count = static_cast<std::int64_t>(command.count);
  command.folder.threads = command.threads;
  command.folder.format = command.format == "flac" ? AudioFormat::flac : AudioFormat::wav;
  command.folder.corpus.condition = condition_named(command.condition);
  command.folder.corpus.longest = Seconds(command.longest);
  if (command.rate < 4000 || command.rate > kModelRate.value)
    return fail(Fault::usage, "--rate: expected 4000 to 16000, found " + std::to_string(command.rate));
  command.folder.rate = Hertz{command.rate};
  command.folder.corpus.noise_db = TRY(range_of_flag("--noise-db", command.noise_db));
  return check(command.folder.corpus);
}

}  // namespace

int run_synth(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "voice") return run_synth_voice({arguments.begin() + 1, arguments.end()});
  if (!arguments.empty() && arguments[0] == "leaks") return run_synth_leaks({arguments.begin() + 1, arguments.end()});
  SynthCommand command;
  OptionTable table = table_of(command);
  table.examples({"tutti synth morse --count 200 --seed 1 --condition mixed --out morse"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (auto settled = settle(command); !settled) return complain(settled.error(), kUsage);
  const auto written = write_morse_folder(command.folder);
  if (!written) return complain(written.error());
  std::printf("%lld clips, %s of audio, in %s s: %s clips/s. They are in %s\n", static_cast<long long>(written->clips),
              length_text(written->audio).c_str(), short_number(written->spent.count()).c_str(),
              short_number(static_cast<double>(written->clips) / written->spent.count()).c_str(),
              command.folder.out.c_str());
  return kDone;
}

}  // namespace tutti
