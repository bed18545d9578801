#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "decode/batcher.h"
#include "link/messages.h"
#include "metrics/event_trace.h"
#include "worker/mel_ring.h"
#include "worker/network.h"

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

/// Where a worker's answers go.
using Reply = std::function<void(const ToControl&)>;

/// A loaded model at work on windows: opens them, decodes them together, answers. When memory runs out it steps half as
/// many windows at a time and begins them again, and at last holds only those that are being decoded, so that no window
/// is lost. One thread: the only one that calls torch, but for copies within the memory of `mels`.
class WindowServer {
 public:
  /// `clock` must outlive the server.
  WindowServer(LoadedModel model, Reply reply, const Clock& clock);

  /// Has the device do now what it otherwise does at first uses, where it does anything then. Without memory enough
  /// that is left to the first uses, which can do with less.
  Result<void> prepare();
  /// Where the windows that come are received, by any thread.
  const std::shared_ptr<MelRing>& mels() const { return mels_; }
  /// mel: what `mels` received.
  void open(const OpenWindow& message, Result<WindowMel> mel);
  void detect(const DetectLanguage& message);
  void decode(const DecodeWindow& message);
  void align(const AlignWindow& message);
  void release(const ReleaseWindow& message);

  bool has_work() const { return can_encode() || !batcher_.idle() || ahead_; }
  /// One encoding, of as many windows as wait and fit into one, or one decoder step, whichever is due. Where the device
  /// does both at a time, an encoding is begun, and its windows are answered in a later call.
  void work();

  /// The device is lost; the reason was answered.
  bool broken() const { return broken_; }
  /// Sequences that may step together: a search with beams is as many as it has beams.
  std::int32_t slots() const { return windows_together_ * beams_; }

 private:
  const char* do_next();

  struct Window {
    WindowMel mel;                          // its buffer is free again once it is encoded
    std::shared_ptr<const CrossKv> kv{};    // from its encoding on; released meanwhile where memory is short
    bool opened = false;                    // the encoding was answered
    std::int32_t detections = 0;            // that wait for kv
    std::vector<DecodeWindow> decodings{};  // likewise
    std::vector<AlignWindow> alignments{};  // likewise
  };

  /// Windows on their way through the encoder while decoder steps go on.
  struct BegunEncoding {
    std::vector<WindowId> ids{};
    std::unique_ptr<Encoding> encoding{};
    Seconds spent{};  // by us, to begin it
  };

  at::Tensor mels_of(const std::vector<WindowId>& ids) const;
  bool can_encode() const {
    return !full_ && !to_encode_.empty() && (batcher_.idle() || encoded_windows() < most_encoded_);
  }
  std::ptrdiff_t encoded_windows() const;
  bool can_answer(WindowId id, const Window& window);
  bool close_idle_windows();
  bool close_waiting_windows(const Error& error);
  template <class Encode, class Then>
  void with_next_windows(Encode encode, Then then);
  void encode_next();
  void begin_next();
  bool begun_is_done() const;
  void finish_begun();
  std::vector<WindowId> next_to_encode() const;
  void encoding_failed(const std::vector<WindowId>& ids, const Error& error);
  void fail_encoding(WindowId id, const Error& error);
  void answer_encoded(const std::vector<WindowId>& ids, std::vector<CrossKv> kvs, Seconds waited);
  void encoded(WindowId id, CrossKv kv, Seconds share);
  bool encode_singly(const Error& error);
  void fail_requests(WindowId id, const Error& error);
  void step();
  void answer_language(WindowId id, const Window& window);
  void answer_alignment(const AlignWindow& message, const Window& window);
  void submit(const DecodeWindow& message, const Window& window);
  void fail_window(WindowId id, std::uint64_t request, const Error& error);
  bool halve_slots(const Error& error);
  void free_slots_for(std::int32_t beams);
  std::unique_ptr<Stepper> make_stepper() const;
  /// Calls `fn` until it succeeds, with fewer slots each time it runs out of memory, then without the windows that are
  /// not being read (`fn` holds what it reads), and at last with the windows of one request alone.
  template <class Fn>
  auto backing_off(const char* doing, Fn fn) -> Result<decltype(fn())>;

  LoadedModel model_;
  Reply reply_;
  const std::unique_ptr<EventTrace::Row> row_ = EventTrace::row_of_process("device");
  const Clock& clock_;
  Batcher batcher_;
  std::shared_ptr<MelRing> mels_;
  std::int32_t windows_together_;
  std::int32_t beams_ = 1;               // the most that a request named
  std::int32_t encoded_together_ = 1;    // windows in one encoding at most
  std::unique_ptr<Stepper> stepper_{};   // made at first use, and again after a change of slots()
  std::unique_ptr<Stepper> detector_{};  // one slot, for language detection
  std::map<WindowId, Window> windows_{};
  std::deque<WindowId> to_encode_{};
  std::optional<BegunEncoding> ahead_{};
  std::ptrdiff_t most_encoded_ = std::numeric_limits<std::ptrdiff_t>::max();  // while sequences step
  bool full_ = false;      // the next one to encode waits for a job to end
  WorkAtHand workload_{};  // the last three fields
  bool broken_ = false;
};

}  // namespace tutti
