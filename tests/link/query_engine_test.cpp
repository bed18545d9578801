#include "link/query_engine.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/clock.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

/// Replaces the engine by a script, as TUTTI_ENGINE allows.
class QueryEngine : public testing::Test {
 protected:
  void engine_is(const std::string& script) {
    const auto path = folder_.path() / "engine";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    ::setenv("TUTTI_ENGINE", path.c_str(), 1);
  }
  void TearDown() override { ::unsetenv("TUTTI_ENGINE"); }

  TempFolder folder_;
};

TEST_F(QueryEngine, ReturnsTheWholeOutput) {
  engine_is("echo \"$1 $WANTED\"; head -c 5000 /dev/zero | tr '\\0' x");
  const auto output = query_engine({"limits"}, {{"WANTED", "this"}}, {.within = Seconds(60)});
  ASSERT_TRUE(output.has_value()) << output.error().text();
  EXPECT_EQ(*output, "limits this\n" + std::string(5000, 'x'));
}

TEST_F(QueryEngine, FailedEngineErrorNamesTheExitStatus) {
  engine_is("echo half; exit 3");
  const auto output = query_engine({"limits"}, {}, {.within = Seconds(60)});
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().fault, Fault::device);
  EXPECT_NE(output.error().text().find("exited with status 3"), std::string::npos) << output.error().text();
}

TEST_F(QueryEngine, AnEngineThatNeverAnswersIsKilledInTime) {
  engine_is("exec sleep 600");
  const auto output = query_engine({"limits"}, {}, {.within = Seconds(0.1)});
  ASSERT_FALSE(output.has_value());
  EXPECT_NE(output.error().text().find("killed"), std::string::npos) << output.error().text();
}

TEST_F(QueryEngine, AnEngineThatIsCancelledEndsAtOnce) {
  engine_is("exec sleep 600");
  int looks = 0;
  const auto begun = Clock::real().now();
  const auto output = query_engine({"say"}, {}, {.within = Seconds(60), .go_on = [&] { return ++looks < 3; }});
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().fault, Fault::cancelled) << output.error().text();
  EXPECT_LT(Seconds(Clock::real().now() - begun).count(), 30);
}

TEST_F(QueryEngine, OutputBeyondItsLimitIsAnError) {
  engine_is("head -c 100000 /dev/zero");
  const auto within = [](std::size_t bytes) {
    return query_engine({"say"}, {}, {.within = Seconds(60), .bytes = bytes, .go_on = [] { return true; }});
  };
  EXPECT_EQ(within(100000).value().size(), 100000U);
  EXPECT_NE(within(50000).error().text().find("50000 bytes"), std::string::npos);
}

}  // namespace
}  // namespace tutti
