#pragma once

#include <string>

#include "transcribe/bench/verdict.h"

namespace tutti {

/// "cpu int8 batch 8".
std::string setting_text(const BenchSetting& setting);

/// One line for people about one trial, and the line above the first.
std::string bench_row(const JudgedTrial& judged);
std::string bench_heading();

/// What words were compared with, as a line, where that is not float32; else empty.
std::string bench_measure(const BenchVerdict& verdict);

/// {"trials": [...], "compared_with": "cpu float32 batch 1", "recommended": "--device ..."} on one line.
std::string bench_json(const BenchVerdict& verdict);

/// The speeds as bars, an SVG.
std::string bench_picture(const BenchVerdict& verdict, const std::string& model);

}  // namespace tutti
