#include <gmock/gmock.h>

#include "base/json.h"
#include "planning/batch/report_json.h"
#include "planning/cost/cost_question.h"
#include "planning/cost/run_bill.h"
#include "planning/cost/shown_amounts.h"
#include "support/never_stops.h"

using namespace tutti;
using nlohmann::json;
using testing::HasSubstr;

namespace {

Offer offer(const std::string& device, double usd_hour, double speed, int devices = 1) {
  return {.price = {.device = device, .usd_hour = usd_hour, .devices = devices},
          .target = {.id = device, .speed = speed, .on_cpu = device == "cpu"},
          .speed_from = "speed"};
}

/// An archive of 100 recordings of an hour.
OfferWork work() {
  OfferWork work{.question = {.model = "large-v3", .compute_type = "default", .ram = {64'000'000'000}, .cores = 8},
                 .start_up = Seconds(120)};
  work.question.jobs.assign(100, {Seconds(3600), Seconds(3600)});
  return work;
}

std::optional<OfferPlan> chosen(const Offer& offer, const OfferGoal& goal) {
  auto plan = OfferPlanner(work()).choose(offer, goal);
  EXPECT_TRUE(plan) << plan.error().text();
  return plan.value_or(std::nullopt);
}

/// A run of 100 s: one device half idle, one that also lost an attempt.
BatchReport ended_run() {
  BatchReport report{.done_now = 2, .elapsed = Seconds(100), .audio = Seconds(1800)};
  report.pool.devices = {
      {.id = "left", .name = "Tesla T4", .busy = Seconds(50), .idle = {{Idle::input, Seconds(50)}}},
      {.id = "right", .name = "NVIDIA L4", .busy = Seconds(80), .idle = {{Idle::no_job, Seconds(20)}}}};
  report.assets = {{.status = "done", .busy = Seconds(60), .busy_on = {{"left", Seconds(50)}, {"right", Seconds(10)}}},
                   {.status = "done", .busy = Seconds(30), .busy_on = {{"right", Seconds(30)}}},
                   {.status = "done"}};
  return report;
}

const HourlyPrices kPrices{{"left", 3.6}, {"right", 7.2}};

}  // namespace

TEST(Offers, TheNotesSumsHoldWithTheRightPrice) {
  EXPECT_NEAR(*offer("T4", 0.526, 14.3).audio_hour(), 0.0368, 5e-5) << "on-demand";
  EXPECT_NEAR(*offer("T4", 0.15, 14.3).audio_hour(), 0.0105, 5e-5) << "spot, at best";
  EXPECT_NEAR(*offer("T4", 0.30, 14.3).audio_hour(), 0.0210, 5e-5) << "spot, at worst";
  EXPECT_NEAR(*offer("L4", 8, 20, 4).audio_hour(), 0.1, 1e-9) << "four devices in it";
  EXPECT_FALSE(Offer{.price = {.device = "L4"}}.audio_hour()) << "its speed is not known";
}

TEST(Offers, EnergyIsThatOfDevicesThatReportTheirs) {
  Offer it = offer("T4", 0.526, 20);
  EXPECT_FALSE(it.audio_hour_joules());
  it.target.watts = 70;
  EXPECT_NEAR(*it.audio_hour_joules(), 70 * 3600 / 20.0, 1e-9);
}

TEST(Offers, ADeadlineTakesTheFewestThatMeetIt) {
  const Offer it = offer("T4", 0.526, 10);
  const auto plan = chosen(it, {.deadline = Seconds(2.5 * 3600)});  // ten hours of one
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->count, 5) << "four take 2:30:00 and their start";
  EXPECT_LE(plan->time.most, Seconds(2.5 * 3600));
  EXPECT_GE(plan->time.expected, Seconds(2 * 3600));
  EXPECT_NEAR(plan->cost.total, 0.526 * 5 * plan->time.expected.count() / 3600, 1e-9);
  EXPECT_GT(plan->cost.idle, 0) << "the start is paid";
  EXPECT_EQ(chosen(offer("T4", 0.526, 10, 4), {.deadline = Seconds(2.5 * 3600)})->count, 2) << "eight devices";
  EXPECT_FALSE(chosen(it, {.deadline = Seconds(60)})) << "none has started by then";
  EXPECT_FALSE(chosen(offer("cpu", 0.1, 0.01), {.deadline = Seconds(3600)})) << "a hundred are too few";
}

TEST(Offers, ABudgetTakesAsManyAsItAllowsAndNoMoreThanGain) {
  const Offer it = offer("T4", 0.5, 10);
  const auto little = chosen(it, {.budget = 5.8});  // ten hours are 5.00, a start 0.017
  ASSERT_TRUE(little);
  EXPECT_GE(little->count, 1);
  EXPECT_LE(little->most_cost, 5.8);
  const auto more = chosen(it, {.budget = 50});
  ASSERT_TRUE(more);
  EXPECT_GT(more->count, little->count);
  EXPECT_LT(more->time.expected, little->time.expected);
  EXPECT_FALSE(chosen(it, {.budget = 4}));
  EXPECT_FALSE(chosen(it, {.deadline = Seconds(3600), .budget = 4})) << "both have to be met";
  EXPECT_EQ(chosen(it, {})->count, 1) << "without a goal";
}

TEST(Offers, ACardThatCannotHoldTheModelIsNoOffer) {
  Offer it = offer("small", 0.1, 10);
  it.target.memory = Bytes{1'000'000'000};
  EXPECT_FALSE(chosen(it, {}));
}

TEST(Offers, TheCheapestMeetsADeadlineAndTheFastestABudget) {
  const OfferPlan slow{.time = {.expected = Seconds(200)}, .cost = {.total = 1}};
  const OfferPlan fast{.time = {.expected = Seconds(100)}, .cost = {.total = 2}};
  EXPECT_EQ(recommended({std::nullopt, fast, slow}, {.deadline = Seconds(300)}), 2U);
  EXPECT_EQ(recommended({std::nullopt, fast, slow}, {.budget = 3}), 1U);
  const OfferPlan dear{.time = {.expected = Seconds(99.5)}, .cost = {.total = 3}};
  EXPECT_EQ(recommended({dear, fast, slow}, {.budget = 3}), 1U) << "half a second is no gain";
  EXPECT_FALSE(recommended({std::nullopt}, {}));
}

TEST(Offers, ABudgetTooSmallForOneMayBeEnoughForTwo) {
  const Offer it = offer("T4", 0.5, 10);
  OfferPlanner planner(work());
  const double one = (*planner.plan(it, 1))->most_cost, two = (*planner.plan(it, 2))->most_cost;
  ASSERT_LT(two, one) << "what one takes longer by chance evens out";
  const auto plan = chosen(it, {.budget = (one + two) / 2});
  ASSERT_TRUE(plan);
  EXPECT_GE(plan->count, 2);
  EXPECT_LE(plan->most_cost, (one + two) / 2);
}

TEST(Offers, SpeedsAreTypedElseThoseOfTheDeviceThatFitsBest) {
  const std::vector<KnownDevice> known{
      {.target = {.id = "GPU-1", .name = "Tesla T4", .record = "GPU-1", .speed = 12}, .from = "earlier batches"},
      {.target = {.id = "cpu", .record = "cpu", .speed = 1.5, .on_cpu = true}, .from = "earlier batches"}};
  const PriceList prices{.prices = {{.device = "T4", .instance = "g4dn.xlarge", .purchase = "spot", .usd_hour = 0.2},
                                    {.device = "cpu", .usd_hour = 0.1},
                                    {.device = "L4", .usd_hour = 0.8}}};
  const auto offers = offers_of(prices, "", known, {{"g4dn.xlarge", 14.3}});
  ASSERT_TRUE(offers) << offers.error().text();
  EXPECT_EQ((*offers)[0].target.speed, 14.3) << "typed";
  EXPECT_EQ((*offers)[1].target.speed, 1.5);
  EXPECT_FALSE((*offers)[2].target.speed);
  EXPECT_EQ(offers_of(prices, "", known, {})->front().target.speed, 12);
  EXPECT_EQ(baseline_of(*offers, ""), 1U) << "the CPU";
  EXPECT_EQ(baseline_of(*offers, "G4DN.xlarge spot"), 0U);
  EXPECT_FALSE(baseline_of(*offers, "L4")) << "its speed is not known";
  EXPECT_THAT(offers_of(prices, "", known, {{"T5", 2}}).error().text(), HasSubstr("speed T5: nothing of this name"));
  EXPECT_EQ(offers_of({.others = 0.3}, "", known, {})->size(), 2U) << "one number is every device's";
  EXPECT_FALSE(offers_of({.others = 0.3}, "", {}, {}));
  EXPECT_EQ(offers_of(prices, "on-demand", known, {})->size(), 2U) << "the spot price is left out";
}

TEST(Offers, TypedSpeedsAreTimesRealTimeAndNothingElse) {
  EXPECT_EQ(parse_speeds("T4=14.3x,cpu=1")->size(), 2U);
  for (const char* text : {"T4", "=2", "T4=0", "T4=-1", "T4=fast", "T4=inf"}) EXPECT_FALSE(parse_speeds(text)) << text;
}

TEST(CostQuestion, AnswerHasAllOffersAndRefusesAnUnknownBaseline) {
  NeverStops stop;
  CostQuestion question{.prices = {.prices = {{.device = "T4", .usd_hour = 0.5}, {.device = "cpu", .usd_hour = 0.3}}},
                        .speeds = {{"T4", 14.3}, {"cpu", 1.1}}};
  const auto answer = answer_cost(question, stop);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->offers.size(), 2U);
  EXPECT_EQ(answer->baseline, 1U) << "the CPU";
  EXPECT_TRUE(answer->plans.empty()) << "there is no work";
  question.baseline = "L4";
  EXPECT_THAT(answer_cost(question, stop).error().text(), HasSubstr("baseline L4: no offer with a known speed"));
}

TEST(CostAnswer, NamesItsBaselineAndWhatIsNotShown) {
  CostAnswer answer{.model = "large-v3", .offers = {offer("cpu", 0.357, 1.1), offer("T4", 0.526, 14.3)}, .baseline = 0};
  EXPECT_THAT(answer.text(), HasSubstr("Baseline: cpu (cpu) at 1.1 ×, with the same model."));
  EXPECT_THAT(answer.text(), HasSubstr("That the words are the same is not shown"));
  const json shown = json::parse(answer.json());
  EXPECT_NEAR(shown["offers"][1]["speed_of_baseline"], 13, 1e-9);
  EXPECT_NEAR(shown["offers"][1]["cost_of_baseline"], 0.526 / 14.3 / (0.357 / 1.1), 1e-9);
  answer.offers[0].price.usd_hour = 0;
  EXPECT_FALSE(json::parse(answer.json())["offers"][1].contains("cost_of_baseline")) << "of what costs nothing";
  answer.offers[1].word_errors = 0.02;
  EXPECT_THAT(answer.text(), HasSubstr("Other words: the share of words"));
}

TEST(CostAnswer, StorageAndRequestsCountOnlyWithTheirPrices) {
  const ServicePrices prices{.usd_gb_month = 0.023, .usd_million_requests = 0.4, .requests_per_recording = 3};
  const auto cost = service_cost(prices, 1'000'000, Bytes{120'000'000'000});
  EXPECT_NEAR(*cost.storage, 2.76, 1e-9);
  EXPECT_NEAR(*cost.requests, 1.2, 1e-9);
  EXPECT_NEAR(cost.total(), 3.96, 1e-9);
  EXPECT_FALSE(service_cost(prices, 1, {}).storage);
  EXPECT_EQ(service_cost({}, 1, Bytes{1}).total(), 0);
}

TEST(ShownAmounts, TheyAddUpToTheirRoundedSum) {
  const ShownAmounts thirds({10.0 / 3, 10.0 / 3, 10.0 / 3});
  EXPECT_EQ(thirds.sum(), "10.00");
  EXPECT_THAT((std::vector{thirds.text(0), thirds.text(1), thirds.text(2)}),
              testing::UnorderedElementsAre("3.33", "3.33", "3.34"));
  EXPECT_EQ(thirds.text({0, 1, 2}), "10.00");
  const ShownAmounts small({0.00012345, 0.00076543});
  EXPECT_EQ(small.sum(), "0.0008889");
  EXPECT_EQ(ShownAmounts({}).sum(), "0.00");
}

TEST(RunBill, ItsLinesAndColumnsAddUpAsTheyAreShown) {
  BatchReport report = ended_run();
  report.elapsed = Seconds(7 * 3600);
  report.pool.devices.push_back({.id = "third", .busy = Seconds(1000), .idle = {{Idle::input, Seconds(24200)}}});
  const std::string text = bill_of(report, {{"left", 0.526}, {"right", 1.212}, {"third", 1.0 / 3}}).text();
  double last = 0, sum = 0;  // of the column USD
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, hour;
    std::array<double, 4> amounts{};
    if (!(words >> id) || (id != "left" && id != "right" && id != "third" && id != "all")) continue;
    if (id != "all") words >> hour;
    for (double& amount : amounts) words >> amount;
    EXPECT_NEAR(amounts[0] + amounts[1] + amounts[2], amounts[3], 1e-9) << line;
    if (id == "all") last = amounts[3];
    if (id != "all") sum += amounts[3];
  }
  EXPECT_GT(last, 14);
  EXPECT_NEAR(sum, last, 1e-9) << text;
}

TEST(RunBill, EverySecondOfEveryDeviceIsPaidOnce) {
  const RunBill bill = bill_of(ended_run(), kPrices);
  const auto parts = bill.parts();
  ASSERT_TRUE(parts);
  EXPECT_NEAR(parts->recordings, 0.05 + 0.08, 1e-12) << "50 s at 0.001, 40 s at 0.002";
  EXPECT_NEAR(parts->other, 0.08, 1e-12) << "an attempt that failed";
  EXPECT_NEAR(parts->idle, 0.05 + 0.04, 1e-12);
  EXPECT_NEAR(parts->total(), 100 * 0.001 + 100 * 0.002, 1e-12);
  EXPECT_FALSE(bill_of(ended_run(), {{"left", 1}}).parts()) << "one has no price";
}

TEST(RunBill, TheReportAddsUpAndIsReadBackAsTheSameBill) {
  const std::string text = batch_report_json(ended_run(), kPrices, {});
  const json report = json::parse(text);
  EXPECT_NEAR(report["cost"], 0.3, 1e-6);
  EXPECT_NEAR(report["bill"]["recordings"].get<double>() + report["bill"]["other_work"].get<double>() +
                  report["bill"]["idle"].get<double>(),
              report["cost"].get<double>(), 2e-6);
  EXPECT_NEAR(report["assets"][0]["cost"].get<double>() + report["assets"][1]["cost"].get<double>(),
              report["bill"]["recordings"].get<double>(), 2e-6)
      << "at the prices of the devices that did them";
  EXPECT_NEAR(report["cost_per_audio_hour"], 0.6, 1e-6);
  EXPECT_FALSE(report.contains("price_per_device_hour")) << "they differ";
  EXPECT_EQ(report["devices"][1]["price_per_hour"], 7.2);
  EXPECT_NEAR(report["devices"][1]["idle_cost"], 0.04, 1e-6);
  const auto read = read_bill(text, "report.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_NEAR(read->parts()->other, 0.08, 1e-6);
  EXPECT_NEAR(read->parts()->total(), 0.3, 1e-6);
  EXPECT_THAT(read->text(),
              HasSubstr("0.30 USD, 0.60 per hour of audio, 0.15 per recording; 30 % of it for idle devices"));
  EXPECT_NEAR(json::parse(read->json())["devices"][0]["idle_cost"]["waiting_for_input"], 0.05, 1e-6);
}

TEST(RunBill, AReportOfSomethingElseIsRefusedByItsField) {
  EXPECT_THAT(read_bill("[]", "x.json").error().text(), HasSubstr("x.json: expected a number \"duration_seconds\""));
  EXPECT_THAT(read_bill("{", "x.json").error().text(), HasSubstr("x.json"));
  const std::string no_device = batch_report_json({}, {}, {});
  EXPECT_THAT(read_bill(no_device, "x.json").error().text(), HasSubstr("no device has worked in it"));
  const auto old = read_bill(
      R"({"duration_seconds":1,"audio_seconds":1,"done_in_this_run":1,"devices":[{"id":"cpu","busy_share":1}]})",
      "x.json");
  EXPECT_THAT(old.error().text(), HasSubstr("device 1: expected a number \"recordings_seconds\""));
  const auto refused = [](const std::string& devices, const std::string& seconds = "1") {
    return read_bill(R"({"duration_seconds":)" + seconds + R"(,"audio_seconds":1,"done_in_this_run":1,"devices":)" +
                         devices + "}",
                     "x.json")
        .error()
        .text();
  };
  EXPECT_THAT(refused("{}"), HasSubstr("\"devices\": expected a list"));
  EXPECT_THAT(refused(R"([{"id":3,"busy_share":1,"recordings_seconds":1}])"), HasSubstr("\"id\": expected a text"));
  EXPECT_THAT(refused(R"([{"id":"a","busy_share":-1}])"), HasSubstr("\"busy_share\": expected 0 or more, found -1"));
  EXPECT_THAT(refused("[]", "-5"), HasSubstr("\"duration_seconds\": expected 0 or more"));
}
