// `tutti cost` as people call it.

#include <gmock/gmock.h>

#include "system/batch_runs.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

class CostTest : public BatchTest {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    EXPECT_TRUE(write_file_atomically(folder_ / name, content));
    return folder_ / name;
  }
  ProgramEnd cost(std::vector<std::string> more) const {
    std::vector<std::string> words{kTutti, "cost", "--state", (folder_ / "state").string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, settings());
  }
  json answer(std::vector<std::string> more) const {
    more.emplace_back("--json");
    const auto end = cost(std::move(more));
    EXPECT_EQ(end.exit_code, 0) << end.err;
    return json::parse(end.out);
  }
  const std::string prices_ = TUTTI_SOURCE_DIR "/examples/prices.toml";
};

}  // namespace

TEST_F(CostTest, ComparesOffersOfAPriceFileWithANamedBaseline) {
  const json shown = answer({"--price", prices_, "--speed", "T4=14.3,cpu=1.1", "--model", "large-v3"});
  EXPECT_EQ(shown["baseline"], "c7i.2xlarge on-demand");
  EXPECT_EQ(shown["offers"].size(), 8U);
  EXPECT_EQ(shown["offers"][0]["name"], "g4dn.xlarge on-demand");
  EXPECT_NEAR(shown["offers"][0]["cost_per_audio_hour"], 0.0368, 5e-5) << "the field note's sum, at the right price";
  EXPECT_FALSE(shown["offers"][2].contains("speed_x")) << "no speed of an A10G is known";
  const auto text = cost({"--price", prices_, "--purchase", "spot", "--speed", "T4=14.3", "--model", "large-v3"}).out;
  EXPECT_THAT(text, HasSubstr("Baseline: g4dn.xlarge spot (T4) at 14.3 ×"));
  EXPECT_THAT(text, HasSubstr("Speed not known: A10G, L4, cpu."));
  EXPECT_THAT(text, testing::Not(HasSubstr("on-demand")));
}

TEST_F(CostTest, ADeadlineAndABudgetAreMetByTheSimulatorOrRefused) {
  const auto lengths = file("lengths.json", json(std::vector<double>(100, 3600)).dump());
  const std::vector<std::string> request{"--durations", lengths,       "--price", "T4=0.526,cpu=0.357",
                                         "--speed",     "T4=10,cpu=1", "--model", "large-v3"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), request.begin(), request.end());
    return more;
  };
  const json deadline = answer(with({"--deadline", "2.5h"}));
  EXPECT_EQ(deadline["recommended"]["name"], "T4");
  EXPECT_EQ(deadline["recommended"]["count"], 5);
  EXPECT_LE(deadline["offers"][0]["plan"]["most_s"].get<double>(), 2.5 * 3600);
  EXPECT_GT(deadline["offers"][1]["plan"]["count"].get<int>(), 40);
  EXPECT_EQ(answer(with({"--budget", "8"}))["recommended"]["name"], "T4");
  const auto never = cost(with({"--deadline", "1m"}));
  EXPECT_EQ(never.exit_code, 4);
  EXPECT_THAT(never.out, HasSubstr("Nothing on offer does that with 100 instances at most"));
}

TEST_F(CostTest, TheBillOfABatchAddsUpWithItsReportAndHistory) {
  const auto end = batch(devices("time = 0.2\n[[device]]\nuse = \"emulated:8x:12GB\"\nname = \"T4\"\n"
                                 "[[device]]\nuse = \"emulated:4x:12GB\"\nname = \"L4\"\nfailures = [\"die@3\"]\n"),
                         {"--price", "T4=0.526,L4=0.8"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("of it for idle devices"));
  const json reported = report();
  const double total = reported["cost"];
  EXPECT_NEAR(total, (0.526 + 0.8) * reported["duration_seconds"].get<double>() / 3600, 2e-6);
  double devices = 0, recordings = 0, parts = 0, history = 0;
  for (const auto& device : reported["devices"]) devices += device["cost"].get<double>();
  for (const auto& asset : reported["assets"]) recordings += asset["cost"].get<double>();
  for (const auto& part : reported["bill"]) parts += part.get<double>();
  EXPECT_NEAR(devices, total, 3e-6);
  EXPECT_NEAR(parts, total, 3e-6);
  EXPECT_NEAR(recordings, reported["bill"]["recordings"].get<double>(), 0.02 * total);
  const json bill = answer({"--report", folder_ / "report.json"});
  EXPECT_NEAR(bill["bill"]["total"], total, 3e-6);
  EXPECT_NEAR(bill["bill"]["idle"], reported["bill"]["idle"], 3e-6);
  EXPECT_NEAR(answer({"--report", folder_ / "report.json", "--price", "1"})["bill"]["total"],
              2 * reported["duration_seconds"].get<double>() / 3600, 3e-6)
      << "at other prices";
  const auto past = run_program({kTutti, "history", "--json", "--state", (folder_ / "state").string()}, settings());
  const json runs = json::parse(past.out)["runs"];
  for (const auto& use : runs[0]["devices"]) history += use["cost"].get<double>();
  EXPECT_NEAR(history, total, 3e-6);
  const json offers = answer({"--price", "T4=0.526,L4=0.8", "--model", ""});
  EXPECT_EQ(offers["offers"].size(), 2U);
}

TEST_F(CostTest, PlanUsesThePricesOfEachDevice) {
  const auto lengths = file("lengths.json", "[3600, 3600]");
  const auto planned = run_program(
      {kTutti, "plan", "--durations", lengths, "--gpus", "12GB:30x,12GB:10x", "--price", "cuda:0=0.5,0.1", "--json"},
      settings());
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const json quote = json::parse(planned.out);
  EXPECT_NEAR(quote["cost"], 0.6 * quote["time"]["expected_s"].get<double>() / 3600, 1e-9);
  EXPECT_FALSE(quote.contains("price_per_device_hour"));
  EXPECT_EQ(quote["devices"][0]["price_per_hour"], 0.5);
  EXPECT_GE(quote["idle_cost"].get<double>(), 0);
}

TEST_F(CostTest, WhatIsNotPossibleIsRefusedByName) {
  const auto refused = [&](std::vector<std::string> more) {
    const auto end = cost(std::move(more));
    EXPECT_EQ(end.exit_code, 2) << end.err;
    return end.err;
  };
  EXPECT_THAT(refused({}), HasSubstr("no prices are given"));
  EXPECT_THAT(refused({"--price", "0.5"}), HasSubstr("there is nothing to compare"));
  EXPECT_THAT(refused({"--price", "T4=1", "--deadline", "24h"}), HasSubstr("need recordings"));
  const auto lengths = file("lengths.json", "[60]");
  EXPECT_THAT(refused({"--durations", lengths, "--price", "T4=1", "--deadline", "soon"}),
              HasSubstr("--deadline: expected a time, found 'soon'"));
  EXPECT_THAT(refused({"--durations", lengths, "--price", "T4=1", "--budget", "-1"}),
              HasSubstr("--budget: expected 0"));
  EXPECT_THAT(refused({"--durations", lengths, "--price", "T4=1", "--most", "0"}), HasSubstr("--most: expected 1 to"));
  EXPECT_THAT(refused({"--price", "T4=1", "--speed", "T4"}), HasSubstr("expected NAME=SPEED"));
  EXPECT_THAT(refused({"--price", "T4=1", "--speed", "T4=2", "--baseline", "cpu"}),
              HasSubstr("--baseline cpu: no offer"));
  EXPECT_THAT(refused({"--price", prices_, "--purchase", "spott"}), HasSubstr("--purchase spott"));
  EXPECT_THAT(refused({"--price", "T4=1", "--report", lengths, "--budget", "3"}), HasSubstr("--report is the bill"));
  EXPECT_THAT(refused({"--report", lengths, "--speed", "T4=2"}), HasSubstr("--speed has no effect on the bill"));
  EXPECT_THAT(refused({"--price", "T4=1", "--start-up", "9h"}),
              HasSubstr("--start-up has no effect without recordings"));
  EXPECT_THAT(refused({"--price", "T4=1", "--devices", "cpu"}), HasSubstr("--devices has no effect without --measure"));
  EXPECT_EQ(cost({"--report", folder_ / "none.json"}).exit_code, 4);
  EXPECT_THAT(cost({"--report", lengths}).err, HasSubstr("expected a number \"duration_seconds\""));
  EXPECT_EQ(cost({"--price", "none.toml"}).exit_code, 4);
}
