#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "advise/recording.h"

namespace tutti {

/// A stage as the page shows it; shares are of its threads' time, 0 to 1.
struct PageStage {
  std::string name;
  std::string resource{};  ///< "cpu"
  int threads = 1;
  double busy = 0, starved = 0, blocked = 0;
  double mean_ms = 0, p95_ms = 0;
  std::size_t queue = 0;               ///< items that may wait behind it; 0: nothing is behind it
  std::optional<double> queue_fill{};  ///< how full that was on average, 0 to 1; none: not known
  bool is_limit = false;
};

/// A change and the rate that it is predicted to lead to.
struct PageFix {
  std::string what;
  double rate = 0, low = 0, high = 0;
  double gain = 0;  ///< against the replay of the run as it was, a share
};

/// A profile as a page: what limits the run, its pipeline, what it was like over time, and what would help. Plain data.
struct ProfilePage {
  std::string title;
  std::string unit{"items"};
  double rate = 0;  ///< items a second
  std::string finding{};
  std::vector<PageStage> stages{};
  std::vector<PageFix> fixes{};
  std::vector<std::string> notes{};
  RunTimeline timeline{};
};

/// What a page has in its first 512 bytes: how a later run knows it again.
inline constexpr const char* kProfilePageMark = "tutti-profile-page";

/// One self-contained HTML page, light or dark as its reader's system is, readable from 320 pixels of width up. Texts
/// may hold any characters. Pure.
std::string profile_html(const ProfilePage& page);

}  // namespace tutti
