#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "audio/pcm_stream.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/listen/caption_display.h"
#include "cli/named_model.h"
#include "cli/transcribe_command.h"
#include "hub/files_of_model.h"
#include "transcribe/live/caption_files.h"
#include "transcribe/live/live_source.h"
#include "transcribe/live/live_stream.h"
#include "transcribe/output_plan.h"
#include "transcribe/pool/one_device.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct ListenCommand {
  TranscribeCommand speech{};
  std::vector<std::string> source{};
  std::int32_t rate = 0;
  std::string format{};
  fs::path folder{};
  bool json = false;
  bool quiet = false;
};

void add_listen(OptionTable& table, ListenCommand& c) {
  table.positional(c.source, "SOURCE",
                   "a WAV as it comes: - reads standard input, or a pipe's or a file's path; mic or mic:DEVICE "
                   "records by arecord; http(s)://... is read by ffmpeg",
                   0);
  table.group("Live audio");
  table.add("rate", c.rate, "HZ",
            "the source gives bare 16-bit little-endian samples of one channel at this rate; 0: a WAV");
  table.add_switch("json", c.json,
                   "an event a line on standard output: type (partial, final), id, start, end, text; a partial one "
                   "replaces the one of its id before");
  table.add("output-dir", c.folder, "DIR", "write the final text there as it comes; default: nowhere, or with -f here")
      .letter = 'o';
  table
      .add("output-format", c.format, "FORMAT",
           "what is written: txt, vtt, srt, tsv, json or all; default with -o: all")
      .letter = 'f';
  table.add_switch("quiet", c.quiet, "print nothing but errors").letter = 'q';
  table.add("device", c.speech.device, "DEVICE", "auto, cpu, cpu:N, cuda:N, or a GPU's UUID");
  table.add("threads", c.speech.threads, "N", "CPU threads of the network; 0 or None: one per core");
  add_speech(table, c.speech);
}

/// The files that the text is written into; none without -o and -f.
Result<std::optional<PlannedFile>> outputs_of(const ListenCommand& c, const std::string& source) {
  if (c.folder.empty() && c.format.empty()) return std::nullopt;
  OutputOptions options{.folder = c.folder.empty() ? fs::path(".") : c.folder};
  if (!c.format.empty()) {
    auto formats = parse_formats(c.format);
    if (!formats) return fail(Fault::usage, "--output-format: " + formats.error().what);
    options.formats = std::move(*formats);
  }
  const bool is_file = source != "-" && fs::exists(source);
  auto plan = TRY(plan_outputs({is_file ? source : "-"}, options));
  PlannedFile planned = plan.front();
  if (!is_file && source != "-")
    for (fs::path& output : planned.outputs) output = output.parent_path() / ("live" + output.extension().string());
  TRY(make_folders_of({planned}));
  return planned;
}

std::unique_ptr<CaptionDisplay> display_of(const ListenCommand& c) {
  if (c.json) return make_caption_events();
  if (c.quiet) return make_no_captions();
  return ::isatty(STDOUT_FILENO) == 1 ? make_running_captions() : make_caption_lines();
}

Result<std::optional<Hertz>> rate_of(const ListenCommand& c) {
  constexpr std::int32_t kLeast = 4000, kMost = 384'000;
  if (c.rate == 0) return std::nullopt;
  if (c.rate < kLeast || c.rate > kMost)
    return fail(Fault::usage, "--rate: expected 4000 to 384000 Hz, found " + std::to_string(c.rate));
  return Hertz{c.rate};
}

int listen(LiveSource& source, const LoadedDevice& device, const TranscribeOptions& options,
           const std::optional<PlannedFile>& planned, CaptionDisplay& display, Interrupt& interrupt, int stop) {
  const std::string language =
      device.model.tokenizer.special().multilingual ? options.long_form.language.value_or("") : "en";
  CaptionFiles captions(display, planned, options.writer, language);
  auto stream = LiveStream::start(*device.pool, device.model, options, 1, captions);
  if (!stream) return complain(stream.error(), kUsage);
  const auto read = read_live_source(source, stop, **stream);
  (*stream)->finish();
  (*stream)->wait();
  if (auto ended = captions.end(); !ended) return complain(ended.error(), kNothingRan);
  if (!read) return complain(read.error(), kNothingRan);
  if (*read) return kDone;
  if (planned) log(Level::warning, "stopped; the text up to here is written");
  return interrupt.raised() ? kInterrupted : kDone;
}

}  // namespace

int run_listen(const std::vector<std::string>& arguments) {
  ListenCommand command;
  command.speech.vad.vad = true;
  OptionTable table("listen",
                    "Speech to text while it is spoken: words appear within a second or two, and what is final never "
                    "changes.");
  add_listen(table, command);
  table.examples({"arecord -q -f S16_LE -r 16000 -c 1 | tutti listen --model tiny.en -",
                  "tutti listen --model tiny.en -o . -f srt mic",
                  "ffmpeg -i SOURCE -f s16le -ac 1 -ar 16000 - | tutti listen --model base.en --rate 16000 --json -"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.quiet) log_from(Level::error);
  if (command.source.size() > 1)
    return complain({Fault::usage, "expected one source, found " + std::to_string(command.source.size()), ""}, kUsage);
  const std::string from = command.source.empty() ? "-" : command.source.front();
  const auto rate = rate_of(command);
  if (!rate) return complain(rate.error(), kUsage);
  if (command.speech.model.empty())
    return complain(
        {Fault::usage, "no model is named, and none is taken by default: which one fits depends on the audio",
         "Name one with --model or TUTTI_MODEL; 'tutti models' lists what is here"},
        kUsage);
  ModelFolders folders = ModelFolders::from_environment();
  folders.first = command.speech.model_dir;
  const auto model = find_named_model(command.speech.model, folders);
  if (!model) return complain(model.error());
  command.speech.vad.vad = true;
  const auto options = run_options(command.speech, *model);
  if (!options) return complain(options.error(), kUsage);
  const auto planned = outputs_of(command, from);
  if (!planned) return complain(planned.error(), kUsage);
  if (options->diarize || command.format == "rttm")
    return complain({Fault::usage, "--diarize: speakers are found in whole recordings, and not while one comes",
                     "Record it, and run 'tutti transcribe --diarize'"},
                    kUsage);

  Interrupt interrupt;
  const OwnedFd stop(::eventfd(0, EFD_CLOEXEC));
  interrupt.on_raise([&stop] {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop.get(), &one, sizeof one);
  });
  auto source = LiveSource::open(from, *rate);
  if (!source) return complain(source.error());
  const auto device = load_device(*options, interrupt);
  if (!device) return complain(device.error(), interrupt);
  const auto display = display_of(command);
  const int code = listen(*source, **device, *options, *planned, *display, interrupt, stop.get());
  interrupt.on_raise({});
  return code;
}

}  // namespace tutti
