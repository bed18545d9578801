#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/build_id.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/diarize/diarize_flags.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "link/worker_handle.h"
#include "transcribe/output_plan.h"
#include "transcribe/reports/run_report.h"
#include "transcribe/speakers/recording_speakers.h"
#include "transcribe/speakers/speaker_run.h"
#include "view/text.h"

namespace tutti {
namespace {

struct DiarizeCommand {
  std::vector<std::string> files{};
  std::filesystem::path output_dir = ".";
  std::string name_by = "stem";
  std::string device = "auto";
  std::int32_t threads = 0;
  bool quiet = false;
  AudioFlags audio{};
  DiarizeFlags speakers{.diarize = true};
};

void add_flags(OptionTable& table, DiarizeCommand& c) {
  table.positional(c.files, "FILE...", "audio, or video with an audio track");
  table.add("output-dir", c.output_dir, "DIR", "where NAME.rttm is written; created when missing").letter = 'o';
  table
      .add("name-by", c.name_by, "stem|path",
           "a/talk.mp3 becomes talk.rttm, or with path talk.mp3.rttm, below the folder that all inputs share")
      .choices = {"stem", "path"};
  table.add("device", c.device, "DEVICE", "auto, cpu, cpu:N (core N), cuda:N, or a GPU's UUID");
  table.add("threads", c.threads, "N", "CPU threads of the networks; 0: one per core");
  table.add_switch("quiet", c.quiet, "print nothing but errors").letter = 'q';
  add_audio(table, c.audio);
  add_diarize(table, c.speakers, /*is_optional=*/false);
  table.examples({"tutti diarize talk.mp3", "tutti diarize -o turns --num-speakers 2 interviews/*.wav",
                  "tutti diarize --speaker ANNA=anna.wav --speaker BEN=ben.wav meeting.m4a"});
}

/// The recording's length.
Result<Seconds> diarize(const PlannedFile& file, const DiarizeCommand& c, const SpeakerRun& run) {
  const auto audio = TRY(audio_choice(c.audio));
  const auto found = TRY(write_turns(file, audio, run));
  if (!c.quiet)
    std::printf("%s: %s\n%s", file.input.c_str(), speaker_count_text(found.speakers.size()).c_str(),
                speakers_text(found.speakers).c_str());
  std::fflush(stdout);
  return found.duration;
}

int run(const DiarizeCommand& c, DiarizeOptions options, const std::vector<PlannedFile>& plan) {
  Interrupt interrupt;
  std::atomic<bool> stopped{false};
  interrupt.on_raise([&] { stopped = true; });
  std::unique_ptr<WorkerHandle> worker;
  if (!options.by_channel) {
    const auto device = speaker_device(c.device);
    if (!device) return complain(device.error(), interrupt);
    if (!options.high_quality) options.high_quality = device->kind == ResolvedDevice::Kind::cuda;
    auto started = start_speaker_worker(*device, c.threads, build_id());
    if (!started) return complain(started.error(), interrupt);
    worker = std::move(*started);
  }
  const OutputOwnership ownership = ownership_of(plan);
  const auto begun = Clock::real().now();
  Seconds audio{};
  std::size_t failed = 0;
  std::vector<std::filesystem::path> replaced;
  for (const PlannedFile& file : plan) {
    if (stopped) break;
    std::error_code ignored;
    const bool was_there = std::filesystem::exists(file.outputs.front(), ignored);
    const auto done = diarize(file, c, {options, ownership, worker.get(), stopped});
    if (done) {
      audio += *done;
      if (was_there) replaced.push_back(file.outputs.front());
    } else if (!stopped) {
      ++failed;
      log(Level::error, done.error().text());
    }
  }
  interrupt.on_raise({});
  if (stopped) return kInterrupted;
  if (!replaced.empty() && !c.quiet) std::fputs((replaced_text(replaced) + "\n").c_str(), stderr);
  const Seconds took = Clock::real().now() - begun;
  if (!c.quiet)
    std::printf("%zu of %zu files done: %s of audio in %s\n", plan.size() - failed, plan.size(),
                length_text(audio).c_str(), (fixed_text(took.count(), 1) + " s").c_str());
  return failed > 0 ? kSomeFailed : kDone;
}

}  // namespace

int run_diarize(const std::vector<std::string>& arguments) {
  DiarizeCommand c;
  OptionTable table("diarize",
                    "Find who speaks when, without a Whisper model: NAME.rttm for each file. Speakers are numbered in "
                    "the order in which they speak first.");
  add_flags(table, c);
  if (const auto code = start_command(table, arguments)) return *code;
  if (const auto checked = check_machine({c.device, c.threads, 0}); !checked) return complain(checked.error(), kUsage);
  const auto options = diarize_options(c.speakers);
  if (!options) return complain(options.error());
  const auto plan = plan_outputs(c.files, {.folder = c.output_dir,
                                           .formats = {Format::rttm},
                                           .name_by = c.name_by == "path" ? NameBy::path : NameBy::stem});
  if (!plan) return complain(plan.error(), kUsage);
  if (const auto made = make_folders_of(*plan); !made) return complain(made.error(), kNothingRan);
  return run(c, **options, *plan);
}

}  // namespace tutti
