#include "planning/cost/cost_answer.h"

#include <algorithm>
#include <cmath>

#include "base/field_names.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "planning/cost/shown_amounts.h"
#include "planning/policy_table.h"
#include "view/table.h"
#include "view/text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 200;

std::string times_text(double ratio) {
  return short_number(ratio) + " ×";
}

std::string percent_text(double share) {
  return short_number(100 * share) + " %";
}

std::string indented(const TextTable& table) {
  std::string text;
  for (std::string line : lay_out(table, kWidth)) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += "  " + line + "\n";
  }
  return text;
}

/// Of the baseline: how many times as fast, and how much of its cost. None without a speed.
struct AgainstBaseline {
  double speed = 1;
  std::optional<double> cost{};  // none: the baseline costs nothing
};

std::optional<AgainstBaseline> against(const Offer& offer, const Offer* baseline) {
  if (!baseline || !offer.speed()) return {};
  AgainstBaseline ratio{.speed = *offer.speed() / *baseline->speed()};
  if (*baseline->audio_hour() > 0) ratio.cost = *offer.audio_hour() / *baseline->audio_hour();
  return ratio;
}

std::string offers_text(const CostAnswer& answer) {
  const Offer* baseline = answer.baseline ? &answer.offers[*answer.baseline] : nullptr;
  TextTable table{.columns = {{"offer", false},
                              {"device", false},
                              {"USD/h", true},
                              {"date", false},
                              {"speed", true},
                              {"of baseline", true},
                              {"USD/audio hour", true},
                              {"of baseline", true},
                              {"Wh/audio hour", true},
                              {"other words", true},
                              {"speed from", false}}};
  for (const Offer& offer : answer.offers) {
    const auto ratio = against(offer, baseline);
    const std::string count = offer.price.devices > 1 ? std::to_string(offer.price.devices) + " × " : "";
    const auto joules = offer.audio_hour_joules();
    table.rows.push_back(
        {offer.name(), count + offer.price.device, money_text(offer.price.usd_hour),
         offer.price.is_typed() ? "typed" : offer.price.date, offer.speed() ? times_text(*offer.speed()) : "?",
         ratio ? times_text(ratio->speed) : "-", offer.audio_hour() ? money_text(*offer.audio_hour()) : "-",
         ratio && ratio->cost ? percent_text(*ratio->cost) : "-", joules ? short_number(*joules / 3600) : "-",
         offer.word_errors ? percent_text(*offer.word_errors) : "-", offer.speed() ? offer.speed_from : "not known"});
  }
  return indented(table);
}

std::string baseline_text(const CostAnswer& answer) {
  if (!answer.baseline)
    return "No speed is known: " + field("speed") + " NAME=SPEED gives one, " + field("measure") +
           " measures this machine.\n";
  const Offer& offer = answer.offers[*answer.baseline];
  std::string text = "Baseline: " + offer.name() + " (" + offer.price.device + ") at " + times_text(*offer.speed()) +
                     ", with the same model. ";
  const bool compared =
      std::ranges::any_of(answer.offers, [](const Offer& each) { return each.word_errors.has_value(); });
  return text + (compared ? "Other words: the share of words in which the same recordings came out differently.\n"
                          : "That the words are the same is not shown: " + field("measure") +
                                " compares them on the same recordings.\n");
}

std::string unknown_text(const CostAnswer& answer) {
  std::string names;
  for (const Offer& offer : answer.offers)
    if (!offer.speed() && answer.baseline && names.find(offer.price.device) == names.npos)
      names += (names.empty() ? "" : ", ") + offer.price.device;
  return names.empty() ? ""
                       : "Speed not known: " + names + ". " + field("speed") +
                             " NAME=SPEED gives it; a batch there is remembered.\n";
}

std::string goal_text(const CostAnswer& answer) {
  std::string text = std::to_string(answer.work.question.jobs.size()) +
                     (answer.work.question.jobs.size() == 1 ? " recording, " : " recordings, ") +
                     length_text(answer.audio()) + " of audio";
  if (answer.goal.deadline) text += ", within " + length_text(*answer.goal.deadline);
  if (answer.goal.budget) text += ", for at most " + money_text(*answer.goal.budget) + " USD";
  if (answer.goal.is_set()) text += ", nine times out of ten";
  return text + "\n";
}

std::string plans_text(const CostAnswer& answer) {
  TextTable table{.columns = {{"offer", false},
                              {"count", true},
                              {"expected", true},
                              {"9 of 10 within", true},
                              {"USD", true},
                              {"9 of 10 below", true},
                              {"idle", true}}};
  for (std::size_t i = 0; i < answer.offers.size(); ++i) {
    const auto& plan = answer.plans[i];
    if (!plan) {
      if (answer.offers[i].speed()) table.rows.push_back({answer.offers[i].name(), "none", "-", "-", "-", "-", "-"});
      continue;
    }
    const double idle = plan->cost.total > 0 ? plan->cost.idle / plan->cost.total : 0;
    table.rows.push_back({answer.offers[i].name(), std::to_string(plan->count), length_text(plan->time.expected),
                          length_text(plan->time.most), money_text(plan->cost.total), money_text(plan->most_cost),
                          percent_text(idle)});
  }
  return table.rows.empty() ? "" : "\n" + indented(table);
}

std::string services_text(const ServiceCost& services) {
  std::string text;
  if (services.storage)
    text += gigabytes_text(*services.stored) + " stored for a month: " + money_text(*services.storage) + " USD";
  if (services.requests)
    text += (text.empty() ? "" : "; ") + std::to_string(std::llround(services.request_count)) +
            " requests: " + money_text(*services.requests) + " USD";
  return text.empty() ? "" : "Beside that: " + text + ".\n";
}

/// Of the whole: "8.81 USD: 6.12 for instances, 2.69 for storage". As they are shown, the parts add up.
std::string whole_cost_text(const OfferPlan& plan, const ServiceCost& services) {
  std::vector<std::pair<double, const char*>> parts{{plan.cost.total, "instances"}};
  if (services.storage.value_or(0) > 0) parts.emplace_back(*services.storage, "storage");
  if (services.requests.value_or(0) > 0) parts.emplace_back(*services.requests, "requests");
  if (parts.size() == 1) return money_text(plan.cost.total) + " USD";
  std::vector<double> amounts;
  for (const auto& [amount, what] : parts) amounts.push_back(amount);
  const ShownAmounts shown(amounts);
  std::string text = shown.sum() + " USD (";
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (shown.text(i).find_first_not_of("0.") != std::string::npos)
      text += (text.ends_with('(') ? "" : ", ") + shown.text(i) + " for " + parts[i].second;
  return text + ")";
}

std::string recommended_text(const CostAnswer& answer) {
  const auto best = recommended(answer.plans, answer.goal);
  if (!best) {
    if (!answer.goal.is_set() || !answer.baseline) return "";
    return "Nothing on offer does that with " + std::to_string(answer.work.most) + " instances at most (" +
           field("most") + ").\n";
  }
  const OfferPlan& plan = *answer.plans[*best];
  const std::string what = answer.goal.is_set() ? "Take " : "The cheapest: ";
  return what + std::to_string(plan.count) + " × " + answer.offers[*best].name() + ": " +
         whole_cost_text(plan, answer.services) + ", in " + length_text(plan.time.expected) + ". Each is paid for " +
         length_text(answer.work.start_up) + " before it loads the model (" + field("start_up") + ").\n";
}

Json plan_json(const OfferPlan& plan) {
  return {{"count", plan.count},
          {"expected_s", plan.time.expected.count()},
          {"least_s", plan.time.least.count()},
          {"most_s", plan.time.most.count()},
          {"cost", plan.cost.total},
          {"most_cost", plan.most_cost},
          {"idle_cost", plan.cost.idle}};
}

Json offer_json(const Offer& offer, const Offer* baseline) {
  Json json{{"name", offer.name()}, {"device", offer.price.device}, {"price_per_hour", offer.price.usd_hour}};
  if (!offer.price.instance.empty()) json["instance"] = offer.price.instance;
  if (!offer.price.is_typed()) {
    json["purchase"] = offer.price.purchase;
    json["date"] = offer.price.date;
  }
  json["devices"] = offer.price.devices;
  if (!offer.speed()) return json;
  json["speed_x"] = *offer.speed();
  json["speed_from"] = offer.speed_from;
  json["cost_per_audio_hour"] = *offer.audio_hour();
  if (const auto ratio = against(offer, baseline)) {
    json["speed_of_baseline"] = ratio->speed;
    if (ratio->cost) json["cost_of_baseline"] = *ratio->cost;
  }
  if (const auto joules = offer.audio_hour_joules()) json["energy_joules_per_audio_hour"] = *joules;
  if (offer.word_errors) json["other_words_share"] = *offer.word_errors;
  return json;
}

void add_work(Json& json, const CostAnswer& answer) {
  json["work"] = {{"recordings", answer.work.question.jobs.size()}, {"audio_s", answer.audio().count()}};
  if (answer.work.question.speech) json["work"]["speech_share"] = *answer.work.question.speech;
  json["start_up_s"] = answer.work.start_up.count();
  if (answer.goal.deadline) json["deadline_s"] = answer.goal.deadline->count();
  if (answer.goal.budget) json["budget"] = *answer.goal.budget;
  if (answer.services.storage) json["storage_cost"] = *answer.services.storage;
  if (answer.services.requests) json["request_cost"] = *answer.services.requests;
  const auto best = recommended(answer.plans, answer.goal);
  if (!best) return;
  json["recommended"] = {{"name", answer.offers[*best].name()},
                         {"count", answer.plans[*best]->count},
                         {"cost", answer.plans[*best]->cost.total + answer.services.total()}};
}

}  // namespace

ServiceCost service_cost(const ServicePrices& prices, std::size_t recordings, const std::optional<Bytes>& stored) {
  ServiceCost cost{.stored = stored, .request_count = prices.requests_per_recording * static_cast<double>(recordings)};
  if (stored && prices.usd_gb_month) cost.storage = *prices.usd_gb_month * static_cast<double>(stored->value) / 1e9;
  if (prices.usd_million_requests) cost.requests = *prices.usd_million_requests * cost.request_count / 1e6;
  return cost;
}

Seconds CostAnswer::audio() const {
  Seconds sum{};
  for (const SimJob& job : work.question.jobs) sum += job.audio;
  return sum;
}

bool CostAnswer::is_met() const {
  return !goal.is_set() || recommended(plans, goal).has_value();
}

std::string CostAnswer::text() const {
  std::string text = "What an hour of audio costs with " + model + ", on devices that are always busy\n\n" +
                     offers_text(*this) + "\n" + baseline_text(*this) + unknown_text(*this);
  if (plans.empty()) return text;
  return text + "\n" + goal_text(*this) + plans_text(*this) + "\n" + services_text(services) + recommended_text(*this) +
         silence_text(work.question.speech) + "\n";
}

std::string CostAnswer::json() const {
  Json out{{"model", model}};
  if (baseline) out["baseline"] = offers[*baseline].name();
  out["offers"] = Json::array();
  for (std::size_t i = 0; i < offers.size(); ++i) {
    Json& entry = out["offers"].emplace_back(offer_json(offers[i], baseline ? &offers[*baseline] : nullptr));
    if (!plans.empty()) entry["plan"] = plans[i] ? plan_json(*plans[i]) : Json();
  }
  if (!plans.empty()) add_work(out, *this);
  return json_line(out);
}

std::optional<std::size_t> baseline_of(const std::vector<Offer>& offers, const std::string& name) {
  std::optional<std::size_t> first, first_cpu;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const Offer& offer = offers[i];
    if (!offer.speed() || !offer.audio_hour()) continue;
    const std::string wanted = ascii_lower(name);
    const bool named = wanted.empty() || wanted == ascii_lower(offer.price.device) ||
                       wanted == ascii_lower(offer.price.instance) || wanted == ascii_lower(offer.name());
    if (!named) continue;
    if (!first) first = i;
    if (!first_cpu && offer.target.on_cpu) first_cpu = i;
  }
  return first_cpu ? first_cpu : first;
}

}  // namespace tutti
