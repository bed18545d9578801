// The time of the store: a job claimed and completed, a hundred thousand queued, every commit synced to the disk; and a
// result of five files published, which must keep up with sixteen fast GPUs that finish a hundred and more a second.
// A single thread waits for the disk twice a job, so the disk decides: /sync is one write and fdatasync of 4 KiB there,
// to compare with. Threads share commits. The promise, 1000 jobs a second or 1 ms each, covers the store's own time, in
// memory.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <optional>

#include "base/owned.h"
#include "jobs/open_store.h"
#include "jobs/publish.h"
#include "support/environment.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

std::vector<JobSpec> specs(std::size_t first, std::size_t count) {
  std::vector<JobSpec> made;
  for (std::size_t i = first; i < first + count; ++i)
    made.push_back({.key = "/out/talk" + std::to_string(i),
                    .batch = "b",
                    .input = "/in/talk" + std::to_string(i) + ".mp3",
                    .options = "tiny",
                    .audio = Seconds(static_cast<double>(i * 7919 % 10'000))});
  return made;
}

std::unique_ptr<JobStore> filled(const TempFolder& folder, std::size_t jobs) {
  auto store = std::move(open_store({.url = folder.path()}).value());
  const RunId run = store->begin_run({}).value();
  for (std::size_t first = 0; first < jobs; first += 1000) store->submit(run, specs(first, 1000)).value();
  return store;
}

/// A job from claim to done, as each thread does them in turn.
void work(JobQueue& queue, benchmark::State& state) {
  const std::vector<JobOutput> outputs{{"/out/talk.txt", "/out/.tmp/1", std::string(64, 'a'), 1000}};
  for (auto _ : state) {
    const auto lease = queue.claim({.device = "GPU-1"});
    if (!lease || !*lease) {
      state.SkipWithError("nothing left to claim");
      break;
    }
    benchmark::DoNotOptimize(queue.complete((*lease)->key, outputs, {}));
  }
  state.SetItemsProcessed(state.iterations());
}

void claim_and_complete(benchmark::State& state) {
  const TempFolder folder;
  work(*filled(folder, static_cast<std::size_t>(state.range(0))), state);
}
BENCHMARK(claim_and_complete)->Arg(100'000)->UseRealTime()->Unit(benchmark::kMicrosecond);

void claim_and_complete_in_memory(benchmark::State& state) {
  const ScopedVariable temporary("TMPDIR", "/dev/shm");
  const TempFolder folder;
  work(*filled(folder, static_cast<std::size_t>(state.range(0))), state);
}
BENCHMARK(claim_and_complete_in_memory)->Arg(100'000)->UseRealTime()->Unit(benchmark::kMicrosecond);

/// What the threads of one run share.
std::optional<TempFolder> shared_folder;
std::unique_ptr<JobStore> shared_store;

void share(const benchmark::State&) {
  shared_store = filled(shared_folder.emplace(), 100'000);
}

void unshare(const benchmark::State&) {
  shared_store.reset();
  shared_folder.reset();
}

void claim_and_complete_by_threads(benchmark::State& state) {
  work(*shared_store, state);
}
BENCHMARK(claim_and_complete_by_threads)
    ->Setup(share)
    ->Teardown(unshare)
    ->Threads(16)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

/// Items are recordings, in every format.
void publish_by_threads(benchmark::State& state) {
  for (auto _ : state) {
    const auto lease = shared_store->claim({.device = "GPU-1"});
    if (!lease || !*lease) {
      state.SkipWithError("nothing left to claim");
      break;
    }
    std::vector<OutputContent> outputs;
    for (const char* format : {"txt", "vtt", "srt", "tsv", "json"})
      outputs.push_back(
          {*shared_folder / "out" / (std::to_string((*lease)->key.job) + "." + format), std::string(3000, 'x')});
    benchmark::DoNotOptimize(publish_outputs(*shared_store, *shared_store, **lease, outputs, {},
                                             {.staging = *shared_folder / "out" / ".tmp"}));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(publish_by_threads)
    ->Setup(share)
    ->Teardown(unshare)
    ->Threads(1)
    ->Threads(8)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void renew_fifty(benchmark::State& state) {
  const TempFolder folder;
  const auto store = filled(folder, 1000);
  std::vector<Renewal> renewals;
  for (int i = 0; i < 50; ++i) renewals.push_back({.key = store->claim({}).value()->key});
  for (auto _ : state) benchmark::DoNotOptimize(store->renew(renewals));
}
BENCHMARK(renew_fifty)->UseRealTime()->Unit(benchmark::kMicrosecond);

void submit_thousand(benchmark::State& state) {
  const TempFolder folder;
  const auto store = filled(folder, 0);
  const RunId run = store->begin_run({}).value();
  std::size_t first = 0;
  for (auto _ : state) benchmark::DoNotOptimize(store->submit(run, specs(first += 1000, 1000)));
}
BENCHMARK(submit_thousand)->UseRealTime()->Unit(benchmark::kMicrosecond);

void submit_thousand_again(benchmark::State& state) {
  const TempFolder folder;
  const auto store = filled(folder, 100'000);
  const RunId run = store->begin_run({}).value();
  std::size_t first = 0;
  for (auto _ : state) benchmark::DoNotOptimize(store->submit(run, specs(first = (first + 1000) % 100'000, 1000)));
}
BENCHMARK(submit_thousand_again)->UseRealTime()->Unit(benchmark::kMicrosecond);

void sync(benchmark::State& state) {
  const TempFolder folder;
  const OwnedFd file(::open((folder / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::string page(4096, 'x');
  for (auto _ : state)
    if (::pwrite(file.get(), page.data(), page.size(), 0) < 0 || ::fdatasync(file.get()) != 0)
      state.SkipWithError("the disk does not sync");
}
BENCHMARK(sync)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tutti
