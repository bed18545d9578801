// Processes that are killed or stopped while they work on one store, and what the next one finds.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <filesystem>
#include <stdexcept>

#include "base/files.h"
#include "jobs/open_store.h"
#include "jobs/publish.h"
#include "jobs/sweep.h"
#include "support/seeds.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// The steps of a worker, in their order. It is killed after one of them.
enum class Step { opened, claimed, staged, committed, one_published, all_published, marked };
constexpr int kSteps = 7;

struct Work {
  fs::path root;
  fs::path staging() const { return root / "out" / ".tmp"; }
  fs::path public_name(const std::string& name) const { return root / "out" / name; }
  std::unique_ptr<JobStore> open() const {
    // As long as it takes: SQLite does not serve waiting transactions in turn, and a slow disk makes each of them
    // long.
    auto store = open_store({.url = root / "state", .busy_wait = 5min});
    if (!store) throw std::runtime_error(store.error().text());
    return std::move(*store);
  }

  std::vector<OutputContent> contents(const Job& job) const {
    const std::string name = fs::path(job.spec.key).filename();
    return {{public_name(name + ".txt"), "text of " + name},
            {public_name(name + ".json"), "{\"of\":\"" + name + "\"}"}};
  }

  void submit(int jobs) const {
    const auto store = open();
    const RunId run = store->begin_run({}).value();
    std::vector<JobSpec> specs;
    for (int i = 0; i < jobs; ++i) {
      const std::string name = "task" + std::to_string(i);
      specs.push_back({.key = public_name(name), .batch = "b", .input = "/in/" + name, .options = "tiny"});
    }
    store->submit(run, specs).value();
  }
};

void must(const Result<void>& done) {
  if (!done) throw std::runtime_error(done.error().text());
}

/// Runs one job from claim to publication and calls `reached` at every step. False: no job is left.
template <class Reached>
bool work_on_one(JobStore& store, const Work& work, Reached reached) {
  const auto lease = store.claim({.device = "cpu:0"}).value();
  if (!lease) return false;
  reached(Step::claimed);
  const auto staged = stage_outputs(*lease, work.staging(), work.contents(lease->job)).value();
  reached(Step::staged);
  if (!store.complete(lease->key, staged, {}).value()) {
    remove_staged(staged);
    return true;
  }
  reached(Step::committed);
  put_in_place(store, lease->key.job, staged[0]).value();
  reached(Step::one_published);
  put_in_place(store, lease->key.job, staged[1]).value();
  reached(Step::all_published);
  must(store.mark_published(lease->key.job, staged[0].staged));
  reached(Step::marked);
  return true;
}

/// What every new run does first.
std::unique_ptr<JobStore> start(const Work& work) {
  auto store = work.open();
  const fs::path folders[] = {work.staging()};
  sweep_outputs(*store, folders).value();
  return store;
}

void work_on_all(const Work& work) {
  const auto store = start(work);
  while (work_on_one(*store, work, [](Step) {})) {
  }
}

/// A process of its own that runs `body` and must not come back from it.
template <class Body>
pid_t fork_off(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      body();
    } catch (const std::exception& thrown) {
      std::fprintf(stderr, "child: %s\n", thrown.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

/// Every job is done once, its outputs are whole, no other file is left, and the database is intact.
void expect_all_done_once(const Work& work, int jobs) {
  const auto store = work.open();
  EXPECT_EQ(store->counts({})->done, jobs);
  EXPECT_EQ(store->counts({})->total(), jobs);
  EXPECT_TRUE(store->unpublished()->empty());
  std::size_t files = 0;
  const auto all = store->jobs({}, 0, 1'000'000).value();
  for (const auto& job : all) {
    int done = 0;
    const auto attempts = store->attempts(job.id).value();
    for (const auto& attempt : attempts) done += attempt.end == AttemptEnd::done;
    EXPECT_EQ(done, 1) << job.spec.key;
    const auto contents = work.contents(job);
    for (const auto& output : contents) EXPECT_EQ(read_file(output.path).value_or("-"), output.content);
    files += contents.size();
  }
  std::size_t found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(work.root / "out")) found += entry.is_regular_file();
  EXPECT_EQ(found, files);
}

TEST(JobsCrash, AKillAfterAnyStepLosesNothingAndPublishesNothingTwice) {
  for (int last = 0; last < kSteps; ++last) {
    SCOPED_TRACE("killed after step " + std::to_string(last));
    const TempFolder folder;
    const Work work{folder.path()};
    work.submit(3);
    const int status = status_of(fork_off([&] {
      const auto store = start(work);
      if (last == static_cast<int>(Step::opened)) ::raise(SIGKILL);
      work_on_one(*store, work, [&](Step step) {
        if (static_cast<int>(step) == last) ::raise(SIGKILL);
      });
    }));
    ASSERT_TRUE(WIFSIGNALED(status));
    work_on_all(work);
    expect_all_done_once(work, 3);
  }
}

TEST(JobsCrash, KillsAtRandomMomentsLoseNothingAndPublishNothingTwice) {
  constexpr int kJobs = 60, kKills = 25;
  for (const std::uint64_t seed : seeds(1)) {
    TUTTI_SEED_TRACE(seed);
    std::mt19937_64 random(seed);
    const TempFolder folder;
    const Work work{folder.path()};
    work.submit(kJobs);
    for (int kill = 0; kill < kKills; ++kill) {
      const itimerval moment{{}, {0, static_cast<suseconds_t>(1 + random() % 20'000)}};
      status_of(fork_off([&] {
        ::setitimer(ITIMER_REAL, &moment, nullptr);  // SIGALRM ends it as SIGKILL would, wherever it is
        work_on_all(work);
      }));
    }
    work_on_all(work);
    expect_all_done_once(work, kJobs);
  }
}

TEST(JobsCrash, FourProcessesAtOnceDoEveryJobOnce) {
  constexpr int kJobs = 60;
  const TempFolder folder;
  const Work work{folder.path()};
  work.submit(kJobs);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) children.push_back(fork_off([&] { work_on_all(work); }));
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
  expect_all_done_once(work, kJobs);
}

TEST(JobsCrash, AFreshStoreCanBeOpenedByManyAtOnce) {
  for (int round = 0; round < 5; ++round) {
    const TempFolder folder;
    const Work work{folder.path()};
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) children.push_back(fork_off([&] { work.open()->begin_run({}).value(); }));
    for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
    EXPECT_EQ(work.open()->runs(100)->size(), children.size());
  }
}

TEST(JobsCrash, AProcessStoppedForLongerThanItsLeaseIsFencedWhenItGoesOn) {
  const TempFolder folder;
  const Work work{folder.path()};
  work.submit(1);
  const pid_t zombie = fork_off([&] {
    const auto store = work.open();
    const auto lease = store->claim({.length = 50ms}).value();  // and stops before it renews
    ::raise(SIGSTOP);
    const auto published =
        publish_outputs(*store, *store, *lease, std::vector<OutputContent>{{work.public_name("task0.txt"), "late"}}, {},
                        {.staging = work.staging()})
            .value();
    ::_exit(published.held ? 1 : 0);
  });
  int status = 0;
  ::waitpid(zombie, &status, WUNTRACED);
  ASSERT_TRUE(WIFSTOPPED(status));
  const auto store = open_store({.url = folder / "state", .retries = {.first_wait = 0ms}}).value();
  while (*store->reap() == 0) {  // the lease runs out by the machine's clock
  }
  EXPECT_TRUE(work_on_one(*store, work, [](Step) {}));
  ::kill(zombie, SIGCONT);
  EXPECT_EQ(status_of(zombie), 0);
  EXPECT_EQ(*read_file(work.public_name("task0.txt")), "text of task0");
  EXPECT_EQ(store->counts({})->done, 1);
}

}  // namespace
}  // namespace tutti
