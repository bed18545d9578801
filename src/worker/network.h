#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "decode/alignment.h"
#include "decode/decoding_tokens.h"
#include "decode/stepper.h"
#include "link/messages.h"
#include "model/whisper.h"

namespace tutti {

/// Windows that are being encoded beside decoder steps.
class Encoding {
 public:
  virtual ~Encoding() = default;
  /// Whether `take` would not wait.
  virtual bool done() = 0;
  /// The windows, once. Waits for the device; throws what failed there.
  virtual std::vector<CrossKv> take() = 0;
};

/// A Whisper network as the worker uses it. One thread at a time; everything throws what torch throws.
class Network {
 public:
  virtual ~Network() = default;
  virtual const WhisperDims& dims() const = 0;
  /// Tokens that a slot of its steppers holds.
  virtual std::int32_t text_positions() const { return dims().n_text_ctx; }
  /// Whether it takes windows of fewer positions than n_audio_ctx.
  virtual bool takes_short_windows() const { return false; }
  /// mel: [n_mels, 2 * positions] float32 on the CPU -> what decoding needs of the window. Waits for the device.
  virtual CrossKv encode(const at::Tensor& mel) = 0;
  /// Memory for the mels of so many windows, on the CPU and as the device takes them fastest: [windows, n_mels,
  /// 2 * n_audio_ctx], pinned and in the type of the encoder's input for a GPU; not filled.
  virtual at::Tensor make_mels(std::int64_t windows) const {
    return at::empty({windows, dims().n_mels, 2 * std::int64_t{dims().n_audio_ctx}}, at::kFloat);
  }
  /// mels: as of make_mels, or float32 on the CPU -> the same of each window. Waits for the device.
  virtual std::vector<CrossKv> encode_batch(const at::Tensor& mels) {
    std::vector<CrossKv> windows;
    for (std::int64_t i = 0; i < mels.size(0); ++i) windows.push_back(encode(mels[i]));
    return windows;
  }
  /// Whether the device encodes and steps at the same time.
  virtual bool encodes_beside_steps() const { return false; }
  /// As encode_batch, but only begun, where encodes_beside_steps: decoder steps may go on meanwhile. One at a time; the
  /// network must outlive it.
  virtual std::unique_ptr<Encoding> begin_encoding(const at::Tensor& /*mels*/) { return nullptr; }
  /// beams: of each window, as far as is known. The network must outlive the stepper.
  virtual std::unique_ptr<Stepper> make_stepper(std::int32_t slots, std::int32_t beams = 1) = 0;
  /// Whether the device works at the first use of anything, so that it is better `prepare`d.
  virtual bool has_first_uses() const { return false; }
  /// Has what the device does at first uses done now, for a stepper without sequences: steps of all sizes are recorded
  /// and checked. Returns how many sizes.
  virtual std::int32_t prepare(Stepper&) { return 0; }
  /// Likewise of encodings of up to `most` windows.
  virtual std::int32_t prepare_encoder(std::int32_t /*most*/) { return 0; }
  /// Returns to the device what is kept for reuse. Called when memory has run out.
  virtual void release_memory() {}
  /// text: passed `check`. Waits for the device.
  virtual Result<TokenTimes> align(const CrossKv& window, const AlignmentText& text, const DecodingTokens& tokens) = 0;
};

/// heads: whose attention shows when words are spoken; empty: those of a model of this shape. text_positions: as
/// LoadModel's.
std::unique_ptr<Network> make_network(WhisperModel model, std::vector<AttentionHead> heads = {},
                                      std::int32_t text_positions = 0);

/// A model ready to serve, with the ids that steer it.
struct LoadedModel {
  std::unique_ptr<Network> network{};
  DecodingTokens tokens{};
  std::int32_t sot = 0;
  std::vector<std::int32_t> languages{};  // tokens; empty for an English-only model
  std::int32_t slots = 1;                 // windows to step together
  std::int32_t beams = 1;                 // beams of each window, as far as is known
  std::int32_t encoded_together = 1;      // windows in one encoding at most
  bool deterministic = false;             // step in fixed shapes
  std::string device_name{};
  std::string compute_type{};
  double window_seconds = 0;  // where it was requested and could be found out
};

using ModelLoader = std::function<Result<LoadedModel>(const LoadModel&)>;

/// Model and tokenizer from disk. Refuses devices that this build or machine does not have and models whose weights are
/// incomplete; a compute type that the device lacks becomes the nearest that it has, with a warning. `build` names this
/// program: what a self-test finds (compute type "auto") holds for one build alone.
Result<LoadedModel> load_model(const LoadModel& request, std::string_view build = {});

}  // namespace tutti
