#include "serve/jobs/job_service.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "held_requests.h"
#include "jobs/open_store.h"
#include "support/eventually.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

class JobServiceTest : public testing::Test {
 protected:
  JobServiceTest() {
    auto started = JobService::start(
        {.files = {.state = folder_.path() / "state"}, .models = ModelNames("tiny", "tiny")}, service_, *store_);
    EXPECT_TRUE(started) << started.error().text();
    jobs_ = std::move(*started);
  }
  ~JobServiceTest() override { stop(); }
  void stop() {
    if (jobs_) jobs_->abort();
    service_.stop();
    jobs_.reset();
  }
  tl::expected<JobService::Accepted, ApiError> send(FormFields fields = {{"model", "whisper-1"}}) {
    auto file = jobs_->files().open_upload();
    EXPECT_TRUE(file);
    EXPECT_EQ(::write(file->get(), "audio", 5), 5);
    return jobs_->accept({.client = "client",
                          .fields = std::move(fields),
                          .upload = Upload{.file = std::move(*file), .name = "a.mp3", .size = 5}});
  }
  std::string status(JobId id) { return *jobs_->job("client", id); }

  TempFolder folder_;
  std::unique_ptr<JobStore> store_ = *open_store({.url = folder_.path() / "state"});
  HeldRequests service_;
  std::unique_ptr<JobService> jobs_;
};

TEST_F(JobServiceTest, RequestWhoseJobIsBeingCancelledIsToBeSentAgain) {
  service_.cancels = false;
  const auto first = send();
  ASSERT_TRUE(first) << first.error().message;
  eventually([&] { return service_.requests.with([](const auto& all) { return !all.empty(); }); });
  ASSERT_TRUE(jobs_->remove("client", first->id));
  const auto again = send();
  ASSERT_FALSE(again) << "it would end as cancelled: " << again->json;
  EXPECT_EQ(again.error().status, 409);
  EXPECT_TRUE(again.error().retry_after);
  service_.finish();
  eventually([&] { return status(first->id).find("cancelled") != std::string::npos; });
  const auto accepted = send();
  ASSERT_TRUE(accepted) << accepted.error().message;
  EXPECT_TRUE(accepted->is_new);
  EXPECT_EQ(accepted->id, first->id);
}

TEST_F(JobServiceTest, EmptyFieldsAreAbsent) {
  const auto first = send({{"model", "whisper-1"}, {"url", ""}, {"callback", " "}, {"language", ""}});
  ASSERT_TRUE(first) << first.error().message;
  eventually([&] { return service_.requests.with([](const auto& all) { return !all.empty(); }); });
  EXPECT_EQ(status(first->id).find("failed"), std::string::npos) << status(first->id);
  const auto same = send();
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->id, first->id);
}

TEST_F(JobServiceTest, JobsWaitInTheStoreWhileEveryDeviceIsDrained) {
  const auto begun = send();
  ASSERT_TRUE(begun) << begun.error().message;
  const auto is = [&](const char* what) { return status(begun->id).find(what) != std::string::npos; };
  eventually([&] { return is("\"status\":\"running\""); });
  service_.is_drained = true;
  eventually([&] { return is("\"status\":\"queued\"") && is("\"why_waiting\":\"they are drained\""); });
  EXPECT_TRUE(jobs_->set_priority(begun->id, 5));
  EXPECT_TRUE(is("\"priority\":5")) << status(begun->id);
  EXPECT_TRUE(is("\"status\":\"queued\"")) << status(begun->id);
  service_.is_drained = false;
  eventually([&] { return is("\"status\":\"running\"") && is("\"why_waiting\":null"); });
  eventually([&] { return !service_.control().status().in_work.empty(); });  // it is claimed before it is submitted
  service_.finish(
      {.outcome = {.duration = Seconds(3)}, .transcript = {.text = " One.", .segments = {}, .language = "en"}});
  eventually([&] { return is("\"status\":\"done\""); });
}

TEST_F(JobServiceTest, ResultNamesAudioThatIsMissing) {
  const auto job = send();
  ASSERT_TRUE(job) << job.error().message;
  eventually([&] { return service_.requests.with([](const auto& all) { return !all.empty(); }); });
  service_.finish({.outcome = {.duration = Seconds(3), .losses = {"the last 7 s are missing"}},
                   .transcript = {.text = " One.", .segments = {}, .language = "en"}});
  eventually([&] { return status(job->id).find("\"done\"") != std::string::npos; });
  const auto json = jobs_->result("client", job->id, {});
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_NE(json->body.find("\"losses\":[\"the last 7 s are missing\"]"), std::string::npos) << json->body;
  const auto text = jobs_->result("client", job->id, {{"response_format", "text"}});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_FALSE(text->headers.empty());
}

TEST_F(JobServiceTest, HistoryHasTheAudioThatTheRunHasDone) {
  const auto job = send();
  ASSERT_TRUE(job) << job.error().message;
  eventually([&] { return service_.requests.with([](const auto& all) { return !all.empty(); }); });
  service_.finish(
      {.outcome = {.duration = Seconds(3)}, .transcript = {.text = " One.", .segments = {}, .language = "en"}});
  eventually([&] { return status(job->id).find("\"done\"") != std::string::npos; });
  stop();
  const auto runs = store_->runs(1);
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->front().end.audio, Seconds(3));
}

TEST_F(JobServiceTest, HistoryHasARunAtWorkUntilItEnds) {
  EXPECT_EQ(state_of(store_->runs(1)->front()), RunState::at_work) << "of a killed server it becomes lost";
  stop();
  EXPECT_EQ(state_of(store_->runs(1)->front()), RunState::ended);
}

}  // namespace
}  // namespace tutti
