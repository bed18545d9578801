#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "model/compute_type.h"

namespace tutti {

/// The arguments of `tutti-engine evaluate`.
struct EvaluationRequest {
  std::filesystem::path model{};
  std::filesystem::path data{};
  std::string split{};  // empty: everything
  std::string normaliser = "basic";
  std::string language = "en";
  std::string task = "transcribe";       // or "translate"; only a multilingual model gets either
  std::string device = "cpu";            // or "cuda:N"
  std::string compute_type = "float32";  // as transcribing has them, auto among them
  std::int32_t samples = 0;              // at most; 0: all
  std::int32_t threads = 0;              // 0: one per core
  std::filesystem::path report{};        // HTML; empty: none
  bool json = false;                     // one JSON object on standard output instead of lines
};

/// The compute type of a name for a model on a device: what the worker would take.
using ChooseComputeType =
    std::function<Result<ComputeType>(const std::string& name, const std::filesystem::path& model, at::Device device)>;

/// Has a finished model write down a set, and prints how well it did, and computing in which type.
Result<void> evaluate_model(const EvaluationRequest& request, const ChooseComputeType& choose);

}  // namespace tutti
