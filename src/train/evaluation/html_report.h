#pragma once

#include <string>
#include <vector>

#include "train/evaluation/scores.h"

namespace tutti {

/// A page for people: the rates, those of every condition, the worst samples with reference, hypothesis and audio, and
/// which characters were taken for which.
std::string evaluation_html(const Evaluation& evaluation, const std::vector<SampleResult>& samples,
                            const std::string& normaliser);

}  // namespace tutti
