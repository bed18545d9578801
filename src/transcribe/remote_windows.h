#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "link/window_engine.h"
#include "transcribe/events.h"
#include "transcribe/mel_source.h"
#include "transcribe/speech_options.h"
#include "transcribe/spoken_language.h"
#include "transcript/long_form.h"

namespace tutti {

/// What the windows of one file cost.
struct WindowCosts {
  WindowCounts counts{};
  TimeSpent spent{};

  WindowCosts& operator+=(const WindowCosts& other);
};

/// Windows that the encoder sees a part of the model's window of: it is quicker, and the text worse towards its end.
struct ShortWindows {
  Seconds margin{};  // of silence behind a window
  std::int64_t frames_per_window = 3000;
};

/// What the windows of all files of a run share. Borrowed; all of it is thread-safe.
struct WindowService {
  WindowEngine& engine;
  const Tokenizer& tokenizer;
  const DecodingOptions& decoding;          // its tokens as suppressed_tokens() makes them
  std::optional<ShortWindows> shortened{};  // none: a window is filled with silence up to the model's
  bool rationed = false;  // an open window holds capacity that others wait for: none is opened before it can be decoded
  bool keyed_tone = false;  // log-mel is of the keyed tone: what is certain needs no engine, and marks have the times
  const OnLanguage* on_language = nullptr;  // called where a language is detected; null: not wanted
};

/// A number for a window; unique in this process, so that every file may share one engine. Any thread.
WindowId next_window_id();

/// The windows of one recording or chunk on an engine, one open at a time. The mel of a window is computed and encoded
/// once, and it is released when the next is named or the object goes. One thread at a time.
class RemoteWindows final : public WindowDecoder {
 public:
  /// `origin`: frame of the recording that `mels` begin at, so that no two windows of a file are sampled alike.
  RemoteWindows(const WindowService& service, MelSource& mels, std::int64_t origin = 0)
      : service_(service), mels_(mels), origin_(origin) {}
  ~RemoteWindows() override { release(); }
  RemoteWindows(const RemoteWindows&) = delete;
  RemoteWindows& operator=(const RemoteWindows&) = delete;

  /// Has `window` encoded, if it is not open already. The others do so by themselves.
  Result<void> open(WindowSpan window);
  Result<std::string> detect_language(WindowSpan window) override;
  /// Reads the Morse code of a window; what is certain of it needs no engine.
  Result<WindowSpan> fitting(WindowSpan window) override;
  Result<DecodeAnswer> decode(WindowSpan window, const DecodeRequest& request) override;
  Result<AlignAnswer> align(WindowSpan window, const AlignRequest& request) override;

  const WindowCosts& costs() const { return costs_; }

 private:
  void release();
  /// All that was read: the limit on tokens is the network's, and nothing would read the rest.
  DecodeAnswer decoded_morse() const;

  const WindowService service_;
  MelSource& mels_;
  const std::int64_t origin_;
  std::optional<WindowSpan> span_{};
  std::vector<float> mel_{};             // of that window, where it is of the keyed tone
  WindowSpan read_span_{};               // of the last call of fitting()
  std::optional<MorseReading> morse_{};  // of that span; what it has is decoded and aligned without the engine
  WindowId window_ = 0;
  std::uint64_t requests_ = 0;
  WindowCosts costs_{};
};

/// That every named id is -1 or a token of a vocabulary of this size; none: it is not known yet.
Result<void> check_suppressed(const std::vector<std::int32_t>& named, std::optional<std::int64_t> vocabulary);

/// Ids never sampled, as the reference's `_get_suppress_tokens`: the named ones, the non-speech tokens where -1 is
/// among them, and always the steering tokens. Sorted, each once.
/// `named` are ids that check_suppressed takes.
std::vector<std::int32_t> suppressed_tokens(const Tokenizer& tokenizer, const std::vector<std::int32_t>& named);

}  // namespace tutti
