#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// Curves over all of a training, as SVG, from the lines of its metrics.jsonl: loss, samples a second, share of the
/// time spent waiting for the feed, and the word error rate of evaluations.
std::string loss_picture(std::string_view metrics);

}  // namespace tutti
