#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "link/messages.h"
#include "worker/decoder_slots.h"
#include "worker/encoder_queue.h"
#include "worker/memory_backoff.h"
#include "worker/network.h"
#include "worker/request_messages.h"

namespace tutti {

/// What is requested of open windows, and its answers. A request whose window is not encoded waits for that. Nothing is
/// lost: every request is answered once, unless its window is closed before. One thread, which calls `reply` too.
class WindowAnswers {
 public:
  /// All references must outlive it.
  WindowAnswers(const LoadedModel& model, DecoderSlots& slots, MemoryBackoff& backoff, const Reply& reply,
                const Clock& clock)
      : model_(model), slots_(slots), backoff_(backoff), reply_(reply), clock_(clock) {}

  /// Opens a window whose mel was received; else answers why not. True: it has to be encoded.
  bool open(const OpenWindow& message, const Result<WindowMel>& mel);
  /// Forgets it and its requests.
  void close(WindowId id);
  /// Answers a DetectLanguage, DecodeWindow or AlignWindow, at once or later. True: its window has to be encoded first.
  template <class Request>
  bool request(const Request& message) {
    const auto found = windows_.find(message.window);
    if (found == windows_.end()) {
      fail(message, no_such_window(message.window));
      return false;
    }
    if (found->second.kv) {
      answer(message, found->second);
      return false;
    }
    std::get<std::vector<Request>>(found->second.waiting).push_back(message);
    return true;
  }

  /// Answers all that waited for these windows. Those that failed are closed, and their requests fail.
  void encoded(EncodedWindows windows);
  /// One decoder step; answers the requests that ended. False: none did.
  bool step();

  /// How many windows are encoded and in memory.
  std::ptrdiff_t encoded_windows() const;
  /// Closes the windows that no request holds: they are encoded again when they are requested. Nothing: there is none.
  std::optional<std::string> close_idle();
  /// Takes back the requests that wait for a slot and closes their windows, which are to be encoded again.
  std::vector<WindowId> close_waiting();

 private:
  struct Window {
    std::int32_t width = 0;               // frames of its mel
    std::shared_ptr<const CrossKv> kv{};  // from its encoding on; released meanwhile where memory is short
    bool opened = false;                  // the encoding was answered
    /// Requests that wait for kv. Those of a kind are answered in their order, kind by kind.
    std::tuple<std::vector<DetectLanguage>, std::vector<DecodeWindow>, std::vector<AlignWindow>> waiting{};
  };

  void answer_waiting(WindowId id, CrossKv kv, Seconds share);
  void fail_waiting(WindowId id, const Error& error);
  void answer(const DetectLanguage& message, const Window& window);
  void answer(const DecodeWindow& message, const Window& window);
  void answer(const AlignWindow& message, const Window& window);
  template <class Request>
  void fail(const Request& message, const Error& error) {
    std::uint64_t request = 0;
    if constexpr (requires { message.request; }) request = message.request;
    reply_(failure_of(message.window, request, error));
  }

  const LoadedModel& model_;
  DecoderSlots& slots_;
  MemoryBackoff& backoff_;
  const Reply& reply_;
  const Clock& clock_;
  std::map<WindowId, Window> windows_{};
};

}  // namespace tutti
