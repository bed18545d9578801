#include "cli/batch/batch_flags.h"

#include <set>

#include "balance/types.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "cli/command_trace.h"
#include "cli/flags.h"
#include "cli/flags/transcript_flags.h"
#include "cli/named_model.h"

namespace tutti {
namespace {

void add_devices(OptionTable& table, BatchCommand& c) {
  table.group("Devices");
  table.add_list("devices", c.devices, "LIST",
                 "auto, cuda:N, GPU-uuid, cpu, cpu:N (core N), emulated:30x:12GB, or FILE.toml of them; "
                 "comma-separated, may be given again; default: every GPU, else the CPU");
  table.add("device", c.device, "DEVICE|None", "work on this one alone, instead of --devices; auto: as without it")
      .letter = 'd';
  table.add_switch("experimental", c.experimental,
                   "balance over all devices, as without -d; with both, -d has no effect");
  table
      .add(
          "engine", c.engine, "CMD",
          "the command of another engine that speaks Tutti's protocol (docs/engines.md), one process a device: it gets "
          "windows of speech as PCM, and --model as it is written; default: tutti-engine")
      .has_variable = false;  // TUTTI_ENGINE is the path of ours
  table.add("max-per-gpu", c.max_per_gpu, "N|LIST",
            "jobs at once on each device, or by device: 0=4,GPU-1a2b=2; default: as its memory allows");
  table.add("threads", c.threads, "N", "jobs in flight at most; 0: as many as keep the devices busy").letter = 't';
  table
      .add("policy", c.policy, "POLICY",
           "how jobs and devices are brought together: tutti; for comparison note (scores by free memory and load; 5 "
           "jobs a "
           "device without --max-per-gpu), fifo, round_robin")
      .choices = {"tutti", "note", "fifo", "round_robin"};
  add_tuning(table, c.speech.tuning, "those that make windows, and those that wait for devices without -t");
  table.add("device-patience", c.device_patience, "SECONDS", "end the run after so long without a device in service");
  add_prices(table, c.prices, "for report and history");
}

void add_run(OptionTable& table, BatchCommand& c) {
  table.group("Run");
  add_outputs(table, c.output_dir, c.output_format,
              "; or s3://BUCKET/FOLDER, with the credentials and the region of AWS's own tools");
  table
      .add("name-by", c.name_by, "stem|path",
           "for folder talks, talks/may/monday.mp3 becomes may/monday.mp3.srt (the tree below what is named), or "
           "monday.srt")
      .choices = {"stem", "path"};
  table.add("report", c.report, "FILE.json",
            "what became of every recording and every device; replaces an earlier report only");
  add_on_done(table, c.speech.on_done);
  add_trace(table, c.trace);
  table.add("state", c.state, "DIR",
            "the folder of the job store, on a local disk; default: $XDG_STATE_HOME/tutti, else ~/.local/state/tutti");
  add_store(table, c.store);
  add_lease(table, c.lease);
  table.add("audio-root", c.audio_root, "DIR", "where the relative paths of lists and manifests start");
  table.add("audio-template", c.path_template, "TEMPLATE",
            "the path of a manifest asset's audio: {folder_path}/{file_name}");
  table.add_switch("all-files", c.all_files,
                   "in folders, try files of any name, hidden ones too; without it, files with the endings of audio "
                   "and video, and the log counts those left out");
  table.add("skip", c.skip, "N", "leave out the first N inputs");
  table.add_switch("retry-failed", c.retry_failed, "do those again that failed for good in an earlier run");
  table.add_switch("overwrite", c.overwrite,
                   "replace files with the names of outputs that this store did not write, or that were edited; "
                   "without it they are kept, and the new text goes to NAME.new.EXT");
  table.add_switch("yes", c.yes, "never ask; without it a failed job on a terminal does: go on, retry, stop").letter =
      'y';
  table.add_switch("review", c.review,
                   "at the end, list what to check by ear: review.csv and review.html in --output-dir, from the JSON "
                   "outputs; False: not");
  table.add_switch("sequential", c.sequential,
                   "openai-whisper's loop over each file, which then stays on one device, instead of --batched");
}

}  // namespace

void add_batch(OptionTable& table, BatchCommand& c) {
  c.speech.vad.batched = true;
  table.positional(
      c.inputs, "INPUT...",
      "audio or video files, folders of them, globs, lists (.txt), tables (.csv, .jsonl), manifests "
      "(.json), addresses of recordings (https://..., s3://BUCKET/KEY, s3://BUCKET/FOLDER/); - reads standard "
      "input");
  add_devices(table, c);
  add_run(table, c);
  add_speech(table, c.speech);
}

Result<std::map<std::string, int>> job_caps(const std::string& text, const std::vector<ChosenDevice>& devices) {
  std::map<std::string, int> caps;
  for (const std::string_view part : split(text, ',')) {
    const auto equals = part.find('=');
    const std::string_view named = equals == part.npos ? std::string_view() : part.substr(0, equals);
    const int cap = number_in<int>(equals == part.npos ? part : part.substr(equals + 1)).value_or(0);
    if (cap < 1)
      return fail(Fault::usage, "--max-per-gpu '" + std::string(part) + "': expected a number of jobs, 1 or more",
                  "As in 4, or 0=4,GPU-1a2b=2");
    if (named.empty()) {
      caps[""] = cap;
      continue;
    }
    const int index = number_in<int>(named).value_or(-1);
    std::vector<std::string> matches;
    if (index >= 0 && static_cast<std::size_t>(index) < devices.size())
      matches.push_back(devices[static_cast<std::size_t>(index)].id);
    for (const auto& device : devices)
      if (index < 0 && device.id.starts_with(named)) matches.push_back(device.id);
    if (matches.empty()) {
      const std::string there = joined(devices, ", ", [](const auto& device) { return device.id; });
      return fail(Fault::usage, "--max-per-gpu '" + std::string(part) + "': no device of this run is named so",
                  "There are 0 to " + std::to_string(devices.size() - 1) + ": " + there);
    }
    for (const auto& id : matches) caps[id] = cap;
  }
  return caps;
}

void limit_as_the_note(BatchOptions& options) {
  if (options.policy != "note" || !options.job_caps.empty()) return;
  options.job_caps[""] = kNoteCap;
  if (options.jobs_at_once == 0) options.jobs_at_once = kNoteCap * static_cast<int>(options.devices.size());
}

std::string unlike_kinds(const std::vector<ChosenDevice>& devices) {
  using Kind = ResolvedDevice::Kind;
  std::set<std::string> kinds;
  for (const auto& [id, label, device] : devices)
    if (device.kind != Kind::emulated) kinds.insert(device.kind == Kind::cpu ? "the CPU" : device.name);
  return kinds.size() > 1 ? joined(kinds, " and ") : "";
}

void settle_devices(BatchCommand& command, SourceKind device, SourceKind devices) {
  if (!command.device || command.devices.empty() || device == devices) return;
  if (device < devices)
    command.device.reset();
  else
    command.devices.clear();
}

Result<std::vector<ListedDevice>> devices_of(const BatchCommand& command) {
  if (command.experimental && command.device)
    log(Level::warning, "--experimental balances over all devices; -d " + *command.device + " has no effect beside it");
  const bool only_one = command.device && !command.experimental;
  std::string list = command.devices;
  if (only_one && !list.empty())
    return fail(Fault::usage, "--device and --devices: expected one of them, found both", "Leave one out");
  if (only_one) list = *command.device;
  if (list.empty()) list = "auto";
  auto listed = parse_device_list(list);
  if (!listed) return fail_in(only_one ? "--device" : "--devices", listed.error());
  return listed;
}

}  // namespace tutti
