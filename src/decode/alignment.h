#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "decode/decoding_tokens.h"
#include "model/alignment_heads.h"
#include "model/whisper.h"

namespace tutti {

/// Every value of a row replaced by the median of the seven around it; beyond the ends the row is seen mirrored, its
/// end value not repeated. Rows of three values or fewer come back unchanged (openai-whisper, timing.py,
/// median_filter). Values are numbers.
std::vector<float> median_of_seven(std::span<const float> row);

/// Dynamic time warping: the cheapest way through a cost matrix from its first cell to its last, by steps to the next
/// row, the next column, or both. Returns the column at which each row is first reached.
/// costs: [rows, columns] row-major, numbers; rows and columns at least 1. Among equally cheap ways it takes the one
/// that openai-whisper's dtw_cpu takes: diagonal and next row only where strictly cheapest, else next column; sums in
/// float32.
std::vector<std::int32_t> first_columns(std::span<const float> costs, std::size_t rows, std::size_t columns);

/// Where each token of a text looks in its window, gathered over heads.
class AttentionMap {
 public:
  AttentionMap(std::size_t tokens, std::size_t positions);

  /// Attention of one or more heads, normalised: [heads, tokens, positions] row-major. Smoothed over positions.
  void add(std::span<const float> heads);

  /// The position at which each token begins: the cheapest monotone way through the heads' mean, high attention being
  /// cheap. At least one head was added.
  std::vector<std::int32_t> starts() const;

 private:
  std::size_t tokens_;
  std::size_t positions_;
  std::size_t heads_ = 0;
  std::vector<float> sum_;
};

/// A text that was decoded from a window.
struct AlignmentText {
  std::vector<std::int32_t> sot_sequence{};  // start of transcript, language, task
  std::vector<std::int32_t> text{};          // ids below end-of-text
  std::int32_t frames = 0;                   // mel frames of the window that hold audio
};

/// When each token of a text was spoken, and with what probability.
struct TokenTimes {
  std::vector<std::int32_t> starts{};  // start of every text token, and of the end; in encoder positions (0.02 s)
  std::vector<float> probabilities{};  // probability of every text token, among the ids below end-of-text
};

/// An error names what is wrong with a text before it reaches the model.
Result<void> check(const AlignmentText& text, const DecodingTokens& tokens, const WhisperDims& dims);

/// Aligns texts with windows as openai-whisper's find_alignment does (timing.py). The text is fed to the decoder as if
/// it had just decoded it; the attention of the alignment heads to the window is normalised over the tokens, smoothed
/// over time and averaged, and the cheapest monotone way through it is taken. One thread.
class Aligner {
 public:
  /// `model` must outlive the aligner. heads: not empty.
  Aligner(const WhisperModel& model, std::vector<AttentionHead> heads);

  /// text: passed `check`. Waits for the device. Fault::device where the model's output is not a number. Throws what
  /// torch throws.
  Result<TokenTimes> align(const CrossKv& window, const AlignmentText& text, const DecodingTokens& tokens);

 private:
  const WhisperModel& model_;
  std::vector<AttentionHead> heads_;
  std::optional<SelfKv> cache_{};  // KV cache of one sequence; made at first use
};

}  // namespace tutti
