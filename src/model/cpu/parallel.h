#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tutti {

/// Calls fn(tools, unit) for every unit in [0, units) on torch's team of threads, each thread with tools of its own
/// from make_tools(), and each taking the next unit when it is done with one. Fixed shares would make everybody wait
/// for the thread that lost its core for a moment; here the others do its work.
template <class MakeTools, class Fn>
void for_each_unit(std::int64_t units, const MakeTools& make_tools, const Fn& fn) {
  const std::int64_t threads = at::in_parallel_region() ? 1 : std::min<std::int64_t>(units, at::get_num_threads());
  if (threads <= 1) {
    auto tools = make_tools();
    for (std::int64_t unit = 0; unit < units; ++unit) fn(tools, unit);
    return;
  }
  std::atomic<std::int64_t> next = 0;
  at::parallel_for(0, threads, 1, [&](std::int64_t, std::int64_t) {
    auto tools = make_tools();
    for (auto unit = next++; unit < units; unit = next++) fn(tools, unit);
  });
}

/// The same without tools.
template <class Fn>
void for_each_unit(std::int64_t units, const Fn& fn) {
  for_each_unit(
      units, [] { return 0; }, [&](int, std::int64_t unit) { fn(unit); });
}

}  // namespace tutti
