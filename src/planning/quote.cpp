#include "planning/quote.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "balance/simulator.h"
#include "base/field_names.h"
#include "base/process/shell_command.h"
#include "base/strings.h"
#include "hub/find.h"
#include "planning/policy_table.h"
#include "transcribe/worker_start.h"

namespace tutti {
namespace {

constexpr int kDraws = 400;               // draws of how wrong speeds are: a tenth of them at either end is left out
constexpr double kMostWindows = 200'000;  // simulated one by one; beyond, a longer one replaces several

constexpr const char* kSizes[] = {"tiny", "base", "small", "medium", "large-v3", "turbo"};

Quote::Row row_of(const std::string& model, const ModelShape& shape, const QuoteQuestion& question) {
  RunOptions batched;
  batched.batched = true;
  const CapacityQuestion requested{.shape = shape,
                                   .compute_type = question.compute_type,
                                   .beams = question.beams,
                                   .text_positions = text_positions_of(batched, shape)};
  Quote::Row row{.model = model, .host = host_need(requested, question.targets, question.cores)};
  for (const auto& target : question.targets) row.on.push_back(capacity(requested, target));
  return row;
}

std::optional<ModelShape> shape_of(const std::string& model) {
  const auto path = find_model(model, ModelFolders::from_environment());
  return model_shape(path ? *path : std::filesystem::path(model));
}

/// Jobs at once: at most one a window on each device, "4" or "0=4,1=3"; and in all as many as a batch has threads for,
/// so that some have their windows ready (transcribe/pool/pool_plan.h).
std::string bounds_of(const std::vector<std::int32_t>& in_flight) {
  constexpr std::int32_t kReadAhead = 4;
  std::int32_t jobs = kReadAhead;
  std::string caps;
  for (std::size_t i = 0; i < in_flight.size(); ++i) {
    jobs += in_flight[i] + 1;
    caps += (i > 0 ? "," : "") + std::to_string(i) + "=" + std::to_string(in_flight[i]);
  }
  const bool alike = std::ranges::all_of(in_flight, [&](auto each) { return each == in_flight.front(); });
  return " --max-per-gpu " + (alike ? std::to_string(in_flight.front()) : caps) + " -t " + std::to_string(jobs);
}

/// On the devices the model fits on, of what was planned for. Lengths alone name no recording.
std::string command_of(const Quote& quote) {
  const QuoteQuestion& question = quote.question;
  std::vector<std::string> devices;
  std::vector<std::int32_t> in_flight;
  for (std::size_t i = 0; i < question.targets.size(); ++i)
    if (quote.chosen.on[i].fits > 0) {
      devices.push_back(question.targets[i].id);
      in_flight.push_back(quote.chosen.on[i].in_flight);
    }
  if (devices.empty()) return {};
  // A name in a devices file is none for --devices.
  const bool as_typed = devices.size() == question.targets.size() && !question.devices.empty();
  return "tutti batch " + (question.inputs.empty() ? std::string("INPUT...") : joined(question.inputs, " ")) +
         " --model " + shell_word(question.model) + " --compute-type " + question.compute_type + " --devices " +
         shell_word(as_typed ? question.devices : joined(devices, ",")) + bounds_of(in_flight) + " --beam-size " +
         (question.beams > 1 ? std::to_string(question.beams) : "None");
}

void look_for_problems(Quote& quote) {
  const auto& question = quote.question;
  for (std::size_t i = 0; i < question.targets.size(); ++i)
    if (quote.chosen.on[i].fits < 1)
      quote.problems.push_back(question.model + " does not fit on " + question.targets[i].id + " in " +
                               type_on(question.compute_type, question.targets[i].on_cpu) +
                               ": take int8_float16 or a smaller model");
  if (quote.chosen.host.together().value > question.ram.value)
    quote.problems.emplace_back("the machine's memory does not hold all devices' processes: use fewer devices");
}

void add_costs(Quote& quote) {
  std::vector<PlanTarget> used;
  std::vector<PricedTime> priced;
  const auto all = priced_times(quote.question.targets, *quote.time);
  for (std::size_t i = 0; i < quote.question.targets.size(); ++i)
    if (quote.chosen.on[i].fits > 0) {
      used.push_back(quote.question.targets[i]);
      priced.push_back(all[i]);
    }
  quote.cost = cost_of(priced);
  quote.price = one_price(priced);
  if (const auto watts = watts_of(used)) quote.energy_joules = *watts * quote.time->expected.count();
}

bool can_be_timed(const Quote& quote) {
  if (quote.question.jobs.empty()) return false;
  bool any = false;
  for (std::size_t i = 0; i < quote.question.targets.size(); ++i) {
    if (!quote.question.targets[i].speed) return false;
    any = any || quote.chosen.on[i].fits > 0;
  }
  return any;
}

/// The recordings as all devices share them.
WindowWork shared_out(const std::vector<SimJob>& jobs, std::size_t devices, int capacity) {
  WindowWork work{.capacity = capacity};
  for (const auto& job : jobs) {
    work.windows += windows_in(job.audio);
    work.audio += job.audio;
  }
  work.windows /= static_cast<double>(devices);
  work.audio /= static_cast<double>(devices);
  return work;
}

/// A device's part of the speed of all, and by how much it may be off, relative. What is not known of windows' cost is
/// the same on all devices, so they are off together; speeds that were given or measured are off each for itself.
struct SpeedPart {
  double speed = 0;
  double error = 0;
  bool together = false;
};

/// As the simulator takes them: full ones, or so many together that there are not too many.
Seconds simulated_window(Seconds audio) {
  return kFullWindow * std::max(1.0, std::ceil(audio / kFullWindow / kMostWindows));
}

/// By how much longer than expected it takes, as drawn, the shortest first.
std::vector<double> drawn_times(const std::vector<SpeedPart>& parts, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::normal_distribution<double> normal;
  std::vector<double> drawn;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double together = normal(dice);
    double believed = 0, true_speed = 0;
    for (const SpeedPart& part : parts) {
      believed += part.speed;
      true_speed += part.speed * std::max(0.1, 1 + part.error * (part.together ? together : normal(dice)));
    }
    drawn.push_back(believed / true_speed);
  }
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

/// By target, of those that fit the simulated ones.
std::vector<Seconds> busy_times(const std::vector<Capacity>& on, const SimResult& simulated) {
  std::vector<Seconds> busy;
  std::size_t device = 0;
  for (const Capacity& each : on) busy.push_back(each.fits < 1 ? Seconds(0) : simulated.devices[device++].busy);
  return busy;
}

}  // namespace

TimeQuote quote_time(const QuoteQuestion& question, const std::vector<Capacity>& on) {
  TimeQuote quote{.speech = question.speech};
  const auto jobs = speech_only(question.jobs, question.speech);
  std::vector<SimDevice> devices;
  std::vector<SpeedPart> parts;
  const auto fitting = static_cast<std::size_t>(std::ranges::count_if(on, [](const auto& it) { return it.fits > 0; }));
  for (std::size_t i = 0; i < question.targets.size(); ++i) {
    if (on[i].fits < 1) continue;
    const PlanTarget& target = question.targets[i];
    devices.push_back(sim_devices({target}, on[i].in_flight)[0]);
    devices.back().faults.clear();
    const WindowWork work = shared_out(jobs, fitting, on[i].in_flight);
    parts.push_back({.speed = throughput(target, work.audio / work.windows),
                     .error = target.window_cost ? target.window_cost->error(work) : target.speed_error,
                     .together = target.window_cost.has_value()});
  }
  for (const auto& job : question.jobs) quote.audio += job.audio;
  SimOptions options{.window = simulated_window(quote.audio), .seed = question.seed};
  set_policy(Policy::tutti, devices, options);
  options.dispatcher.jobs_at_once = question.jobs_at_once;
  const SimResult simulated = simulate(jobs, devices, options);
  quote.expected = simulated.makespan;
  quote.busy = busy_times(on, simulated);
  quote.lower_bound = lower_bound(jobs, devices, SimUnit::window);
  const auto drawn = drawn_times(parts, question.seed);
  quote.least = quote.expected * drawn[kDraws / 10];
  quote.most = quote.expected * drawn[kDraws - kDraws / 10];
  return quote;
}

Result<Quote> make_quote(QuoteQuestion question) {
  Quote quote{.question = std::move(question)};
  const auto shape = shape_of(quote.question.model);
  if (!shape)
    return fail(Fault::usage,
                field("model") + " " + quote.question.model + ": no model of this name, and its shape is not known",
                "Expected tiny, base, small, medium, large-v3, turbo or the path of a model");
  for (const char* size : kSizes) quote.rows.push_back(row_of(size, *model_shape(size), quote.question));
  quote.chosen = row_of(quote.question.model, *shape, quote.question);
  look_for_problems(quote);
  quote.command = command_of(quote);
  if (!can_be_timed(quote)) return quote;
  quote.time = quote_time(quote.question, quote.chosen.on);
  add_costs(quote);
  return quote;
}

std::vector<PricedTime> priced_times(const std::vector<PlanTarget>& targets, const TimeQuote& time) {
  std::vector<PricedTime> all;
  for (std::size_t i = 0; i < targets.size(); ++i)
    all.push_back({.usd_hour = targets[i].price, .time = time.expected, .busy = time.busy[i]});
  return all;
}

}  // namespace tutti
