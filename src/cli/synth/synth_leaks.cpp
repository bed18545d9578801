#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "base/process/exit_code.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/synth/corpus_flags.h"
#include "prepare/synthetic/leak_folder.h"
#include "view/text.h"

namespace tutti {
namespace {

struct SynthLeaks {
  LeakFolder folder{};
  std::uint64_t count = 1000;
  std::string condition = "mixed";
  std::string snr_db{};
  std::string format = "wav";
  std::int32_t threads = static_cast<std::int32_t>(std::max(std::thread::hardware_concurrency(), 1U));
};

OptionTable table_of(SynthLeaks& c) {
  LeakCorpus& corpus = c.folder.corpus;
  OptionTable table(
      "synth leaks",
      "Make sounds of water pipes with exact labels, as hydrophones record them (field note 003: 10 s at 4,096 Hz, "
      "LABEL/sensor~recording~timestamp~gain.wav), for 'tutti prepare classifier'. LEAK and CRACK are jets of water, "
      "NORMAL is flow, pumps and taps, BACKGROUND traffic and speech, UNCLASSIFIED knocks and hum; pipes ring and "
      "carry each in its own way. Length, level and name say nothing of the label. It is arithmetic, not a pipe: "
      "what learns from it knows no real leak. The same seed gives the same corpus, with any number of threads.");
  table.add("out", c.folder.out, "DIR", "the folder: a folder for each label, and metadata.csv");
  table.add("count", c.count, "N", "clips, the labels in turn");
  table.add("seed", corpus.seed, "N", "which corpus; every number is another");
  table
      .add("condition", c.condition, "NAME",
           "how far the labelled sound is above all others: clean 30 to 40 dB, good 20 to 30, moderate 10 to 20, poor "
           "0 to 10, dx -10 to 0; mixed: all five, evenly")
      .choices = {"clean", "good", "moderate", "poor", "dx", "mixed"};
  table.add("snr-db", c.snr_db, "LEAST:MOST",
            "labelled sound over all others in dB, drawn for every clip, as in 0:10; without it: the condition's own");
  table.add("sensors", corpus.sensors, "N", "each on a pipe of its own; each label is recorded at all of them");
  table.add("out-of-water-share", corpus.out_of_water_share, "SHARE",
            "share of clips that are recorded in the air, with a gain of 1 dB, which 'prepare classifier' leaves out");
  table.add("format", c.format, "NAME", "format of the audio files").choices = {"wav", "flac"};
  table.add("threads", c.threads, "N", "threads; they change nothing but the time it takes");
  table.examples(
      {"tutti synth leaks --count 2000 --seed 1 --out leaks", "tutti prepare classifier --data leaks --out set"});
  return table;
}

Result<void> settle(SynthLeaks& c) {
  if (auto checked = check_corpus_flags(c.folder.out, c.count, c.threads, "synth leaks"); !checked) return checked;
  c.folder.count = static_cast<std::int64_t>(c.count);
  c.folder.threads = c.threads;
  c.folder.format = c.format == "flac" ? AudioFormat::flac : AudioFormat::wav;
  c.folder.corpus.condition = condition_named(c.condition);
  c.folder.corpus.snr_db = TRY(range_of_flag("--snr-db", c.snr_db));
  return check(c.folder.corpus);
}

}  // namespace

int run_synth_leaks(const std::vector<std::string>& words) {
  SynthLeaks command;
  auto table = table_of(command);
  if (const auto code = start_command(table, words)) return *code;
  if (auto settled = settle(command); !settled) return complain(settled.error(), kUsage);
  const auto written = write_leak_folder(command.folder);
  if (!written) return complain(written.error());
  std::printf("%lld clips, %lld of them out of water, %s of audio, in %s s: %s clips/s. They are in %s\n",
              static_cast<long long>(written->clips), static_cast<long long>(written->out_of_water),
              length_text(written->audio).c_str(), short_number(written->spent.count()).c_str(),
              short_number(static_cast<double>(written->clips) / written->spent.count()).c_str(),
              command.folder.out.c_str());
  return kDone;
}

}  // namespace tutti
