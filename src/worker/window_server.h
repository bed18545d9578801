#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/units.h"
#include "link/messages.h"
#include "metrics/event_trace.h"
#include "worker/decoder_slots.h"
#include "worker/encoder_queue.h"
#include "worker/mel_ring.h"
#include "worker/memory_backoff.h"
#include "worker/network.h"
#include "worker/request_messages.h"
#include "worker/window_answers.h"

namespace tutti {

/// What a worker could do next, and what it did last.
struct WorkAtHand {
  bool to_encode = false;      // a window waits for the encoder
  bool to_step = false;        // a sequence waits for its next token
  bool free_slots = false;     // a window more would be stepped at once
  bool partial_batch = false;  // more windows could be encoded together with those that wait
  bool beside_steps = false;   // an encoding takes no turn from the decoder
  bool encoded_last = false;   // the last turn was the encoder's
  Seconds last_encoding{};     // how long it took
  Seconds stepping_since{};    // decoder steps since then, together
};

enum class NextAction { encode, step, nothing };

/// Encoder or decoder? Where they work side by side, an encoding begins as soon as a window waits. Else they take
/// turns. While slots are free the encoder goes first, since an empty slot is lost at every step; once all are taken it
/// waits for a whole batch, or for a free slot, and both get the same time. There are never two encodings between two
/// steps of a live sequence then, so nothing starves.
NextAction next_action(const WorkAtHand& work);

/// A loaded model at work on windows: opens them, decodes them together, answers. When memory runs out it steps half as
/// many windows at a time and begins them again, and at last holds only those that are being decoded, so that no window
/// is lost.
///
/// One thread: the only one that calls torch, but for copies within the memory of `mels`, and the one that calls
/// `reply`. There is no lock here or in its parts. The ring's and the one that `reply` may take are held for that call
/// alone, never both.
class WindowServer {
 public:
  /// `clock` must outlive the server.
  WindowServer(LoadedModel model, Reply reply, const Clock& clock);
  WindowServer(const WindowServer&) = delete;
  WindowServer& operator=(const WindowServer&) = delete;

  /// Has the device do now what it otherwise does at first uses, where it does anything then. Without memory enough
  /// that is left to the first uses, which can do with less.
  Result<void> prepare();
  /// Where the windows that come are received, by any thread.
  const std::shared_ptr<MelRing>& mels() const { return mels_; }
  /// mel: what `mels` received.
  void open(const OpenWindow& message, Result<WindowMel> mel);
  /// A DetectLanguage, DecodeWindow or AlignWindow.
  template <class Request>
  void request(const Request& message) {
    if (answers_.request(message)) encoder_.request(message.window);
  }
  void release(const ReleaseWindow& message);

  bool has_work() const { return can_encode() || !slots_.idle() || encoder_.begun(); }
  /// One encoding, of as many windows as wait and fit into one, or one decoder step, whichever is due. Where the device
  /// does both at a time, an encoding is begun, and its windows are answered in a later call.
  void work();

  /// The device is lost; the reason was answered.
  bool broken() const { return backoff_.is_device_lost(); }

 private:
  const char* do_next();
  bool can_encode() const;
  std::ptrdiff_t encoded_windows() const;
  void encode_next(bool beside_steps);
  void step();
  std::optional<std::string> close_waiting();

  LoadedModel model_;
  Reply reply_;
  const std::unique_ptr<EventTrace::Row> row_ = EventTrace::row_of_process("device");
  const Clock& clock_;
  std::shared_ptr<MelRing> mels_;
  MemoryBackoff backoff_;
  DecoderSlots slots_;
  WindowAnswers answers_;
  EncoderQueue encoder_;
  std::ptrdiff_t most_encoded_ = std::numeric_limits<std::ptrdiff_t>::max();  // while sequences step
  bool full_ = false;      // the next one to encode waits for a job to end
  WorkAtHand workload_{};  // the last three fields
};

}  // namespace tutti
