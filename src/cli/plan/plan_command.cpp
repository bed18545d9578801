#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>
#include <thread>

#include "base/json.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/process/shell_command.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/cost/price_flags.h"
#include "cli/engine_process/engine_run.h"
#include "cli/flags.h"
#include "cli/named_model.h"
#include "device/emulated_spec.h"
#include "device/machine.h"
#include "planning/capacity.h"
#include "planning/durations.h"
#include "planning/plan_devices.h"
#include "planning/policy_table.h"
#include "planning/quote.h"
#include "transcript/long_form.h"

namespace tutti {
namespace {

struct PlanCommand {
  bool simulate = false;
  std::vector<std::string> inputs{};
  std::string durations{};
  std::filesystem::path audio_root{};
  std::string path_template{};
  bool all_files = false;
  std::string devices = "auto";
  std::string gpus{};
  bool both = false;  // devices count beside gpus
  std::string unit = "window";
  double error = 0;
  std::uint64_t seed = 0;
  std::string model = "medium";
  std::string compute_type = "default";
  std::int32_t beams = 1;
  std::string ram{};
  std::filesystem::path state{};
  std::string store{};
  PriceFlags prices{};
  std::string train{};
  std::filesystem::path data{};
  bool json = false;

  /// All inputs that lengths are read from.
  std::vector<std::string> recordings() const {
    std::vector<std::string> all = inputs;
    if (!durations.empty()) all.push_back(durations);
    return all;
  }
  /// As `tutti batch` takes the same recordings; none where there are only lengths.
  std::vector<std::string> batch_words(const std::set<std::string>& only_lengths) const {
    std::vector<std::string> words;
    for (const auto& input : recordings())
      if (!only_lengths.contains(input)) words.push_back(shell_word(input));
    if (words.empty()) return words;
    if (!audio_root.empty()) words.push_back("--audio-root " + shell_word(audio_root.string()));
    if (!path_template.empty()) words.push_back("--audio-template " + shell_word(path_template));
    return words;
  }
};

void add_recordings(OptionTable& table, PlanCommand& command) {
  table.positional(
      command.inputs, "INPUT...",
      "what is to be transcribed, as 'tutti batch' takes it; lengths come from lists, else from the files' "
      "headers",
      0);
  table.add("durations", command.durations, "FILE",
            "lengths of the recordings, JSON: [seconds, ...], {\"durations_s\": [...]}; or an input");
  table.add("audio-root", command.audio_root, "DIR", "where the relative paths of lists and manifests start");
  table.add("audio-template", command.path_template, "TEMPLATE",
            "the path of a manifest asset's audio: {folder_path}/{file_name}");
  table.add_switch("all-files", command.all_files, "in folders, count files of any name, as 'tutti batch --all-files'");
}

OptionTable options_of(PlanCommand& command) {
  OptionTable table(
      "plan",
      "What fits where, which flags to use and how long a batch will take, before it is begun; with "
      "--simulate, how the ways of sharing the work compare. Runs the decision code of 'tutti batch' over "
      "simulated time.");
  add_recordings(table, command);
  table.add_list("devices", command.devices, "LIST",
                 "as in 'tutti batch': auto, cuda:N, GPU-uuid, cpu:N, emulated:30x:12GB, FILE.toml, comma-separated, "
                 "may be given again");
  table.add_list(
      "gpus", command.gpus, "LIST",
      "GPUs by their figures, 12GB:30x,8GB:12x, instead, or beside --devices where that is given; may be given again");
  add_prices(table, command.prices, "for the expected cost");
  table.add_switch("json", command.json, "one line of JSON");
  table.group("What fits, and how long it takes");
  table.add(
      "model", command.model, "NAME",
      "tiny to large-v3, turbo, or a model's path; with --train whisper likewise, default small; with --train tts "
      "nano, tiny, small, normal or big, default nano");
  add_compute_type(table, command.compute_type,
                   "default: float16 on a GPU, float32 on a CPU; auto is planned as the largest of the fast ones");
  table.add("beams", command.beams, "N", "hypotheses of each window");
  table.add("ram", command.ram, "SIZE", "memory of the machine, such as 32GB; default: what is available here");
  table.add("state", command.state, "DIR",
            "where batches keep what they have measured of devices; default: $XDG_STATE_HOME/tutti, else "
            "~/.local/state/tutti");
  add_store(table, command.store);
  table.group("Planning a training");
  table
      .add("train", command.train, "NAME",
           "plan 'tutti train NAME' instead: batches, ring and memory on each GPU of --gpus (24GB,16GB), else of this "
           "machine; a step on the processor verifies what a sample takes")
      .choices = {"classifier", "whisper", "tts", "vocoder"};
  table.add(
      "data", command.data, "SET",
      "the set of a classifier, a voice or a vocoder; without it: one as field notes 003 and 002 have it, of a vocoder "
      "at 22,050 Hz");
  table.group("Comparing policies");
  table.add_switch("simulate", command.simulate, "run tutti, note, note_raw, fifo and round_robin over the same work");
  table
      .add("unit", command.unit, "UNIT",
           "what is shared out: windows of 30 s (as --batched does), or whole files (--sequential)")
      .choices = {"file", "window"};
  table.add("error", command.error, "SHARE", "lengths are believed to be off by up to so much: 0.3 is ±30 %");
  table.add("seed", command.seed, "N", "seed of these errors");
  return table;
}

Result<void> check(const PlanCommand& command) {
  if (!command.train.empty() && (command.simulate || !command.recordings().empty()))
    return fail(Fault::usage, "plan --train: it plans a training, not recordings",
                "Leave them out, or leave out --train");
  if (command.train.empty() && !command.data.empty())
    return fail(Fault::usage, "--data: it is what --train learns", "Name what is to be transcribed without a flag");
  if (command.error < 0 || command.error >= 1)
    return fail(Fault::usage, "--error: expected 0 or more and less than 1, found " + show_value(command.error));
  if (command.beams < 1 || command.beams > kMostBeams)
    return fail(Fault::usage,
                "--beams: expected 1 to " + std::to_string(kMostBeams) + ", found " + std::to_string(command.beams));
  if (command.simulate && command.recordings().empty())
    return fail(Fault::usage, "--simulate needs the lengths of recordings",
                "Name them as 'tutti batch' takes them, or --durations FILE");
  if (!command.ram.empty() && !parse_bytes(command.ram))
    return fail(Fault::usage, "--ram: expected a size such as 32GB, found '" + command.ram + "'");
  return {};
}

/// The recordings to plan for.
struct PlanWork {
  std::vector<SimJob> jobs{};
  std::size_t unknown_lengths = 0;
  bool plain = false;  // lengths alone
  std::vector<std::string> batch_words{};
};

Result<PlanWork> work_of(const PlanCommand& command) {
  const auto named = command.recordings();
  if (named.empty()) return PlanWork{};
  const auto found = TRY(read_durations(named, {.audio_root = command.audio_root,
                                                .rules = {.path_template = command.path_template},
                                                .all_files = command.all_files}));
  if (found.unknown > 0) log(Level::warning, found.left_out());
  return PlanWork{with_error(found.seconds, command.error, command.seed), found.unknown, found.plain,
                  command.batch_words(found.only_lengths)};
}

/// The devices to plan for, and what is known from earlier batches.
struct PlanBasis {
  std::vector<PlanTarget> targets{};
  std::optional<double> speech{};  // share of the audio that is speech
};

/// GPUs by their figures first, as they are typed.
Result<std::vector<PlanTarget>> targets_of(const PlanCommand& command) {
  std::vector<PlanTarget> named;
  if (command.gpus.empty() || command.both) {
    auto found = plan_targets(command.devices, find_devices());
    if (!found || command.gpus.empty()) return found;
    named = std::move(*found);
  }
  auto targets = plan_figures(command.gpus, named);
  if (targets) std::ranges::move(named, std::back_inserter(*targets));
  return targets;
}

/// All of plain lengths is computed: they are what a list or a simulation means by them, not recordings with pauses.
Result<PlanBasis> basis_of(const PlanCommand& command, bool plain) {
  auto targets = TRY(targets_of(command));
  const auto prices = TRY(hourly_prices(command.prices, priced_devices(targets)));
  set_prices(targets, prices);
  const auto model = find_named_model(command.model);
  const auto named = TRY(store_named(command.state, command.store));
  const std::string path = model ? model->string() : command.model;
  const auto past = read_device_past(named.store);
  if (!past) log(Level::warning, "speeds of earlier batches are not known: " + past.error().text());
  const DevicePast known = past.value_or(DevicePast{});
  add_past(targets, known, {.model = path, .compute_type = command.compute_type, .any_type = true});
  return PlanBasis{std::move(targets), plain ? std::nullopt : speech_share(known.runs, path)};
}

/// What an hour of all devices costs; none: one has no price.
std::optional<double> price_of(const std::vector<PlanTarget>& targets) {
  double sum = 0;
  for (const auto& target : targets) {
    if (!target.price) return {};
    sum += *target.price;
  }
  return sum;
}

int run_simulation(const PlanCommand& command, const PlanBasis& basis, const std::vector<SimJob>& jobs) {
  const auto& targets = basis.targets;
  const auto simplified = simplified_failures(targets);
  if (!simplified.empty()) log(Level::warning, "not all failures are simulated as they are: " + simplified);
  for (const auto& target : targets)
    if (!target.speed)
      return complain(
          {Fault::usage, target.id + ": a simulation needs its speed",
           "Say it, --devices emulated:30x:12GB or --gpus 12GB:30x; or run a batch: its speeds are remembered"},
          kUsage);
  const SimUnit unit = command.unit == "file" ? SimUnit::file : SimUnit::window;
  auto table = compare_policies(jobs, basis.speech, sim_devices(targets, kWindowsInFlight), unit, command.seed);
  if (const auto usd_hour = price_of(targets)) table.add_costs(*usd_hour);
  if (command.json) {
    std::puts(table.json().c_str());
    return kDone;
  }
  Seconds audio{};
  for (const auto& job : jobs) audio += job.audio;
  std::fputs(table.text(jobs.size(), audio).c_str(), stdout);
  return kDone;
}

int run_quote(const PlanCommand& command, const PlanBasis& basis, const PlanWork& work) {
  if (std::ranges::any_of(basis.targets, [](const auto& target) { return !target.failures.empty(); }))
    log(Level::warning,
        "failures in the devices file are left out: what is expected supposes devices that stay well; "
        "--simulate has them");
  const auto memory = read_memory();
  const Bytes ram = command.ram.empty() ? (memory ? memory->available : Bytes{}) : *parse_bytes(command.ram);
  const auto quote = make_quote({.model = command.model,
                                 .compute_type = command.compute_type,
                                 .beams = command.beams,
                                 .ram = ram,
                                 .cores = static_cast<int>(std::thread::hardware_concurrency()),
                                 .targets = basis.targets,
                                 .jobs = work.jobs,
                                 .speech = basis.speech,
                                 .inputs = work.batch_words,
                                 .devices = command.gpus.empty() && command.devices != "auto" ? command.devices : "",
                                 .unknown_lengths = work.unknown_lengths,
                                 .seed = command.seed});
  if (!quote) return complain(quote.error(), kUsage);
  std::fputs((command.json ? quote->json() + "\n" : quote->text()).c_str(), stdout);
  return kDone;
}

/// The GPUs of this machine.
Result<std::vector<PlanTarget>> gpus_here() {
  auto targets = plan_targets("auto", find_devices());
  if (!targets) return targets;
  std::erase_if(*targets, [](const PlanTarget& target) { return target.on_cpu || !target.memory; });
  if (targets->empty())
    return fail(Fault::usage, "plan --train: there is no GPU here", "Name the memory of one, such as --gpus 24GB,16GB");
  return targets;
}

/// The model that a training is planned for; empty: the usual one. A variable that is set for transcriptions names
/// Whisper's models alone.
std::string model_to_train(const PlanCommand& command, SourceKind given) {
  const bool counts = given == SourceKind::flag || (given != SourceKind::standard && command.train == "whisper");
  if (!counts) return {};
  if (command.train != "whisper") return command.model;
  const auto found = find_named_model(command.model);
  return found ? found->string() : command.model;
}

/// Prints which batches a training is to be started with on each GPU, and what they take of its memory: the engine has
/// the network, and takes a step with it.
int run_training_plan(const PlanCommand& command, SourceKind model_given) {
  const auto targets = command.gpus.empty() ? gpus_here() : training_figures(command.gpus);
  if (!targets) return complain(targets.error(), kUsage);
  auto gpus = nlohmann::ordered_json::array();
  for (const auto& target : *targets) gpus.push_back({target.name, target.memory->value});
  std::vector<std::string> line{"plan-training", "--train", command.train, "--gpus", json_line(gpus)};
  if (!command.data.empty()) line.insert(line.end(), {"--data", command.data.string()});
  if (const auto model = model_to_train(command, model_given); !model.empty())
    line.insert(line.end(), {"--model", model});
  if (command.json) line.emplace_back("--json");
  return run_engine(line, "it planned a training");
}

/// Devices that only a weaker source names, such as a variable that is set for batches, do not count beside --gpus.
void settle_devices(PlanCommand& command, OptionTable& table) {
  const SourceKind gpus = table.given_by("gpus"), devices = table.given_by("devices");
  command.both = !command.gpus.empty() && devices != SourceKind::standard && devices >= gpus;
  if (command.both && devices > gpus) {
    command.gpus.clear();
    command.both = false;
  }
}

}  // namespace

int run_plan(const std::vector<std::string>& arguments) {
  PlanCommand command;
  OptionTable table = options_of(command);
  table.examples({"tutti plan --model large-v3 archive/", "tutti plan --train whisper --model small --gpus 24GB,16GB",
                  "tutti plan --durations lengths.json --gpus 12GB:30x,8GB:12x --model medium"});
  if (const auto code = start_command(table, arguments)) return *code;
  settle_devices(command, table);
  if (const auto checked = check(command); !checked) return complain(checked.error(), kUsage);
  if (!command.train.empty()) return run_training_plan(command, table.given_by("model"));
  const auto work = work_of(command);
  if (!work) return complain(work.error(), kUsage);
  const auto basis = basis_of(command, work->plain);
  if (!basis) return complain(basis.error(), kUsage);
  return command.simulate ? run_simulation(command, *basis, work->jobs) : run_quote(command, *basis, *work);
}

}  // namespace tutti
