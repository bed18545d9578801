#include "transcript/clips.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

/// Cutting at the end of the recording keeps the reference's windows: it takes the smaller of both ends anyway.
std::int64_t frame_at(double seconds, std::int64_t content_frames) {
  const double frame = round_even(seconds * kFramesPerSecond);
  return frame < static_cast<double>(content_frames) ? static_cast<std::int64_t>(frame) : content_frames;
}

}  // namespace

Result<std::vector<Clip>> clips_from(std::span<const double> points, std::int64_t content_frames) {
  const auto bad = std::find_if(points.begin(), points.end(), [](double at) { return !std::isfinite(at) || at < 0; });
  if (bad != points.end())
    return fail(Fault::usage, "clip timestamps: expected seconds from 0 on, found " + float_text(*bad));
  if (points.empty()) return std::vector<Clip>{{0, content_frames}};
  std::vector<Clip> clips;
  for (std::size_t i = 0; i < points.size(); i += 2) {
    const bool open = i + 1 == points.size();
    clips.push_back(
        {frame_at(points[i], content_frames), open ? content_frames : frame_at(points[i + 1], content_frames)});
  }
  return clips;
}

}  // namespace tutti
