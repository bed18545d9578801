#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "audio/log_mel.h"
#include "audio/recording.h"
#include "link/window_engine.h"
#include "transcribe/events.h"
#include "transcript/long_form.h"

namespace tutti {

/// Sampling and suppression, the same for every window of a run.
struct DecodingOptions {
  std::int32_t best_of = 5;                       // samples when the temperature is above zero
  std::vector<std::int32_t> suppress_tokens{-1};  // -1 stands for the non-speech tokens
  bool suppress_blank = true;
  bool timestamps = true;
  std::int32_t max_initial_timestamp = 50;  // steps of 0.02 s
  std::uint64_t seed = 0;
};

/// What the windows of one file cost.
struct WindowCosts {
  std::size_t windows = 0;
  std::size_t decodings = 0;
  std::size_t decoder_steps = 0;
  std::size_t narrow_margins = 0;
  TimeSpent spent{};
};

/// One recording's windows on an engine: computes the mel of a window when it is first asked for, has it encoded once,
/// and releases it when the next is named or the object goes. One thread at a time.
class RemoteWindows final : public WindowDecoder {
 public:
  RemoteWindows(WindowEngine& engine, const Tokenizer& tokenizer, const LogMel& log_mel, const Recording& recording,
                const DecodingOptions& options);
  ~RemoteWindows() override;
  RemoteWindows(const RemoteWindows&) = delete;
  RemoteWindows& operator=(const RemoteWindows&) = delete;

  /// First pass: the maximum that every window is clamped by. Must succeed before any window is asked for.
  Result<void> measure();

  Result<std::string> detect_language(WindowSpan window) override;
  Result<DecodeAnswer> decode(WindowSpan window, const DecodeRequest& request) override;
  Result<AlignAnswer> align(WindowSpan window, const AlignRequest& request) override;

  const WindowCosts& costs() const { return costs_; }

 private:
  Result<WindowId> opened(WindowSpan window);
  void release();

  WindowEngine& engine_;
  const Tokenizer& tokenizer_;
  const LogMel& log_mel_;
  const Recording& recording_;
  const DecodingOptions& options_;
  const std::vector<std::int32_t> suppressed_;
  float maximum_ = 0;
  std::optional<WindowSpan> span_{};
  WindowId window_ = 0;
  std::uint64_t requests_ = 0;
  WindowCosts costs_{};
};

/// Ids never sampled, as the reference's `_get_suppress_tokens`: the named ones, the non-speech tokens where -1 is
/// among them, and always the steering tokens. Sorted, each once.
std::vector<std::int32_t> suppressed_tokens(const Tokenizer& tokenizer, const std::vector<std::int32_t>& named);

}  // namespace tutti
