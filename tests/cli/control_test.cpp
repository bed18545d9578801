#include <gmock/gmock.h>
#include <sys/stat.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/control/control_server.h"
#include "cli/control/requests.h"
#include "cli/control/runtime_folder.h"
#include "support/environment.h"
#include "support/temp_folder.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

/// A batch with one device that remembers what it was told.
class ScriptedBatch final : public BatchControl {
 public:
  FleetStatus status() override {
    FleetStatus status{.run = "talks", .tasks = 7};
    status.devices = {{.id = "cuda:0"}};
    return status;
  }
  bool drain(const std::string& device) override {
    told += "drain " + device + ";";
    return device.empty() || device == "cuda:0";
  }
  bool resume(const std::string& device) override {
    told += "resume " + device + ";";
    return device == "cuda:0";
  }
  void cancel(std::int64_t task) override { told += "cancel " + std::to_string(task) + ";"; }

  std::string told;
};

/// A runtime folder of its own, and a server in it.
class Control : public testing::Test {
 protected:
  Result<std::unique_ptr<ControlServer>> serve(BatchControl* batch) {
    return ControlServer::start([batch](std::string_view line) { return answer_request(line, batch); });
  }

  TempFolder folder_;
  ScopedVariable runtime_{"XDG_RUNTIME_DIR", folder_.path().c_str()};
  ScriptedBatch batch_;
};

}  // namespace

TEST_F(Control, ARunningBatchIsFoundAndTellsItsStatus) {
  const auto server = serve(&batch_);
  ASSERT_TRUE(server) << server.error().text();
  ASSERT_THAT(control_sockets(), testing::ElementsAre((*server)->path()));
  const auto status = ask_status((*server)->path());
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(status->run, "talks");
  EXPECT_EQ(status->devices.size(), 1U);
}

TEST_F(Control, WishesReachTheBatchAndItsRefusalsComeBack) {
  const auto server = serve(&batch_);
  ASSERT_TRUE(server);
  const auto& path = (*server)->path();
  EXPECT_THAT(ask_wish(path, {TopWish::What::drain, "cuda:0"}).value_or(""), HasSubstr("takes nothing new"));
  EXPECT_THAT(ask_wish(path, {TopWish::What::resume, "cuda:0"}).value_or(""), HasSubstr("takes work again"));
  EXPECT_TRUE(ask_wish(path, {TopWish::What::cancel, "17"}));
  EXPECT_EQ(batch_.told, "drain cuda:0;resume cuda:0;cancel 17;");
  EXPECT_THAT(ask_wish(path, {TopWish::What::drain, "cuda:9"}).error().text(), HasSubstr("no such device"));
  EXPECT_THAT(ask_wish(path, {TopWish::What::cancel, "17x"}).error().text(), HasSubstr("the number of a task"));
}

TEST_F(Control, NonsenseIsRefusedAndTheNextOneIsServed) {
  const auto server = serve(&batch_);
  ASSERT_TRUE(server);
  for (const char* line : {"", "nonsense", "[1]", "{\"do\":\"explode\"}", "{\"do\":7}", "{\"do\":\"cancel\"}"})
    EXPECT_THAT(ask_control((*server)->path(), line).value_or(""), HasSubstr("\"ok\":false")) << line;
  EXPECT_TRUE(ask_status((*server)->path()));
  EXPECT_EQ(batch_.told, "");
}

TEST_F(Control, ABatchThatIsStartingSaysSo) {
  const auto server = serve(nullptr);
  ASSERT_TRUE(server);
  EXPECT_THAT(ask_status((*server)->path()).error().text(), HasSubstr("starting or ending"));
}

TEST_F(Control, TheSocketGoesWithItsServerAndADeadOneIsSweptAway) {
  std::filesystem::path path;
  {
    const auto server = serve(&batch_);
    ASSERT_TRUE(server);
    path = (*server)->path();
    EXPECT_EQ(std::filesystem::status(path.parent_path()).permissions(), std::filesystem::perms::owner_all);
    std::filesystem::create_hard_link(path, path.parent_path() / "batch-0.sock");  // as a killed one leaves behind
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_EQ(control_sockets().size(), 1U);
  EXPECT_EQ(ask_status(control_sockets().front()).error().fault, Fault::missing);
  EXPECT_TRUE(control_sockets().empty());
}

TEST_F(Control, AFolderThatOthersMayEnterIsRefused) {
  ASSERT_TRUE(runtime_folder());
  ::chmod((folder_ / "tutti").c_str(), 0755);
  EXPECT_THAT(runtime_folder().error().text(), HasSubstr("only its owner may enter"));
}
