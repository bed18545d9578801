#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/process/exit_code.h"
#include "cli/commands.h"
#include "support/scripted_machine.h"

namespace tutti {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(DoctorCommand, MetricsAreForPrometheus) {
  const ScriptedMachine machine("gpu uuid=GPU-a temp=55\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_doctor({"--prometheus"}), kDone);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("tutti_gpu_temperature_celsius{gpu_uuid=\"GPU-a\",where=\"gpu\"} 55\n"));
  EXPECT_THAT(text, HasSubstr("tutti_host_busy_ratio "));
  EXPECT_THAT(text, HasSubstr("tutti_host_disk_free_bytes{disk=\"0\"} "));
}

TEST(DoctorCommand, TwoFormsOfOneReportAreRefused) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_doctor({"--json", "--prometheus"}), kUsage);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(DoctorCommand, TheWholeCommandSpeaksOfEveryCardAndEndsWithItsOwnExitCode) {
  const ScriptedMachine machine(
      "driver 580.65.06\ncuda 13000\n"
      "gpu uuid=GPU-a bus=0000:01:00.0 total=24000000000 cc=8.9 name=NVIDIA L4\n"
      "gpu uuid=GPU-b bus=0000:02:00.0 total=8000000000 cc=8.9 recovery=1 name=NVIDIA RTX 4060\n"
      "path gpu=GPU-a peer=GPU-b level=PHB\n",
      "0");
  testing::internal::CaptureStdout();
  const int code = run_doctor({"--json"});
  const auto json = nlohmann::json::parse(testing::internal::GetCapturedStdout());
  // The GPUs are broken; whether the engine is there depends on what was built.
  EXPECT_THAT(code, testing::AnyOf(kSomeFailed, kNothingRan));
  EXPECT_EQ(json["gpus"].size(), 2u);
  EXPECT_EQ(json["gpus"][0]["cuda_order"], 0);
  EXPECT_FALSE(json["gpus"][1].contains("cuda_order")) << "hidden";
  EXPECT_EQ(json["topology"]["paths"][0]["path"], "PHB");
  std::vector<std::string> remedies;
  for (const auto& finding : json["findings"]) remedies.push_back(finding.value("remedy", ""));
  EXPECT_THAT(remedies, Contains("reset the GPU"));
}

}  // namespace
}  // namespace tutti
