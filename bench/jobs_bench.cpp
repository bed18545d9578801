// The time of the store: jobs claimed, in a folder and on a PostgreSQL server of its own; a job claimed and completed,
// a hundred thousand queued, every commit synced to the disk; and a result of five files published, which must keep up
// with sixteen fast GPUs that finish a hundred and more a second. A single thread waits for the disk twice a job, so
// the disk decides: /sync is one write and fdatasync of 4 KiB there, to compare with. Threads share commits. The
// promise, 1000 jobs a second or 1 ms each, covers the store's own time, in memory. The server's sizes:
// TUTTI_BENCH_QUEUED and TUTTI_BENCH_HISTORY, a hundred thousand each, without these.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/owned.h"
#include "jobs/open_store.h"
#include "jobs/publish.h"
#include "support/environment.h"
#include "support/postgres_server.h"
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

/// Claims `state.range(0)` at once; items are jobs. p99_ms: of the calls, of each thread.
void claim(JobQueue& queue, benchmark::State& state) {
  std::vector<double> calls_ms;
  std::int64_t claimed = 0;
  for (auto _ : state) {
    const auto began = std::chrono::steady_clock::now();
    const auto leases = queue.claim({.device = "GPU-1"}, static_cast<std::size_t>(state.range(0)));
    calls_ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    if (!leases || leases->empty()) {
      state.SkipWithError(leases ? "nothing left to claim" : leases.error().text().c_str());
      break;
    }
    claimed += static_cast<std::int64_t>(leases->size());
  }
  state.SetItemsProcessed(claimed);
  if (calls_ms.empty()) return;
  const auto p99 = calls_ms.begin() + static_cast<std::ptrdiff_t>(calls_ms.size() * 99 / 100);
  std::ranges::nth_element(calls_ms, p99);
  state.counters["p99_ms"] = benchmark::Counter(*p99, benchmark::Counter::kAvgThreads);
}

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

void claim_in_folder(benchmark::State& state) {
  claim(*shared_store, state);
}
BENCHMARK(claim_in_folder)
    ->Setup(share)
    ->Teardown(unshare)
    ->Arg(1)
    ->Arg(50)
    ->Threads(1)
    ->Threads(4)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

// ---- on a server

std::int64_t size_in_environment(const char* name) {
  const char* const size = std::getenv(name);
  return size ? std::atoll(size) : 100'000;
}

/// A server whose commits are on the disk, as a user's; with jobs queued, and others that have ended.
class FilledServer {
 public:
  FilledServer() {
    open()->reap().value();  // makes the tables of this month, too
    std::string month = server_.psql("SELECT to_char(now(), 'YYYYMM')");
    month.pop_back();
    const std::string ended = "tutti_jobs_" + month;
    fill(ended, month + ", 'done', 1, true", size_in_environment("TUTTI_BENCH_HISTORY"));
    server_.psql(
        "INSERT INTO tutti_attempts(job, number, token, device, owner, started, ended, ending) "
        "SELECT id, 1, md5(id::text), 'GPU-1', 'host.1.a', 0, 1, 'done' FROM " +
        ended);
    server_.psql("VACUUM ANALYZE");
  }
  /// Queues again what the measurements before have claimed.
  void fill_queue() {
    const std::int64_t queued = std::stoll(server_.psql("SELECT count(*) FROM tutti_jobs_hot WHERE state = 'queued'"));
    const std::int64_t missing = size_in_environment("TUTTI_BENCH_QUEUED") - queued;
    if (missing <= queued) return;  // most are left
    fill("tutti_jobs_hot", "0, 'queued', 0, false", missing);
    server_.psql("VACUUM ANALYZE tutti_jobs_hot");
  }
  std::unique_ptr<JobStore> open() const {
    return std::move(open_store({.url = *StoreUrl::parse(server_.url("public"))}).value());
  }

 private:
  void fill(const std::string& table, const std::string& ending, std::int64_t jobs) {
    server_.psql("INSERT INTO " + table +
                 "(month, state, attempts, published, id, key, batch, run, input, bytes, modified_ns, options, audio, "
                 "length, class, priority, uuid, name, extra, aged_from, due, size, submitted) SELECT " +
                 ending +
                 ", nextval('tutti_job_ids'), '/archive/out/talk' || i, '/archive/out', 1, '/archive/talk' || i || "
                 "'.mp3', 1000000 + i, 1700000000000000000 + i, 'tiny.en float16 beam=5', i * 7919 % 10000, 2, 2, 0, "
                 "'', 'talk' || i, '{}', 1700000400000, 0, -(i * 7919 % 10000), 1700000000000 FROM generate_series(" +
                 std::to_string(filled_ + 1) + "::bigint, " + std::to_string(filled_ + jobs) + ") i");
    filled_ += jobs;
  }

  PostgresServer server_{"-c shared_buffers=512MB -c max_wal_size=8GB"};
  std::int64_t filled_ = 0;
};

/// Kept from one measurement to the next: a million jobs take minutes to fill in.
std::optional<FilledServer> filled_server;

void share_server(const benchmark::State&) {
  if (!filled_server) filled_server.emplace();
  filled_server->fill_queue();
  shared_store = filled_server->open();
}

void unshare_server(const benchmark::State&) {
  shared_store.reset();
}

/// As processes do, each with connections of its own: a store has four at most.
void claim_on_server(benchmark::State& state) {
  const auto store = filled_server->open();
  claim(*store, state);
}
BENCHMARK(claim_on_server)
    ->Setup(share_server)
    ->Teardown(unshare_server)
    ->Arg(1)
    ->Arg(50)
    ->Threads(1)
    ->Threads(4)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void claim_and_complete_on_server(benchmark::State& state) {
  work(*shared_store, state);
}
BENCHMARK(claim_and_complete_on_server)
    ->Setup(share_server)
    ->Teardown(unshare_server)
    ->Threads(1)
    ->Threads(4)
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
