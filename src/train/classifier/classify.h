#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "profile/serial_run.h"

namespace tutti {

/// What `tutti-engine classify` computes.
struct ClassifyRequest {
  std::filesystem::path model{};
  std::vector<std::string> files{};  // as they were given
  // Waits for further files, behind those; none of them: there are no more. Empty: there are none at all.
  std::function<Result<std::vector<std::string>>()> more{};
  std::string standard_input{};  // where the recording is that was given as "-"; empty: "-" is a name
  std::string device = "cpu";
  std::int32_t threads = 0;  // threads of network and features; 0: one per core
  bool over_time = false;    // also the answer to every clip of a file
};

/// The answer to a stretch of audio.
struct AudioAnswer {
  std::vector<float> probabilities{};  // probability of each label of the model, in its order
  std::size_t best = 0;                // the label that is answered
  double score() const { return probabilities[best]; }
};

/// The answer to one clip of a file.
struct ClipAnswer : AudioAnswer {
  Seconds start{};
  Seconds end{};
};

/// The answer to a whole file.
struct ClassifiedFile : AudioAnswer {
  std::string file{};
  std::string error{};              // why there is no answer; empty: there is one
  bool is_padded = false;           // the audio is shorter than one segment, and was filled up
  std::vector<ClipAnswer> clips{};  // in order, if they were requested
};

/// Takes an answer, and the labels that its probabilities belong to.
using TakeAnswer = std::function<void(const std::vector<std::string>& labels, const ClassifiedFile& answer)>;

/// Classifies files in their order and hands each answer to `take` as soon as it is there. A file longer than the
/// model's clip is answered clip by clip, and gets their vote (vote_of); a rest shorter than half a clip counts no
/// more. What is wrong with a file is its answer's error; the others go on. Returns how many had one. `phases`: where
/// times go to; null: nowhere.
Result<std::int64_t> classify_files(const ClassifyRequest& request, const TakeAnswer& take,
                                    SerialRun* phases = nullptr);

}  // namespace tutti
