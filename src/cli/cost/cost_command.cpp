#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/cost/price_flags.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "device/emulated_spec.h"
#include "planning/cost/cost_question.h"
#include "planning/cost/run_bill.h"
#include "planning/plan_devices.h"

namespace tutti {
namespace {

constexpr int kMostInstances = 1000;

struct CostCommand {
  std::vector<std::string> inputs{};
  std::string durations{};
  std::filesystem::path audio_root{};
  std::string path_template{};
  PriceFlags prices{};
  std::string speeds{};
  std::string measure{};
  std::string devices = "auto";
  std::string baseline{};
  std::string model = "medium";
  std::string compute_type = "default";
  std::string deadline{};
  std::optional<double> budget{};
  std::string start_up = "2m";
  std::int32_t most = 100;
  std::string stored{};
  std::filesystem::path report{};
  std::filesystem::path state{};
  std::string store{};
  bool json = false;

  std::vector<std::string> recordings() const {
    std::vector<std::string> all = inputs;
    if (!durations.empty()) all.push_back(durations);
    return all;
  }
};

OptionTable options_of(CostCommand& command) {
  OptionTable table(
      "cost",
      "What transcribing costs: offers beside each other on the same model, how many instances a deadline "
      "or a budget takes, and the bill of a finished batch (docs/cost.md).");
  table.positional(command.inputs, "INPUT...", "what is to be transcribed, as 'tutti plan' takes it", 0);
  table.add("durations", command.durations, "FILE", "lengths of the recordings, as in 'tutti plan'");
  table.add("audio-root", command.audio_root, "DIR", "where the relative paths of lists and manifests start");
  table.add("audio-template", command.path_template, "TEMPLATE",
            "the path of a manifest asset's audio: {folder_path}/{file_name}");
  table.add_switch("json", command.json, "one line of JSON");
  table.group("Offers");
  add_prices(table, command.prices, "or of an instance in a price file; each is an offer", "all");
  table.add_list("speed", command.speeds, "LIST",
                 "how many times real time a device of an offer does: T4=14.3,cpu=1.1, by device or instance; without "
                 "it as measured now or by earlier batches");
  table.add_list(
      "measure", command.measure, "FILE",
      "measure this machine's devices now, all on this recording (the first 300 s); clip: one that comes with "
      "the program; may be given again");
  table.add_list("devices", command.devices, "LIST",
                 "devices for --measure: cpu, cuda:0, ...; auto: the CPU and every GPU");
  table.add("baseline", command.baseline, "NAME",
            "what the others are compared with; default: the first CPU with a speed");
  table.add("model", command.model, "NAME", "tiny to large-v3, turbo, or a model's path");
  add_compute_type(table, command.compute_type, "the type that speeds are of; default: each device's usual one");
  table.group("How many");
  table.add("deadline", command.deadline, "TIME", "when all has to be done: 24h, 90m, 2d");
  table.add("budget", command.budget, "USD|None", "what it may cost at most, storage and requests included");
  table.add("start-up", command.start_up, "TIME", "what each instance is paid for before it loads the model");
  table.add("most", command.most, "N", "instances at once, at most");
  table.add("stored", command.stored, "SIZE", "recordings and results that are kept for a month, such as 120GB");
  table.group("A finished batch");
  table.add("report", command.report, "FILE.json",
            "the bill of a batch from its --report; with --price at these prices instead of its own");
  table.add("state", command.state, "DIR",
            "where batches keep what they have measured of devices; default: $XDG_STATE_HOME/tutti, else "
            "~/.local/state/tutti");
  add_store(table, command.store);
  return table;
}

/// "24h", "90 min", "2d", "45s"; none for anything else.
std::optional<Seconds> time_in(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789.");
  const auto number = number_in<double>(text.substr(0, end));
  if (!number || !std::isfinite(*number) || end == text.npos) return {};
  const std::string unit(trimmed(text.substr(end)));
  if (unit == "s") return Seconds(*number);
  if (unit == "m" || unit == "min") return Seconds(60 * *number);
  if (unit == "h") return Seconds(3600 * *number);
  return unit == "d" ? std::optional(Seconds(86400 * *number)) : std::nullopt;
}

Result<Seconds> time_of(const char* flag, const std::string& text) {
  if (const auto time = time_in(text)) return *time;
  return fail(Fault::usage, std::string(flag) + ": expected a time, found '" + text + "'", "As in 24h, 90m or 2d");
}

/// Flags without an effect are refused: who typed one expects it to act.
Result<void> expect_effect(OptionTable& table, const CostCommand& command) {
  if (!command.report.empty())
    return expect_not_typed(table,
                            {"speed", "devices", "baseline", "model", "compute-type", "start-up", "most", "stored",
                             "audio-root", "audio-template"},
                            " has no effect on the bill of --report");
  if (command.measure.empty())
    if (auto acts = expect_not_typed(table, {"devices"}, " has no effect without --measure"); !acts) return acts;
  if (!command.recordings().empty()) return {};
  return expect_not_typed(table, {"start-up", "most", "audio-root", "audio-template"},
                          " has no effect without recordings");
}

Result<void> check(const CostCommand& command) {
  const bool works = !command.recordings().empty();
  if (!command.report.empty() && (works || !command.measure.empty() || !command.deadline.empty() || command.budget))
    return fail(Fault::usage,
                "--report is the bill of what is done: it takes no recordings, --measure, --deadline or "
                "--budget",
                "Leave them out");
  if (!works && (!command.deadline.empty() || command.budget || !command.stored.empty()))
    return fail(Fault::usage, "--deadline, --budget and --stored need recordings",
                "Name them as 'tutti batch' takes them, or --durations FILE");
  if (command.budget && !(*command.budget >= 0 && std::isfinite(*command.budget)))
    return fail(Fault::usage, "--budget: expected 0 or more, found " + show_value(*command.budget));
  if (command.most < 1 || command.most > kMostInstances)
    return fail(Fault::usage,
                "--most: expected 1 to " + std::to_string(kMostInstances) + ", found " + std::to_string(command.most));
  if (!command.stored.empty() && !parse_bytes(command.stored))
    return fail(Fault::usage, "--stored: expected a size such as 120GB, found '" + command.stored + "'");
  if (is_none(command.prices.list) || command.prices.list.empty())
    return command.report.empty() ? Result<void>(fail(Fault::usage, "no prices are given",
                                                      "Give some: --price T4=0.526,cpu=0.357 or --price prices.toml"))
                                  : Result<void>{};
  return {};
}

/// The bill of a finished batch.
int show_bill(const CostCommand& command) {
  const auto text = read_file(command.report);
  if (!text) return complain(text.error());
  auto bill = read_bill(*text, command.report.string());
  if (!bill) return complain(bill.error());
  if (!command.prices.list.empty() && !is_none(command.prices.list)) {
    const auto prices = hourly_prices(command.prices, bill->priced_devices());
    if (!prices) return complain(prices.error(), kUsage);
    for (auto& device : bill->devices) {
      const auto found = prices->find(device.id);
      device.usd_hour = found == prices->end() ? std::nullopt : std::optional(found->second);
    }
  }
  std::fputs((command.json ? bill->json() + "\n" : bill->text()).c_str(), stdout);
  return kDone;
}

/// What the flags of offers and work request.
Result<CostQuestion> question_of(const CostCommand& command) {
  const auto named = TRY(store_named(command.state, command.store));
  auto past = read_device_past(named.store);
  if (!past) log(Level::warning, "speeds of earlier batches are not known: " + past.error().text());
  auto prices = TRY(price_list(command.prices));
  auto speeds = TRY(parse_speeds(command.speeds));
  const auto start_up = TRY(time_of("--start-up", command.start_up));
  const auto model = find_named_model(command.model);
  CostQuestion question{.prices = std::move(prices),
                        .purchase = command.prices.purchase,
                        .speeds = std::move(speeds),
                        .model = command.model,
                        .model_path = model ? *model : std::filesystem::path(),
                        .compute_type = command.compute_type,
                        .past = past ? std::move(*past) : DevicePast{},
                        .baseline = command.baseline,
                        .recordings = command.recordings(),
                        .read = {.audio_root = command.audio_root, .rules = {.path_template = command.path_template}},
                        .start_up = start_up,
                        .most = command.most,
                        .stored = parse_bytes(command.stored),
                        .goal = {.budget = command.budget}};
  if (!command.deadline.empty()) {
    question.goal.deadline = TRY(time_of("--deadline", command.deadline));
  }
  if (command.measure.empty()) return question;
  if (!model) return tl::unexpected(model.error());
  for (const auto part : split(command.measure, ',')) question.measured.emplace_back(part);
  if (command.devices != "auto")
    for (const auto part : split(command.devices, ',')) question.devices.emplace_back(trimmed(part));
  return question;
}

}  // namespace

int run_cost(const std::vector<std::string>& arguments) {
  CostCommand command;
  OptionTable table = options_of(command);
  table.examples({"tutti cost --price examples/prices.toml --speed T4=14.3,cpu=1.1 --model large-v3",
                  "tutti cost archive/ --price T4=0.526,cpu=0.357 --deadline 24h",
                  "tutti cost --report report.json --price cpu=0.357"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (const auto checked = check(command); !checked) return complain(checked.error(), kUsage);
  if (const auto acts = expect_effect(table, command); !acts) return complain(acts.error(), kUsage);
  if (!command.report.empty()) return show_bill(command);
  const auto question = question_of(command);
  if (!question) return complain(question.error());
  Interrupt interrupt;
  const auto answer = answer_cost(*question, interrupt);
  if (!answer) return complain(answer.error(), interrupt);
  std::fputs((command.json ? answer->json() + "\n" : answer->text()).c_str(), stdout);
  return answer->is_met() ? kDone : kNothingRan;
}

}  // namespace tutti
