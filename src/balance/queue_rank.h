#pragma once

#include <cstdint>

#include "balance/dispatcher.h"

namespace tutti {

/// The order of waiting jobs: the least rank comes first.
struct QueueRank {
  std::int64_t rank = 0;  ///< minus class, priority and a step for every ageing period it had waited at second 0
  double first = 0;       ///< within a rank: a batch's longest, the earliest normal one, the earliest deadline …
  double second = 0;      ///< … and of interactive ones that have the same or none, the shortest
  auto operator<=>(const QueueRank&) const = default;
};

/// The rank of a job of so much audio that was the `arrival`-th. In order of arrival, but for Policy::tutti.
///
/// Ageing: a job's level is class and priority plus one for every ageing period it has waited. Compared between two
/// jobs, the present moment cancels out, so a rank made of the time from which it has waited orders them for good.
QueueRank queue_rank_of(const JobFacts& facts, Seconds audio, std::uint64_t arrival, const DispatcherOptions& options);

}  // namespace tutti
