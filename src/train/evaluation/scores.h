#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// One sample's reference, and the model's hypothesis.
struct SampleResult {
  std::string id{};
  std::string condition{};  // empty: not known
  std::string reference{};
  std::string hypothesis{};
  std::filesystem::path audio{};  // its audio file; empty: not known
  double start = 0;               // seconds in that file
  double end = 0;
};

/// Error rates as fractions, pooled over samples with text; 0 where there are none.
struct ConditionScore {
  double wer = 0;
  double cer = 0;
  double noise_accuracy = 1;  // share of the samples without text for which the model wrote nothing; 1 where there are
                              // none
  std::int64_t samples = 0;   // with text and without
  std::int64_t noise_samples = 0;  // samples without text
};

/// How well a model recognises a set.
struct Evaluation {
  double wer = 0;
  double cer = 0;
  double noise_accuracy = 1;
  std::int64_t samples = 0;
  std::int64_t noise_samples = 0;  // these five as a condition's
  std::int64_t bad_samples = 0;    // samples of the set that could not be decoded
  std::string last_bad{};          // "ID: REASON" of the last of them
  std::string compute_type{};      // that the network computed in; empty: not recorded
  std::string device{};            // where the network was; empty: not recorded
  std::map<std::string, ConditionScore> per_condition{};
};

/// A text as errors are counted in it: behind `normaliser`, without spaces at its ends.
std::string normalised(const std::string& text, const std::string& normaliser);

/// Scores texts behind `normaliser` ("none", "basic" or "english"); spaces at the ends never count.
Evaluation score_samples(const std::vector<SampleResult>& samples, const std::string& normaliser);

/// The same for a set with this many unusable samples. Fault::corrupt where none could be used: a model that decoded
/// nothing has made no errors.
Result<Evaluation> score_set(const std::vector<SampleResult>& samples, std::int64_t bad, const std::string& normaliser);

/// "WER 3.10 %, CER 1.02 %, silence recognised as silence 98.0 %, 400 samples"; without the part that has no samples.
std::string rates_text(const ConditionScore& score);
ConditionScore rates_of(const Evaluation& evaluation);

/// "3 more could not be used; the last one, ID: REASON"; empty where all could.
std::string bad_text(const Evaluation& evaluation);

/// {"wer","cer","noise_accuracy","samples","noise_samples","bad_samples","compute_type","per_condition"} on one line.
std::string evaluation_json(const Evaluation& evaluation);

}  // namespace tutti
