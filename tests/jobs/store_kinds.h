#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>

#include "fake_store_clock.h"
#include "jobs/open_store.h"
#include "store_on_server.h"
#include "support/temp_folder.h"

namespace tutti {

/// A kind of store that the conformance suite runs on: another one is another line in the list below.
struct StoreKind {
  std::string name;
  Result<std::unique_ptr<JobStore>> (*open)(const StoreOptions& options);
};

/// The name of a parametrised test must not hold addresses.
inline void PrintTo(const StoreKind& kind, std::ostream* out) {
  *out << kind.name;
}

inline std::vector<StoreKind> store_kinds() {
  return {{"sqlite", open_store}, {"postgres", open_on_server}};
}

/// Those whose data are in the test's folder: what happens to that folder happens to them.
inline std::vector<StoreKind> store_kinds_in_folders() {
  return {store_kinds().front()};
}

/// A store of the kind in a folder of its own, at a time that the test moves; `open` opens it once more, as another
/// process would.
class StoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  std::unique_ptr<JobStore> open() {
    auto opened = GetParam().open({.url = folder_.path() / "state", .retries = rules_, .clock = &clock_});
    EXPECT_TRUE(opened) << opened.error().text();
    return std::move(*opened);
  }

  static JobSpec spec(const std::string& name) {
    return {
        .key = "/out/" + name, .batch = "b", .input = "/in/" + name + ".mp3", .identity = {100, 7}, .options = "tiny"};
  }
  RunId run() { return *store_->begin_run({.command = "tutti batch", .batch = "b"}); }
  JobId add(const JobSpec& job) { return store_->submit(run(), {&job, 1})->at(0).id; }
  JobId add(const std::string& name) { return add(spec(name)); }
  std::optional<Lease> claim(const std::string& device = "GPU-1") { return *store_->claim({.device = device}); }
  /// As a holder of the job that decodes it and gives it back.
  void measure(JobId id, Seconds audio, LengthSource source = LengthSource::measured) {
    const Lease lease = **store_->claim({.jobs = {id}});
    EXPECT_TRUE(store_->set_length(lease.key, audio, source));
    EXPECT_TRUE(*store_->release(lease.key, "its length is known"));
  }
  Job job(JobId id) { return store_->jobs({.ids = {id}}, 0, 1)->at(0); }
  JobState state(JobId id) { return job(id).state; }
  Attempt last_attempt(JobId id) { return store_->attempts(id)->back(); }

  static JobOutput output(const std::string& name) { return {"/out/" + name + ".txt", "/out/.tmp/" + name, "abc", 3}; }
  bool complete(const Lease& lease, const std::string& name = "a") {
    const JobOutput one = output(name);
    return *store_->complete(lease.key, {&one, 1}, {.busy = Seconds(2)});
  }

  RetryRules rules_{};
  FakeStoreClock clock_;
  TempFolder folder_;
  std::unique_ptr<JobStore> store_;

  void SetUp() override { store_ = open(); }
};

}  // namespace tutti
