#pragma once

#include <span>
#include <vector>

namespace tutti {

/// Every value of a row replaced by the median of the seven around it; beyond the ends the row is seen mirrored, its
/// end value not repeated. Rows of three values or fewer come back unchanged (openai-whisper, timing.py,
/// median_filter). Values are numbers.
std::vector<float> median_of_seven(std::span<const float> row);

}  // namespace tutti
