#include "feed/packed/in_parallel.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "base/guarded.h"
#include "flow/failures.h"

namespace tutti {
namespace {

Result<void> call(const std::function<Result<void>(std::int64_t)>& work, std::int64_t i) {
  try {
    return work(i);
  } catch (...) {
    return tl::unexpected(error_of_exception("packed set"));
  }
}

}  // namespace

Result<void> in_parallel(std::int64_t count, int threads, const std::function<Result<void>(std::int64_t)>& work) {
  const std::int64_t run = std::clamp<std::int64_t>(count / (8 * std::max(threads, 1)), 1, 64);  // neighbours at a time
  std::atomic<std::int64_t> next = 0;
  Guarded<std::optional<Error>> failed;
  const auto loop = [&] {
    for (std::int64_t first = next.fetch_add(run); first < count; first = next.fetch_add(run))
      for (std::int64_t i = first; i < std::min(first + run, count); ++i) {
        const auto done = call(work, i);
        if (done) continue;
        next = count;  // nothing new is begun
        failed.with([&](auto& error) { error = error.value_or(done.error()); });
        return;
      }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (std::int64_t i = 1; i < std::min<std::int64_t>(threads, count); ++i) others.emplace_back(loop);
    } catch (const std::system_error&) {
      // The system gives no more threads: those that there are do it all.
    }
    loop();
  }
  const auto error = failed.with([](const auto& it) { return it; });
  return error ? Result<void>(tl::unexpected(*error)) : Result<void>();
}

}  // namespace tutti
