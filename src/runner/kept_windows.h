#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/units.h"
#include "link/window_engine.h"

namespace tutti {

/// What a device answered for windows, by the digest of all that the answer depends on: the window's features, the
/// request, the model.
using WindowReplies = std::map<std::string, std::string>;

/// A piece of them as an object: JSON with the version of its schema. Fault::corrupt where it is another.
std::string replies_json(const WindowReplies& replies);
Result<WindowReplies> read_replies(const std::string& json);

/// What earlier attempts on a job have left of it, and how many objects that is. Thread-safe.
class EarlierWindows {
 public:
  void set(WindowReplies replies, int objects) {
    replies_.with([&](WindowReplies& own) { own = std::move(replies); });
    objects_ = objects;
  }
  WindowReplies take() {
    return replies_.with([](WindowReplies& own) { return std::exchange(own, {}); });
  }
  /// The number of the next object.
  int next_object() { return objects_++; }
  bool has_objects() const { return objects_ > 0; }

 private:
  Guarded<WindowReplies> replies_{};
  std::atomic<int> objects_{0};
};

/// An engine that does no window again that an earlier attempt on the recording has done. Thread-safe as the engine
/// that it is in front of, which outlives it.
class KeptWindows final : public WindowEngine {
 public:
  /// Takes a piece of new replies to keep, those of ten seconds or of some windows; called by a thread that works on
  /// the recording.
  using Keep = std::function<void(const WindowReplies& fresh)>;

  /// `model`: whatever else the replies depend on. `known`: of earlier attempts.
  KeptWindows(WindowEngine& engine, std::string model, WindowReplies known, Keep keep)
      : engine_(engine), model_(std::move(model)), known_(std::move(known)), keep_(std::move(keep)) {}

  Result<Opened> open(const OpenWindow& facts, std::span<const float> mel) override;
  Result<Language> detect_language(WindowId window) override;
  Result<Decoded> decode(const DecodeWindow& request) override;
  Result<Aligned> align(const AlignWindow& request) override;
  Result<Transcribed> transcribe(const TranscribeWindow& request) override;
  Result<SpeakersAnalyzed> analyze_speakers(const AnalyzeSpeakers& request, std::span<const float> inputs) override {
    return engine_.analyze_speakers(request, inputs);
  }
  bool has_gpu() const override { return engine_.has_gpu(); }
  void release(WindowId window) override;
  void correct_length(Seconds length) override { engine_.correct_length(length); }

  /// Keeps what is not kept yet: the attempt ends before its end.
  void flush();
  /// Replies that were not computed again.
  std::size_t reused() const {
    return state_.with([](const State& state) { return state.reused; });
  }

 private:
  struct Window {
    std::string digest{};
    std::vector<float> mel{};  // until the engine has it; empty: it does
    OpenWindow facts{};
  };
  struct State {
    std::map<WindowId, Window> windows{};
    WindowReplies fresh{};  // not kept yet
    Clock::Instant kept_at = Clock::real().now();
    std::size_t reused = 0;
  };

  template <class Reply, class Compute>
  Result<Reply> reply(WindowId window, const std::string& request, Compute compute);
  Result<void> open_now(WindowId window);
  void add(const std::string& key, std::string reply);

  WindowEngine& engine_;
  const std::string model_;
  const WindowReplies known_;
  const Keep keep_;
  Guarded<State> state_{};
};

}  // namespace tutti
