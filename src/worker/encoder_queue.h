#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "link/messages.h"
#include "worker/mel_ring.h"
#include "worker/memory_backoff.h"
#include "worker/network.h"

namespace tutti {

/// Windows that went through the encoder together.
struct EncodedWindows {
  std::vector<WindowId> ids{};         // kReleased: one that was closed meanwhile
  Result<std::vector<CrossKv>> kvs{};  // of each, or why there is none
  Seconds spent{};                     // by the caller's thread
};

/// Windows on their way through the encoder while decoder steps go on.
struct BegunEncoding {
  std::vector<WindowId> ids{};
  std::unique_ptr<Encoding> encoding{};
  Seconds spent{};  // by us, to begin it

  /// Whether to `finish` it is not to wait.
  bool is_done() const;
};

/// The log-mels of open windows, those that wait for the encoder in their order, and those that are being encoded. One
/// thread.
class EncoderQueue {
 public:
  /// Instead of a window that was closed while it was encoded; no window has this name.
  static constexpr WindowId kReleased = 0;

  /// together: windows in one encoding at most. All references must outlive the queue.
  EncoderQueue(Network& network, const MelRing& mels, std::int32_t together, MemoryBackoff& backoff,
               const Clock& clock);

  /// mel: of a window that is not open; it is the last in line. It may be encoded again until it is closed.
  void open(WindowId id, WindowMel mel);
  void close(WindowId id);
  /// Encodes an open window again, the last in line, unless it waits or is being encoded.
  void request(WindowId id);
  /// These open windows are the first in line, in their order.
  void put_back(const std::vector<WindowId>& ids);
  /// Gives up what was begun, if anything was; the windows that are still open.
  std::vector<WindowId> give_up_begun();

  /// How many windows wait.
  std::ptrdiff_t waiting() const { return std::ssize(waiting_); }
  /// Windows in one encoding at most.
  std::int32_t together() const { return together_; }
  const std::optional<BegunEncoding>& begun() const { return begun_; }

  /// Encodes the windows that are next, which leave the line: as many as are encoded together and have one width. At
  /// least one waits. Where there is no memory for all of them fewer are encoded. Those that fail stay open.
  /// beside_steps: the encoding is only begun, and the result nothing but a failure to begin.
  std::optional<EncodedWindows> encode(bool beside_steps);
  /// Ends what was begun, and waits for it; where that fails its windows are closed. What the device did beside decoder
  /// steps took no time of ours: only beginning and waiting count.
  EncodedWindows finish();

  /// Memory that a batch's encodings took is better spent on sequences. Nothing: windows are encoded one at a time
  /// already.
  std::optional<std::string> encode_singly();

 private:
  std::vector<WindowId> next() const;
  at::Tensor mels_of(const std::vector<WindowId>& ids) const;
  void free_buffers(const std::vector<WindowId>& ids);

  Network& network_;
  const MelRing& ring_;
  MemoryBackoff& backoff_;
  const Clock& clock_;
  std::int32_t together_;
  std::map<WindowId, WindowMel> mels_{};  // of all open windows; its buffer is free again once it is encoded
  std::deque<WindowId> waiting_{};
  std::optional<BegunEncoding> begun_{};
};

}  // namespace tutti
