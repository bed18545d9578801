#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "fake_store_clock.h"
#include "jobs/open_store.h"
#include "support/temp_folder.h"

namespace tutti {

/// A kind of store that the conformance suite runs on: another one is another line in the list below.
struct StoreKind {
  std::string name;
  Result<std::unique_ptr<JobStore>> (*open)(const StoreOptions& options);
};

inline std::vector<StoreKind> store_kinds() {
  return {{"sqlite", open_store}};
}

/// A store of the kind in a folder of its own, at a time that the test moves; `open` opens it once more, as another
/// process would.
class StoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  std::unique_ptr<JobStore> open() {
    auto opened = GetParam().open({.folder = folder_.path() / "state", .clock = &clock_, .retries = rules_});
    EXPECT_TRUE(opened) << opened.error().text();
    return std::move(*opened);
  }

  static TaskSpec spec(const std::string& name) {
    return {
        .key = "/out/" + name, .batch = "b", .input = "/in/" + name + ".mp3", .identity = {100, 7}, .options = "tiny"};
  }
  RunId run() { return *store_->begin_run({.command = "tutti batch", .batch = "b"}); }
  TaskId add(const TaskSpec& task) { return store_->submit(run(), {&task, 1})->at(0).id; }
  TaskId add(const std::string& name) { return add(spec(name)); }
  std::optional<Lease> claim(const std::string& device = "GPU-1") { return *store_->claim({.device = device}); }
  Task task(TaskId id) { return store_->tasks({.ids = {id}}, 0, 1)->at(0); }
  TaskState state(TaskId id) { return task(id).state; }
  Attempt last_attempt(TaskId id) { return store_->attempts(id)->back(); }

  static TaskOutput output(const std::string& name) { return {"/out/" + name + ".txt", "/out/.tmp/" + name, "abc", 3}; }
  bool complete(const Lease& lease, const std::string& name = "a") {
    const TaskOutput one = output(name);
    return *store_->complete(lease.key, {&one, 1}, {.busy = Seconds(2)});
  }

  RetryRules rules_{};
  FakeStoreClock clock_;
  TempFolder folder_;
  std::unique_ptr<JobStore> store_;

  void SetUp() override { store_ = open(); }
};

}  // namespace tutti
