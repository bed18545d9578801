#pragma once

#include <cstddef>
#include <set>
#include <span>

#include "base/guarded.h"
#include "link/window_engine.h"

namespace tutti {

/// Passes everything on to another engine, but keeps no more than `most` windows open there at a time: `open` waits
/// until one is released. So more files may be in work together than the device has memory for windows. Thread-safe. A
/// thread must not open a second window while it has one.
class WindowLimit final : public WindowEngine {
 public:
  /// `engine` outlives it. `most`: at least 1.
  WindowLimit(WindowEngine& engine, int most) : engine_(engine), most_(static_cast<std::size_t>(most)) {}

  Result<Opened> open(const OpenWindow& window, std::span<const float> mel) override {
    const auto id = window.window;
    open_.wait([this](const auto& open) { return open.size() < most_; }, [&](auto& open) { open.insert(id); });
    auto opened = engine_.open(window, mel);
    if (!opened) open_.change([&](auto& open) { open.erase(id); });
    return opened;
  }
  Result<Language> detect_language(WindowId window) override { return engine_.detect_language(window); }
  Result<Decoded> decode(const DecodeWindow& request) override { return engine_.decode(request); }
  Result<Aligned> align(const AlignWindow& request) override { return engine_.align(request); }
  void release(WindowId window) override {
    engine_.release(window);
    open_.change([&](auto& open) { open.erase(window); });
  }
  void correct_length(Seconds audio) override { engine_.correct_length(audio); }

 private:
  WindowEngine& engine_;
  const std::size_t most_;
  Guarded<std::set<WindowId>> open_{};  // those that are being opened, too
};

}  // namespace tutti
