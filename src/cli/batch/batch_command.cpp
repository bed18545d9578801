#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "cli/batch/batch_control.h"
#include "cli/batch/batch_flags.h"
#include "cli/batch/batch_inputs.h"
#include "cli/batch/batch_log.h"
#include "cli/batch/engine_options.h"
#include "cli/batch/failure_question.h"
#include "cli/batch/live_table.h"
#include "cli/command_start.h"
#include "cli/command_trace.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "device/list/device_list.h"
#include "device/machine_devices.h"
#include "hub/files_of_model.h"
#include "hub/find.h"
#include "planning/batch/batch_quote.h"
#include "planning/batch/report_json.h"
#include "review/review.h"
#include "review/review_pages.h"
#include "settings/setting_sources.h"
#include "transcribe/batch/batch_done.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_run.h"
#include "transcribe/bucket_outputs.h"
#include "transcribe/inputs/address.h"
#include "transcribe/output_plan.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char *kReport = "--report", *kTrace = "--trace";  // owners of files

Result<void> expect_temporary_folder() {
  const fs::path folder = temporary_folder();
  std::error_code why;
  if (fs::is_directory(folder, why))
    why = why_not_writable(folder);
  else if (!why)
    why = std::make_error_code(std::errc::not_a_directory);
  if (!why) return {};
  const Error error = system_error(folder.string(), "recordings cannot be decoded there", why.value());
  return fail(error.fault, error.what, "Make it, or point TMPDIR at a folder that is yours to write to");
}

/// Checks that files can be made in the output folder, which a batch makes when it is missing, and that recordings can
/// be decoded to the temporary one, which Tutti does not make: better known before the work than behind it.
Result<void> expect_output_folders(const BatchOptions& options) {
  const fs::path& outputs = options.batch;
  TRY(is_object(outputs) ? options.objects->expect_writable(outputs) : expect_output_folder(outputs));
  return expect_temporary_folder();
}

/// Lists, tables and manifests; recordings in a folder are each named by their job.
void add_named_files(OutputOwnership& files, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  for (const auto& input : inputs)
    if (!is_address(input) && !fs::is_directory(input, ignored)) files.add_input(input);
}

/// What the batch writes beside its transcripts.
std::vector<std::pair<fs::path, std::string>> pages_of(const BatchCommand& command) {
  std::vector<std::pair<fs::path, std::string>> pages;
  if (!command.report.empty()) pages.emplace_back(command.report, kReport);
  if (!command.trace.empty()) pages.emplace_back(command.trace, kTrace);
  if (!command.review || is_object(command.output_dir)) return pages;
  for (const char* name : kReviewPages) pages.emplace_back(command.output_dir / name, "--review");
  return pages;
}

/// Transcripts are hardly ever called like a page, so that few paths are resolved.
Result<void> expect_no_page(const fs::path& output, const std::vector<std::pair<fs::path, std::string>>& pages) {
  for (const auto& [page, owner] : pages)
    if (page.filename() == output.filename() && resolved_path(page) == resolved_path(output))
      return fail(Fault::usage, page.string() + " would be written twice: by " + owner + " and as a transcript",
                  "Name another file or --output-dir");
  return {};
}

/// Where its folder is not there, neither is an output that could be something else.
class Folders {
 public:
  bool is_there(const fs::path& folder) {
    if (folder != last_) is_ = tutti::is_there(last_ = folder);
    return is_;
  }

 private:
  fs::path last_{};
  bool is_ = false;
};

/// Knows all that a batch reads (recordings, lists, model, devices file, store) and has the report and the pages for
/// review claimed. Fault::usage where an output, the report or a page would be written onto one of these, or two of
/// them onto each other.
Result<OutputOwnership> claim_batch_files(const BatchCommand& command, const fs::path& model, const fs::path& state,
                                          std::span<const BatchJob> jobs) {
  OutputOwnership files("Name another file with --report, or another folder with --output-dir");
  for (const BatchJob& job : jobs)
    if (!is_address(job.spec.input)) files.add_input(job.spec.input);
  add_named_files(files, command.inputs);
  for (const auto& list : {command.speech.replace, command.speech.hotwords_file})
    if (!list.empty()) files.add_input(list);
  for (const auto& file : files_of_model(model)) files.add_input(file);
  for (const auto& file : files_of_store(state)) files.add_input(file);
  files.add_input(settings_file_path());
  for (const auto& list : {command.devices, command.device.value_or("")})
    for (const auto& file : device_files(list)) files.add_input(file);
  const auto pages = pages_of(command);
  for (const auto& [page, owner] : pages)
    TRY(owner == kReport  ? files.claim_marked(page, owner, kBatchReportMark)
        : owner == kTrace ? claim_trace(files, page)
                          : files.claim(page, owner));
  std::set<std::string> addresses;
  if (is_object(command.output_dir))
    for (const BatchJob& job : jobs) addresses.insert(job.spec.input);
  Folders folders;
  for (const BatchJob& job : jobs)
    for (const auto& output : job.outputs()) {
      if (addresses.contains(output.string()))
        return fail(Fault::usage, output.string() + ": it is an input, and would be replaced",
                    "Name another folder with --output-dir");
      if (is_object(output)) continue;
      auto free = expect_no_page(output, pages);
      if (free && (files.has_missing_inputs() || folders.is_there(output.parent_path())))
        free = files.expect_no_input(output);
      TRY(free);
    }
  return files;
}

bool is_emulated(const ListedDevice& device) {
  return device.spec.kind == DeviceSpec::Kind::emulated;
}

/// None is needed where every device is emulated. That of another engine is a word that only the engine knows.
Result<fs::path> model_of(const BatchCommand& command, const std::vector<ListedDevice>& devices) {
  if (command.other) return fs::path(command.speech.model);
  if (command.speech.model.empty()) {
    if (std::ranges::all_of(devices, is_emulated)) return fs::path();
    return fail(Fault::usage, "no model is named, and none is taken by default",
                "Name one with --model or TUTTI_MODEL; 'tutti models' lists what is here");
  }
  ModelFolders folders = ModelFolders::from_environment();
  folders.first = command.speech.model_dir;
  return find_named_model(command.speech.model, folders);
}

/// What --deterministic cannot promise.
void warn_of_unlike(const std::vector<ChosenDevice>& devices) {
  const std::string kinds = unlike_kinds(devices);
  if (kinds.empty()) return;
  log(Level::warning, "--deterministic: " + kinds +
                          " do not round alike, and any of them may take a window; name one kind with --devices");
}

struct Prepared {
  BatchOptions options{};
  std::vector<BatchJob> jobs{};
  InputTally inputs{};  // inputs that the jobs were made of
  OutputOwnership files{};
  bool emulated = false;             // one of the devices at least
  std::optional<Error> hindrance{};  // nothing could run: a device is not there (`options` has none), or no folder for
                                     // outputs or decoded audio
};

/// What is known of a batch before its devices are looked for.
Result<Prepared> prepare_work(BatchCommand& command, const std::vector<ListedDevice>& devices, std::string typed) {
  const auto model = TRY(model_of(command, devices));
  if (command.sequential) command.speech.vad.batched = false;
  command.speech.output_format = command.output_format;
  auto run = TRY(run_options(command.speech, model));
  const bool emulated = std::ranges::any_of(devices, is_emulated);
  if (emulated && command.other)
    return fail(Fault::usage, "--engine: emulated devices have no engine, tutti plays them itself",
                "Name cpu or cuda:N with --devices");
  run.engine = command.other;
  const auto named = TRY(store_named(command.state, command.store));
  const auto fingerprint = TRY(fingerprint_of(command, model, emulated, named.store.is_server()));
  auto listed = TRY(batch_jobs(command, fingerprint));
  const fs::path folder = output_folder(command);
  const fs::path& state = named.folder;
  auto files = TRY(claim_batch_files(command, model, state, listed.jobs));
  BatchOptions options;
  options.run = run;
  options.policy = command.policy;
  options.jobs_at_once = command.threads;
  options.patience = Seconds(command.device_patience);
  options.writer = run.writer;
  options.on_done = run.on_done;
  options.state = state;
  if (named.store.is_server()) options.server = named.store;
  options.lease = TRY(lease_length(command.lease));
  options.staging = folder / ".tmp";
  options.objects = std::make_shared<BucketOutputs>();
  // What waits for space on this machine's disk, no other machine could put in place.
  if (!options.server) options.kept = fs::absolute(state).lexically_normal() / "kept";
  options.command = std::move(typed);
  options.batch = folder.string();
  options.retry_failed = command.retry_failed;
  options.existing = command.overwrite ? Existing::replace : Existing::keep;
  return Prepared{.options = std::move(options),
                  .jobs = std::move(listed.jobs),
                  .inputs = std::move(listed.inputs),
                  .files = std::move(files),
                  .emulated = emulated};
}

Result<void> check_values(const BatchCommand& command) {
  const std::pair<const char*, double> numbers[] = {
      {"--threads", command.threads}, {"--skip", command.skip}, {"--device-patience", command.device_patience}};
  for (const auto& [flag, number] : numbers)
    if (!(number >= 0))
      return fail(Fault::usage, std::string(flag) + ": expected 0 or more, found " + number_text(number));
  return {};
}

Result<Prepared> prepare(BatchCommand& command, std::string typed) {
  TRY(check_values(command));
  if (is_address(command.output_dir.native())) {
    const auto folder = object_folder(command.output_dir);
    if (!folder) return fail_in("--output-dir", folder.error());
    command.output_dir = *folder;
  }
  TRY(expect_output_file("--report", command.report));
  const auto listed = TRY(devices_of(command));
  auto devices = choose_devices(listed, find_devices());
  if (!devices && devices.error().fault != Fault::missing) return tl::unexpected(devices.error());
  auto caps = TRY(devices ? job_caps(command.max_per_gpu, *devices) : Result<std::map<std::string, int>>{});
  auto prices = TRY(devices ? hourly_prices(command.prices, *devices)
                            : price_list(command.prices).transform([](const auto&) { return HourlyPrices{}; }));
  TuningPlan tuning;
  TRY(set_tuning(command.speech.tuning, tuning));
  auto prepared = prepare_work(command, listed, std::move(typed));
  if (!prepared) return tl::unexpected(devices ? prepared.error() : devices.error());
  if (!devices) {
    prepared->hindrance = devices.error();
    return prepared;
  }
  if (const auto folders = expect_output_folders(prepared->options); !folders) prepared->hindrance = folders.error();
  if (prepared->options.run.deterministic) warn_of_unlike(*devices);
  prepared->options.tuning = std::move(tuning);
  prepared->options.devices = std::move(*devices);
  prepared->options.job_caps = std::move(caps);
  prepared->options.prices = std::move(prices);
  limit_as_the_note(prepared->options);
  return prepared;
}

int exit_code(const BatchReport& report) {
  if (report.interrupted) return kInterrupted;
  if (!report.ended_early.empty()) return report.done_now > 0 ? kSomeFailed : kNothingRan;
  const bool all_done = report.counts.done + report.counts.cancelled >= report.counts.total;
  return report.counts.failed > 0 || report.summary.failed_commands > 0 || !all_done ? kSomeFailed : kDone;
}

Result<void> write_report(const BatchCommand& command, const Prepared& prepared, const BatchReport& report,
                          const std::optional<BatchQuote>& quote) {
  if (command.report.empty()) return {};
  const std::string json = batch_report_json(report, prepared.options.prices, quote, prepared.inputs);
  return prepared.files.write(command.report, json).map([](bool) {});
}

/// Whether it did all that was quoted for, so that the two can be compared.
bool is_complete(const BatchReport& report) {
  return !report.interrupted && report.ended_early.empty() && report.counts.ended() == report.counts.total;
}

/// How to go on, where something is left that this run was not to do any more.
std::string what_is_left(const BatchReport& report) {
  if (report.interrupted) return "stopped; finished files are kept. The same command goes on";
  if (!report.ended_early.empty() || is_complete(report)) return {};
  return "recordings left: " + std::to_string(report.counts.total - report.counts.ended()) +
         ". The same command goes on";
}

/// Names what to check by ear, beside the outputs. Emulated devices produce nothing to check.
void say_review(const Prepared& prepared, const BatchCommand& command, const BatchReport& report,
                const StopSignal& stop) {
  if (!command.review || report.done_now == 0 || report.interrupted || prepared.emulated) return;
  ReviewPages pages(prepared.options.store(), prepared.options.existing, prepared.options.objects);
  const auto list =
      review_batch(prepared.jobs, command.output_dir, pages, prepared.options.run.audio, [&] { return stop.raised(); });
  if (!list)
    log(Level::warning, list.error().text());
  else if (list->looked_at > 0)
    std::fprintf(stderr, "%s: %s\n", review_headline(*list).c_str(), pages.last().c_str());
}

/// Where nothing is left to do, a missing device is not needed, and a missing output folder neither.
int where_nothing_can_run(const Prepared& prepared, const BatchCommand& command) {
  const auto report = report_if_all_done(prepared.jobs, prepared.options);
  if (!report) return complain(*prepared.hindrance, kNothingRan);
  std::fputs(batch_report_text(*report, {}, {}).c_str(), stderr);
  if (prepared.options.devices.empty()) std::fputs("No device is needed for that.\n", stderr);
  if (auto written = write_report(command, prepared, *report, {}); !written)
    return complain(written.error(), kSomeFailed);
  return exit_code(*report);
}

int batch(const Prepared& prepared, const BatchCommand& command, const std::string& line) {
  CommandTrace trace;
  if (const auto begun = trace.begin(command.trace, prepared.files, line); !begun) return complain(begun.error());
  Interrupt interrupt;
  log_as_the_note();
  Guarded<BatchControl*> control{nullptr};
  const bool asks = !command.yes && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  const auto status_at = [&](const PoolView* at) {
    return control.with([at](BatchControl* now) { return now ? std::optional(now->status(at)) : std::nullopt; });
  };
  const auto status = [&] { return status_at(nullptr); };
  std::optional<LiveTable> table;
  if (::isatty(STDERR_FILENO) == 1) table.emplace(status);
  BatchLog observer(asks ? failure_question(*table, interrupt) : BatchLog::FailurePrompt(),
                    [&](const PoolView& view) { return status_at(&view); });
  StartQuote expected(quote_basis(prepared.options));
  observer.when_accepted([&expected](const BatchWork& work) { expected.expect(work); });
  std::unique_ptr<ControlSocket> socket;
  const auto report = run_batch(prepared.jobs, prepared.options, observer, interrupt, [&](BatchControl* now) {
    socket.reset();  // it reads from the control, so it goes before
    control.change([now](BatchControl*& held) { held = now; });
    if (now) socket = open_control_socket(*now);
  });
  table.reset();
  if (!report) return complain(report.error(), interrupt);
  if (!report->ended_early.empty()) log(Level::error, report->ended_early);
  const auto quote = is_complete(*report) ? expected.of(*report) : std::nullopt;
  std::fputs(batch_report_text(*report, prepared.options.prices, quote).c_str(), stderr);
  if (auto written = write_report(command, prepared, *report, quote); !written)
    return complain(written.error(), kSomeFailed);
  say_review(prepared, command, *report, interrupt);
  if (const std::string left = what_is_left(*report); !left.empty()) log(Level::warning, left);
  return exit_code(*report);
}

}  // namespace

int run_batch_command(const std::vector<std::string>& arguments) {
  BatchCommand command;
  OptionTable table("batch",
                    "Transcribe many recordings on every device at once. Each result appears once and whole; the same "
                    "command, after any end, goes on where it was.");
  add_batch(table, command);
  table.examples(
      {"tutti batch archive/ --model turbo -o out -y",
       "tutti batch archive/ -o out --devices emulated:30x:12GB,emulated:12x:8GB -y",
       "tutti batch archive/ -o out --model tiny.en --engine 'python3 examples/engines/faster_whisper_engine.py' -y"});
  if (const auto code = start_command(table, arguments)) return *code;
  settle_devices(command, table.given_by("device"), table.given_by("devices"));
  const std::string line = command_line("tutti batch", arguments);
  if (!command.engine.empty()) {
    auto engine = other_engine(command.engine, command.speech, command.sequential, table);
    if (!engine) return complain(engine.error());
    command.other = std::move(*engine);
  }
  const auto prepared = prepare(command, line);
  if (!prepared) return complain(prepared.error());
  return prepared->hindrance ? where_nothing_can_run(*prepared, command) : batch(*prepared, command, line);
}

}  // namespace tutti
