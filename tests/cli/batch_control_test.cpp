#include "cli/batch/batch_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

using namespace tutti;

namespace {

/// A batch with two devices, "cuda:0" and "left card", and one job, 7.
class OneOfEach final : public BatchControl {
 public:
  FleetStatus status(const PoolView*) override { return {}; }
  bool drain(const std::string& device) override { return is_ours(device); }
  bool resume(const std::string& device) override { return is_ours(device); }
  Result<void> cancel(std::int64_t job) override {
    if (job == 7) return {};
    return fail(Fault::missing, "no such task");
  }

 private:
  static bool is_ours(const std::string& device) {
    return device.empty() || device == "cuda:0" || device == "left card";
  }
};

nlohmann::json answer_to(const std::string& request) {
  OneOfEach batch;
  return nlohmann::json::parse(answer_control(batch, request));
}

}  // namespace

TEST(BatchControl, ExecutesRequestsAndReportsInvalidOnes) {
  for (const char* request : {"drain", "drain cuda:0", "resume cuda:0", "drain left card", "cancel 7"})
    EXPECT_EQ(answer_to(request).at("ok"), true) << request;
  EXPECT_EQ(answer_to("drain cuda:1").at("error"), "no device 'cuda:1' in this run");
  EXPECT_EQ(answer_to("cancel 8").at("error"), "no such task");
  EXPECT_THAT(answer_to("cancel all").at("error").get<std::string>(), testing::HasSubstr("cancel JOB"));
  EXPECT_THAT(answer_to("").at("error").get<std::string>(), testing::HasSubstr("expected status"));
  EXPECT_FALSE(answer_to("status").contains("error"));
}

// It threw, on the socket's thread, and took the batch along.
TEST(BatchControl, ARequestOfBytesThatAreNoTextIsAnsweredToo) {
  EXPECT_EQ(answer_to("drain \xff").at("error"), "no device '\xef\xbf\xbd' in this run");
  EXPECT_TRUE(answer_to("\xc3(").contains("error"));
  EXPECT_TRUE(answer_to("cancel 7 \x80").contains("error"));
}
