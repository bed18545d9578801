#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace tutti {

/// What `tutti-engine evaluate` is told.
struct EvaluationRequest {
  std::filesystem::path model{};
  std::filesystem::path data{};
  std::string split{};  // empty: everything
  std::string normaliser = "basic";
  std::string language = "en";
  std::string device = "cpu";      // or "cuda:N"
  std::int32_t samples = 0;        // at most; 0: all
  std::int32_t threads = 0;        // 0: one per core
  std::filesystem::path report{};  // HTML; empty: none
  bool json = false;               // one JSON object on standard output instead of lines
};

/// Has a finished model write down a set, and prints how well it did.
Result<void> evaluate_model(const EvaluationRequest& request);

}  // namespace tutti
