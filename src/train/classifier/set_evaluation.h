#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "feed/labelled/labelled_files.h"
#include "profile/serial_run.h"

namespace tutti {

/// The arguments of `tutti-engine evaluate-classifier`.
struct SetEvaluationRequest {
  std::filesystem::path model{};
  std::filesystem::path data{};  // a set of 'tutti prepare classifier'
  SetPart part = SetPart::testing;
  std::string device = "cpu";
  std::int32_t threads = 0;  // 0: one per core
  bool json = false;
  std::filesystem::path report{};  // a page with curves and the worst files; empty: none
  std::filesystem::path audio{};   // the folder that the set was made of, for the page's players; empty: it plays
                                   // the waveforms of the set, where that has them
};

/// How well a classifier names the files of a set's part, for people or as one JSON object (set_report_json), and as a
/// page.
/// Fault::missing where the model or the part is not there, Fault::usage where the set has another geometry or other
/// labels than the model.
Result<std::string> evaluate_classifier(const SetEvaluationRequest& request, SerialRun* phases = nullptr);

}  // namespace tutti
