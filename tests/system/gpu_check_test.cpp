// How tutti-gpu-check runs its checks; their own results need a GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "apart.h"
#include "base/json.h"

using namespace tutti;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

CheckApart check(const std::string& name, const std::string& script) {
  return {.name = name, .command = {"/bin/sh", "-c", script}};
}

/// The lines of the JSON report on these checks.
std::vector<nlohmann::json> reported_of(const std::vector<CheckApart>& checks, Seconds longest = kLongestCheck) {
  testing::internal::CaptureStdout();
  Report report(/*json=*/true);
  run_apart(report, checks, longest);
  report.close("a card");
  std::istringstream out(testing::internal::GetCapturedStdout());
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(out, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace

TEST(GpuCheck, KilledCheckIsAFindingAndTheOthersStillRun) {
  const auto lines =
      reported_of({check("step", "kill -SEGV $$"), check("select", R"(echo '{"note": "by select"}')"),
                   check("worker", R"(echo '{"note": "why worker failed"}'; exit 1)"), check("speed", "exit 7")});
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0]["check"], "step");
  EXPECT_EQ(lines[0]["passed"], false);
  EXPECT_THAT(lines[0]["what"].get<std::string>(), HasSubstr("was killed by signal 11"));
  EXPECT_EQ(lines[1]["note"], "by select");
  EXPECT_EQ(lines[2]["note"], "why worker failed") << "and nothing else is reported";
  EXPECT_THAT(lines[3]["what"].get<std::string>(), HasSubstr("exited with status 7"));
  EXPECT_EQ(lines[4]["passed"], false);
  EXPECT_THAT(lines[4]["failed"].get<std::vector<std::string>>(), ElementsAre("step", "worker", "speed"));
}

TEST(GpuCheck, HungCheckIsKilledAndReportedAsTimeout) {
  const auto lines = reported_of({check("step", "exec sleep 1000")}, Seconds(0.2));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0]["what"].get<std::string>(), HasSubstr("was not done within 0.2 s and was killed"));
  EXPECT_EQ(lines[1]["passed"], false);
}

TEST(GpuCheck, PassesWhereEveryCheckDoes) {
  const auto lines = reported_of({check("parity", "exit 0"), check("step", "exit 0")});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["passed"], true);
  EXPECT_TRUE(lines[0]["failed"].empty());
}

TEST(GpuCheck, ACheckWhoseProgramIsGoneIsAFinding) {
  const auto lines = reported_of({{.name = "parity", .command = {"/nowhere/tutti-gpu-check"}}});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0]["what"].get<std::string>(), AllOf(HasSubstr("did not start"), HasSubstr("/nowhere")));
  EXPECT_EQ(lines[1]["passed"], false);
}
