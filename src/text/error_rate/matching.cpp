#include "text/error_rate/matching.h"

#include <algorithm>

namespace tutti {
namespace {

using Symbols = std::span<const std::int32_t>;
using Positions = std::vector<std::optional<std::size_t>>;

/// An edit costs more than any number of matches gains: of the shortest paths, that with most matches is the cheapest.
constexpr std::int64_t kEdit = std::int64_t{1} << 32;
constexpr std::int64_t kMatch = -1;

/// The cost of turning all of `rows` into each beginning of `columns`.
std::vector<std::int64_t> costs_of(Symbols rows, Symbols columns) {
  std::vector<std::int64_t> costs(columns.size() + 1);
  for (std::size_t at = 1; at < costs.size(); ++at) costs[at] = costs[at - 1] + kEdit;
  for (const auto row : rows) {
    std::int64_t diagonal = costs[0];
    costs[0] += kEdit;
    for (std::size_t at = 0; at < columns.size(); ++at) {
      const auto changed = diagonal + (row == columns[at] ? kMatch : kEdit);
      diagonal = costs[at + 1];
      costs[at + 1] = std::min({changed, diagonal + kEdit, costs[at] + kEdit});
    }
  }
  return costs;
}

std::vector<std::int32_t> reversed(Symbols symbols) {
  return {symbols.rbegin(), symbols.rend()};
}

/// Enters the positions of `reference`, which begins at `positions`, in a hypothesis whose part `hypothesis` begins at
/// `offset`.
void match(Symbols reference, Symbols hypothesis, std::size_t offset, std::span<std::optional<std::size_t>> positions) {
  if (reference.empty() || hypothesis.empty()) return;
  if (reference.size() == 1) {
    const auto found = std::ranges::find(hypothesis, reference.front());
    if (found != hypothesis.end()) positions.front() = offset + static_cast<std::size_t>(found - hypothesis.begin());
    return;
  }
  const std::size_t half = reference.size() / 2;
  const auto before = costs_of(reference.first(half), hypothesis);
  const auto behind = costs_of(reversed(reference.subspan(half)), reversed(hypothesis));
  std::size_t cut = 0;
  for (std::size_t at = 0; at <= hypothesis.size(); ++at)
    if (before[at] + behind[hypothesis.size() - at] < before[cut] + behind[hypothesis.size() - cut]) cut = at;
  match(reference.first(half), hypothesis.first(cut), offset, positions.first(half));
  match(reference.subspan(half), hypothesis.subspan(cut), offset + cut, positions.subspan(half));
}

}  // namespace

Positions matching_positions(Symbols reference, Symbols hypothesis) {
  Positions positions(reference.size());
  match(reference, hypothesis, 0, positions);
  return positions;
}

}  // namespace tutti
