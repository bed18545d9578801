#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/tokenizer.h"
#include "transcript/long_form.h"

namespace tutti {

/// What surrounds the previous text in every prompt of a recording: [sot_prev, hot words, previous text] sot sequence
/// [no_timestamps] [prefix].
class PromptFrame {
 public:
  /// `language`: a code that the model knows.
  PromptFrame(const Tokenizer& tokenizer, const LongFormOptions& options, const std::string& language,
              std::int32_t n_text_ctx);

  /// The request for a window that `previous` was decoded before; its temperature is left to the caller. Previous text
  /// gives way where hot words or prefix leave it no positions. Fault::usage where a prefix leaves none for an answer.
  Result<DecodeRequest> request_after(std::span<const std::int32_t> previous) const;

  /// Start of transcript, language, task.
  const std::vector<std::int32_t>& sot_sequence() const { return sot_sequence_; }

 private:
  std::span<const std::int32_t> fitting(std::span<const std::int32_t> previous) const;

  std::int32_t n_text_ctx_;
  std::int32_t max_tokens_;
  std::int32_t sot_prev_;
  std::vector<std::int32_t> sot_sequence_;
  std::vector<std::int32_t> behind_;     // sot sequence and no_timestamps; and the prefix
  std::vector<std::int32_t> prefix_;     // openai-whisper's DecodingOptions.prefix
  std::vector<std::int32_t> hot_words_;  // faster-whisper's
};

/// Text positions that a decoding of any window needs at most where its prompt holds no text of earlier windows
/// (ChunkTranscriber), rounded up to a multiple of eight, at most n_text_ctx. A text of the options is counted as if
/// each of its bytes were a token: more than it takes, but known without a tokenizer.
std::int32_t positions_without_history(const LongFormOptions& options, std::int32_t n_text_ctx);

}  // namespace tutti
