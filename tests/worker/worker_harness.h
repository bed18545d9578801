#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "decode/formula_stepper.h"
#include "link/connection.h"
#include "link/shared_window.h"
#include "link/wire.h"
#include "worker/commands.h"

namespace tutti {

/// The control side of a worker, as a test plays it.
class ControlEnd {
 public:
  explicit ControlEnd(OwnedFd socket) : connection_(std::move(socket), "the worker") {}

  void send(const ToWorker& message, int memory = -1) {
    ASSERT_TRUE(connection_.send(encode_message(message), memory).has_value());
  }
  void open(WindowId window, std::int32_t n_mels, std::int32_t frames, std::span<const float> mel,
            std::int32_t positions = 0) {
    const auto memory = SharedWindow::create(mel);
    ASSERT_TRUE(memory.has_value());
    send(OpenWindow{.window = window, .n_mels = n_mels, .frames = frames, .positions = positions}, memory->fd());
  }
  /// The next message; nothing once the worker hung up or sent nonsense.
  std::optional<ToControl> next() {
    auto packet = connection_.receive(Seconds(60));
    if (!packet || !*packet) return {};
    auto message = decode_to_control((*packet)->message);
    return message ? std::optional(std::move(*message)) : std::nullopt;
  }
  /// The next message, which must be of this kind.
  template <class Message>
  Message expect() {
    auto message = next();
    if (message && std::holds_alternative<Message>(*message)) return std::get<Message>(*message);
    ADD_FAILURE() << "expected another message than " << (message ? name_of(*message) : "the end");
    if (message && std::holds_alternative<Failed>(*message)) ADD_FAILURE() << std::get<Failed>(*message).what;
    return {};
  }
  Connection& connection() { return connection_; }

 private:
  Connection connection_;
};

/// A network made of a formula, whose memory and manners a test decides.
struct NetworkScript {
  std::int32_t most_slots = 8;                                   // more of them do not fit into memory
  std::function<void(const at::Tensor&)> encode{};               // called with every mel; may throw or wait
  std::function<void()> step{};                                  // likewise, before every decoder step
  std::function<void(std::span<const SequenceStep>)> on_step{};  // called with what every decoder step is given
  std::shared_ptr<std::atomic<int>> alive{};                     // counts the windows in memory
  std::int32_t encoded_together = 1;                             // windows in one encoding at most
  std::function<void(std::int64_t)> encode_batch{};              // called with the number of windows; may throw or wait
  std::function<bool()> encoded_beside{};                        // where given, steps go on until it returns true
  std::function<void()> take_encoded{};                          // called when these windows are taken; may throw
  std::function<void(std::int32_t)> prepare{};                   // called with a prepared stepper's slots; may throw
  at::ScalarType mels = at::kFloat;                              // type that it takes mels in
  bool takes_short_windows = false;                              // of fewer positions than the model's
  std::function<void(std::int64_t)> make_mels{};                 // called with how many memory is for; may throw
};

inline const WhisperDims kScriptDims{.n_mels = 2, .n_audio_ctx = 5, .n_vocab = 400, .n_text_ctx = 64};
inline const DecodingTokens kScriptTokens{
    .eot = 300, .timestamp_begin = 303, .no_timestamps = 302, .no_speech = 301, .blank = {7}};

class ScriptedNetwork : public Network {
 public:
  explicit ScriptedNetwork(NetworkScript script) : script_(std::move(script)) {}
  const WhisperDims& dims() const override { return kScriptDims; }
  bool takes_short_windows() const override { return script_.takes_short_windows; }
  /// The first value of the mel names the window.
  CrossKv encode(const at::Tensor& mel) override {
    if (script_.encode) script_.encode(mel);
    auto window = *formula_window(static_cast<std::size_t>(mel[0][0].item<float>()));
    if (script_.alive) window.layers.front().keys = counted(script_.alive);
    return window;
  }
  at::Tensor make_mels(std::int64_t windows) const override {
    if (script_.make_mels) script_.make_mels(windows);
    return Network::make_mels(windows).to(script_.mels);
  }
  std::vector<CrossKv> encode_batch(const at::Tensor& mels) override {
    if (script_.encode_batch) script_.encode_batch(mels.size(0));
    return Network::encode_batch(mels);
  }
  bool encodes_beside_steps() const override { return static_cast<bool>(script_.encoded_beside); }
  std::unique_ptr<Encoding> begin_encoding(const at::Tensor& mels) override {
    return std::make_unique<BesideSteps>(script_, encode_batch(mels));
  }
  std::unique_ptr<Stepper> make_stepper(std::int32_t slots, std::int32_t /*beams*/) override {
    if (slots > script_.most_slots) throw std::bad_alloc();
    return std::make_unique<Steps>(slots, script_);
  }
  bool has_first_uses() const override { return static_cast<bool>(script_.prepare); }
  std::int32_t prepare(Stepper& stepper) override {
    script_.prepare(stepper.slots());
    return 1;
  }
  /// Every token starts one step after the one before, with a probability made from its id.
  Result<TokenTimes> align(const CrossKv&, const AlignmentText& text, const DecodingTokens&) override {
    TokenTimes alignment;
    for (std::size_t i = 0; i <= text.text.size(); ++i) alignment.starts.push_back(static_cast<std::int32_t>(i));
    for (const auto id : text.text) alignment.probabilities.push_back(1 / static_cast<float>(id));
    return alignment;
  }

 private:
  static at::Tensor counted(const std::shared_ptr<std::atomic<int>>& alive) {
    static float value = 0;
    ++*alive;
    return at::from_blob(
        &value, {1}, [alive](void*) { --*alive; }, at::TensorOptions(at::kFloat));
  }
  struct BesideSteps : Encoding {
    BesideSteps(const NetworkScript& by, std::vector<CrossKv> encoded) : script(by), windows(std::move(encoded)) {}
    bool done() override { return script.encoded_beside(); }
    std::vector<CrossKv> take() override {
      if (script.take_encoded) script.take_encoded();
      return std::move(windows);
    }
    const NetworkScript& script;
    std::vector<CrossKv> windows;
  };
  struct Steps : FormulaStepper {
    Steps(std::int32_t slots, const NetworkScript& script)
        : FormulaStepper(slots, kScriptDims.n_vocab, kScriptTokens, true), script_(script) {}
    at::Tensor decode(std::span<const SequenceStep> sequences) override {
      if (script_.step) script_.step();
      if (script_.on_step) script_.on_step(sequences);
      return FormulaStepper::decode(sequences);
    }
    const NetworkScript& script_;
  };
  NetworkScript script_;
};

inline ModelLoader scripted(NetworkScript script) {
  return [script](const LoadModel& request) -> Result<LoadedModel> {
    return LoadedModel{.network = std::make_unique<ScriptedNetwork>(script),
                       .tokens = kScriptTokens,
                       .sot = 299,
                       .languages = {290, 291, 292},
                       .slots = 8,
                       .beams = request.beams,
                       .encoded_together = script.encoded_together,
                       .deterministic = request.deterministic,
                       .device_name = "formula",
                       .compute_type = request.compute_type};
  };
}

/// A worker on a thread of this process. The test holds the other end.
class WorkerHere {
 public:
  explicit WorkerHere(ModelLoader loader) {
    auto pair = Connection::make_pair().value();
    exit_code_ =
        std::async(std::launch::async, [socket = std::move(pair.second), loader = std::move(loader)]() mutable {
          return run_worker(std::move(socket), {.build_id = "test build", .load = loader});
        });
    control.emplace(std::move(pair.first));
  }
  /// As above, after hello and the loading of the scripted model.
  explicit WorkerHere(NetworkScript script, bool deterministic = false, std::int32_t beams = 1)
      : WorkerHere(scripted(std::move(script))) {
    control->expect<Hello>();
    control->send(LoadModel{.compute_type = "float32", .beams = beams, .deterministic = deterministic});
    control->expect<Ready>();
  }
  ~WorkerHere() { hang_up(); }

  /// Closes our end; the worker's exit code.
  int hang_up() {
    control.reset();
    return exit_code_.valid() ? exit_code_.get() : -1;
  }
  int wait() { return exit_code_.get(); }

  std::optional<ControlEnd> control{};

 private:
  std::future<int> exit_code_{};
};

}  // namespace tutti
