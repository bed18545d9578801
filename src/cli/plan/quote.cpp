#include "cli/plan/quote.h"

#include <algorithm>
#include <random>

#include "balance/sim/simulator.h"
#include "base/joined.h"
#include "cli/plan/policy_table.h"
#include "hub/find.h"

namespace tutti {
namespace {

constexpr int kDraws = 400;               // of how wrong the speeds are: a tenth of them at either end is left out
constexpr double kMostWindows = 200'000;  // simulated one by one; beyond, longer ones stand for several

constexpr const char* kSizes[] = {"tiny", "base", "small", "medium", "large-v3", "turbo"};

Quote::Row row_of(const std::string& model, const ModelShape& shape, const QuoteQuestion& question) {
  const CapacityQuestion asked{.shape = shape, .compute_type = question.compute_type, .beams = question.beams};
  Quote::Row row{.model = model, .host = host_need(asked, question.targets)};
  for (const auto& target : question.targets) row.on.push_back(capacity(asked, target));
  return row;
}

std::optional<ModelShape> shape_of(const std::string& model) {
  const auto path = find_model(model, ModelPlaces::from_environment());
  return model_shape(path ? *path : std::filesystem::path(model));
}

/// The devices the model fits on, and how many windows each should have in flight.
std::string command_of(const Quote& quote) {
  std::vector<std::string> devices;
  for (std::size_t i = 0; i < quote.question.targets.size(); ++i)
    if (quote.chosen.on[i].fits > 0) devices.push_back(quote.question.targets[i].id);
  if (devices.empty()) return {};
  return "tutti batch --model " + quote.question.model + " --compute-type " + quote.question.compute_type +
         " --devices " + joined(devices, ",") + " --beam-size " +
         (quote.question.beams > 1 ? std::to_string(quote.question.beams) : "None");
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
  for (std::size_t i = 0; i < quote.question.targets.size(); ++i)
    if (quote.chosen.on[i].fits > 0) used.push_back(quote.question.targets[i]);
  const Seconds time = quote.time->expected;
  if (quote.question.price) quote.cost = device_cost(*quote.question.price, used.size(), time);
  if (const auto watts = watts_of(used)) quote.energy_joules = *watts * time.count();
}

bool can_be_timed(const Quote& quote) {
  if (quote.question.tasks.empty()) return false;
  bool any = false;
  for (std::size_t i = 0; i < quote.question.targets.size(); ++i) {
    if (!quote.question.targets[i].speed) return false;
    any = any || quote.chosen.on[i].fits > 0;
  }
  return any;
}

}  // namespace

namespace {

/// As much of them as is expected to be heard.
std::vector<SimTask> heard(const QuoteQuestion& question) {
  std::vector<SimTask> tasks = question.tasks;
  for (SimTask& task : tasks) {
    task.audio *= question.speech.value_or(1);
    task.believed *= question.speech.value_or(1);
  }
  return tasks;
}

}  // namespace

TimeQuote quote_time(const QuoteQuestion& question, const std::vector<Capacity>& on) {
  TimeQuote quote{.speech = question.speech};
  std::vector<SimDevice> devices;
  std::vector<double> errors;
  double speed = 0;
  for (std::size_t i = 0; i < question.targets.size(); ++i) {
    if (on[i].fits < 1) continue;
    devices.push_back(sim_devices({question.targets[i]}, on[i].in_flight)[0]);
    devices.back().faults.clear();
    errors.push_back(question.targets[i].speed_error);
    speed += *question.targets[i].speed;
  }
  for (const auto& task : question.tasks) quote.audio += task.audio;
  SimOptions options{.seed = question.seed};
  options.window = std::max(options.window, quote.audio / kMostWindows);
  set_policy(Policy::tutti, devices, options);
  options.dispatcher.tasks_at_once = question.tasks_at_once;
  const auto tasks = heard(question);
  quote.expected = simulate(tasks, devices, options).makespan;
  quote.lower_bound = lower_bound(tasks, devices, SimUnit::window);
  std::mt19937_64 dice(question.seed);
  std::normal_distribution<double> normal;
  std::vector<double> drawn;
  for (int draw = 0; draw < kDraws; ++draw) {
    double true_speed = 0;
    for (std::size_t i = 0; i < devices.size(); ++i)
      true_speed += devices[i].speed * std::max(0.1, 1 + errors[i] * normal(dice));
    drawn.push_back(speed / true_speed);
  }
  std::sort(drawn.begin(), drawn.end());
  quote.least = quote.expected * drawn[kDraws / 10];
  quote.most = quote.expected * drawn[kDraws - kDraws / 10];
  return quote;
}

Result<Quote> make_quote(QuoteQuestion question) {
  Quote quote{.question = std::move(question)};
  const auto shape = shape_of(quote.question.model);
  if (!shape)
    return fail(Fault::usage,
                "--model " + quote.question.model + ": no model of this name, and nothing tells its shape",
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

double device_cost(double price_per_hour, std::size_t devices, Seconds time) {
  return price_per_hour * static_cast<double>(devices) * (time / Seconds(3600));
}

}  // namespace tutti
