#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/lost_time.h"

namespace tutti {

// What advise found a run's time lost to, in words. All pure.

/// What a finding begins with; then comes what it is about, and with its share of the time.
inline constexpr std::string_view kFindingStart = "What limits the run: ";

/// The reason for people: "waiting for input".
std::string_view words_of(Idle why);

/// "Waiting for input 42 % of the time: decoding limits; without it the run ends up to 6:40 sooner. What helps: ...".
/// `remedy`: one of the run's.
std::string text_of(const Remedy& remedy, const RunNumbers& run);

/// One sentence: what limits the run, and what is gained without it. Empty where the run is too short to say so, or
/// where nothing would gain a fiftieth of it.
std::string finding_of(const RunNumbers& run);

/// What `tutti plan` had quoted before.
struct RunQuote {
  std::optional<Seconds> time{};
  std::optional<double> energy_joules{};
  std::optional<double> cost{};
};

/// The report in words, one sentence or table row per line.
std::vector<std::string> run_report(const RunNumbers& run, const RunQuote& quote = {});

}  // namespace tutti
