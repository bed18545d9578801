#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/list/emulated_card.h"

namespace tutti {

/// What an emulated GPU reports and writes: the facts and words of some model, in its tokenizer's ids.
struct EmulatedSpeech {
  std::int32_t n_mels = 80;
  std::int32_t n_audio_ctx = 1500;
  std::int32_t n_text_ctx = 448;
  std::int32_t n_vocab = 51865;
  std::int32_t timestamp_begin = 50364;
  std::vector<std::int32_t> languages{};           ///< the first is always the one detected
  std::vector<std::vector<std::int32_t>> words{};  ///< ids of each word, with its space; at least one
  std::vector<std::int32_t> stop{};                ///< ids of what ends a sentence
  bool operator==(const EmulatedSpeech&) const = default;
};

/// GPU and speech as arguments of a program, "name=value" each, and back. Fault::usage names the argument.
struct EmulatedPart {
  EmulatedCard card{};
  EmulatedSpeech speech{};
  std::string build_id{};
  bool operator==(const EmulatedPart&) const = default;
};
std::vector<std::string> words_of(const EmulatedPart& part);
Result<EmulatedPart> part_of(const std::vector<std::string>& words);

/// A number that represents a window's content: equal mels, equal numbers, on any device.
std::uint64_t content_of(std::span<const float> mel);

/// What an emulated GPU decodes from `frames` mel frames of that content: sentences at the rate of speech, with
/// timestamps around each where requested. A pure function, so that every device and every repetition gives the same.
std::vector<std::int32_t> emulated_text(const EmulatedSpeech& speech, std::uint64_t content, std::int32_t frames,
                                        bool timestamps, std::int32_t max_tokens);

/// The hidden command under which `tutti` is its own emulated worker.
inline constexpr std::string_view kEmulatedWorkerCommand = "emulated-worker";

/// Whether this process was started as an emulated worker; called first thing in main, as is_decode_child is.
bool is_emulated_worker(int argc, const char* const* argv);

/// Runs the worker's side of the link on kWorkerSocket and behaves as the GPU in its arguments (words_of): takes the
/// time that such a GPU would take, decodes each window as emulated_text does, and fails when it is due. One thread.
/// Returns the exit status.
int emulated_worker_main(int argc, const char* const* argv);

}  // namespace tutti
