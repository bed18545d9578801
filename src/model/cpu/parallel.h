#pragma once

#include <cstdint>

#include "model/cpu/compute_team.h"

namespace tutti {

/// Calls fn(tools, unit) for every unit in [0, units) on the compute team, each thread with tools of its own from
/// make_tools(), and each taking the next unit when it is done with one. Which thread takes which unit must change no
/// result.
template <class MakeTools, class Fn>
void for_each_unit(std::int64_t units, const MakeTools& make_tools, const Fn& fn) {
  compute_team().run(units, loop_threads(), [&](WorkerTeam::Claims& claims) {
    auto unit = claims.next();
    if (!unit) return;
    auto tools = make_tools();
    for (; unit; unit = claims.next()) fn(tools, *unit);
  });
}

/// The same without tools.
template <class Fn>
void for_each_unit(std::int64_t units, const Fn& fn) {
  for_each_unit(
      units, [] { return 0; }, [&](int, std::int64_t unit) { fn(unit); });
}

}  // namespace tutti
