#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "feed/labelled/labelled_files.h"

namespace tutti {

/// The arguments of `tutti-engine evaluate-classifier`.
struct SetEvaluationRequest {
  std::filesystem::path model{};
  std::filesystem::path data{};  // a set of 'tutti prepare classifier'
  SetPart part = SetPart::testing;
  std::string device = "cpu";
  std::int32_t threads = 0;  // 0: one per core
  bool json = false;
};

/// How well a classifier names the files of a set's part, for people or as one JSON object: accuracy, F1, and of each
/// label precision, recall, F1 and how many files have it; the JSON also has the confusion, a row for each true label.
/// Fault::missing where the model or the part is not there, Fault::usage where the set has another geometry or other
/// labels than the model.
Result<std::string> evaluate_classifier(const SetEvaluationRequest& request);

}  // namespace tutti
