#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// The arguments of `tutti-engine classify`.
struct ClassifyRequest {
  std::filesystem::path model{};
  std::vector<std::string> files{};  // as they were given
  std::string device = "cpu";
  std::int32_t threads = 0;  // of network and features; 0: one per core
};

/// A label and its probability.
struct LabelProbability {
  std::string label{};
  double probability = 0;
};

/// What is answered to one file.
struct ClassifiedFile {
  std::string file{};
  std::string error{};                     // why there is no answer; empty: there is one
  std::vector<LabelProbability> scores{};  // in the order of the model's labels
  std::size_t best = 0;                    // of them
  bool is_padded = false;                  // the sound is shorter than one segment, and was filled up
  std::int64_t clips = 0;                  // whose answers the file's is the mean of
};

/// Classifies files in their order and hands each answer to `take` as soon as it is there. A file longer than the
/// model's clip is answered clip by clip; a rest shorter than half a clip counts no more. What is wrong with a file is
/// its answer's error; the others go on. Returns how many had one.
Result<std::int64_t> classify_files(const ClassifyRequest& request,
                                    const std::function<void(const ClassifiedFile&)>& take);

/// {"file","label","score","scores":{LABEL: p}} or {"file","error"}, on one line; "padded" where it is.
std::string answer_json(const ClassifiedFile& answer);

/// "FILE: LABEL 97.3 %" for people.
std::string answer_text(const ClassifiedFile& answer);

}  // namespace tutti
