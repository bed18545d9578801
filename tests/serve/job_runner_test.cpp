#include "serve/jobs/job_runner.h"

#include <gtest/gtest.h>

#include "held_requests.h"
#include "jobs/open_store.h"
#include "serve/jobs/job_json.h"
#include "support/eventually.h"
#include "support/run_sql.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

class JobRunnerTest : public testing::Test {
 protected:
  JobId add(const std::string& name) {
    const std::string batch = batch_of_client("client");
    const JobSpec spec{.key = files_.key_of(name),
                       .batch = batch,
                       .input = JobFiles::upload_of(files_.key_of(name)),
                       .options = "tiny",
                       .name = name,
                       .extra = to_extra({{"model", "whisper-1"}})};
    const auto submitted = store_->submit(*store_->begin_run({.command = "tutti serve", .batch = batch}), {&spec, 1});
    EXPECT_TRUE(submitted);
    runner_->wake(batch);
    return submitted->front().id;
  }
  JobState state(JobId id) { return store_->jobs({.ids = {id}}, 0, 1)->at(0).state; }
  /// Another process that cancels every job as soon as it is claimed.
  void cancel_whatever_is_claimed() {
    run_sql(folder_.path() / "state/tutti.sqlite",
            "CREATE TRIGGER cancels AFTER UPDATE OF state ON tasks WHEN NEW.state = 'running' "
            "BEGIN UPDATE tasks SET cancel_wished = 1 WHERE id = NEW.id; END");
  }
  void TearDown() override {
    runner_->abort();
    service_.stop();
    runner_.reset();
  }

  TempFolder folder_;
  std::unique_ptr<JobStore> store_ = *open_store({.url = folder_.path() / "state"});
  JobFiles files_ = *JobFiles::open({.state = folder_.path() / "state"});
  JobEvents events_;
  JobCallbacks callbacks_{{}};
  const ModelNames models_{"tiny", "tiny"};
  const SpeechOptions usual_{};
  HeldRequests service_;
  std::unique_ptr<JobRunner> runner_ = std::make_unique<JobRunner>(JobParts{.service = service_,
                                                                            .queue = *store_,
                                                                            .admin = *store_,
                                                                            .records = *store_,
                                                                            .files = files_,
                                                                            .events = events_,
                                                                            .callbacks = callbacks_,
                                                                            .models = models_,
                                                                            .usual = usual_});
};

TEST_F(JobRunnerTest, CancellationRightAfterTheClaimStopsTheJob) {
  cancel_whatever_is_claimed();
  if (HasFailure()) return;  // no job would be cancelled
  const auto begun = Clock::real().now();
  const JobId id = add("a");
  eventually([&] { return state(id) == JobState::cancelled; });
  EXPECT_LT(Clock::real().now() - begun, kRenewEvery / 2) << "the next renewal of its lease would have found it, too";
}

TEST_F(JobRunnerTest, CancellationWhileItIsInWorkStopsTheJob) {
  const JobId id = add("a");
  eventually([&] { return runner_->in_work() == 1; });
  store_->cancel({.ids = {id}});
  runner_->cancel(id);
  eventually([&] { return state(id) == JobState::cancelled; });
}

TEST_F(JobRunnerTest, CancellationBeforeTheResultIsRecordedHolds) {
  const JobId id = add("a");
  eventually([&] { return service_.requests.with([](const auto& all) { return !all.empty(); }); });
  store_->cancel({.ids = {id}});
  service_.finish();  // before the cancellation has reached it
  eventually([&] { return runner_->in_work() == 0; });
  EXPECT_EQ(state(id), JobState::cancelled);
  EXPECT_FALSE(std::filesystem::exists(JobFiles::result_of(files_.key_of("a"))));
  EXPECT_TRUE(std::filesystem::is_empty(files_.staging())) << "what was staged is gone";
}

TEST_F(JobRunnerTest, ResultOfAJobIsPublished) {
  const JobId id = add("a");
  eventually([&] { return service_.requests.with([](const auto& all) { return !all.empty(); }); });
  service_.finish();
  eventually([&] { return runner_->in_work() == 0; });
  EXPECT_EQ(state(id), JobState::done);
  EXPECT_TRUE(std::filesystem::exists(JobFiles::result_of(files_.key_of("a"))));
}

}  // namespace
}  // namespace tutti
