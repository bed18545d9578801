#pragma once

#include <string>

#include "transcribe/bench.h"

namespace tutti {

/// "cpu int8 batch 8".
std::string setting_text(const BenchSetting& setting);

/// One line for people about one trial, and the line above the first.
std::string bench_row(const ScoredTrial& scored);
std::string bench_heading();

/// What words were compared with, as a line, where that is not float32; else empty.
std::string bench_measure(const BenchResult& result);

/// {"trials": [...], "compared_with": "cpu float32 batch 1", "recommended": "--device ..."} on one line.
std::string bench_json(const BenchResult& result);

/// The speeds as bars, an SVG.
std::string bench_picture(const BenchResult& result, const std::string& model);

}  // namespace tutti
