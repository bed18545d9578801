#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "train/classifier/classify.h"

namespace tutti {

enum class AnswerFormat : std::uint8_t { text, json, csv };

/// Writes the answers to files as lines: for people, as JSON, or as a table. One thread.
///
/// * json: {"file","label","score","scores":{LABEL: p}} or {"file","error"}; "padded" where it is; with clips also
///   "clips": [{"start","end","label","score","scores"}], times in seconds.
/// * csv: file,start,end,label,score,error and a column for each label, under one head. A row is a file (start and end
///   are empty), or a clip where there are any.
/// * text: "FILE: LABEL 97.3 %", and a line a clip below it.
class AnswerWriter {
 public:
  explicit AnswerWriter(AnswerFormat format) : format_(format) {}

  /// The lines of one answer, each with its end; before the first of a table also the head.
  std::string lines(const std::vector<std::string>& labels, const ClassifiedFile& answer);

 private:
  AnswerFormat format_;
  bool has_head_ = false;
};

/// Copies files into FOLDER/LABEL, label by label as they are answered: note 003's DATASET_LEARNING. Only of answers
/// with at least that score. A name that is taken is kept: the copy is then called "NAME-2.wav" and so on, unless the
/// file there has the same content. One thread.
class SortedCopies {
 public:
  SortedCopies(std::filesystem::path folder, double least_score)
      : folder_(std::move(folder)), least_score_(least_score) {}

  /// Fault::missing and other faults of files name the copy. An answer with an error is left out.
  Result<void> add(const std::vector<std::string>& labels, const ClassifiedFile& answer);
  std::int64_t copied() const { return copied_; }
  std::int64_t present() const { return present_; }

 private:
  std::filesystem::path folder_;
  double least_score_;
  std::int64_t copied_ = 0;   // files that were written
  std::int64_t present_ = 0;  // that were there already
};

}  // namespace tutti
